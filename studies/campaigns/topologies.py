# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of topology-sweep: topologies that no other one beats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.pareto import front
from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult
from studies.campaigns.cells import grouped, joined


@dataclass(frozen=True)
class Front:
    """Topologies of a scenario with a variant.

    :param unbeaten: those whose means no other one beats in both energy and latency.
    :param beaten: those than which another one has clearly less of both.
    """

    where: str
    unbeaten: tuple[str, ...]
    beaten: tuple[str, ...]


def topology_fronts(record: CampaignResult) -> list[Front]:
    """One for each scenario and variant."""
    fronts = []
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        known = [cell for cell in cells if LATENCY in cell.measures and ENERGY in cell.measures]
        means = [(cell.measures[LATENCY].mean, cell.measures[ENERGY].mean) for cell in known]
        unbeaten = tuple(known[place].axes["topology"] for place in front(means))
        beaten = tuple(cell.axes["topology"] for cell in known if cell.beaten_by)
        fronts.append(Front(f"{scenario} with {variant}", unbeaten, beaten))
    return fronts


def answer(record: CampaignResult) -> str:
    """How often each topology is not clearly beaten."""
    fronts = topology_fronts(record)
    beaten = Counter(name for each in fronts for name in each.beaten)
    counts = {name: len(fronts) - beaten[name] for name in record.axes["topology"]}
    words = [f"{name} in {counts[name]}" for name in sorted(counts, key=lambda each: -counts[each])]
    cases = "scenario with a variant" if len(fronts) == 1 else "scenarios with a variant"
    return (
        "no other topology has clearly less of both energy and latency, of "
        f"{len(fronts)} {cases}, than {', '.join(words)}"
    )


def points(record: CampaignResult) -> Iterator[str]:
    """Of each scenario and variant: those on the front of means, and those clearly beaten."""
    for each in topology_fronts(record):
        than = f"; another one has clearly less of both than {joined(each.beaten)}"
        yield (
            f"{each.where}: by means none has less of both than {joined(each.unbeaten)}"
            f"{than if each.beaten else ''}"
        )
