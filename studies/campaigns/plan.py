# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign's page: what its cells are compared with, how they are drawn, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from analysis.results.campaigns import CampaignResult

#: Kinds of drawings: lines over a number, fronts of two measures, rows of differences.
LINES, CROSSING, FRONTS, ROWS = "lines", "crossing", "fronts", "differences"
AS_IS, NO_ERROR = "as is", "none"
#: How the misses of scenarios with frames are called.
FRAMES_LATE = "frames not drawn in time"
#: The OPPs of one cluster, and of the other; a cell varies those of one.
OPPS = ("big.opps", "little.opps")
RATE_LIMIT, EM_ERROR = "controls.rate_limit_us", "em_error"


def any_other(own: str, other: str) -> bool:
    """Whether ``other`` is another value."""
    return own != other


def spacing_of(label: str) -> tuple[int, str] | None:
    """Number and spacing of ``4 even``; None for a platform's own OPPs."""
    count, _, spacing = label.partition(" ")
    return (int(count), spacing) if count.isdigit() else None


#: OPPs of the one label that belongs to all spacings: the slowest and the fastest.
ENDS = 2


def more_opps(own: str, other: str) -> bool:
    """Whether ``other`` has more OPPs than ``own`` at the same spacing."""
    mine, theirs = spacing_of(own), spacing_of(other)
    if mine is None or theirs is None:
        return False
    return theirs[0] > mine[0] and (mine[1] == theirs[1] or mine[0] == ENDS)


@dataclass(frozen=True)
class CampaignPage:
    """A campaign's page.

    :param drawing: the kind of its drawings.
    :param reference: values of axes; each cell is compared with the one that has these.
    :param axes: those whose values are compared with each other, one axis at a time.
    :param beaten_in: measures that a value of an axis must all have less of to be better.
    :param rival: whether a value may be better than another one.
    :param answer: the answer to the campaign's question, without its last full stop.
    :param points: the answer for each case.
    :param sampled: the other variant of its sample on gem5: the one that the question is about.
    """

    drawing: str
    reference: Mapping[str, str]
    answer: Callable[[CampaignResult], str]
    points: Callable[[CampaignResult], Iterator[str]]
    sampled: str
    axes: tuple[str, ...] = ()
    beaten_in: tuple[str, ...] = ()
    rival: Callable[[str, str], bool] = any_other


def record_name(campaign: str) -> str:
    """The name of a campaign's record and page."""
    return f"campaign-{campaign}"
