# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as scenarios: files that load, the guest's steps, and a replay that does them."""

from __future__ import annotations

import json
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
from eascope.experiments import recorded
from eascope.experiments.cli.main import main
from eascope.experiments.platform_draft import draft_of
from eascope.experiments.recorded import Attributes, Burst, Recorded, Thread, guest_file
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support import recordings as of

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


def test_an_import_is_a_scenario_that_loads(
    trace: Path, tmp_path: Path, juno: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "load.toml"
    assert main(["scenario", "import", str(trace), "--out", str(out)]) == 0
    said = capsys.readouterr().out
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
    assert main(["scenario", "export", str(out), "--rt-app"]) == 2
    assert "task t7: recorded = ('t7_7',): allowed: tasks with phases" in capsys.readouterr().err
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


def test_dropped_and_merged_threads(
    trace: Path, tmp_path: Path, juno: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "load.toml"
    command = ["scenario", "import", str(trace), "--out", str(out), "--json"]
    assert main([*command, "--drop-recorder"]) == 0
    assert json.loads(capsys.readouterr().out)["threads"] == 2
    assert main([*command, "--most", "1"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["merged_threads"], made["merged_work"]) == (2, pytest.approx(0.334, abs=0.001))
    threads = recorded.read_recorded(out.with_suffix(".bursts")).threads
    assert [thread.name for thread in threads] == ["t7_7", "merged_3", "merged_4"]
    assert not any(burst.waker for thread in threads for burst in thread.bursts)
    assert load_scenario(str(out), juno).tasks[-1].recorded == ("merged_3", "merged_4")


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
def test_a_replay_does_what_was_recorded(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "load.toml"
    assert main(["scenario", "check", str(trace), "--out", str(out), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    figures = made["figures"]
    assert figures["agreement"]["all"]["error"] < 1
    # The kernel's own work comes on top, and the window's ends cut a burst.
    assert 0.97 < figures["work"]["simulated"] / figures["work"]["recorded"] < 1.15
    ours = read_recording(Path(made["run"]) / "trace.dat")
    device = device_of(ours, load_platform("juno-r2"))
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
