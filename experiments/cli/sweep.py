# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope sweep``: run the missing cells of a campaign, on this host or on a cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from eascope.experiments.cli.campaign_options import (
    add_campaign,
    campaign_of,
    jobs_here,
    out_file,
)
from eascope.experiments.cli.output import print_json, shown
from eascope.experiments.cli.plan import add_jobs
from eascope.host.errors import RequestError

if TYPE_CHECKING:
    from eascope.experiments.sweeps.survey import Survey

SUMMARY = "run a campaign's missing simulations with Snakemake, on this host or on a cluster"
EXAMPLE = (
    "eascope sweep --platform juno-r2 --set little.cpus=2,4 --scenario smoke --variant mainline,cas"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The campaign, how many jobs, where they run."""
    add_campaign(parser)
    add_jobs(parser)
    parser.add_argument(
        "--retry-failed", action="store_true", help="also retry simulations that failed"
    )
    parser.add_argument(
        "--profile",
        metavar="P",
        help="where jobs run: slurm, or the directory of a Snakemake profile (default: this host)",
    )
    parser.add_argument(
        "--script",
        metavar="FILE",
        help="run nothing; write a Slurm array script that runs the jobs without Snakemake",
    )


def run(options: argparse.Namespace) -> int:
    """Run the missing cells; 1 when a cell of the campaign has failed.

    :raises EascopeError: the request is wrong, or the sweep could not begin.
    """
    from eascope.experiments.cli.status import print_campaign
    from eascope.experiments.runs.writable import check_runs
    from eascope.experiments.sweeps.ledger import platforms_folder
    from eascope.experiments.sweeps.session import begin, check_snakemake, write_array
    from eascope.experiments.sweeps.survey import survey_of

    campaign = campaign_of(options)
    script = out_file("--script", options.script) if options.script is not None else None
    if options.profile is not None:
        if script is not None:
            raise RequestError(
                "--profile cannot be combined with --script, which needs no Snakemake"
            )
        check_snakemake(options.profile)
    check_runs()
    survey = survey_of(campaign, platforms_folder(), look_up=False)
    jobs, retry = options.jobs or jobs_here(), options.retry_failed
    if script is not None:
        groups = survey.to_run(retry=retry)
        session = begin(campaign, groups, jobs, retry=retry) if groups else None
        if session is not None:
            write_array(session, script, jobs)
        if options.json:
            print_json(
                {
                    "campaign": campaign.name,
                    "script": str(script) if session else None,
                    "cells": session.cells if session else 0,
                    "parts": len(session.parts) if session else 0,
                }
            )
        elif session is None:
            print("nothing to run: no script was written")
        else:
            print(f"script:   {shown(script)} (sbatch {shown(script)})")
        return 0
    survey = _run_missing(survey, jobs, options.profile, retry=retry)
    print_campaign(survey, as_json=options.json)
    return 1 if survey.counts["failed"] or survey.counts["missing"] else 0


def _run_missing(survey: Survey, jobs: int, profile: str | None, *, retry: bool) -> Survey:
    """Run the missing cells of a campaign; returns its survey afterwards."""
    from eascope.experiments.sweeps.ledger import platforms_folder
    from eascope.experiments.sweeps.session import begin, check_snakemake, run_session
    from eascope.experiments.sweeps.survey import cost_of, survey_of
    from eascope.host.proc import duration, say

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
