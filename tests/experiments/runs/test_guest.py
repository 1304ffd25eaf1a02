# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole way, with the real kernel on the fast engine: names in, result out."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import execute
from eascope.host.cache import cache_root
from eascope.host.errors import EascopeError
from eascope.kernels.variants import Declared
from tests.support.columns import most
from tests.support.command import EASCOPE, RUN, eascope, json_of
from tests.support.processes import has_ended, qemus, stop
from tests.support.waiting import HANG_S, call, until

pytestmark = pytest.mark.guest

VIDEO = ["--platform", "juno-r2", "--scenario", "eas/video-playback"]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What ``eascope run --json`` prints for the smoke scenario; its runs outlive one test."""
    runs = tmp_path_factory.mktemp("smoke") / "runs"
    printed: dict[str, Any] = json_of(*RUN, EASCOPE_RUNS=str(runs))
    return printed


def copy_of(smoke: dict[str, Any]) -> Path:
    """A copy of the run in this test's own runs folder, to be broken."""
    source = Path(smoke["run"])
    target = Path(os.environ["EASCOPE_RUNS"]) / source.name
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("derived"))
    for path in target.iterdir():
        path.chmod(0o644)
    return target


def test_smoke_gives_every_measure(smoke: dict[str, Any]) -> None:
    assert smoke["eas"] is True
    assert smoke["engine"] == "qemu"
    assert smoke["window_s"] == pytest.approx(0.5, abs=2e-3), "and a wake-up from cpu-sleep"
    assert smoke["missed_deadlines"] == 0
    assert set(smoke["latency_us"]) == {"light", "heavy", "pinned"}
    assert sum(smoke["energy_j"]["cluster"].values()) == smoke["energy_j"]["total"]
    assert smoke["cpu_busy"][4] > 0.1, "'pinned' needs a tenth of big:0"
    assert all(number >= 0 for number in smoke["opp_transitions_per_s"].values())
    run = Path(smoke["run"])
    assert (run / "done").is_file()
    assert {"host_s", "mips"} <= set(smoke)


def test_second_command_simulates_nothing(smoke: dict[str, Any]) -> None:
    runs = str(Path(smoke["run"]).parent)
    again = eascope(*RUN, "--json", EASCOPE_RUNS=runs)
    assert json.loads(again.stdout) == smoke
    assert "to do" not in again.stderr
    assert eascope("verify", Path(smoke["run"]).name, EASCOPE_RUNS=runs).returncode == 0


def test_same_cell_three_times_under_load_is_the_same_bytes(
    smoke: dict[str, Any], tmp_path: Path
) -> None:
    """Nothing of the host gets in: three runs, two of them with busy processes on the host."""
    spinners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        for number in range(2):
            runs = tmp_path / f"runs{number}"
            again = json.loads(eascope(*RUN, "--json", EASCOPE_RUNS=str(runs)).stdout)
            assert files(Path(again["run"])) == files(Path(smoke["run"]))
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def files(run: Path) -> dict[str, bytes]:
    """Every file of a run and of what was derived from it, but for the host's time."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "host.json"
    }


def table(run: str, name: str) -> pl.DataFrame:
    """One derived table of a run."""
    (folder,) = (Path(run) / "derived").iterdir()
    return pl.read_parquet(folder / f"{name}.parquet")


def test_work_takes_its_time_on_the_largest_cpu(smoke: dict[str, Any]) -> None:
    """run_us at the top OPP, in every burst within one OPP; rt-app and ticks take 60 us more."""
    big = table(smoke["run"], "frequency").filter(pl.col("cluster_name") == "big")
    stretches = [tuple(row) for row in big.select("t0_ns", "t1_ns", "khz").iter_rows()]
    # A burst that was preempted or moved is several slices; only whole ones are looked at.
    whole = pl.col("slept") & pl.col("slept").shift(1).over("pid")
    bursts = table(smoke["run"], "slices").sort("t0_ns").filter(whole, pl.col("cpu") >= 4)
    tasks = set()
    for task, begin, end in bursts.select("task", "t0_ns", "t1_ns").iter_rows():
        work_us = {"heavy": 10_000, "pinned": 1_000}.get(task)
        for khz in [khz for t0, t1, khz in stretches if t0 < begin and end <= t1]:
            if work_us:
                tasks.add(task)
                at_top_us = (end - begin) / 1000 * khz / 1_200_000
                assert work_us < at_top_us < work_us + 60, (task, begin, khz)
    assert tasks == {"heavy", "pinned"}


def test_elided_is_as_executed(smoke: dict[str, Any]) -> None:
    """Same cell: every burst, placement, transition and wake-up within 5 us, energy in 0.1 %."""
    executed = json_of(*RUN, "--no-elide")
    assert executed["run"] != smoke["run"]
    assert executed["energy_j"]["total"] == pytest.approx(smoke["energy_j"]["total"], rel=1e-3)
    assert executed["migrations"] == smoke["migrations"]
    for name, key, times in (
        ("slices", ["task", "thread", "cpu"], ["t0_ns", "t1_ns"]),
        ("latency", ["task", "thread", "cpu"], ["woken_ns", "t_ns"]),
        ("frequency", ["cluster", "khz"], ["t0_ns", "t1_ns"]),
    ):
        elided_table, executed_table = (table(run["run"], name) for run in (smoke, executed))
        assert elided_table.select(key).equals(executed_table.select(key)), name
        for column in times:
            assert most((elided_table[column] - executed_table[column]).abs()) <= 5_000, (
                name,
                column,
            )


def test_every_expected_activation_runs(smoke: dict[str, Any]) -> None:
    """Period and work are the scenario's: so many wake-ups, so much time on the pinned CPU."""
    counts = dict(table(smoke["run"], "latency").group_by("task").len().iter_rows())
    assert counts["light"] == pytest.approx(2 * 500 / 16, abs=2)
    assert counts["heavy"] == pytest.approx(500 / 16, abs=1)


def test_undeclared_state_fails_the_run() -> None:
    """A kernel that is not in the declared state: the run fails and says which file said what."""
    names = resolve(Request("juno-r2", "mainline", "smoke"))
    lying = replace(names.variant, declares=Declared(False, "schedutil"))
    with pytest.raises(EascopeError, match=r"energy_aware"):
        execute(prepare(replace(names, variant=lying)))
    (run,) = Path(os.environ["EASCOPE_RUNS"]).glob("[0-9a-f]*")
    failed = json.loads((run / "failed.json").read_bytes())
    assert "script line" in failed["cause"]
    assert not (run / "done").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "term"])
def test_interrupt_and_continue(number: signal.Signals) -> None:
    """Exit 130, no process and no file left, and the same command continues."""
    command = [*EASCOPE, "compare", "mainline", "cas", *VIDEO]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    runs = Path(os.environ["EASCOPE_RUNS"])
    stopped: list[int] = []

    def is_stopped_in_a_run() -> bool:
        # A stopped QEMU keeps its run from ending before the signal comes.
        stopped.extend(pid for pid in qemus(started.pid) if stop(pid))
        return bool(stopped)

    until(is_stopped_in_a_run, "a run")
    assert [path.name for path in runs.iterdir() if ".tmp-" in path.name]
    started.send_signal(number)
    _, stderr = started.communicate(timeout=HANG_S)
    assert started.returncode == 130, stderr
    assert "the same command continues" in stderr
    assert "Traceback" not in stderr
    assert all(has_ended(pid) for pid in stopped)
    assert qemus(started.pid) == []
    assert [path.name for path in runs.iterdir() if ".tmp-" in path.name] == []
    done = call(command)
    assert done.returncode == 0, done.stderr


def test_truncated_trace(smoke: dict[str, Any]) -> None:
    run = copy_of(smoke)
    trace = (run / "trace.dat").read_bytes()
    (run / "trace.dat").write_bytes(trace[: len(trace) // 2])
    done = eascope("show", run.name)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "trace.dat" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((run / "derived").glob("*")) == []


def test_corrupt_cache_entry_on_use(tmp_path: Path) -> None:
    """A changed byte in an artefact is found before anything runs with it."""
    resolve(Request("juno-r2", "mainline", "smoke")).engine.identity()  # so that there is one
    cache = tmp_path / "cache"
    cache.mkdir()
    for kind in cache_root().iterdir():
        if kind.name == "qemu":
            shutil.copytree(kind, cache / "qemu", symlinks=True)
        else:
            (cache / kind.name).symlink_to(kind)
    program = next((cache / "qemu").glob("*/bin/qemu-system-aarch64"))
    content = bytearray(program.read_bytes())
    content[len(content) // 2] ^= 1
    program.chmod(0o755)
    program.write_bytes(content)
    done = eascope(*RUN, EASCOPE_CACHE=str(cache))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"{program.parent.parent} is corrupt: bin/qemu-system-aarch64 does not" in done.stderr
    assert not Path(os.environ["EASCOPE_RUNS"]).exists()


def test_eas_uses_the_littles_more_than_cas() -> None:
    """What EAS is for. The energy difference is reported as it comes out, not asserted.

    With ten seeds: cas never moves a thread, so a single run shows where its threads began.
    """
    result = json_of("compare", "mainline", "cas", *VIDEO, "--seeds", "10")
    mainline, cas = (result["variants"][name]["mean"] for name in ("mainline", "cas"))
    assert (mainline["eas"], cas["eas"]) == (True, False)
    assert mainline["work_share"]["little"] > cas["work_share"]["little"]
    assert Path(result["report"]).is_file()
    for paths in result["figures"].values():
        assert all(Path(path).stat().st_size > 1000 for path in paths)
    assert {entry["measure"] for entry in result["differences"]} >= {"energy_j.total"}
