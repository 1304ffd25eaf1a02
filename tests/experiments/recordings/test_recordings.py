# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as scenarios: files that load, the guest's steps, and a replay that does them."""

import re
import struct
from fractions import Fraction
from pathlib import Path

import pytest

from eascope.analysis.recordings.bursts import bursts_of
from eascope.analysis.recordings.device import device_of
from eascope.analysis.recordings.read import read_recording
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.cli.main import main
from eascope.experiments.recordings.toml import draft_of
from eascope.experiments.scenario import recorded
from eascope.experiments.scenario.recorded import Attributes, Burst, Recorded, Thread, guest_file
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support import recordings as of
from tests.support.command import json_inside, output_of, refused

JUNO = (950_000, 1_200_000, 1_200_000, 950_000, 950_000, 950_000)
#: A timer wakes 7 every 20 ms; it works 2 ms, wakes 8 on the way, which works 1 ms.
PERIODS = 40


def course() -> list[str]:
    events = of.clocks(0, JUNO)
    for number in range(PERIODS):
        at = 1_000 + 20_000 * number
        events += [
            of.waking(at, 0, 0, 7),
            of.switch(at, 0, 0, "R", 7),
            of.waking(at + 500, 0, 7, 8),
            of.switch(at + 500, 3, 0, "R", 8),
            of.switch(at + 1_500, 3, 8, "S", 0),
            of.switch(at + 2_000, 0, 7, "S", 0),
        ]
    # The recorder's own thread.
    events += [of.switch(5_000, 4, 0, "R", 9), of.switch(5_100, 4, 9, "S", 0)]
    return sorted(events, key=lambda line: int(line.split(" ")[0]))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    text = of.text(*course(), cpus=6).replace("t9", "traced")
    return of.saved(tmp_path / "r.txt", text)


def test_an_import_is_a_scenario_that_loads(trace: Path, tmp_path: Path, juno: Platform) -> None:
    out = tmp_path / "load.toml"
    said = output_of("scenario", "import", str(trace), "--out", str(out))
    assert all(len(line) <= 90 for line in said.splitlines() if "eascope run" not in line)
    assert re.search(r"^t7 +7 +40 .* open$", said, re.M)
    assert re.search(r"^t8 +8 +40 .* closed, waits for threads$", said, re.M)
    assert "the recorder's own threads: 1, with 0.1 % of the work" in said
    scenario = load_scenario(str(out), juno)
    assert [(task.name, task.recorded) for task in scenario.tasks] == [
        ("t7", ("t7_7",)),
        ("t8", ("t8_8",)),
        ("recorder", ("traced_9",)),
    ]
    assert "task t7: recorded = ('t7_7',): allowed: tasks with phases" in refused(
        "scenario", "export", str(out), "--rt-app"
    )
    read = recorded.read_recorded(tmp_path / "load.bursts")
    assert read.text() == (tmp_path / "load.bursts").read_text()
    seven, eight, _ = read.threads
    assert [burst.waker for burst in eight.bursts] == ["t7_7"] * PERIODS
    assert [burst.of for burst in eight.bursts] == [*range(PERIODS)]
    little = 485 * 950_000 / (1024 * 1_200_000)
    assert seven.bursts[3].work == pytest.approx(2_000 * little, abs=0.01)
    assert eight.bursts[3].offset == pytest.approx(500 * little, abs=0.01)
    # The digest covers the bursts.
    text = (tmp_path / "load.bursts").read_text()
    (tmp_path / "load.bursts").write_text(text.replace(" t7_7 3 ", " t7_7 2 "))
    assert load_scenario(str(out), juno).digest != scenario.digest


def test_dropped_and_merged_threads(trace: Path, tmp_path: Path, juno: Platform) -> None:
    out = tmp_path / "load.toml"
    command = ["scenario", "import", str(trace), "--out"]
    dropped = json_inside(*command, str(tmp_path / "dropped.toml"), "--drop-recorder")
    assert dropped["threads"] == 2
    made = json_inside(*command, str(out), "--most", "1")
    assert (made["merged_threads"], made["merged_work"]) == (2, pytest.approx(0.334, abs=0.001))
    threads = recorded.read_recorded(out.with_suffix(".bursts")).threads
    assert [thread.name for thread in threads] == ["t7_7", "merged_3", "merged_4"]
    assert not any(burst.waker for thread in threads for burst in thread.bursts)
    assert load_scenario(str(out), juno).tasks[-1].recorded == ("merged_3", "merged_4")


def _ran(*stays: tuple[int, int, int, int], prio: int = 120) -> list[str]:
    """Switches of threads that run: CPU, thread, from and until, in us."""
    return [
        event
        for cpu, pid, first, last in stays
        for event in (
            of.switch(first, cpu, 0, "R", pid, prio),
            of.switch(last, cpu, pid, "S", 0, prio),
        )
    ]


RECORDER = [
    *of.clocks(0, JUNO),
    *(event.replace("t9", "perf") for event in _ran((0, 9, 2_000, 2_100))),
]
#: Events and options of an import, and what it says.
SAID: dict[str, tuple[list[str], list[str]]] = {
    "little: the clock before its first event is unknown: taken as the one that it had most of "
    "the time, 950 MHz (50 % of the work)": (
        [
            *of.clocks(0, JUNO)[1:3],
            *_ran((0, 7, 100, 1_100)),
            of.clock(1_100, 0, 450_000),
            of.clock(1_200, 0, 950_000),
            *_ran((0, 8, 2_000, 3_000)),
        ],
        [],
    ),
    "little: no clock was recorded: taken at its top clock, 950 MHz (100 % of the work)": (
        [*of.clocks(0, JUNO)[1:3], *_ran((0, 7, 100, 1_100))],
        ["--platform", "juno-r2"],
    ),
    "1 stays on a CPU end in a gap of events: 80 % of the work rests on them, 80 % on one of t7": (
        [
            *of.clocks(0, JUNO),
            of.switch(100, 0, 0, "R", 7),
            of.switch(4_100, 0, 0, "R", 8),
            of.switch(5_100, 0, 8, "S", 0),
        ],
        [],
    ),
    "1 pids were used again: taken apart: t7 10000007, then t7 7": (
        [
            *of.clocks(0, JUNO),
            *(event.replace("=S", "=Z") for event in _ran((0, 7, 100, 200))),
            *_ran((0, 7, 300, 1_000)),
        ],
        [],
    ),
    "SCHED_DEADLINE, whose parameters are in no event: t7 7: replayed as fifo 98": (
        [*of.clocks(0, JUNO), *_ran((0, 7, 100, 1_100), prio=-1)],
        [],
    ),
    "the priority changed of 1 threads (t7 7): each has the one of most of its running time": (
        [
            *of.clocks(0, JUNO),
            *_ran((0, 7, 100, 200)),
            *_ran((0, 7, 300, 1_000), (0, 7, 2_000, 3_000), prio=49),
        ],
        [],
    ),
    "the recorder's own threads: 1, with 10.0 % of the work": (
        [*RECORDER, *_ran((0, 7, 100, 1_000))],
        ["--most", "1"],
    ),
    "the recorded kernel's threads: 1, with 30.0 % of the work: they are replayed beside": (
        [
            *of.clocks(0, JUNO),
            *_ran((0, 7, 100, 800)),
            *(of_kernel.replace("t9", "sugov:0") for of_kernel in _ran((0, 9, 800, 1_100))),
        ],
        [],
    ),
}


def _imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], events: list[str], *options: str
) -> tuple[int, str]:
    """Of an import as `load.toml`: how it ends, and what it prints, as one line."""
    path = of.saved(tmp_path / "x.txt", of.text(*events, cpus=6))
    code = main(["scenario", "import", str(path), "--out", str(tmp_path / "load.toml"), *options])
    done = capsys.readouterr()
    return code, " ".join((done.out + done.err).split())


@pytest.mark.parametrize("words", SAID)
def test_an_import_says_what_it_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    events, options = SAID[words]
    assert words in _imported(tmp_path, capsys, events, *options)[1]


#: Events and options of an import, and heads of its threads: name, policy, priority.
THREADS: dict[str, tuple[list[str], list[str], list[tuple[str, str, int]]]] = {
    "most of the time": (
        [*of.clocks(0, JUNO), *_ran((0, 7, 100, 200)), *_ran((0, 7, 300, 1_000), prio=49)],
        [],
        [("t7_7", "fifo", 50)],
    ),
    "merged by policy": (
        [
            *of.clocks(0, JUNO),
            *_ran((0, 7, 100, 2_000)),
            *_ran((0, 8, 2_000, 3_000)),
            *_ran((0, 9, 3_000, 4_000), prio=49),
            *_ran((0, 10, 4_000, 5_000), prio=110),
        ],
        ["--most", "1"],
        [
            ("t7_7", "other", 0),
            ("merged_0", "other", 0),
            ("merged_0_f50", "fifo", 50),
            ("merged_0_o-10", "other", -10),
        ],
    ),
    "a pid that is used again": (
        [
            *of.clocks(0, JUNO),
            *(
                event.replace("t7", "old").replace("=S", "=X")
                for event in _ran((0, 7, 100, 200), prio=49)
            ),
            *_ran((0, 7, 300, 1_000)),
        ],
        [],
        [("t7_7", "other", 0), ("old_10000007", "fifo", 50)],
    ),
    "perfd is no recorder": (
        [*RECORDER, *(event.replace("t8", "perfd") for event in _ran((0, 8, 100, 900)))],
        ["--drop-recorder"],
        [("perfd_8", "other", 0)],
    ),
}


@pytest.mark.parametrize("case", THREADS)
def test_threads_and_their_policies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    events, options, heads = THREADS[case]
    assert _imported(tmp_path, capsys, events, *options)[0] == 0
    threads = recorded.read_recorded(tmp_path / "load.bursts").threads
    assert [(of.name, of.policy, of.priority) for of in threads] == heads


#: Options of an import, and the line with which it is refused.
REFUSED = {
    ("--capacities", "1,1,1,1,1,nan"): "--capacities 1,1,1,1,1,nan: expected numbers above 0",
    ("--capacities", "1,1,1,1,1,-1"): "--capacities 1,1,1,1,1,-1: expected numbers above 0",
    ("--capacities", "1,1", "--platform", "juno-r2"): "cannot be combined with --platform",
    ("--name", "other"): "--name other cannot be combined with --out",
    ("--drop-recorder",): "only the recorder's threads ran; import it without --drop-recorder",
}


@pytest.mark.parametrize("options", REFUSED)
def test_a_refused_import_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    code, said = _imported(tmp_path, capsys, RECORDER, *options)
    assert (code, REFUSED[options] in said) == (2, True), said
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]


def test_a_model_says_what_it_has_fitted(trace: Path, tmp_path: Path, juno: Platform) -> None:
    out = tmp_path / "load.toml"
    assert main(["scenario", "import", str(trace), "--out", str(out), "--model"]) == 0
    text = out.read_text()
    assert "# t7 7: open: period 20000 us, cv 0.00; work 750 us, cv 0.00, 40 bursts" in text
    assert "# t8 8: closed: waits for t7_7 (40 of 40 wake-ups); work 375 us" in text
    seven, eight, *_ = load_scenario(str(out), juno).tasks
    assert (seven.period_us, seven.phases[0].run_us) == (20_000, 750)
    assert (eight.phases[0].wait, eight.phases[0].run_us) == ("t7", 375)


def test_the_guest_waits_for_as_many_posts_as_there_were() -> None:
    seven = Thread("a", 7, "other", -5, "open", "a", (Burst(0, 0, 100), Burst(500, 400, 100)))
    eight = (Burst(60, 60, 10, "a", 0, 50), Burst(560, 490, 10, "a", 1, 100))
    load = Recorded(Path("x"), 1000, (seven, Thread("b", 8, "fifo", 9, "open", "b", eight, (3,))))
    attributes = {"a": Attributes((1, 2), 7, None), "b": Attributes()}
    data = guest_file(load, attributes, Fraction(2), before_us=850, there=range(6))
    magic, threads, count, _, length, start = struct.unpack_from("<IIIIQQ", data)
    assert (magic, threads, count, length, start) == (0x50525345, 2, 11, 1000, 550)
    heads = [struct.unpack_from("<16siiiiQIIII", data, 32 + 56 * n) for n in range(2)]
    assert heads[0][1:] == (0, -5, 7, -1, 0b110, 0, 7, 7, 0)
    # The second wake-up of b comes from a burst that began before the start: its post is there.
    assert heads[1][1:] == (1, 9, -1, -1, 0b1000, 7, 4, 2, 1)
    steps = struct.unpack_from("<11Q", data, 32 + 2 * 56)
    wait, run, post = 2 << 56, 3 << 56, 4 << 56
    assert steps == (
        *(0, run | 100, post | 1, run | 100, 500, run | 200, post | 1),
        *(wait, run | 20, wait, run | 20),
    )


def test_files_that_are_there_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eascope.experiments.cli.scenario._check", lambda *_: 0)  # without the run
    slow, fast = 300_000, 700_000
    clocks = (fast, slow, slow, fast, fast, fast)
    events = [*of.clocks(0, clocks), *_ran((0, 7, 100, 1_100))]
    assert _imported(tmp_path, capsys, events)[0] == 0
    toml, draft = tmp_path / "load.toml", tmp_path / "load-platform.toml"
    kept = toml.rename(tmp_path / "kept.toml")
    code, said = _imported(tmp_path, capsys, events)
    assert (code, toml.exists()) == (2, False)
    assert "load.bursts already exists; choose another name" in said
    # `check` takes what the import gives, and nothing else.
    kept.rename(toml)
    command = ["scenario", "check", str(tmp_path / "x.txt"), "--out", str(toml)]
    assert main(command) == 0
    draft.write_text(draft.read_text() + "# edited\n")
    found = {path: path.read_text() for path in (toml, draft)}
    said = refused(*command)
    assert "load-platform.toml already exists and differs from a fresh import" in said
    assert said.endswith(f", or --platform {draft} and another --out")
    assert found == {path: path.read_text() for path in found}
    # The draft numbers CPUs by cluster, and its recording does not.
    other = [*command[:-1], str(tmp_path / "other.toml"), "--platform", str(draft)]
    assert main(other) == 0
    assert toml.with_suffix(".bursts").read_text() == (tmp_path / "other.bursts").read_text()
    assert "does not have" not in (tmp_path / "other.toml").read_text()


WRONG = {
    'recording = "none.bursts"': "none.bursts",
    'recorded = ["t7_7", "t7_7"]': "task[0].recorded",
    'recorded = ["nobody"]': "threads of the scenario's recording",
    'recorded = ["t7_7"]\nnice = 3': "task[0].nice",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_scenario_is_one_line(
    trace: Path, tmp_path: Path, juno: Platform, line: str
) -> None:
    out = tmp_path / "load.toml"
    assert main(["scenario", "import", str(trace), "--out", str(out)]) == 0
    key = line.partition(" =")[0]
    out.write_text(re.sub(rf"^{key} = .*$", line, out.read_text(), count=1, flags=re.M))
    with pytest.raises(RequestError, match=re.escape(WRONG[line])):
        load_scenario(str(out), juno)


@pytest.mark.parametrize("line", ["eascope-bursts 2", "length x", "thread a 1 other", "1.0 2.0"])
def test_a_wrong_file_of_bursts_is_one_line(tmp_path: Path, line: str) -> None:
    lines = [recorded.FIRST_LINE, "length 9", "thread a 1 other 0 open any a", "1.0 1.0 1.0"]
    place = next((n for n, good in enumerate(lines) if good[:3] == line[:3]), 3)
    lines[place] = line
    path = of.saved(tmp_path / "x.bursts", "\n".join(lines))
    with pytest.raises(RequestError, match=re.escape(repr(line))) as caught:
        recorded.read_recorded(path)
    assert f"line {place + 1}" in str(caught.value)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_draft_of_any_device_is_a_platform(tmp_path: Path, count: int) -> None:
    events = [of.clock(n, n, 300_000 + 100_000 * n) for n in range(count)]
    events += [of.clock(9 + n, n, 600_000 + 300_000 * n) for n in range(count)]
    text = of.text(*events, of.switch(20, 0, 0, "R", 7), of.switch(30, 0, 7, "S", 0))
    device = device_of(read_recording(of.saved(tmp_path / "r", text)))
    path = of.saved(tmp_path / "draft.toml", draft_of(device))
    made = load_platform(str(path))
    assert [len(cluster.cpus) for cluster in made.clusters] == [1] * count
    assert [opp.khz for opp in made.clusters[0].opps] == [300_000, 600_000]
    assert all("unknown" not in gap or gap in path.read_text() for gap in device.gaps)


@pytest.mark.guest
def test_a_replay_does_what_was_recorded(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "load.toml"
    made = json_inside("scenario", "check", str(trace), "--out", str(out))
    figures = made["figures"]
    assert figures["agreement"]["all"]["error"] < 1
    # The kernel's own work comes on top, and the window's ends cut a burst.
    assert 0.97 < figures["work"]["simulated"] / figures["work"]["recorded"] < 1.15
    ours = read_recording(Path(made["run"]) / "trace.dat")
    device = device_of(ours, load_platform("juno-r2"))
    assert device_of(ours) == device, "as the trace itself says"
    table = bursts_of(ours, device, ours.begin_ns, ours.end_ns).bursts
    pids = {name: pid for pid, name in ours.names.items()}
    seven, eight = (table.filter(table["pid"] == pids[name]) for name in ("t7_7", "t8_8"))
    # But for the one in which it was ended, 7 woke it, once in each of its own bursts.
    last = eight[-PERIODS - 1 : -1]
    assert set(last["waker"]) == {pids["t7_7"]}
    assert last["waker_burst"].n_unique() == PERIODS
    assert set(last["waker_burst"]) <= set(seven["burst"])
    # A wake-up from a cluster's sleep comes 1.2 ms later.
    periods = seven["begin"][-PERIODS:-3].diff()[1:]
    assert (periods - 20_000_000).abs().median() < 100_000  # type: ignore[operator]
