# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms: what juno-r2 says, its arithmetic, and CPU names."""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.package_budget import BudgetStep
from eascope.configs.platform import CAPACITY_SCALE, Platform
from eascope.configs.platform_file import PLATFORMS, load_platform
from eascope.experiments.cli.main import main
from eascope.experiments.controls import Controls
from eascope.experiments.runs.request import Request, resolve
from eascope.host.errors import RequestError
from tests.support.refusals import refusal

#: dynamic-power-coefficient of juno-r2.dts, uW/MHz/V^2.
COEFFICIENT = {"little": 140, "big": 450}


def test_kernel_capacities_are_383_and_1024(juno: Platform) -> None:
    assert juno.capacities == (383, 383, 383, 383, 1024, 1024)
    # The kernel's own steps, in its units: raw x kHz, scaled by the largest, truncated.
    raw = [485 * 950_000] * 4 + [1024 * 1_200_000] * 2
    assert juno.capacities == tuple((value << 10) // max(raw) for value in raw)


def test_a_faster_little_can_be_the_largest(edited: Callable[..., Path]) -> None:
    platform = load_platform(edited(("capacity_dmips_mhz = 485", "capacity_dmips_mhz = 2048")))
    assert platform.largest.name == "little"
    assert platform.capacities[:4] == (CAPACITY_SCALE,) * 4
    assert platform.capacities[4] == 1024 * 1_200_000 * 1024 // (2048 * 950_000) == 646


@pytest.mark.parametrize("name", ["little", "big"])
def test_busy_power_is_c_f_v_squared(juno: Platform, name: str) -> None:
    for opp in juno.cluster(name).opps:
        milliwatts = COEFFICIENT[name] * opp.khz / 1e3 * (opp.uv / 1e6) ** 2 / 1e3
        assert opp.power_uw == round(milliwatts, 1) * 1000
        assert f"C = {COEFFICIENT[name]} uW/MHz/V^2" in opp.power_source


def test_unknown_cluster_offers_the_nearest(juno: Platform) -> None:
    with pytest.raises(RequestError, match=r"did you mean big\?"):
        juno.cluster("bigs")


def test_opp_by_frequency(juno: Platform) -> None:
    assert juno.cluster("big").opp(1_000_000).power_uw == 364_500
    with pytest.raises(KeyError, match="no OPP of 999999 kHz"):
        juno.cluster("big").opp(999_999)


def test_digest_changes_with_figures_not_with_comments(
    juno: Platform, edited: Callable[..., Path]
) -> None:
    assert load_platform(edited(("# Arm Juno r2", "# The board"))).digest == juno.digest
    assert load_platform(edited(("power_uw = 42_400", "power_uw = 42_401"))).digest != juno.digest


def test_a_platform_from_a_file_of_the_user(one_cluster: Path) -> None:
    platform = load_platform(str(one_cluster))
    assert platform.capacities == (1024,)
    assert platform.temperature_c == 40.5
    assert platform.resolve("only:0") == (0,)
    assert platform.borrowed == ()


BUDGET_UW = 20_200_000


def test_each_step_is_the_fastest_opp_within_the_budget(wide: Platform) -> None:
    assert wide.package_budget is not None
    assert "20.2 W" in wide.package_budget.source
    (cluster,) = wide.clusters
    for cpus in range(1, len(wide.cpus) + 1):
        within = [opp.khz for opp in cluster.opps if opp.power_uw * cpus <= BUDGET_UW]
        assert wide.package_budget.max_khz(cpus) == max(within)
    assert wide.package_budget.steps[0] == BudgetStep(9, 2_802_000)
    assert wide.package_budget.steps[-1] == BudgetStep(24, 2_048_000)


#: Edits of what stands below a platform's header.
WRONG = {
    ("pixel6", "[[clock_floors]]"): [
        ('on = "little"', 'on = "mid"'),
        ('of = "mid"', 'of = "prime"'),
        ("khz = 553_000", "khz = 554_000"),
        ("floor_khz = 574_000", "floor_khz = 575_000"),
        ("floor_khz = 738_000", "floor_khz = 574_000"),
        ("khz = 1024_000", "khz = 553_000"),
    ],
    ("smp-24", "[package_budget]"): [
        ("cpus = 11,", "cpus = 9,"),
        ("cpus = 24,", "cpus = 23,"),
        ("max_khz = 2_704_000", "max_khz = 2_802_000"),
        ("max_khz = 2_048_000", "max_khz = 499_999"),
        ("interval_us = 1000", "interval_us = 99"),
        ('interval_source = "budget-interval"\n', ""),
        ("interval_us = 1000", "interval_us = 1000\nwatts = 20"),
    ],
}


@pytest.mark.parametrize(("name", "header"), WRONG)
def test_a_wrong_figure_is_one_line(
    tmp_path: Path, name: str, header: str, snapshot: SnapshotAssertion
) -> None:
    before, _, after = (PLATFORMS / f"{name}.toml").read_text().partition(header)
    path, lines = tmp_path / f"{name}.toml", {}
    for old, new in WRONG[name, header]:
        assert old in after
        path.write_text(before + header + after.replace(old, new, 1))
        lines[new] = refusal(load_platform, path).removeprefix(str(tmp_path))
    assert lines == snapshot


def test_floors_of_other_opps_and_clusters(tmp_path: Path) -> None:
    """A floor between two OPPs is the higher one, as in the driver; one of no cluster is none."""
    (path := tmp_path / "mine.toml").write_text(
        'base = "pixel6"\nsummary = "s"\nremove = ["cluster.mid"]\n'
    )
    assert {floor.of for floor in load_platform(path).floors} == {"big"}
    path.write_text(
        'base = "pixel6"\nsummary = "s"\n[sources]\nx = "assumed: so"\n[[clock_floors]]\n'
        'of = "prime"\non = "little"\nsource = "x"\nsteps = [{ khz = 1, floor_khz = 2 }]\n'
    )
    with pytest.raises(RequestError, match="of = 'prime': allowed: one of big, little, mid"):
        load_platform(path)
    path.write_text('base = "pixel6"\nsummary = "s"\nremove = ["clock_floors"]\n')
    assert load_platform(path).floors == ()
    without = Controls(clock_floors=False)
    assert without.of_platform(load_platform("pixel6")).floors == ()
    assert without.of_platform(load_platform("juno-r2")) == load_platform("juno-r2")


def test_an_own_file_may_remove_it_or_give_another(tmp_path: Path, wide: Platform) -> None:
    without = tmp_path / "without.toml"
    without.write_text('base = "smp-24"\nsummary = "s"\nremove = ["package_budget"]\n')
    assert load_platform(without).package_budget is None
    tight = tmp_path / "tight.toml"
    tight.write_text(
        'base = "smp-24"\nsummary = "s"\n[package_budget]\n'
        "steps = [{ cpus = 24, max_khz = 1_000_000 }]\n"
    )
    budget = load_platform(tight).package_budget
    assert budget is not None
    assert budget.max_khz(1) == 1_000_000
    assert budget.source == "assumed: tight.toml has another figure than smp-24"
    assert wide.package_budget is not None
    assert budget.interval_source == wide.package_budget.interval_source


def test_gem5_cannot_keep_it(tmp_path: Path) -> None:
    """gem5's EnergyCtrl grants what it is asked for, so a run there would be another machine's."""
    path = tmp_path / "two.toml"
    path.write_text(
        'base = "juno-r2"\nsummary = "s"\n[package_budget]\n'
        "steps = [{ cpus = 6, max_khz = 900_000 }]\nsource = 'b'\ninterval_us = 1000\n"
        "interval_source = 'b'\n[sources]\nb = 'assumed: for this test'\n"
    )
    with pytest.raises(
        RequestError, match="engine gem5 cannot enforce package_budget; use another engine"
    ):
        resolve(Request(str(path), "mainline", "smoke", engine="gem5"))
    assert resolve(Request(str(path), "mainline", "smoke")).platform.package_budget is not None


def test_the_command_refuses_it_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit code 2, with gem5 or without it; no folder of runs."""
    runs = tmp_path / "runs"
    monkeypatch.setenv("EASCOPE_RUNS", str(runs))
    for verb in (["run", "--variant"], ["compare", "cas"]):
        words = [*verb, "mainline", "--platform", "smp-24", "--scenario", "smoke"]
        assert main([*words, "--engine", "gem5"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.splitlines() == [
            "eascope: error: configs/platforms/smp-24.toml: engine gem5 cannot enforce "
            "package_budget; use another engine, or a file with base = 'smp-24' and remove = "
            '["package_budget"]'
        ]
        assert not runs.exists()
