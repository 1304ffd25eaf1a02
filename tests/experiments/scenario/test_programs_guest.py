# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in a real guest: what they print, and runs that end with the program that went wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.records.cell import CELL, CellRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.configs.program_activity import load_program, program_path
from eascope.experiments.cli.main import main
from eascope.experiments.scenario.program_kinds import KINDS, Kind
from tests.support.command import eascope, output_of
from tests.support.program_figures import NAME, RECORD, SLOW

pytestmark = pytest.mark.guest

RUN = ["run", "--variant", "mainline", "--no-noise"]
HEAD = 'summary = "s"\nsource = "eascope\'s own"\nloads = "short"\nimage = "programs"\n'
LATENCY = """
[[group]]
name = "low"
weight = 10
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
group = "low"
cpus = "little:0"
[window]
warmup_ms = 200
until = "programs-end"
"""
LOAD = '[[program]]\nname = "p"\nrun = "busybox"\nrole = "load"\narguments = "{}"\n{}'
WINDOW = "[window]\nwarmup_ms = 200\nshort_ms = 300\nfull_ms = 300\n"


def run_of(folder: Path, text: str, board: str = "juno-r2", **environment: str) -> Any:
    """What the command printed for one run of a scenario."""
    path = folder / "x.toml"
    path.write_text(HEAD + text)
    return eascope(*RUN, "--platform", board, "--scenario", str(path), "--json", **environment)


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
) -> None:
    """At half the kernel's rate, sysbench does half the events: in its libraries, too."""
    scenario = tmp_path / "x.toml"
    scenario.write_text(HEAD + SPINS)
    command = ["run", "--platform", "juno-r2", "--variant", "mainline", "--no-noise", "--json"]
    folder = tmp_path / "activity"
    monkeypatch.setattr(
        "eascope.experiments.runs.request.load_program",
        lambda platform, name: load_program(platform, name, folder),
    )
    rates, assumed = [], []
    for factor in (1, 0.5):
        write_figures(juno, juno_activity, folder, factor)
        result = json.loads(output_of(*command, "--scenario", str(scenario)))
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


def failed(folder: Path, text: str, **more: str) -> str:
    """The one line of a run that fails; nothing of it counts as finished."""
    runs = folder / "runs"
    done = run_of(folder, text, EASCOPE_RUNS=str(runs), **more)
    assert done.returncode == 1, done.stdout
    assert done.stdout == ""
    errors = str(done.stderr).splitlines()
    (line,) = [line for line in errors if line.startswith("eascope: error: ")]
    (run,) = runs.glob("[!.]*")
    assert (run / "failed.json").is_file()
    assert not (run / "done").exists()
    return line


def shell(*words: str) -> str:
    """Arguments of busybox for a shell that runs a command: a scenario's words have no quotes."""
    return "sh -c " + "${IFS}".join(words)


@pytest.mark.parametrize(
    ("arguments", "more", "begin", "end"),
    [
        ("sleep 0.01", "", "ended before it was stopped, before the window (script line ", ""),
        ("sleep 1000", "limit_s = 1\n", "still running after 1000 ms", ""),
        ("cat /no/such", "", "exit status 1, expected 0", "can't open '/no/such'"),
        ("dd if=/dev/zero of=/tmp/file bs=1M", "", "exit status 1, expected 0: /tmp is full", ""),
        (
            shell("echo", "last;kill", "-SEGV", "$$"),
            "",
            "died of SIGSEGV (Segmentation fault)",
            "; last output: last",
        ),
        # A signal alone does not say who has sent it; the kernel's log says so.
        (shell("kill", "-KILL", "$$"), "", "died of SIGKILL (Killed), before the window (", ""),
        (
            "dd if=/dev/zero of=/dev/null bs=420M",
            "",
            "died of SIGKILL (Killed): the OOM killer killed it",
            "",
        ),
    ],
    ids=["ends", "limit", "fails", "fills /tmp", "crashes", "is killed", "has no memory"],
)
def test_a_run_ends_with_the_program_that_went_wrong(
    tmp_path: Path, arguments: str, more: str, begin: str, end: str
) -> None:
    board = tmp_path / "small.toml"
    board.write_text('base = "juno-r2"\nsummary = "s"\nmemory_mib = 512\n')
    of_memory = {"board": str(board)} if "420M" in arguments else {}
    window = WINDOW.replace("300", "4000")
    line = failed(tmp_path, LOAD.format(arguments, more) + window, **of_memory)
    assert f"program p (busybox): {begin}" in line
    assert end in line if "cat" in arguments else line.endswith(end)


FILLS = "dd if=/dev/zero of=/tmp/x bs=1M"
#: `shell` runs it; what is quoted is a shell's only for `eval`.
FILLS_ALWAYS = ("eval", "while", ":';'do", "cat", "/dev/zero'>>'/tmp/y';'done")
MEASURED_AFTER_A_SECOND = (
    LATENCY.split("[[program]]")[1] + '[window]\nwarmup_ms = 1000\nuntil = "programs-end"\n'
)


def test_programs_that_fill_tmp_before_the_window(tmp_path: Path) -> None:
    """What looks at them has room of its own, even if another one takes all that becomes free."""
    other = LOAD.replace('"p"', '"q"').format(shell(*FILLS_ALWAYS), "")
    loads = f"{LOAD.format(FILLS, '')}{other}"
    line = failed(tmp_path, f"{loads}[[program]]{MEASURED_AFTER_A_SECOND}")
    words = "program p (busybox): exit status 1, expected 0: /tmp is full, before the window ("
    assert words in line
    assert "left on device" in line.split("; last output: ")[1]


def test_a_program_that_starts_in_a_full_tmp(tmp_path: Path) -> None:
    """The load that has filled it goes on, so the next one says what is the matter."""
    load = LOAD.format(shell(*FILLS.replace("1M", "1M;sleep").split(), "1000"), "")
    line = failed(tmp_path, f"{load}[[program]]{MEASURED_AFTER_A_SECOND}")
    assert "program latency (cyclictest): does not start: /tmp is full (script line " in line


def test_a_program_that_ends_with_0_before_it_was_stopped(tmp_path: Path) -> None:
    text = LATENCY.split("[[program]]")[1].replace(" -l {count}", " -l 20")
    text = text.replace("short_count = 50\nfull_count = 60\n", 'stop = "window"\n')
    line = failed(tmp_path, f"[[program]]{text}{WINDOW}")
    assert "program latency (cyclictest): ended before it was stopped" in line
    assert "last output: " in line


def test_an_output_that_does_not_parse(tmp_path: Path) -> None:
    text = '[[program]]\nname = "p"\nrun = "hackbench"\narguments = "--help"\n'
    done = run_of(tmp_path, text + '[window]\nwarmup_ms = 200\nuntil = "programs-end"\n')
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("eascope: error: ")]
    assert "program p (hackbench): " in line
    assert "program-p.log" in line


def test_a_server_that_ends_before_it_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell stands for PostgreSQL, which needs another kernel."""
    server = Kind("/bin/busybox", 0, "a server", "", "{arguments}", ready="-q")
    monkeypatch.setitem(KINDS, "postgres", server)
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))
    path = tmp_path / "x.toml"
    words = shell("echo", "refused;exit", "3")
    text = f'[[program]]\nname = "db"\nrun = "postgres"\narguments = "{words}"\n'
    path.write_text(HEAD + text + WINDOW)
    assert main([*RUN, "--platform", "juno-r2", "--scenario", str(path)]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    assert "program db (busybox): exit status 3, expected 0, before it was ready" in line
    assert line.endswith("; last output: refused")
