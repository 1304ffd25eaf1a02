# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the missing runs on both releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.compare import Comparison
from analysis.results.releases import WakeUpOnBoth
from studies.releases.plan import CELLS, WAKE_UPS, on
from studies.releases.record import ByVariant
from studies.wakeup_cost.plan import FORMS
from studies.wakeup_cost.run import measure


def split(
    compared: Mapping[str, Comparison], releases: tuple[str, str]
) -> dict[str, tuple[ByVariant, ByVariant]]:
    """Runs by scenario and release, under the variants' plain names."""
    by_release = {
        scenario: [
            {name: compared[scenario].variants[on(release, name)] for name in variants}
            for release in releases
        ]
        for scenario, variants in CELLS.items()
    }
    return {scenario: (sides[0], sides[1]) for scenario, sides in by_release.items()}


def wake_ups(releases: tuple[str, str]) -> Iterator[WakeUpOnBoth]:
    """The cost of a wake-up on both; measures missing cells. The kernels are those of `CELLS`."""
    places = [
        (name, form, on(release, name))
        for name in WAKE_UPS
        for form in FORMS
        for release in releases
    ]
    costs = measure([(variant, form) for _, form, variant in places])
    for (name, form, _), old, new in zip(places[::2], costs[::2], costs[1::2], strict=True):
        yield WakeUpOnBoth(name, form, old, new, 100 * (new.mean / old.mean - 1))
