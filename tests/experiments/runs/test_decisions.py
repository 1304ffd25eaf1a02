# SPDX-License-Identifier: GPL-2.0-or-later
"""``--decisions``: what EAS compared, as the kernel says it, against what then happened."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.analysis.decisions import candidates, decisions
from eascope.analysis.derive import Derived
from eascope.analysis.energies import computed_decisions
from eascope.analysis.trace import read_trace
from eascope.experiments.runs.finished import derived_by
from eascope.experiments.runs.store import Run
from tests.support.command import eascope, json_of

pytestmark = [pytest.mark.guest, pytest.mark.kernels("feec")]

COMPARE = [
    *("compare", "feec-a", "feec-b", "--platform", "juno-r2", "--scenario", "eas/video-playback"),
    *("--decisions", "--no-noise"),
]


@pytest.fixture(scope="module")
def recorded_with(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What ``eascope compare --json`` printed, and where its runs are."""
    runs = tmp_path_factory.mktemp("decisions") / "runs"
    return json_of(*COMPARE, EASCOPE_RUNS=str(runs)), runs


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `feec-a` that records its decisions, and the energies that they compared."""
    runs = tmp_path_factory.mktemp("both") / "runs"
    options = ("--platform", "juno-r2", "--scenario", "eas/video-playback", "--decisions", "--json")
    done = eascope(
        "run", *options, "--variant", "feec-a", "--events", "eas", EASCOPE_RUNS=str(runs)
    )
    assert done.returncode == 0, done.stderr
    return next(runs.glob("*/trace.dat"))


def test_energies_show_the_decisions_that_the_kernel_says(both_ways: Path) -> None:
    """Mainline's placement says both. A kernel worker's decision is about where it slept last."""
    trace = read_trace(both_ways)
    output = {
        (row["pid"], row["prev_cpu"], row["dst_cpu"], item)
        for row in trace.table("sched_feec_decision").iter_rows(named=True)
        if not row["comm"].startswith("kworker")
        for item in [tuple((other.cpu, other.energy) for other in candidates(row["candidates"]))]
        if item
    }
    shown = {
        (decision.pid, decision.prev_cpu, decision.dst_cpu, compared)
        for decision in computed_decisions(trace)
        if not decision.thread.startswith("kworker")
        # Utilization that fell while EAS computed: less energy with the task than without. The
        # kernel then compares no more, and leaves the task where it was.
        for compared in [tuple(item for item in decision.energies.items() if item[1] >= 0)]
    }
    assert len(output) > 500
    assert shown == output


@pytest.mark.kernels("sum")
def test_kernels_that_say_no_decisions_show_their_energies(tmp_path: Path) -> None:
    """`cas` never asks EAS. Where it is asked, all that it chose was compared, or where it was."""
    options = ("--platform", "juno-r2", "--scenario", "eas/video-playback", "--decisions", "--json")
    variants = ("mainline", "uclamp-sum", "cas")
    compared = json_of("compare", *variants, *options)
    for variant in variants[:2]:
        run = run_of(compared, variant)
        assert run.cell.controls.trace_events[-1] == "eascope:sched_compute_energy"
        table = decisions(run)
        assert table.filter(pl.col("task") == "render").height > 100
        moved = table.filter(pl.col("prev_cpu") != pl.col("dst_cpu"))
        assert moved.height
        assert moved.filter(pl.col("reason") == "not compared").is_empty()
    assert decisions(run_of(compared, "cas")).is_empty()
    # The choice is right by the powers that the kernel is told, and not always by measured ones.
    told = json_of("compare", *variants, *options, "--power", "published")["choices"]
    for variant in variants[:2]:
        right, judged = told[variant], compared["choices"][variant]
        assert right["decisions"] == right["least"] == judged["decisions"] > 500
        assert right["model_mj"] == right["rule_mj"] == judged["rule_mj"] == 0
        assert judged["least"] + judged["model"] == judged["decisions"] > judged["least"]
        assert 1 < judged["model_mj"] < 100
    assert told["cas"]["decisions"] == 0


def test_events_that_are_asked_for_are_in_the_trace(tmp_path: Path) -> None:
    options = ("--platform", "juno-r2", "--variant", "mainline", "--scenario", "smoke", "--json")
    runs = str(tmp_path / "runs")
    asked = ("--events", "pelt,uclamp", "--events", "timer:hrtimer_start")
    done = eascope("run", *options, *asked, EASCOPE_RUNS=runs)
    assert done.returncode == 0, done.stderr
    names = read_trace(next((tmp_path / "runs").glob("*/trace.dat"))).names()
    wanted = {"lisa__sched_pelt_cfs", "lisa__sched_pelt_se", "sched_uclamp_task", "hrtimer_start"}
    assert wanted <= names
    assert "sched_compute_energy" not in names
    before = sorted((tmp_path / "runs").iterdir())
    wrong = eascope("run", *options, "--events", "timer:hrtimer_strat", EASCOPE_RUNS=runs)
    assert wrong.returncode == 2
    assert "the kernel 'base' has no event 'timer:hrtimer_strat' (did you mean" in wrong.stderr
    assert wrong.stderr.count("\n") == 1
    assert sorted((tmp_path / "runs").iterdir()) == before


def run_of(compared: dict[str, Any], variant: str) -> Derived:
    """The variant's first run, found as ``--json`` names it."""
    return derived_by(Run(Path(compared["variants"][variant]["seeds"]["0"]["run"])), "published")


@pytest.mark.parametrize("variant", ["feec-a", "feec-b"])
def test_a_decision_is_followed_by_the_migration(
    recorded_with: tuple[dict[str, Any], Path], variant: str
) -> None:
    """A wake-up that is to go elsewhere migrates there, and its CPU is among the candidates."""
    run = run_of(recorded_with[0], variant)
    table = decisions(run)
    assert table.filter(pl.col("task") == "render").height > 25  # it wakes every 16.7 ms in 3 s
    assert set(table["mode"]) == {0 if variant == "feec-a" else 1}
    compared = table.filter(~pl.col("reason").is_in(["not compared", "no answer"]))
    assert compared.height > 25
    assert "other" not in set(compared["reason"])
    for dst_cpu, listed in compared.select("dst_cpu", "candidates").iter_rows():
        assert dst_cpu in {candidate.cpu for candidate in candidates(listed)}
        assert all(candidate.energy > 0 for candidate in candidates(listed))
    trace = read_trace(run.run / "trace.dat")
    # A kworker may be woken from another CPU's point of view than the one it slept on (wake_cpu).
    events = trace.table("sched_feec_decision").filter(
        (pl.col("dst_cpu") >= 0)
        & (pl.col("dst_cpu") != pl.col("prev_cpu"))
        & ~pl.col("comm").str.starts_with("kworker")
    )
    assert events.height
    moves = trace.table("sched_migrate_task")
    for row in events.iter_rows(named=True):
        done = moves.filter(
            (pl.col("pid") == row["pid"])
            & (pl.col("orig_cpu") == row["prev_cpu"])
            & (pl.col("dest_cpu") == row["dst_cpu"])
            & ((pl.col("t_ns") - row["t_ns"]).is_between(0, 100_000))
        )
        assert done.height, row


def test_the_report_says_why(recorded_with: tuple[dict[str, Any], Path]) -> None:
    report = Path(recorded_with[0]["report"])
    page = report.read_text()
    assert "Why EAS chose a CPU" in page
    assert page.count('<td class="left">feec-b</td><td class="left">render</td>') == 1
    assert (report.parent / "decisions.feec-a.parquet").is_file()


def test_recording_is_a_run_of_its_own(recorded_with: tuple[dict[str, Any], Path]) -> None:
    recorded = run_of(recorded_with[0], "feec-b").cell
    assert recorded.controls.trace_events[-1] == "eascope:sched_feec_decision"
    done = eascope("show", recorded.simkey[:12], EASCOPE_RUNS=str(recorded_with[1]))
    assert "decisions of EAS, first seed" in done.stdout
