# SPDX-License-Identifier: GPL-2.0-or-later
"""Shipped campaigns: every point of each resolves, and has the cells that its question needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.experiments.sweeps.campaign_file import load_campaign
from eascope.experiments.sweeps.resolver import Resolver
from tests.support.cells import Artefacts

#: Points: cells of one seed.
POINTS = {
    "eas-paper": 2 * 5 * 6 * 2,
    "em-error-sweep": 3 * (17 + 1),
    "opp-sweep": 2 * 2 * (17 + 16),
    "rate-limit-sweep": 2 * 4 * 2 * 6,
    "topology-sweep": 4 * 2 * 8,
    "uclamp-paper": 2 * 5 * 4 * 2,
}


@pytest.mark.parametrize("name", POINTS)
def test_every_point_is_a_cell(artefacts: Artefacts, tmp_path: Path, name: str) -> None:
    campaign = load_campaign(name)
    assert campaign.question.endswith("?")
    assert campaign.limits
    assert len(campaign.seeds) == 20
    points = campaign.checked_points()
    assert len(points) == POINTS[name]
    resolver = Resolver(tmp_path, campaign.file)
    ids = [resolver.group_id(resolver.names(point)) for point in points]
    assert len({*ids}) == len(ids)


def test_topologies_are_what_they_are_called(artefacts: Artefacts, tmp_path: Path) -> None:
    resolver = Resolver(tmp_path, "topology-sweep")
    for point in load_campaign("topology-sweep").checked_points():
        platform = resolver.names(point).platform
        sizes = "+".join(str(len(cluster.cpus)) for cluster in platform.clusters)
        assert sizes == point.labels["topology"]
