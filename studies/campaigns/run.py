# SPDX-License-Identifier: GPL-2.0-or-later
"""Cuts a campaign, and runs its missing cells as ``eascope sweep`` does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from experiments.sweeps.campaign import MOST_CELLS, Campaign, SweptAxis
from experiments.sweeps.ledger import DONE, platforms_folder
from experiments.sweeps.missing import run_missing
from experiments.sweeps.survey import Survey, survey_of
from experiments.writable import check_runs
from host.errors import EascopeError, RequestError, unknown
from studies.campaigns.plan import CampaignPage


def cut(campaign: Campaign, page: CampaignPage, seeds: int | None, only: Sequence[str]) -> Campaign:
    """``campaign`` with fewer seeds and values.

    :param seeds: from 0; None: the campaign's.
    :param only: ``AXIS=VALUE,VALUE``.
    :raises RequestError: an unknown axis or value, or a cut that removes what cells are compared
        with.
    """
    wanted: dict[str, list[str]] = {}
    for text in only:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise RequestError(f"--only {text!r}: allowed: AXIS=VALUES, such as variant=mainline")
        wanted[name] = [value.strip() for value in values.split(",")]
    names = [axis.name for axis in campaign.axes]
    for name in wanted:
        if name not in names:
            raise unknown("axis", name, names)
    axes = tuple(_cut_axis(axis, wanted.get(axis.name)) for axis in campaign.axes)
    for name, value in page.reference.items():
        if value not in [
            choice.label for axis in axes if axis.name == name for choice in axis.choices
        ]:
            raise RequestError(f"--only {name}: allowed: values with {value!r}, the reference")
    chosen = campaign.seeds if seeds is None else tuple(range(seeds))
    return replace(campaign, axes=axes, seeds=chosen)


def _cut_axis(axis: SweptAxis, wanted: Sequence[str] | None) -> SweptAxis:
    if wanted is None:
        return axis
    labels = [choice.label for choice in axis.choices]
    for value in wanted:
        if value not in labels:
            raise unknown(f"value of {axis.name}", value, labels)
    return replace(axis, choices=tuple(choice for choice in axis.choices if choice.label in wanted))


def swept(campaign: Campaign, jobs: int | None) -> Survey:
    """Run what is missing of ``campaign``; its survey afterwards.

    :param jobs: how many run at a time; None: one for each core of this host.
    :raises EascopeError: a cell that has no run.
    """
    check_runs()
    survey = survey_of(campaign, platforms_folder(), look_up=False)
    survey = run_missing(survey, jobs or len(os.sched_getaffinity(0)))
    lacking = survey.cells - survey.counts[DONE]
    if lacking:
        raise EascopeError(
            f"{lacking} of {survey.cells} cells have no run: eascope status {campaign.name} says "
            "why; --complete makes the record of the seeds that every cell has"
        )
    return survey


def complete(campaign: Campaign) -> Survey:
    """The survey of the seeds of which every cell is done; runs nothing.

    Every cell is looked for, also those of whose runs another version of the code wrote the ledger.

    :raises RequestError: there is none.
    """
    check_runs()
    survey = survey_of(campaign, platforms_folder(), most=MOST_CELLS)
    kept = [
        place
        for place in range(len(campaign.seeds))
        if all(states[place] == DONE for states in survey.states)
    ]
    if not kept:
        raise RequestError("--complete: no seed's cells are all there")
    return replace(
        survey,
        campaign=replace(campaign, seeds=tuple(campaign.seeds[place] for place in kept)),
        states=[[states[place] for place in kept] for states in survey.states],
    )
