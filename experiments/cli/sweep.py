# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope sweep``: run the missing cells of a campaign, on this host or on a cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.cli.campaign_options import (
    add_campaign,
    campaign_of,
    jobs_here,
    script_path,
)
from experiments.cli.output import print_json, shown
from experiments.cli.plan import add_jobs

if TYPE_CHECKING:
    from experiments.sweeps.survey import Missing, Survey

SUMMARY = "run the missing cells of a campaign with Snakemake, on this host or on a cluster"
EXAMPLE = (
    "eascope sweep --platform juno-r2 --set little.cpus=2,4 --scenario smoke --variant mainline,cas"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The campaign, how many jobs, where they run."""
    add_campaign(parser)
    add_jobs(parser)
    parser.add_argument("--retry-failed", action="store_true", help="also run failed cells again")
    parser.add_argument(
        "--profile",
        metavar="P",
        help="where jobs run: slurm, or the folder of a Snakemake profile (default: this host)",
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
    from experiments.sweeps.array_script import write_array
    from experiments.sweeps.ledger import platforms_folder
    from experiments.sweeps.session import begin, check_snakemake, profile_folder
    from experiments.sweeps.survey import survey_of
    from experiments.writable import check_runs

    campaign = campaign_of(options)
    script = script_path(options.script) if options.script else None
    if options.profile is not None:
        profile_folder(options.profile)
    check_runs()
    survey = survey_of(campaign, platforms_folder(), look_up=False)
    groups = survey.to_run(retry=options.retry_failed)
    jobs = options.jobs or jobs_here()
    if script is not None:
        if not groups:
            print("nothing to run: no script was written")
            return 0
        write_array(begin(campaign, groups, jobs, retry=options.retry_failed), script, jobs)
        print(f"script:   {shown(script)} (sbatch {shown(script)})")
        return 0
    if groups:
        check_snakemake(options.profile)
        _run(options, survey, groups, jobs)
        survey = survey_of(campaign, platforms_folder(), look_up=False)
    return _print_end(survey, as_json=options.json)


def _run(options: argparse.Namespace, survey: Survey, groups: list[Missing], jobs: int) -> None:
    from experiments.sweeps.session import begin, run_session
    from experiments.sweeps.survey import cost_of
    from host.proc import duration, say

    cost = cost_of(survey, retry=options.retry_failed)
    session = begin(survey.campaign, groups, jobs, retry=options.retry_failed)
    say(
        f"  {session.cells} of {survey.cells} cells to run in {len(session.parts)} parts, about "
        f"{duration(cost.core_s / jobs)} with {jobs} at a time"
    )
    run_session(session, jobs, options.profile, cost.core_s / jobs)


def _print_end(survey: Survey, *, as_json: bool) -> int:
    from experiments.cli.status import campaign_lines, campaign_object

    if as_json:
        print_json(campaign_object(survey))
    else:
        for line in campaign_lines(survey):
            print(line)
    counts = survey.counts
    return 1 if counts["failed"] or counts["missing"] else 0
