# SPDX-License-Identifier: GPL-2.0-or-later
"""Real runs under another energy model, and derived again by another power model."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

from eascope.configs.platform_file import load_platform
from eascope.engines import registry
from eascope.engines.records import SHARED_PART
from eascope.experiments import cell as cells
from eascope.experiments.cell import prepare
from eascope.experiments.finished import derived_by
from eascope.experiments.request import Request, resolve
from eascope.experiments.runs import Run, execute
from eascope.host.errors import EascopeError
from eascope.kernels.state import state_expectations
from eascope.power.given import given_model
from tests.support.columns import most
from tests.support.command import COMPARE, RUN, eascope

pytestmark = pytest.mark.guest


def test_the_guest_reads_another_energy_model_back(tmp_path: Path) -> None:
    """The guest reads every power back (or the run fails); energy is computed as before."""
    runs = str(tmp_path / "runs")
    usual, wrong = (
        json.loads(eascope(*RUN, "--json", *more, EASCOPE_RUNS=runs).stdout)
        for more in ([], ["--em", "derived", "--em-error", "big=+20%"])
    )
    assert usual["run"] != wrong["run"]
    cell = json.loads((Path(wrong["run"]) / "cell.json").read_text())
    assert cell["energy_model"]["words"] == "derived, big +20 %"
    assert cell["energy_model"]["opp_microwatt"]["big"]["1200000"] > 1.2 * 540_000
    assert wrong["power_model"]["name"] == "published"


def test_a_kernel_that_was_told_something_else_fails_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proof is of what the guest's kernel has: the power that it was given, and no other."""
    usual = load_platform("juno-r2")
    proof = state_expectations
    monkeypatch.setattr(cells, "state_expectations", lambda variant, _: proof(variant, usual))
    request = Request(
        "juno-r2", "mainline", "smoke", energy_model=given_model("published", ["big=+20%"])
    )
    with pytest.raises(EascopeError, match=r"energy_model/cpu4/ps:\d+/power"):
        execute(prepare(resolve(request)))


def test_comparison_shows_verdicts_under_both_models(tmp_path: Path) -> None:
    done = eascope(*COMPARE, "--em-error", "big=-50%", EASCOPE_RUNS=str(tmp_path / "runs"))
    assert done.returncode == 0, done.stderr
    assert "the kernel is given another energy model: published, big -50 %" in done.stdout
    block = done.stdout[done.stdout.index("\nthe kernel's energy model\n") :]
    assert "cas against mainline\n" in block


def test_finished_runs_are_derived_again(tmp_path: Path) -> None:
    """Another power model, no simulation: the run's own files stay as they were."""
    runs = str(tmp_path / "runs")
    first = json.loads(eascope(*RUN, "--json", EASCOPE_RUNS=runs).stdout)
    [again] = json.loads(eascope("derive", "--json", EASCOPE_RUNS=runs).stdout)
    assert again["run"] == first["run"]
    result = json.loads((Path(again["derived"]) / "result.json").read_text())
    assert sum(result["energy_j"]["stack"].values()) == result["energy_j"]["total"]
    for key in ("cpu_busy", "residency", "latency_us", "migrations", "window_s"):
        assert result[key] == first[key]
    assert eascope("verify", EASCOPE_RUNS=runs).returncode == 0
    shown = json.loads(eascope("show", Path(first["run"]).name, "--power", "derived", "--json",
                               EASCOPE_RUNS=runs).stdout)  # fmt: skip
    assert shown[0]["result"] == result
    assert (Path(first["run"]) / "derived").is_dir()


def test_one_run_is_billed_by_every_offer_and_no_engine_is_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The akey differs, the simkey and the run's own files do not; parts sum to the total."""
    runs = str(tmp_path / "runs")
    cell = ("run", "--platform", "pixel6", "--variant", "mainline", "--scenario", "smoke")
    first = json.loads(eascope(*cell, "--json", EASCOPE_RUNS=runs).stdout)
    assert first["power_model"]["name"] == "profile"
    run = Run(Path(first["run"]))
    files = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}

    def asked(*_: object) -> None:
        raise AssertionError("an engine was asked for")

    started: list[str] = []
    start = subprocess.Popen.__init__

    def starting(process: object, words: list[str], *more: object, **options: object) -> None:
        started.append(Path(words[0]).name)
        start(process, words, *more, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(registry, "get_engine", asked)
    monkeypatch.setattr(subprocess.Popen, "__init__", starting)
    billed = {name: derived_by(run, name) for name in load_platform("pixel6").billing.offers}
    assert set(started) == {"trace-cmd"}  # which reads the trace
    assert derived_by(run).path == billed["profile"].path
    assert len({made.path for made in billed.values()}) == 4
    assert {made.path.parent.parent for made in billed.values()} == {run.path}
    assert len({made.cell.simkey for made in billed.values()}) == 1
    assert len({made.result.energy_j.total for made in billed.values()}) == 4
    for made in billed.values():
        spent = made.result.energy_j
        assert set(spent.cluster) == {"little", "mid", "big", "chip"}
        for parts in (spent.cluster, spent.component, spent.task):
            assert sum(parts.values()) == spent.total
        assert int(made.table("tasks")["energy_fj"].sum()) == int(
            made.table("energy")["energy_fj"].sum()
        )
    assert billed["measured"].result.energy_j.component["shared"] == 0
    assert {path: path.read_bytes() for path in files} == files


def test_the_chip_is_on_at_least_as_long_as_any_cluster(tmp_path: Path) -> None:
    """The chip's time is the trace's, the clusters' the counters'; they differ by some us."""
    runs = str(tmp_path / "runs")
    cell = ("run", "--platform", "pixel6", "--variant", "mainline", "--scenario", "smoke")
    shown = json.loads(eascope(*cell, "--json", EASCOPE_RUNS=runs).stdout)
    run = Run(Path(shown["run"]))
    platform = load_platform("pixel6")
    rows = derived_by(run).table("intervals").filter(pl.col("cpu") == SHARED_PART)
    assert platform.shared is not None
    on_ns = round(shown["energy_j"]["cluster"]["chip"] * 1e15 / platform.shared.on_uw)
    longest = most(rows.group_by("cluster").agg(pl.col("active_ns").sum())["active_ns"])
    window_ns = shown["window_s"] * 1e9
    assert longest * 0.995 <= on_ns <= window_ns
