# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a campaign, from its finished cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.derive import Derived
from analysis.difference import difference
from analysis.engine import engine_words
from analysis.records.cell import CellRecord
from analysis.results.campaigns import (
    MISSED,
    WORK,
    CampaignResult,
    SweptCell,
    SweptDifference,
    SweptMeasure,
)
from analysis.results.findings import NO_CONTROLS, conditions_of
from analysis.results.noise import NoiseFloor, recorded
from analysis.statistics import estimate
from experiments.sweeps.campaign import Campaign
from experiments.sweeps.long_table import axes_of, finished
from experiments.sweeps.survey import Survey
from studies.campaigns.numbers import (
    BySeed,
    Taken,
    chosen_latency,
    floors_of,
    mean,
    scenario_words,
    take,
    with_latency,
)
from studies.campaigns.plan import CampaignPage
from studies.versions import origin_over_seeds

#: Values of the axes, in the campaign's order.
Labels = tuple[str, ...]
#: Noise floors in percent, by measure.
Floors = Mapping[str, float]
#: Measures without a difference: a count of zero has no percentage.
_NO_DIFFERENCE = (MISSED,)


def record_of(survey: Survey, whole: Campaign, page: CampaignPage, command: str) -> CampaignResult:
    """The record of a surveyed campaign, all cells of which are done.

    :param whole: the campaign before it was cut.
    """
    campaign, names = survey.campaign, axes_of(survey)
    platform = names.index("platform")
    cells: list[CellRecord] = []
    firsts: dict[str, Derived] = {}
    powers: dict[str, dict[str, None]] = {}
    taken: dict[Labels, Taken] = {}
    noise: dict[tuple[str, ...], NoiseFloor] = {}
    places: dict[Labels, tuple[str, ...]] = {}
    for labels, seed, derived, _ in finished(survey):
        cells.append(derived.cell)
        powers.setdefault(derived.result.power_model.name, {})[labels[platform]] = None
        scenario = labels[names.index("scenario")]
        first = firsts.setdefault(scenario, derived)
        if first.cell.own_platform and not derived.cell.own_platform:
            firsts[scenario] = derived
        take(taken.setdefault(labels, Taken()), seed, derived)
        conditions = conditions_of(derived.cell, derived.result.power_model.name)
        place = (labels[platform], scenario, conditions.speeds)
        places[labels] = place
        if not derived.cell.own_platform:
            # Of the platform as it is, whatever controls the run has.
            own = vars(replace(conditions, controls=NO_CONTROLS))
            floor = recorded(derived.cell.platform, derived.cell.scenario, own)
            if floor is not None:
                noise[place] = floor
    chosen = {
        scenario: chosen_latency(first.cell, _of_scenario(taken, names, scenario))
        for scenario, first in firsts.items()
    }
    by_labels = {
        labels: with_latency(each, chosen[labels[names.index("scenario")]])
        for labels, each in taken.items()
    }
    floors = {
        labels: floors_of(noise[place], chosen[place[1]]) if place in noise else {}
        for labels, place in places.items()
    }
    first_cell = cells[0]
    return CampaignResult(
        origin=origin_over_seeds(command, cells),
        campaign=campaign.name,
        summary=campaign.summary,
        question=campaign.question,
        limits=campaign.limits,
        engine=engine_words(first_cell),
        power=_power_words(powers),
        duration=first_cell.duration,
        kernel=first_cell.kernel.source_words,
        planned_seeds=len(whole.seeds),
        seeds=campaign.seeds,
        axes=_values(campaign),
        left_out=_left_out(whole, campaign),
        reference=page.reference,
        scenarios=tuple(
            scenario_words(scenario, firsts[scenario], chosen[scenario]) for scenario in firsts
        ),
        cells=tuple(_cells(by_labels, names, page, floors)),
    )


def _power_words(platforms: Mapping[str, Iterable[str]]) -> str:
    """Names of power models; those of several with their platforms."""
    if len(platforms) == 1:
        return next(iter(platforms))
    return " and ".join(f"{name} ({', '.join(own)})" for name, own in platforms.items())


def _values(campaign: Campaign) -> dict[str, tuple[str, ...]]:
    return {axis.name: tuple(choice.label for choice in axis.choices) for axis in campaign.axes}


def _left_out(whole: Campaign, cut: Campaign) -> dict[str, tuple[str, ...]]:
    kept = _values(cut)
    lacking = {
        name: tuple(value for value in values if value not in kept[name])
        for name, values in _values(whole).items()
    }
    return {name: values for name, values in lacking.items() if values}


def _of_scenario(taken: Mapping[Labels, Taken], names: Sequence[str], scenario: str) -> list[Taken]:
    place = names.index("scenario")
    return [each for labels, each in taken.items() if labels[place] == scenario]


def _cells(
    taken: Mapping[Labels, Mapping[str, BySeed]],
    names: Sequence[str],
    page: CampaignPage,
    floors: Mapping[Labels, Floors],
) -> Iterator[SweptCell]:
    places = {names.index(name): value for name, value in page.reference.items()}
    for labels, numbers in taken.items():
        wanted = tuple(places.get(place, value) for place, value in enumerate(labels))
        base = {} if wanted == labels else taken.get(wanted, {})
        measures = {name: _measure(name, by_seed, base) for name, by_seed in numbers.items()}
        yield SweptCell(
            axes=dict(zip(names, labels, strict=True)),
            seeds=len(numbers[WORK]),
            beaten_by=tuple(_better(taken, names, labels, page, floors[labels])),
            measures=measures,
            floors=floors[labels],
        )


def _measure(name: str, by_seed: BySeed, base: Mapping[str, BySeed]) -> SweptMeasure:
    made = estimate(lambda means: means[name], ({name: list(by_seed.values())},))
    low, high = made.interval() or (None, None)
    alone = SweptMeasure(made.value, low, high, None)
    if name in _NO_DIFFERENCE or name not in base:
        return alone
    return replace(alone, against=_against(base[name], by_seed))


def _against(base: BySeed, own: BySeed) -> SweptDifference | None:
    """Over the seeds that both have; None if there is none."""
    seeds = sorted(base.keys() & own.keys())
    if not seeds:
        return None
    made = difference([base[seed] for seed in seeds], [own[seed] for seed in seeds])
    ends = made.in_percent() or (None, None)
    return SweptDifference(made.baseline, made.seeds, made.absolute, made.low, made.high, *ends)


def _better(
    taken: Mapping[Labels, Mapping[str, BySeed]],
    names: Sequence[str],
    labels: Labels,
    page: CampaignPage,
    floors: Floors,
) -> Iterator[str]:
    """The values of one of the page's axes that have clearly less in all of its measures."""
    for place in (names.index(axis) for axis in page.axes):
        for other, numbers in taken.items():
            alike = other[:place] == labels[:place] and other[place + 1 :] == labels[place + 1 :]
            if not alike or not page.rival(labels[place], other[place]):
                continue
            if all(
                _less(taken[labels], numbers, name, floors.get(name)) for name in page.beaten_in
            ):
                yield other[place]


def _less(
    own: Mapping[str, BySeed], other: Mapping[str, BySeed], name: str, floor: float | None
) -> bool:
    """Whether ``other`` has clearly less of a measure, whose noise floor is in percent."""
    if name not in own or name not in other:
        return False
    # Most are decided without the interval, which takes the host some 10 ms.
    if mean(other[name]) >= mean(own[name]):
        return False
    made = _against(own[name], other[name])
    return made is not None and made.value < 0 and made.made.clear_above(floor)
