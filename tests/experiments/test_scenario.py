# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenario loader: what it reads, and that every wrong file gets one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.analysis.records.work import LOOPS_WORK, WorkRecord
from eascope.configs.platform import Platform
from eascope.experiments import program_kinds
from eascope.experiments.scenario import UNKNOWN_MS
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.scenarios import PHASE, SECOND, check_refused, write

FRAMES = '\n[frames]\npaced_by = "a"\ndrawn_by = "a"\n'
EXPECT = '[[expect]]\nvariant = "cas"\nsource = "x"\nstatement = '

#: (what is wrong, arguments of write, words that the one line must have)
WRONG = {
    "unknown cpu name": ({"task": 'cpus = "tiny:0"'}, ["task[0].cpus", "'tiny:0'", "little"]),
    "cpu index": ({"task": 'cpus = "big:2"'}, ["task[0].cpus", "'big:2'", "big:0 to big:1"]),
    "negative time": (
        {"phase": "run_us = -5\nperiod_us = 1000"},
        ["task[0].phase[0].run_us", "-5", "1..600000000"],
    ),
    "relative above 1024": (
        {"task": 'uclamp = {max = "1.0*big+1"}'},
        ["uclamp.max", "1.0*big+1", "0..1024"],
    ),
    "relative to nothing": (
        {"task": 'uclamp = {max = "0.5*mid"}'},
        ["uclamp.max", "0.5*mid", "little or big"],
    ),
    "min above max": ({"task": "uclamp = {min = 9, max = 8}"}, ["uclamp.min", "9", "8"]),
    "work of a stranger": (
        {"more": '[work]\nunit = "frame"\ncounted = "turns.b"'},
        ["work.counted", "'turns.b'", "turns.a, wakeups.a"],
    ),
    "work without a unit": ({"more": '[work]\ncounted = "turns.a"'}, ["work.unit", "missing"]),
    "work in no words": (
        {"more": '[work]\nunit = "J/s"\ncounted = "turns.a"'},
        ["work.unit", "'J/s'", "a-z"],
    ),
    "operations of no program": (
        {"more": '[work]\nunit = "op"\ncounted = "programs"'},
        ["work.counted", "'programs'", "turns.a"],
    ),
    "two kinds of work": ({"phase": "run_us = 1\nruntime_us = 1"}, ["runtime_us", "run_us"]),
    "two kinds of rest": ({"phase": "sleep_us = 1\nperiod_us = 100"}, ["period_us", "sleep_us"]),
    "nothing to do": ({"phase": "loops = 3"}, ["task[0].phase[0]", "run_us"]),
    "endless in the middle": (
        {"phase": PHASE + "\n[[task.phase]]\n" + PHASE},
        ["task[0].phase[0].loops", "last phase"],
    ),
    "wait on nobody": ({"phase": 'wait = "b"\nrun_us = 1'}, ["wait", "'b'", "there is none"]),
    "wait on a stranger": (
        {"phase": 'wait = "c"\nrun_us = 1', "more": SECOND + PHASE},
        ["wait", "'c'", "b"],
    ),
    "wait on itself": (
        {"phase": 'wait = "a"\nrun_us = 1', "more": SECOND + PHASE},
        ["wait", "'a'", "one of b"],
    ),
    "same name twice": (
        {"more": '[[task]]\nname = "a"\n[[task.phase]]\n' + PHASE},
        ["name", "'a'"],
    ),
    "name too long": (
        {"more": '[[task]]\nname = "abcdefghijklm"\n[[task.phase]]\n' + PHASE},
        ["name", "1 to 12"],
    ),
    "too many threads": (
        {"task": "count = 99", "more": SECOND + PHASE},
        ["task", "100 threads", "up to 99"],
    ),
    "unknown policy": ({"task": 'policy = "ofther"'}, ["policy", "'ofther'", "other"]),
    "nice with fifo": ({"task": 'policy = "fifo"\nnice = 1'}, ["nice", "fifo"]),
    "no window": ({"window": ""}, ["window.warmup_ms", "missing"]),
    "warm-up in which load signals do not settle": (
        {"window": "warmup_ms = 199\nshort_ms = 20\nfull_ms = 30"},
        ["window.warmup_ms = 199", "an integer in 200..600000 (ms: PELT settles in 200)"],
    ),
    "short above full": (
        {"window": "warmup_ms = 200\nshort_ms = 9\nfull_ms = 8"},
        ["window.short_ms", "9", "1..8"],
    ),
    "frames of nobody": (
        {"more": '[frames]\npaced_by = "b"\ndrawn_by = "a"'},
        ["frames.paced_by = 'b'", "a"],
    ),
    "frames without a pace": (
        {"phase": "run_us = 1\nsleep_us = 1", "more": FRAMES},
        ["frames.paced_by = 'a'", "the same period in all phases"],
    ),
    "frames at random": (
        {"task": 'clock = "exponential"', "more": FRAMES},
        ["frames.paced_by = 'a'", "the same period in all phases"],
    ),
    "frames of two threads": (
        {
            "more": SECOND.replace('"b"', '"b"\ncount = 2')
            + PHASE
            + FRAMES.replace('by = "a"', 'by = "b"', 2).replace('paced_by = "b"', 'paced_by = "a"')
        },
        ["frames.drawn_by = 'b'", "a task of one thread"],
    ),
    "endless until tasks end": (
        {"window": 'warmup_ms = 200\nuntil = "tasks-end"'},
        ["loops", "tasks-end"],
    ),
    "statement": ({"more": EXPECT + '"energy_j.total >"'}, ["expect[0].statement", "energy_j"]),
    "an equality": (
        {"more": EXPECT + '"missed_deadlines == 0"'},
        ["expect[0].statement", "'missed_deadlines == 0'", "allowed: < <= > >=", "abs(A - B) < M"],
    ),
    "three variants": (
        {"more": EXPECT + '"energy_j.total[sum] > energy_j.total[mainline]"'},
        ["expect[0].statement", "measures of two variants at most, its own among them"],
    ),
    "a size twice": (
        {"more": EXPECT + '"migrations > 3"\nsize_percent = 3\nsize = 4'},
        ["expect[0].size = 4", "not together with size_percent"],
    ),
    "a size of a comparison that is not there": (
        {"more": EXPECT + '"migrations > 3"\nsize = 4\nsize_of = 2'},
        ["expect[0].size_of = 2", "an integer in 1..1"],
    ),
    "a size by nobody": (
        {"more": EXPECT + '"migrations > 3"\nsize = 4\nmeasured = "lohle"'},
        ["expect[0].measured = 'lohle'", "did you mean loehle?"],
    ),
    "a measurement of nothing": (
        {"more": EXPECT + '"migrations > 3"\nmeasured = "loehle"'},
        ["expect[0].measured = 'loehle'", "only with size_percent or size"],
    ),
    "a counterexample of itself": (
        {"more": EXPECT + '"migrations > 3"\nfails_under = ["cas"]'},
        ["expect[0].fails_under", "a list of variants other than cas"],
    ),
    "a counterexample that is the reference": (
        {
            "more": EXPECT
            + '"energy_j.total > energy_j.total[mainline]"\nfails_under = ["mainline"]'
        },
        ["expect[0].fails_under", "a list of variants other than cas, mainline"],
    ),
    "a measure that is none": (
        {"more": EXPECT + '"migrations > 3 and fairnes > 0.5"'},
        ["expect[0].statement = 'fairnes'", "no 'fairnes' there", "(did you mean fairness?)"],
    ),
    "a measure of no task": (
        {"more": EXPECT + '"latency_us.b.p95 > 3"'},
        ["expect[0].statement = 'latency_us.b.p95'", "no 'b' there: allowed: a"],
    ),
    "several numbers": (
        {"more": EXPECT + '"cpu_busy > 0.3"'},
        ["expect[0].statement = 'cpu_busy'", "several numbers: allowed: one of them, such as cpu"],
    ),
    "waits in a circle": (
        {"phase": 'wait = "b"\nrun_us = 5', "more": SECOND + 'wait = "a"\nrun_us = 5'},
        ["task[0].phase[0].wait = 'b'", "tasks of which one can begin; a, b never can"],
    ),
    "meetings in a circle": (
        {
            "phase": 'run_us = 5\nmeet = ["x", "y"]',
            "more": SECOND + 'run_us = 5\nmeet_before = "y"\nmeet = "x"',
        },
        ["task[0].phase[0].meet = ['x', 'y']", "tasks of which one can begin; a, b never can"],
    ),
    "a wait for who comes to meet first": (
        {"phase": 'wait = "b"\nrun_us = 5\nmeet = "x"', "more": SECOND + 'meet_before = "x"'},
        ["task[0].phase[0].wait = 'b'", "a, b never can"],
    ),
    "a finding": (
        {"more": EXPECT + '"migrations > 3"\nfinding = "they do not"'},
        [
            "expect[0].finding",
            "nothing: analysis/known/data/findings/PLATFORM/SCENARIO.toml has it",
        ],
    ),
}


PROGRAM = '[[program]]\nname = "p"\nrun = "ping-pong"\nshort_count = 10\nfull_count = 20\n'
UNTIL = 'warmup_ms = 300\nuntil = "programs-end"'
WRONG |= {
    "unknown program": (
        {"more": PROGRAM.replace("ping-pong", "ping-pog"), "window": UNTIL},
        ["program[0].run", "'ping-pog'", "did you mean ping-pong?"],
    ),
    "program short above full": (
        {"more": PROGRAM.replace("= 10", "= 21"), "window": UNTIL},
        ["program[0].short_count", "21", "1..20"],
    ),
    "program's cpus": (
        {"more": PROGRAM + 'cpus = "mid"\n', "window": UNTIL},
        ["program[0].cpus", "'mid'", "little"],
    ),
    "program's name is too long for its threads": (
        {"more": PROGRAM.replace('"p"', '"abcdefghijklmn"'), "window": UNTIL},
        ["program[0].name", "1 to 13"],
    ),
    "program named as a task": (
        {"more": PROGRAM.replace('"p"', '"a"'), "window": UNTIL},
        ["program[0].name", "'a'", "no task"],
    ),
    "program in a window of fixed length": (
        {"more": PROGRAM},
        ["window.until", "programs-end"],
    ),
    "programs' end without programs": ({"window": UNTIL}, ["window.until", "programs-end"]),
    "a task that ends before a program": (
        {"phase": PHASE + "\nloops = 3", "more": PROGRAM, "window": UNTIL},
        ["window.until", "without an end", "a has one"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_file_gets_one_line(case: str, tmp_path: Path, juno: Platform) -> None:
    arguments, words = WRONG[case]
    path = write(tmp_path, **arguments)
    check_refused(path, juno, words)


def test_no_file_and_no_toml(tmp_path: Path, juno: Platform) -> None:
    with pytest.raises(RequestError, match="No such file"):
        load_scenario(str(tmp_path / "absent.toml"), juno)
    (tmp_path / "bad.toml").write_text("summary = ")
    with pytest.raises(RequestError, match=r"bad.toml: not TOML: Invalid value"):
        load_scenario(str(tmp_path / "bad.toml"), juno)


def test_unknown_scenario_offers_the_nearest(juno: Platform) -> None:
    with pytest.raises(RequestError, match=r"did you mean eas/video-playback\?"):
        load_scenario("eas/video-playbak", juno)


def test_relative_clamps(tmp_path: Path, juno: Platform) -> None:
    """The source: a Juno little has capacity 383; its boosted tasks are clamped to 383..384."""
    path = write(tmp_path, task='uclamp = {min = "1.0*little", max = "1.0*little+1"}')
    (task,) = load_scenario(path, juno).tasks
    assert (task.uclamp_min, task.uclamp_max) == (383, 384)
    path = write(tmp_path, task='uclamp = {max = "0.29*little"}')
    assert load_scenario(path, juno).tasks[0].uclamp_max == 111


def test_programs_with_and_without_tasks(tmp_path: Path, juno: Platform) -> None:
    path = write(tmp_path, more=PROGRAM + 'cpus = "big"\n', window=UNTIL)
    scenario = load_scenario(path, juno)
    (program,) = scenario.programs
    assert (program.cpus, program.count(False), program.count(True)) == ((4, 5), 10, 20)
    assert program.command(True, 77) == "/bin/launch 77 4,5 /bin/ping-pong p 20"
    assert scenario.window.length_ms(False) is None
    assert scenario.window.simulated_s(False) == scenario.window.simulated_s(True)
    assert scenario.window.simulated_s(False) == (scenario.window.warmup_ms + UNKNOWN_MS) / 1000
    alone = 'summary = "s"\nsource = "s"\nloads = "l"\n' + PROGRAM + "[window]\n" + UNTIL
    (tmp_path / "alone.toml").write_text(alone)
    assert load_scenario(str(tmp_path / "alone.toml"), juno).tasks == ()


def test_cpus_are_resolved(tmp_path: Path, juno: Platform) -> None:
    (task,) = load_scenario(write(tmp_path, task='cpus = "little:0,big"'), juno).tasks
    assert task.cpus == (0, 4, 5)


def test_digest_follows_content_not_comments(tmp_path: Path, juno: Platform) -> None:
    path = Path(write(tmp_path))
    first = load_scenario(str(path), juno).digest
    path.write_text("# a remark\n" + path.read_text())
    assert load_scenario(str(path), juno).digest == first
    path.write_text(path.read_text().replace("run_us = 100", "run_us = 101"))
    assert load_scenario(str(path), juno).digest != first


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # Only the second waits at once, then each for the other's work.
        ('loops = 1\nrun_us = 5\n[[task.phase]]\nwait = "b"\nrun_us = 5', 'wait = "a"\nrun_us = 5'),
        # Whoever has ended a turn ends another one: the second may wait for it twice.
        ("run_us = 5", 'loops = 3\nwait = "a"\nrun_us = 5\n[[task.phase]]\nwait = "a"\nrun_us = 5'),
        ('run_us = 5\nmeet = ["x", "y"]', 'meet_before = ["x", "y"]\nrun_us = 5'),
    ],
)
def test_tasks_that_wait_in_turns_get_on(
    tmp_path: Path, juno: Platform, first: str, second: str
) -> None:
    load_scenario(write(tmp_path, phase=first, more=SECOND + second), juno)


@pytest.mark.parametrize("name", ["a\nb.toml", "a\x1b[2J.toml", "a\u2028.toml"])
def test_a_file_name_with_a_line_break_is_refused(
    tmp_path: Path, juno: Platform, name: str
) -> None:
    path = tmp_path / name
    path.write_text(Path(write(tmp_path)).read_text())
    with pytest.raises(RequestError, match="allowed: a file name without control char") as caught:
        load_scenario(str(path), juno)
    assert "\n" not in str(caught.value)


def test_a_program_that_is_not_there_is_the_requests_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_kinds, "OVERLAY", "/nowhere")
    with pytest.raises(RequestError, match="put a static arm64 perf at /nowhere/") as caught:
        program_kinds.check_present("perf-sched-pipe")
    assert caught.value.exit_code == 2


def test_work_is_counted_as_the_scenario_says(tmp_path: Path, juno: Platform) -> None:
    frames = write(tmp_path, more='[work]\nunit = "frame"\ncounted = "turns.a"')
    assert load_scenario(frames, juno).work == WorkRecord("frame", "turns.a")
    assert load_scenario(write(tmp_path), juno).work == LOOPS_WORK
    assert load_scenario("eas/sched-pipe", juno).work == WorkRecord("operation", "programs")
