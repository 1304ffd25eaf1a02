# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: which cells of each shipped campaign run on gem5, too.

The rule looks at no result. A sample has a base, and the cells that differ from it in one axis. The
base has the first platform, scenario and variant, and of every other axis the value that the
campaign's page compares with (or else the first). The other variant is the one that the campaign's
question is about. The other value of every other axis is its last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from experiments.sweeps.campaign import Campaign
from experiments.sweeps.point import Point
from studies.campaigns.shipped import PAGES

#: The record and its page.
NAME = "campaign-samples"
#: Engine and mode of the reference.
ENGINE, MODE = "gem5", "elided"
#: Seeds of the fast engine, from 0; gem5 runs the first one.
FAST_SEEDS = 10
#: Axes of which a sample has one value.
SINGLE = ("platform", "scenario")
VARIANT = "variant"


def base_of(campaign: Campaign) -> dict[str, str]:
    """The value of each axis in the cell from which the sample's others differ."""
    reference = PAGES[campaign.name].reference
    return {
        axis.name: axis.choices[0].label
        if axis.name == VARIANT
        else reference.get(axis.name, axis.choices[0].label)
        for axis in campaign.axes
    }


def swept_to(campaign: Campaign) -> dict[str, str]:
    """The other value that the sample has of each axis with more than one; else the base's."""
    base = base_of(campaign)
    values = {}
    for axis in campaign.axes:
        last = PAGES[campaign.name].sampled if axis.name == VARIANT else axis.choices[-1].label
        values[axis.name] = base[axis.name] if axis.name in SINGLE else last
    return values


def sample_of(campaign: Campaign) -> list[Point]:
    """The cells of a sample, on the fast engine: the base and those that differ in one axis."""
    base, other = base_of(campaign), swept_to(campaign)
    return [
        point
        for point in campaign.points()
        if len(changed := differing(point.labels, base)) <= 1
        and all(point.labels[name] == other[name] for name in changed)
    ]


def differing(labels: Mapping[str, str], base: Mapping[str, str]) -> list[str]:
    """The axes in which two cells differ."""
    return [name for name, value in labels.items() if value != base[name]]


def changed_words(labels: Mapping[str, str], base: Mapping[str, str]) -> str:
    """Axis and value in which a cell differs from the base; empty for the base."""
    return ", ".join(f"{name} {labels[name]}" for name in differing(labels, base))


def on_gem5(point: Point) -> Point:
    """The same cell on the reference engine."""
    return replace(point, engine=ENGINE, mode=MODE)
