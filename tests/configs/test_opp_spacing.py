# SPDX-License-Identifier: GPL-2.0-or-later
"""OPPs by count and spacing: where they lie."""

from itertools import pairwise

import pytest

from eascope.configs.opp_spacing import frequencies, rows
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform


@pytest.fixture
def big(juno: Platform) -> Cluster:
    return juno.cluster("big")


def test_every_nth_is_counted_from_the_fastest() -> None:
    mid = load_platform("pixel6").cluster("mid")
    present = [opp.khz for opp in mid.opps]
    assert frequencies(mid, "every 2nd") == present[1::2]
    assert frequencies(mid, "every 5") == [present[3], present[8], present[13]]
    assert frequencies(mid, f"every {len(present) - 1}") == [present[0], present[-1]]
    assert frequencies(mid, f"every {len(present)}") is None, "one OPP is left, as by '1 even'"
    assert frequencies(mid, "every 99") is None


def test_even_steps(big: Cluster) -> None:
    assert frequencies(big, "4 even") == [600_000, 800_000, 1_000_000, 1_200_000]


def test_geometric_steps(big: Cluster) -> None:
    low, inner, high = frequencies(big, "3 geometric") or []
    assert (low, high) == (600_000, 1_200_000)
    assert inner == round((600 * 1200) ** 0.5) * 1000


def test_steps_of_power(big: Cluster) -> None:
    """A step of a MHz is the finest, so powers are even to within what one makes."""
    powers = [row.power_uw for row in rows(big, frequencies(big, "5 power") or [])]
    step = (powers[-1] - powers[0]) / 4
    finest = max(
        b - a
        for a, b in pairwise(p.power_uw for p in rows(big, range(1_000_000, 1_200_001, 1_000)))
    )
    assert all(abs(b - a - step) <= finest for a, b in pairwise(powers))


def test_more_than_there_are_whole_megahertz(big: Cluster) -> None:
    wanted = frequencies(big, "64 even") or []
    assert len(wanted) == len(set(wanted)) == 64


@pytest.mark.parametrize("wanted", ["", "even", "4", "4 odd", "every", [], [True], ["a"], 4, None])
def test_what_is_no_table(big: Cluster, wanted: object) -> None:
    assert frequencies(big, wanted) is None
