# SPDX-License-Identifier: GPL-2.0-or-later
"""What a platform can be billed by: offers, tables of a busy CPU's power, and their gaps."""

import tomllib
from collections.abc import Callable

import pytest

from eascope.configs.billing import ChipShared, Idle, interpolated
from eascope.configs.delta import Data
from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.qemu.layout import LAYOUT
from eascope.power.mcpat import POWER_MODELS

Mine = Callable[..., Platform]
CORES = {"little": "cortex-a55", "mid": "cortex-a76", "big": "cortex-x1"}


@pytest.fixture(scope="module")
def anchors() -> Data:
    return tomllib.loads((POWER_MODELS / "anchors.toml").read_text())


@pytest.mark.parametrize("name", CORES)
def test_measured_power_is_that_of_the_anchors(pixel6: Platform, anchors: Data, name: str) -> None:
    cluster = pixel6.cluster(name)
    measured = next(busy for busy in cluster.busy if busy.name == "measured")
    points = dict(anchors[CORES[name]]["measured"]["points"])
    for opp, power in zip(cluster.opps, measured.power_uw, strict=True):
        if opp.khz in measured.interpolated:
            assert opp.khz // 1000 not in points
        else:
            assert power == 1000 * points.pop(opp.khz // 1000)
    assert not points


def test_gaps_are_linear_in_f_v_squared() -> None:
    points = [(1_000_000, 1_000_000), (2_000_000, 1_000_000), (4_000_000, 1_000_000)]
    known = {1_000_000: 100, 4_000_000: 700}
    assert interpolated(points, known, 2_000_000) == 300
    assert interpolated(points, {2_000_000: 300}, 4_000_000) == 600
    assert interpolated(points, {2_000_000: 300}, 1_000_000) == 150
    raised = [(1_000_000, 1_000_000), (2_000_000, 2_000_000), (4_000_000, 1_000_000)]
    assert interpolated(raised, {1_000_000: 100}, 2_000_000) == 800


def test_the_kernel_is_given_the_device_trees_powers_whatever_is_billed(mine: Mine) -> None:
    """Of one's own file the billing alone differs: the guest's device tree is the same."""
    trees = {device_tree_source(load_platform("pixel6"), LAYOUT)}
    for default in ("profile", "measured", "published", "derived"):
        platform = mine(f'billing.default = "{default}"', base="pixel6")
        assert platform.billing.default == default
        trees.add(device_tree_source(platform, LAYOUT))
    assert len(trees) == 1


def test_a_changed_power_of_ones_own_names_its_file(mine: Mine) -> None:
    line = "cluster.big.busy.profile.opps.2802000.power_uw = 990_000"
    big = mine(line, base="pixel6").cluster("big")
    profile = next(busy for busy in big.busy if busy.name == "profile")
    assert profile.power_uw[-1] == 990_000
    assert profile.source == "assumed: mine.toml has another figure than pixel6"


def test_a_platform_by_difference_bills_otherwise(mine: Mine) -> None:
    platform = mine(
        *('idle.leakage = "stated"', 'sources.lab = "measured: here"'),
        'shared = { on_uw = 3, off_uw = 1, source = "lab" }',
    )
    assert platform.idle == Idle("stated", 0.5)
    assumed = "assumed: mine.toml has another figure than juno-r2"
    assert platform.idle_sources["leakage"] == assumed
    assert platform.idle_sources["transition_share"].startswith("assumed: supply and clock rise")
    assert platform.shared == ChipShared(3, 1, "measured: here")
    assert platform.energy_parts == ("little", "big", "chip")
