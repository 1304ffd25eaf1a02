# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of rate-limit-sweep: the rate limits up to which nothing clearly changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.results.campaigns import ENERGY, LATENCY, MISSED, CampaignResult, SweptCell
from studies.campaigns.cells import grouped, mostly_overloaded, percent
from studies.campaigns.plan import RATE_LIMIT

#: What must stay the same.
_KEPT = (ENERGY, LATENCY, MISSED)


@dataclass(frozen=True)
class Reached:
    """A combination of platform, scenario and variant.

    :param limit: the largest limit up to which nothing differs.
    :param differing: the next one's cell; None where ``limit`` is the largest.
    :param words: what differs there.
    """

    where: str
    overloaded: bool
    limit: str
    differing: SweptCell | None
    words: tuple[str, ...]


def answer(record: CampaignResult) -> str:
    """In how many combinations each limit is the last one without a clear difference."""
    every = list(_reached(record))
    light = [each for each in every if not each.overloaded]
    heavy = [each for each in every if each.overloaded]
    parts = [f"{_counted(record, light)} combinations of platform, scenario and variant"]
    if heavy:
        parts.append(f"of those that are overloaded {_counted(record, heavy)}")
    return (
        "energy, latency and misses do not clearly differ from those at "
        f"{record.reference[RATE_LIMIT]} us {'; '.join(parts if light else parts[1:])}"
    )


def _counted(record: CampaignResult, every: Sequence[Reached]) -> str:
    counts = Counter(each.limit for each in every)
    words = [
        f"up to {limit} us in {counts[limit]}" for limit in record.axes[RATE_LIMIT] if counts[limit]
    ]
    return f"{', '.join(words)} of {len(every)}"


def points(record: CampaignResult) -> Iterator[str]:
    """Of each combination: the limit, and what differs at the next one."""
    for each in _reached(record):
        where = f"{each.where}{' (overloaded)' if each.overloaded else ''}"
        if each.differing is None:
            yield f"{where}: up to {each.limit} us, the largest"
        else:
            next_limit = each.differing.axes[RATE_LIMIT]
            yield f"{where}: up to {each.limit} us; at {next_limit} us {', '.join(each.words)}"


def _reached(record: CampaignResult) -> Iterator[Reached]:
    axes = ("platform", "scenario", "variant")
    for (platform, scenario, variant), cells in grouped(record.cells, axes).items():
        placed = sorted(cells, key=lambda each: int(each.axes[RATE_LIMIT]))
        (base,) = (each for each in placed if each.axes[RATE_LIMIT] == record.reference[RATE_LIMIT])
        signs = [{name: _sign(base, cell, name) for name in _KEPT} for cell in placed]
        same = base.axes[RATE_LIMIT]
        differing: SweptCell | None = None
        words: tuple[str, ...] = ()
        for place, cell in enumerate(placed):
            lasting = _lasting(signs[place : place + 2])
            if lasting:
                differing, words = cell, tuple(_words(base, cell, name) for name in lasting)
                break
            same = cell.axes[RATE_LIMIT]
        where = f"{scenario} on {platform} with {variant}"
        yield Reached(where, mostly_overloaded(record, cells), same, differing, words)


def _lasting(signs: Sequence[Mapping[str, int]]) -> list[str]:
    """Measures that clearly differ at a limit and to the same side at the next, if there is one."""
    return [name for name in _KEPT if signs[0][name] and len({each[name] for each in signs}) == 1]


def _sign(base: SweptCell, cell: SweptCell, measure: str) -> int:
    """As `SweptCell.sign`; misses, of which no difference is made, by their intervals."""
    if measure != MISSED:
        return cell.sign(measure)
    own, first = cell.measures.get(MISSED), base.measures.get(MISSED)
    if own is None or first is None or own.low is None or first.high is None:
        return 0
    return int(own.low > first.high)


def _words(base: SweptCell, cell: SweptCell, measure: str) -> str:
    if measure == MISSED:
        means = [each.measures[MISSED].mean for each in (cell, base)]
        return f"missed {means[0]:.1f} instead of {means[1]:.1f}"
    made = percent(cell, measure)
    return f"{measure} {made:+.1f} %" if made is not None else measure
