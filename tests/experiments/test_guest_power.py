# SPDX-License-Identifier: GPL-2.0-or-later
"""Real runs under another energy model, and derived again by another power model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.platform_file import load_platform
from experiments import cell as cells
from experiments.cell import prepare
from experiments.request import Request, resolve
from experiments.runs import execute
from host.errors import EascopeError
from power.given import given_model
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
    proof = cells.state_expectations
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
