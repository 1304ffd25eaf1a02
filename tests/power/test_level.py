# SPDX-License-Identifier: GPL-2.0-or-later
"""Levels of the cores without activity data, and the energy model that comes of them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from eascope.configs.core import list_cores
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError
from eascope.power.level import load_level


@pytest.mark.parametrize("core", [core for core in list_cores() if core != "cortex-a15"])
def test_dynamic_power_is_the_anchors(core: str) -> None:
    level = load_level(core)
    parts = level.active_w(1000, 0.9, 57)
    dynamic = sum(watts for name, watts in parts.items() if name != "leakage")
    assert level.coefficient is not None
    assert dynamic == pytest.approx(level.coefficient * 1000 * 0.81 * 1e-6)
    assert parts["leakage"] > 0


def test_the_calibrated_core_keeps_its_level() -> None:
    level = load_level("cortex-a15")
    assert level.level == 1
    assert level.coefficient is None
    assert level.dynamic_pj()["clock"] == pytest.approx(
        level.factors["clock"] * level.power.pj("core.cycles")
    )


@pytest.mark.parametrize("platform", ["juno-r2"])
def test_opp_microwatt_rises_and_stays_near_the_published_model(platform: str) -> None:
    board = load_platform(platform)
    for cluster in board.clusters:
        level = load_level(cluster.core.name)
        watts = [level.opp_microwatt(opp.khz, opp.uv, board.temperature_c) for opp in cluster.opps]
        assert all(low < high for low, high in pairwise(watts))
        for opp, microwatts in zip(cluster.opps, watts, strict=True):
            # The published figure is dynamic power from the same coefficient: leakage comes on top.
            assert opp.power_uw < microwatts < 1.1 * opp.power_uw


def test_shared_power_has_a_clock_and_leakage() -> None:
    parts = load_level("cortex-a72").shared_w(1000, 0.9, 57)
    assert set(parts) == {"cluster_clock", "leakage"}
    assert all(watts > 0 for watts in parts.values())


def test_unknown_core() -> None:
    with pytest.raises(RequestError, match=r"did you mean cortex-x1\?"):
        load_level("cortex-x2")
