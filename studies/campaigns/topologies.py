# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of topology-sweep: topologies that no other one beats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.pareto import front
from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult
from studies.campaigns.cells import grouped, joined, mostly_overloaded


@dataclass(frozen=True)
class Front:
    """A case: the topologies of a scenario with a variant.

    :param unbeaten: those whose means no other one beats in both energy and latency.
    :param beaten: those than which another one has clearly less of both.
    :param floors: whether the noise floors of energy and latency are known.
    """

    scenario: str
    variant: str
    unbeaten: tuple[str, ...]
    beaten: tuple[str, ...]
    overloaded: bool
    floors: bool


def topology_fronts(record: CampaignResult) -> list[Front]:
    """One for each scenario and variant."""
    fronts = []
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        known = [cell for cell in cells if LATENCY in cell.measures and ENERGY in cell.measures]
        means = [(cell.measures[LATENCY].mean, cell.measures[ENERGY].mean) for cell in known]
        fronts.append(
            Front(
                *(scenario, variant),
                unbeaten=tuple(known[place].axes["topology"] for place in front(means)),
                beaten=tuple(cell.axes["topology"] for cell in known if cell.beaten_by),
                overloaded=mostly_overloaded(record, cells),
                floors=any({ENERGY, LATENCY} <= cell.floors.keys() for cell in cells),
            )
        )
    return fronts


def answer(record: CampaignResult) -> str:
    """How often each topology is not clearly beaten, where the machine is not overloaded."""
    every = topology_fronts(record)
    cases = [each for each in every if not each.overloaded]
    heavy = len(every) - len(cases)
    if not cases:
        return f"undecided: all {heavy} cases are overloaded"
    beaten = Counter(name for each in cases for name in each.beaten)
    counts = {name: len(cases) - beaten[name] for name in record.axes["topology"]}
    often = [f"{name} in {counts[name]}" for name in sorted(counts, key=lambda each: -counts[each])]
    unknown = sum(not each.floors for each in cases)
    return (
        "no other topology has clearly less of both energy and latency than "
        f"{', '.join(often)} of {_cases(cases)}"
        + (f", without {heavy} overloaded ones" if heavy else "")
        + (f"; no noise floor is known in {unknown} of them" if unknown else "")
    )


def _cases(cases: list[Front]) -> str:
    """``6 cases (3 scenarios, 2 variants)``."""
    numbers = {
        "case": len(cases),
        "scenario": len({each.scenario for each in cases}),
        "variant": len({each.variant for each in cases}),
    }
    case, *axes = (f"{each} {name}{'s' * (each > 1)}" for name, each in numbers.items())
    return f"{case} ({', '.join(axes)})"


def points(record: CampaignResult) -> Iterator[str]:
    """Of each case: the topologies on the front of means, and those clearly beaten."""
    for each in topology_fronts(record):
        against = ["overloaded"] if each.overloaded else []
        against += [] if each.floors else ["no noise floor known"]
        than = f"; another one has clearly less of both than {joined(each.beaten)}"
        yield (
            f"{each.scenario} with {each.variant}{f' ({joined(against)})' if against else ''}: "
            f"by means none has less of both than {joined(each.unbeaten)}"
            f"{than if each.beaten else ''}"
        )
