# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in a real guest: what they print, and runs that end with the program that went wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.records.cell import CELL, CellRecord
from configs.activity import Activity
from configs.platform import Platform
from configs.program_activity import load_program, program_path
from experiments.cli.main import main
from tests.support.command import eascope
from tests.support.program_figures import NAME, RECORD, SLOW

pytestmark = pytest.mark.guest

HEAD = 'summary = "s"\nsource = "eascope\'s own"\nloads = "short"\nimage = "programs"\n'
LATENCY = """
[[program]]
name = "latency"
run = "cyclictest"
arguments = "-t 2 -p 80 -i 1000 -d 0 -l {count} -h 2000"
cpus = "big"
short_count = 50
full_count = 60
[[program]]
name = "hog"
run = "busybox"
arguments = "md5sum /dev/zero"
nice = 10
uclamp = { max = 200 }
cgroup = { name = "low", weight = 10 }
cpus = "little:0"
[window]
warmup_ms = 200
until = "programs-end"
"""
LOAD = '[[program]]\nname = "p"\nrun = "busybox"\nrole = "load"\narguments = "{}"\n{}'
WINDOW = "[window]\nwarmup_ms = 200\nshort_ms = 300\nfull_ms = 300\n"


def run_of(folder: Path, text: str) -> Any:
    """What the command printed for one run of a scenario."""
    path = folder / "x.toml"
    path.write_text(HEAD + text)
    command = ["run", "--platform", "juno-r2", "--variant", "mainline", "--no-noise"]
    return eascope(*command, "--scenario", str(path), "--json")


def test_what_cyclictest_prints_becomes_measures(tmp_path: Path) -> None:
    done = run_of(tmp_path, LATENCY)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    latency = result["program"]["latency"]
    assert latency["thread0_cycles"] == 50
    assert 0 < latency["min_us"] <= latency["p50_us"] <= latency["p99_us"] <= latency["max_us"]
    assert result["work"] == latency["operations"] == latency["cycles"]
    # The load is a task, too: it ran on its CPU all the time.
    assert result["cpu_share"]["hog"][0] == 1
    assert result["run_share"]["latency"] == {"little": 0, "big": 1}


@pytest.mark.parametrize(
    ("arguments", "more", "words"),
    [
        ("sleep 0.01", "", r"program p (busybox): ended before it was stopped"),
        ("sleep 1000", "limit_s = 1\n", "program p (busybox): still running after 1000 ms"),
        ("cat /no/such", "", "exit status 1, expected 0"),
        (
            "dd if=/dev/zero of=/tmp/file bs=1M",
            "",
            "p (busybox): exit status 1, expected 0: /tmp is full",
        ),
    ],
)
def test_a_run_ends_with_the_program_that_went_wrong(
    tmp_path: Path, arguments: str, more: str, words: str
) -> None:
    long = arguments.startswith(("sleep 1000", "dd"))
    window = WINDOW.replace("300", "4000") if long else WINDOW
    done = run_of(tmp_path, LOAD.format(arguments, more) + window)
    assert done.returncode == 1
    line = done.stderr.split("eascope: error: ")[1].splitlines()[0]
    assert words in line
    if "cat" in arguments:
        assert "last output: cat: can't open '/no/such'" in line


SPINS = """
[[program]]
name = "sysbench"
run = "sysbench-cpu"
arguments = "--threads=1 --time=0 --events={count}"
short_count = 20
full_count = 20
cpus = "big:0"
[window]
warmup_ms = 200
until = "programs-end"
"""


def test_a_program_with_figures_runs_at_them(
    tmp_path: Path,
    juno: Platform,
    juno_activity: Activity,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At half the kernel's rate, sysbench does half the events: in its libraries, too."""
    scenario = tmp_path / "x.toml"
    scenario.write_text(HEAD + SPINS)
    command = ["run", "--platform", "juno-r2", "--variant", "mainline", "--no-noise", "--json"]
    folder = tmp_path / "activity"
    monkeypatch.setattr(
        "experiments.program_speeds.load_program",
        lambda platform, name: load_program(platform, name, folder),
    )
    rates, assumed = [], []
    for factor in (1, 0.5):
        write_figures(juno, juno_activity, folder, factor)
        assert main([*command, "--scenario", str(scenario)]) == 0
        result = json.loads(capsys.readouterr().out)
        rates.append(result["program"]["sysbench"]["events_per_s"])
        cell = CellRecord.read(Path(result["run"]) / CELL)
        assumed.append([line for line in cell.assumed if line.startswith("program ")])
    assert assumed == [[], []]
    # Its start, which the kernel does for it, takes as long as before.
    assert rates[1] == pytest.approx(rates[0] / 2, rel=0.05)


def write_figures(platform: Platform, activity: Activity, folder: Path, factor: float) -> None:
    """Figures of sysbench: ``factor`` times the instructions per cycle of the kernel."""
    clusters = {}
    for cluster in platform.clusters:
        cycles = 1 / activity.system_ipc(cluster) / factor
        sample = SLOW | {"instructions": 10**6, "cycles": round(cycles * 10**6)}
        samples = {str(cluster.max_khz): sample}
        clusters[cluster.name] = {"cycles": cycles, "memory_ns": 0, "samples": samples}
    path = program_path(platform, NAME, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(RECORD | {"clusters": clusters}))
