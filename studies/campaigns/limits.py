# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of rate-limit-sweep: the rate limits up to which nothing clearly changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult, SweptCell
from studies.campaigns.cells import grouped, percents
from studies.campaigns.plan import RATE_LIMIT


def answer(record: CampaignResult) -> str:
    """In how many combinations each limit is the last one without a clear difference."""
    reached = Counter(limit for _, limit, _ in _reached(record))
    total = sum(reached.values())
    words = [
        f"up to {limit} us in {reached[limit]} of {total}"
        for limit in record.axes[RATE_LIMIT]
        if reached[limit]
    ]
    return (
        f"neither energy nor latency clearly differs from those at {record.reference[RATE_LIMIT]} "
        f"us {'; '.join(words)} combinations of platform, scenario and variant"
    )


def points(record: CampaignResult) -> Iterator[str]:
    """Of each combination: the limit, and what differs at the next one."""
    for where, limit, differing in _reached(record):
        if differing is None:
            yield f"{where}: up to {limit} us, the largest"
            continue
        made = [
            f"{measure} {percent:+.1f} %"
            for measure, percent in percents(differing)
            if record.sign(differing, measure)
        ]
        yield f"{where}: up to {limit} us; at {differing.axes[RATE_LIMIT]} us {', '.join(made)}"


def _reached(record: CampaignResult) -> Iterator[tuple[str, str, SweptCell | None]]:
    """The combination, the largest limit up to which nothing differs, and the first that does."""
    axes = ("platform", "scenario", "variant")
    for (platform, scenario, variant), cells in grouped(record.cells, axes).items():
        same, differing = record.reference[RATE_LIMIT], None
        for cell in sorted(cells, key=lambda each: int(each.axes[RATE_LIMIT])):
            if any(record.sign(cell, measure) for measure in (ENERGY, LATENCY)):
                differing = cell
                break
            same = cell.axes[RATE_LIMIT]
        yield f"{scenario} on {platform} with {variant}", same, differing
