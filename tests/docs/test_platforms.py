# SPDX-License-Identifier: GPL-2.0-or-later
"""The platforms of docs/recipes/platforms: they can be run, and have the levels of their meters."""

from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.runs.request import Request, resolve
from eascope.power.choice import power_model
from eascope.power.stated import StatedPower
from tests.support.repo import REPO

FOLDER = REPO / "docs/recipes/platforms"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_an_example_can_be_run_by_its_meter(path: Path) -> None:
    resolved = resolve(Request(str(path), "mainline", "smoke"))
    assert power_model(None, resolved.platform, resolved.activity).name == "measured"


def test_what_a_further_busy_cpu_adds() -> None:
    """One figure for each CPU: the first one's is the meter's, the second one's is off."""
    platform = load_platform(str(FOLDER / "r-car-e3.toml"))
    (cluster,) = platform.clusters
    power = StatedPower(platform, "measured")
    metered_mw = {
        800_000: (765, 993, 1179),
        1_000_000: (786, 1055, 1303),
        1_200_000: (807, 1096, 1386),
    }
    errors = []
    for opp in cluster.opps:
        idle, one, two = metered_mw[opp.khz]
        assert opp.shared_uw == 1000 * idle
        busy_uw = power.busy_microwatt(cluster, opp.khz)
        assert opp.shared_uw + busy_uw == 1000 * one
        errors.append(100 * ((opp.shared_uw + 2 * busy_uw) / 1000 / two - 1))
    assert errors == pytest.approx([3.6, 1.6, -0.1], abs=0.05)
