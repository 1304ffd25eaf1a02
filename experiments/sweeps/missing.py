# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the missing cells of a campaign."""

from __future__ import annotations

from eascope.experiments.sweeps.ledger import platforms_folder
from eascope.experiments.sweeps.session import begin, check_snakemake, run_session
from eascope.experiments.sweeps.survey import Survey, cost_of, survey_of
from eascope.host.proc import duration, say


def run_missing(
    survey: Survey, jobs: int, *, profile: str | None = None, retry: bool = False
) -> Survey:
    """Run the missing cells of a campaign; returns its survey afterwards.

    :param jobs: how many run at a time.
    :param profile: of Snakemake; None: on this host.
    :param retry: whether cells that have failed are run again.
    :raises EascopeError: the request is wrong, or the sweep could not begin.
    """
    groups = survey.to_run(retry=retry)
    if not groups:
        return survey
    check_snakemake(profile)
    cost = cost_of(survey, retry=retry)
    session = begin(survey.campaign, groups, jobs, retry=retry)
    say(
        f"  {session.cells} of {survey.cells} cells to run in {len(session.parts)} parts, about "
        f"{duration(cost.core_s / jobs)} with {jobs} at a time"
    )
    run_session(session, jobs, profile, cost.core_s / jobs)
    return survey_of(survey.campaign, platforms_folder(), look_up=False)
