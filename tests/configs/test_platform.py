# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms: what juno-r2 says, its arithmetic, and CPU names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.platform import CAPACITY_SCALE, Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.host.errors import RequestError

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






def test_list_has_juno_r2_with_its_summary(juno: Platform) -> None:
    assert ("juno-r2", juno.summary) in list_platforms()


def test_unknown_platform_offers_the_nearest() -> None:
    with pytest.raises(
        RequestError, match=r"unknown platform 'juno-r1' \(did you mean juno-r2\?\)"
    ):
        load_platform("juno-r1")


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
