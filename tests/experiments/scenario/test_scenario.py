# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenario loader: what it reads, and that every wrong file gets one line that says why."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.records.cell import LOOPS_WORK, WorkRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.scenario import program_kinds
from eascope.experiments.scenario.model import UNKNOWN_MS
from eascope.experiments.scenario.workload import Workload
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.scenarios import PHASE, SECOND, check_refused, write

FRAMES = '\n[frames]\npaced_by = "a"\ndrawn_by = "a"\n'
EXPECT = '[[expect]]\nvariant = "cas"\nsource = "x"\nstatement = '

PROGRAM = '[[program]]\nname = "p"\nrun = "ping-pong"\nshort_count = 10\nfull_count = 20\n'
UNTIL = 'warmup_ms = 300\nuntil = "programs-end"'
#: What words in `WRONG` stand for.
TEXTS = {
    **{"FRAMES": FRAMES, "EXPECT": EXPECT, "PROGRAM": PROGRAM, "UNTIL": UNTIL},
    **{"PHASE": PHASE, "SECOND": SECOND},
}
#: Arguments of `write`, with `/` between lines | words that the one line must have
WRONG = """
task: cpus = "tiny:0" | task[0].cpus; 'tiny:0'; little
task: cpus = "big:2" | task[0].cpus; 'big:2'; big:0 to big:1
task: uclamp = {max = "1.0*big+1"} | uclamp.max; 1.0*big+1; 0..1024
task: uclamp = {max = "0.5*mid"} | uclamp.max; 0.5*mid; little or big
task: uclamp = {min = 9, max = 8} | uclamp.min; 9; 8
more: [work] / unit = "frame" / counted = "turns.b" | work.counted; 'turns.b'; turns.a, wakeups.a
more: [work] / unit = "J/s" / counted = "turns.a" | work.unit; 'J/s'; a-z
more: [work] / unit = "op" / counted = "programs" | work.counted; 'programs'; turns.a
phase: run_us = 1 / runtime_us = 1 | runtime_us; run_us
phase: sleep_us = 1 / period_us = 100 | period_us; sleep_us
phase: loops = 3 | task[0].phase[0]; run_us
phase: PHASE / [[task.phase]] / PHASE | task[0].phase[0].loops; last phase
phase: io_us = 5 / loops = 2 / [[task.phase]] / io_us = 6 | task[0].phase[1].io_us = 6; 5, as in
phase: wait = "b" / run_us = 1 | wait; 'b'; there is none
phase: wait = "c" / run_us = 1 && more: SECOND / PHASE | wait; 'c'; b
phase: wait = "a" / run_us = 1 && more: SECOND / PHASE | wait; 'a'; one of b
more: [[task]] / name = "a" / [[task.phase]] / PHASE | name; 'a'
more: [[task]] / name = "abcdefghijklm" / [[task.phase]] / PHASE | name; 1 to 12
task: count = 99 && more: SECOND / PHASE | task; 100 threads; up to 99
task: policy = "ofther" | policy; 'ofther'; other
task: policy = "fifo" / nice = 1 | nice; fifo
more: [kernel_threads] / rcu_preempt = "tiny" | kernel_threads.rcu_preempt = 'tiny'; little
more: [kernel_threads] / "a b" = "big" | kernel_threads.a b = 'big'; up to 15 characters
task: policy = "batch" / priority = 1 | priority; no priority with policy batch
phase: PHASE / priority = 5 | task[0].phase[0].priority = 5; no priority with policy other
phase: PHASE / policy = "batch" | phase[0].policy = 'batch'; other, its task's: batch does not
task: policy = "deadline" | task[0].deadline is missing
task: deadline = {runtime_us = 2, period_us = 100} | task[0].deadline; no deadline with policy other
task: policy = "deadline" / deadline = {runtime_us = 6, deadline_us = 5, period_us = 100} |
    task[0].deadline.runtime_us = 6; 2..5 (us, up to the deadline)
task: policy = "deadline" / deadline = {runtime_us = 6, deadline_us = 101, period_us = 100} |
    task[0].deadline.deadline_us = 101; up to period_us
task: policy = "deadline" / deadline = {runtime_us = 60, period_us = 100} / cpus = "big" |
    task[0].policy = 'deadline'; cpus
task: policy = "deadline" / deadline = {runtime_us = 80, period_us = 100} / count = 5 |
    task[0].deadline; up to 3.021 CPUs' time; a makes 4.000; on juno-r2
task: policy = "deadline" / deadline = {runtime_us = 80, period_us = 100} / uclamp = {max = 9} |
    task[0].uclamp; no uclamp with policy deadline
task: policy = "fifo" && phase: PHASE / uclamp = {min = 9} |
    task[0].phase[0].uclamp = {'min': 9}; no min that the task itself does not have; fifo
task: cpus = "big" && phase: PHASE / policy = "deadline" /
    deadline = {runtime_us = 60, period_us = 100} |
    task[0].phase[0].policy = 'deadline'; no deadline task with cpus
task: count = 5 && phase: PHASE / policy = "deadline" /
    deadline = {runtime_us = 80, period_us = 100} |
    task[0].phase[0].deadline = {'runtime_us': 80; up to 3.021 CPUs' time
task: slice_us = 200 && phase: PHASE / policy = "idle" | task[0].slice_us; a phase's policy
task: policy = "rr" / slice_us = 100 | task[0].slice_us = 100; no slice_us with policy rr
task: policy = "fifo" / latency_nice = 1 | latency_nice = 1; no latency_nice with policy fifo
window: warmup_ms = 199 / short_ms = 20 / full_ms = 30 |
    window.warmup_ms = 199; an integer in 200..600000 (ms: PELT settles in 200)
window: warmup_ms = 200 / short_ms = 9 / full_ms = 8 | window.short_ms; 9; 1..8
more: [frames] / paced_by = "b" / drawn_by = "a" | frames.paced_by = 'b'; a
phase: run_us = 1 / sleep_us = 1 && more: FRAMES |
    frames.paced_by = 'a'; the same period in all phases
task: clock = "exponential" && more: FRAMES | frames.paced_by = 'a'; the same period in all phases
more: [[task]] / name = "b" / count = 2 / [[task.phase]] / PHASE / [frames] / paced_by = "a" /
    drawn_by = "b" | frames.drawn_by = 'b'; a task of one thread
window: warmup_ms = 200 / until = "tasks-end" | loops; tasks-end
more: EXPECT "energy_j.total >" | expect[0].statement; energy_j
more: EXPECT "missed_deadlines == 0" |
    expect[0].statement; 'missed_deadlines == 0'; allowed: < <= > >=; abs(A - B) < M
more: EXPECT "energy_j.total[sum] > energy_j.total[mainline]" |
    expect[0].statement; measures of two variants at most, its own among them
more: EXPECT "migrations > 3" / size_percent = 3 / size = 4 |
    expect[0].size = 4; not together with size_percent
more: EXPECT "migrations > 3" / size = 4 / size_of = 2 | expect[0].size_of = 2; an integer in 1..1
more: EXPECT "migrations > 3" / states = 0 | expect[0].states = 0; an integer in 1..999
more: EXPECT "migrations > 3" / states = 998 |
    expect[0].states = 998; the number of a statement in experiments/statements.toml
more: EXPECT "migrations > 3" / states = 26 | expect[0].states = 26; without untested
more: EXPECT "share(migrations) > 3" | expect[0].statement; < <= > >=
more: EXPECT "migrations > 3" / size = 4 / measured = "lohle" |
    expect[0].measured = 'lohle'; did you mean loehle?
more: EXPECT "migrations > 3" / measured = "loehle" |
    expect[0].measured = 'loehle'; only with size_percent or size
more: EXPECT "migrations > 3" / fails_under = ["cas"] |
    expect[0].fails_under; a list of variants other than cas
more: EXPECT "energy_j.total > energy_j.total[mainline]" / fails_under = ["mainline"] |
    expect[0].fails_under; a list of variants other than cas, mainline
more: EXPECT "migrations > 3 and fairnes > 0.5" |
    expect[0].statement = 'fairnes'; no 'fairnes' there; (did you mean fairness?)
more: EXPECT "latency_us.b.p95 > 3" |
    expect[0].statement = 'latency_us.b.p95'; no 'b' there: allowed: a
more: EXPECT "cpu_busy > 0.3" |
    expect[0].statement = 'cpu_busy'; several numbers; choose one of them, such as cpu
phase: wait = "b" / run_us = 5 && more: SECOND / wait = "a" / run_us = 5 |
    task[0].phase[0].wait = 'b'; tasks of which one can begin; a, b never can
phase: run_us = 5 / meet = ["x", "y"] && more: SECOND / run_us = 5 / meet_before = "y" / meet = "x"
    | task[0].phase[0].meet = ['x', 'y']; tasks of which one can begin; a, b never can
phase: wait = "b" / run_us = 5 / meet = "x" && more: SECOND / meet_before = "x" |
    task[0].phase[0].wait = 'b'; a, b never can
more: [[program]] / name = "p" / run = "ping-pog" / short_count = 10 / full_count = 20 && window:
    UNTIL | program[0].run; 'ping-pog'; did you mean ping-pong?
more: [[program]] / name = "p" / run = "ping-pong" / short_count = 21 / full_count = 20 && window:
    UNTIL | program[0].short_count; 21; 1..20
more: PROGRAM / cpus = "mid" && window: UNTIL | program[0].cpus; 'mid'; little
more: [[program]] / name = "abcdefghijklmn" / run = "ping-pong" / short_count = 10 / full_count = 20
    && window: UNTIL | program[0].name; 1 to 13
more: [[program]] / name = "a" / run = "ping-pong" / short_count = 10 / full_count = 20 && window:
    UNTIL | program[0].name; 'a'; no task
more: PROGRAM | window.until; programs-end
window: UNTIL | window.until; programs-end
phase: PHASE / loops = 3 && more: PROGRAM && window: UNTIL | window.until; without an end; a has one
task: pin = "each" | task[0].pin; only together with cpus
task: cpus = "big" / pin = "all" | task[0].pin; 'all'; each
task: cpus = "big" / pin = "each" / count = 2 | task[0].count; = 2; not together with pin
task: cpus = "big" / pin = "each" && phase: run_us = 5 / cpus = "big:0" |
    task[0].phase[0].cpus; not together with the task's pin
task: start_cpus = "large" | task[0].start_cpus; 'large'; little
task: start_cpus = "big" / pin = "each" / cpus = "big" | task[0].start_cpus; without pin
task: start_cpus = "big" && phase: run_us = 5 / cpus = "big:0" | task[0].start_cpus; one endless
task: start_turns = 3 | task[0].start_turns; only together with start_cpus
task: count = "tiny" | task[0].count; 'tiny'; little
task: repeat = "always" | task[0].repeat; forever
task: repeat = 2 | task[0].phase[0].loops; is missing; without repeat
task: repeat = "forever" && phase: loops = 1 / run_us = 5 && window: warmup_ms = 200 / until =
    "tasks-end" | task[0].repeat; 'forever'; tasks-end
phase: run_us = 1 / meet = "go" | phase[0].meet; there is none
phase: run_us = 1 / meet = "go" && more: SECOND / PHASE |
    phase[0].meet; 'go'; two tasks of one thread
task: count = 2 && phase: run_us = 1 / meet = "go" && more: SECOND / meet = "go" |
    phase[0].meet; two tasks of one thread
phase: loops = 2 / run_us = 1 / meet = "go" / [[task.phase]] / run_us = 1 && more: SECOND / loops =
    3 / meet_before = "go" / [[task.phase]] / run_us = 1 |
    phase[0].meet; 'go'; as many phases, loops and repeats
phase: run_us = 1 / meet = ["go", "go"] && more: SECOND / meet = ["go", "go"] |
    phase[0].meet; 'go' once
task: repeat = "forever" && phase: loops = 1 / run_us = 1 / meet = "go" && more: SECOND / loops = 1
    / meet_before = "go" | phase[0].meet; repeats
task: clock = "lunar" | task[0].clock; 'lunar'; vsync
task: work_cv = 0.1 && phase: runtime_us = 5 / sleep_us = 5 |
    task[0].work_cv; run_us or run_instructions
task: clock = "audio" && phase: run_us = 5 / sleep_us = 5 | task[0].clock; period_us in every phase
task: clock = "vsync" && phase: run_us = 5 / period_us = 900 | task[0].clock; 1000 us or more
task: clock = "exponential" && phase: run_us = 5 / period_us = 2000 / meet = "x" && more: SECOND /
    run_us = 5 / meet = "x" | task[0].clock; exact or vsync with meet
task: work_cv = 0.1 && phase: loops = 2 / run_us = 5 / period_us = 2000 / [[task.phase]] / run_us =
    5 / period_us = 2000 | task[0].work_cv; phases that repeat
task: work_cv = 0.1 && phase: run_us = 5 / meet = "x" && more: SECOND / loops = 2 / run_us = 5 /
    [[task.phase]] / run_us = 1 / meet = "x" | task[0].work_cv; of b, which it meets
task: work_cv = 0.1 / repeat = 2 && phase: loops = 1001 / run_us = 5 |
    task[0].work_cv; up to 1000 jobs; 1001
more: [[task]] / name = "bg3" / [[task.phase]] / run_us = 5 | task[1].name; 'bg3'; bg or stir
task: count = 94 | 94 threads and 6 others; up to 99
"""
ROWS = re.sub(r"\n {4}", " ", WRONG.strip()).splitlines()


@pytest.mark.parametrize("row", ROWS)
def test_wrong_file_gets_one_line(row: str, tmp_path: Path, juno: Platform) -> None:
    arguments, _, words = row.rpartition(" | ")
    texts = {}
    for argument in arguments.split(" && "):
        name, _, text = argument.partition(": ")
        filled = re.sub(r"\b[A-Z]{5,}\b", lambda word: TEXTS[word[0]], text)
        texts[name] = filled.replace(" / ", "\n")
    check_refused(write(tmp_path, **texts), juno, words.split("; "))


def test_no_file_and_no_toml(tmp_path: Path, juno: Platform) -> None:
    with pytest.raises(RequestError, match="No such file"):
        load_scenario(str(tmp_path / "absent.toml"), juno)
    (tmp_path / "bad.toml").write_text("summary = ")
    with pytest.raises(RequestError, match=r"bad.toml: not TOML: Invalid value"):
        load_scenario(str(tmp_path / "bad.toml"), juno)


def test_relative_clamps(tmp_path: Path, juno: Platform) -> None:
    """The source: a Juno little has capacity 383; its boosted tasks are clamped to 383..384."""
    path = write(tmp_path, task='uclamp = {min = "1.0*little", max = "1.0*little+1"}')
    (task,) = load_scenario(path, juno).tasks
    assert (task.attributes.uclamp_min, task.attributes.uclamp_max) == (383, 384)
    path = write(tmp_path, task='uclamp = {max = "0.29*little"}')
    assert load_scenario(path, juno).tasks[0].attributes.uclamp_max == 111


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
        # Whoever has ended a job ends another one: the second may wait for it twice.
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
    with pytest.raises(RequestError, match="control characters in the file name") as caught:
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


def test_background_is_one_of_two(tmp_path: Path, juno: Platform) -> None:
    path = Path(write(tmp_path))
    text = path.read_text()
    assert load_scenario(str(path), juno).background == "none"
    path.write_text('background = "phone"\n' + text)
    with pytest.raises(RequestError, match=r"x.toml: background = 'phone': .*board"):
        load_scenario(str(path), juno)


#: Two tasks that meet before the work of the one and after that of both.
UI = 'loops = 1\nrun_us = 400\nmeet = ["go", "shown"]\nperiod_us = 1000'
RENDER = 'loops = 1\nmeet_before = "go"\nrun_us = 500\nmeet = "shown"'
RING = {
    "task": 'repeat = "forever"',
    "phase": f"{UI}\n[[task.phase]]\n{UI}",
    "more": f'[[task]]\nname = "b"\nrepeat = "forever"\n[[task.phase]]\n{RENDER}\n'
    f"[[task.phase]]\n{RENDER}",
}


def compiled(path: str, platform: Platform, activity: Activity) -> Workload:
    return compile_scenario(load_scenario(path, platform), platform, activity, 0, noise=False)


def tasks_of(path: str, platform: Platform, activity: Activity) -> Any:
    return json.loads(compiled(path, platform, activity).document)["tasks"]


def test_a_thread_for_each_cpu(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task='cpus = "!big:0"\npin = "each"')
    (task,) = load_scenario(path, juno).tasks
    assert (task.count, task.cpus, task.pinned) == (5, (0, 1, 2, 3, 5), True)
    entries = tasks_of(path, juno, juno_activity)
    assert [entry["cpus"] for entry in entries.values()] == [[0], [1], [2], [3], [5]]
    (record,) = compiled(path, juno, juno_activity).tasks
    assert record.threads == ("a0-0", "a1-1", "a2-2", "a3-3", "a4-4")


def test_as_many_threads_as_cpus(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task='count = "any"')
    (task,) = load_scenario(path, juno).tasks
    assert (task.count, task.cpus, task.pinned) == (6, None, False)
    assert all("cpus" not in entry for entry in tasks_of(path, juno, juno_activity).values())


@pytest.mark.parametrize(("repeat", "loop"), [('"forever"', -1), ("7", 7)])
def test_repeat(
    repeat: str, loop: int, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    phase = "loops = 3\nrun_us = 5\nsleep_us = 9\n[[task.phase]]\nloops = 1\nrun_us = 50"
    path = write(tmp_path, task=f"repeat = {repeat}", phase=phase)
    (task,) = load_scenario(path, juno).tasks
    assert task.endless is (loop == -1)
    (entry,) = tasks_of(path, juno, juno_activity).values()
    assert entry["loop"] == loop
    assert [phase.get("loop", 1) for phase in entry["phases"].values()] == [3, 1]


def test_meeting_names_every_barrier_once_in_either_task(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """rt-app counts the events that name a barrier: two each, or someone waits for ever."""
    entries = tasks_of(write(tmp_path, **RING), juno, juno_activity)
    ui, render = (list(entries[name]["phases"].values()) for name in "ab")
    assert [list(phase) for phase in ui] == [["run", "barrier0", "barrier1", "timer"]] * 2
    assert [list(phase) for phase in render] == [["barrier0", "run", "barrier1"]] * 2
    for phases in (ui, render):
        assert [(phase["barrier0"], phase["barrier1"]) for phase in phases] == [
            ("go0", "shown0"),
            ("go1", "shown1"),
        ]
