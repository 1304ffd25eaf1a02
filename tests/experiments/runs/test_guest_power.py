# SPDX-License-Identifier: GPL-2.0-or-later
"""Real runs under another energy model, another flavour of the device tree, or starved."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.derive import derive
from eascope.analysis.records.result import Result
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines import registry
from eascope.experiments.runs import cell as cells
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.finished import derived_by
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import Run, execute
from eascope.host.errors import EascopeError
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import Declared
from eascope.power.given import given_model
from eascope.power.model import SHARED_PART
from tests.support.columns import most
from tests.support.command import COMPARE, RUN, eascope, json_of, ran

pytestmark = pytest.mark.guest


def test_the_guest_reads_another_energy_model_back() -> None:
    """The guest reads every power back (or the run fails); energy is computed as before."""
    usual, wrong = (
        json_of(*RUN, *more) for more in ([], ["--em", "derived", "--em-error", "big=+20%"])
    )
    assert usual["run"] != wrong["run"]
    cell = json.loads((Path(wrong["run"]) / "cell.json").read_text())
    assert cell["energy_model"]["words"] == "derived, big +20 %"
    assert cell["energy_model"]["opp_microwatt"]["big"]["1200000"] > 1.2 * 540_000
    assert wrong["power_model"]["name"] == "measured"


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


def test_comparison_shows_verdicts_under_both_models() -> None:
    done = eascope(*COMPARE, "--em-error", "big=-50%")
    assert done.returncode == 0, done.stderr
    assert "kernel's energy model: published, big -50 %" in done.stdout
    block = done.stdout[done.stdout.index("\nthe kernel's energy model\n") :]
    assert "cas against mainline\n" in block


def test_finished_runs_are_derived_again() -> None:
    """Another power model, no simulation: the run's own files stay as they were."""
    first = json_of(*RUN)
    [again] = json_of("derive")
    assert again["run"] == first["run"]
    result = json.loads((Path(again["derived"]) / "result.json").read_text())
    assert sum(result["energy_j"]["stack"].values()) == result["energy_j"]["total"]
    for key in ("cpu_busy", "residency", "latency_us", "migrations", "window_s"):
        assert result[key] == first[key]
    assert eascope("verify").returncode == 0
    shown = json_of("show", Path(first["run"]).name, "--power", "derived")
    assert shown[0]["result"] == result
    assert (Path(first["run"]) / "derived").is_dir()


def test_one_run_is_billed_by_every_offer_and_no_engine_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The akey differs, the simkey and the run's own files do not; parts sum to the total."""
    first = ran("smoke", platform="pixel6")
    assert first["power_model"]["name"] == "wattson"
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
    assert started == []
    assert derived_by(run).path == billed["wattson"].path
    assert len({result.path for result in billed.values()}) == 6
    assert {result.path.parent.parent for result in billed.values()} == {run.path}
    assert len({result.cell.simkey for result in billed.values()}) == 1
    assert len({result.result.energy_j.total for result in billed.values()}) == 6
    for result in billed.values():
        spent = result.result.energy_j
        assert set(spent.cluster) == {"little", "mid", "big", "chip"}
        for parts in (spent.cluster, spent.component, spent.task):
            assert sum(parts.values()) == spent.total
        assert int(result.table("tasks")["energy_fj"].sum()) == int(
            result.table("energy")["energy_fj"].sum()
        )
    assert billed["measured"].result.energy_j.component["shared"] == 0
    assert {path: path.read_bytes() for path in files} == files


def test_the_chip_is_on_at_least_as_long_as_any_cluster() -> None:
    """The chip's time is the trace's, the clusters' the counters'; they differ by some us."""
    shown = ran("smoke", "--power", "profile", platform="pixel6")
    run = Run(Path(shown["run"]))
    platform = load_platform("pixel6")
    rows = derived_by(run, "profile").table("intervals").filter(pl.col("cpu") == SHARED_PART)
    assert platform.shared is not None
    on_ns = round(shown["energy_j"]["cluster"]["chip"] * 1e15 / platform.shared.on_uw)
    longest = most(rows.group_by("cluster").agg(pl.col("active_ns").sum())["active_ns"])
    window_ns = shown["window_s"] * 1e9
    assert longest * 0.995 <= on_ns <= round(window_ns)


def smoke(flavour: str, eas: bool) -> tuple[Result, Platform]:
    """``result.json`` of mainline with ``flavour``: execute() fails unless its proofs hold."""
    names = resolve(Request("juno-r2", "mainline", "smoke"))
    declares = Declared(eas, "schedutil")
    variant = replace(names.variant, dtb=flavour, declares=declares)
    run = execute(prepare(replace(names, variant=variant)))
    return derive(run.path, names.platform, names.activity).result, names.platform


def test_opp2_runs_at_the_slowest_and_the_fastest_opp() -> None:
    result, platform = smoke("opp2", eas=True)
    assert result.eas is True
    for cluster in platform.clusters:
        used = {int(khz) for khz, share in result.residency[cluster.name].items() if share}
        assert used <= {cluster.opps[0].khz, cluster.max_khz}


def test_nocap_takes_all_cpus_for_equal() -> None:
    """Its proofs say that every CPU's capacity is 1024; EAS is impossible, so its file is empty."""
    result, _ = smoke("nocap", eas=False)
    assert result.eas is False
    assert result.wakeups["light"] > 25


HEAD = 'summary = "s"\nsource = "s"\nloads = "s"\n'
#: A fair task of 16 ms on a CPU that a real-time task takes for 700 of 800 ms.
STARVED = f"""{HEAD}
[[task]]
name = "fair"
cpus = "big:0"
[[task.phase]]
run_us = 3000
period_us = 16000
[[task]]
name = "hog"
policy = "fifo"
cpus = "big:0"
[[task.phase]]
run_us = 700000
sleep_us = 100000
[window]
warmup_ms = 300
short_ms = 1000
full_ms = 1000
"""
#: The second task wakes the first three times, and ends.
WAITS = f"""{HEAD}
[[task]]
name = "waits"
repeat = "forever"
[[task.phase]]
loops = 1
wait = "wakes"
run_us = 1000
[[task]]
name = "wakes"
[[task.phase]]
loops = 3
run_us = 1000
sleep_us = 2000
[[task]]
name = "other"
[[task.phase]]
run_us = 100
period_us = 10000
[window]
warmup_ms = 300
short_ms = 500
full_ms = 1000
"""


def command(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return ["run", "--platform", "juno-r2", "--variant", "mainline", "--scenario", str(path)]


def test_a_starved_task_misses_all_of_its_deadlines(tmp_path: Path) -> None:
    """It needs 3 of 16 ms and gets 100 of 800, so it falls ever further behind."""
    asked = command(tmp_path / "starved.toml", STARVED)
    deadlines = json_of(*asked)["deadlines"]["fair"]
    assert deadlines["jobs"] in (62, 63)
    assert deadlines["missed"] == deadlines["jobs"]
    assert deadlines["late"] + deadlines["unfinished"] == deadlines["missed"]
    assert deadlines["unfinished"] > deadlines["late"] > 0
    again = eascope(*asked)
    first, second = again.stdout.splitlines()[:2]
    assert f"{deadlines['jobs']} of {deadlines['jobs']} deadlines missed" in first
    assert second.startswith(f"fair missed {deadlines['jobs']} of {deadlines['jobs']} deadlines")


def test_a_scenario_that_does_not_get_on_fails(tmp_path: Path) -> None:
    done = eascope(*command(tmp_path / "waits.toml", WAITS))
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("eascope: error"))
    assert "waits waited through the whole window for another task" in line
