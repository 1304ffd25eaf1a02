# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped campaigns, and how each is answered from its record."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult
from analysis.statistics import ENOUGH
from studies.campaigns import errors, limits, opps, topologies, variants
from studies.campaigns.plan import (
    AS_IS,
    CROSSING,
    EM_ERROR,
    FRONTS,
    LINES,
    NO_ERROR,
    OPPS,
    RATE_LIMIT,
    ROWS,
    CampaignPage,
    more_opps,
)

#: By campaign, in the order of the list of results.
PAGES: Mapping[str, CampaignPage] = {
    "opp-sweep": CampaignPage(
        drawing=LINES,
        reference=dict.fromkeys(OPPS, AS_IS),
        axes=OPPS,
        beaten_in=(ENERGY,),
        rival=more_opps,
        answer=opps.answer,
        points=opps.points,
        sampled="cas",
    ),
    "topology-sweep": CampaignPage(
        drawing=FRONTS,
        reference={"topology": "4+2"},
        axes=("topology",),
        beaten_in=(ENERGY, LATENCY),
        answer=topologies.answer,
        points=topologies.points,
        sampled="cas",
    ),
    "em-error-sweep": CampaignPage(
        drawing=CROSSING,
        reference={"variant": "cas", EM_ERROR: NO_ERROR},
        answer=errors.answer,
        points=errors.points,
        sampled="cas",
    ),
    "rate-limit-sweep": CampaignPage(
        drawing=LINES,
        reference={RATE_LIMIT: "500"},
        answer=limits.answer,
        points=limits.points,
        sampled="uclamp-sum",
    ),
    "eas-paper": CampaignPage(
        drawing=ROWS,
        reference={"variant": "mainline"},
        answer=variants.answer,
        points=variants.points,
        sampled="feec-d",
    ),
    "uclamp-paper": CampaignPage(
        drawing=ROWS,
        reference={"variant": "mainline"},
        answer=variants.answer,
        points=variants.points,
        sampled="uclamp-sum",
    ),
}


def answer(record: CampaignResult) -> str:
    """The answer, without its last full stop."""
    if len(record.seeds) < ENOUGH:
        plural = "s" if len(record.seeds) > 1 else ""
        return (
            f"undecided: the record has {len(record.seeds)} seed{plural}, and an interval needs "
            f"{ENOUGH}"
        )
    return PAGES[record.campaign].answer(record)


def answer_points(record: CampaignResult) -> list[str]:
    """The answer for each case."""
    return list(PAGES[record.campaign].points(record))
