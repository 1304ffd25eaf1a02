# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope plan``: a campaign's cells by state, and the cost of the missing cells."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from eascope.experiments.arguments import count
from eascope.experiments.cli.campaign_options import add_campaign, campaign_of, jobs_here
from eascope.experiments.cli.output import print_json

if TYPE_CHECKING:
    from eascope.experiments.sweeps.survey import Cost, Survey

SUMMARY = "count a campaign's simulations by state, with host time and disk space; write nothing"
EXAMPLE = "eascope plan opp-sweep"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The campaign, and how many jobs."""
    add_campaign(parser)
    add_jobs(parser)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """How many jobs run at a time."""
    parser.add_argument(
        "-j",
        "--jobs",
        type=count,
        metavar="N",
        help="jobs at a time, one host core each (default: all cores of this host)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the plan of a campaign.

    :raises RequestError: a fault of the campaign, with its cell.
    """
    import tempfile
    from pathlib import Path

    from eascope.experiments.runs.writable import check_runs_folder
    from eascope.experiments.sweeps.survey import cost_of, survey_of
    from eascope.host.dry import nothing_built

    check_runs_folder()
    campaign = campaign_of(options)
    with tempfile.TemporaryDirectory(prefix="eascope-") as folder, nothing_built():
        survey = survey_of(campaign, Path(folder))
        cost = cost_of(survey)
    jobs = options.jobs or jobs_here()
    if options.json:
        print_json(plan_object(survey, cost, jobs))
    else:
        for line in plan_lines(survey, cost, jobs):
            print(line)
        print("nothing written; eascope sweep runs the missing simulations")
    return 0


def plan_object(survey: Survey, cost: Cost, jobs: int) -> dict[str, object]:
    """The plan as JSON."""
    campaign = survey.campaign
    return {
        "campaign": campaign.name,
        "axes": {axis.name: [choice.label for choice in axis.choices] for axis in campaign.axes},
        "seeds": list(campaign.seeds),
        "combinations": campaign.combinations * len(campaign.seeds),
        "cells": survey.cells,
        "states": survey.counts,
        "not_looked_up": survey.not_looked_up,
        "to_build": [{"what": name, "estimate": text} for name, text in survey.to_build.items()],
        "computed": {name: list(lines) for name, lines in survey.computed.items()},
        "core_s": round(cost.core_s, 1),
        "host_s": round(cost.core_s / jobs, 1),
        "disk_kib": cost.disk_kib,
    }


def plan_lines(survey: Survey, cost: Cost, jobs: int) -> list[str]:
    """The plan in words."""
    from eascope.host.proc import duration

    campaign, counts = survey.campaign, survey.counts
    lines = [f"campaign {campaign.name}: {campaign.summary}"]
    lines += [f"question: {campaign.question}"] if campaign.question else []
    lines += [f"limits: {campaign.limits}"] if campaign.limits else []
    lines += [
        f"  {axis.name}: {', '.join(choice.label for choice in axis.choices)}"
        for axis in campaign.axes
    ]
    seeds = len(campaign.seeds)
    lines.append(f"  seeds: {seeds}")
    removed = campaign.combinations * seeds - survey.cells
    lines.append(
        f"{survey.cells} cells"
        + (f"; constraints remove {removed} of {survey.cells + removed}" if removed else "")
    )
    lines += _computed(survey)
    lines += [f"to build: {what} ({text})" for what, text in survey.to_build.items()]
    lines.append(
        f"done: {counts['done']}, failed: {counts['failed']}, to run: {counts['missing']}"
        + (" (--retry-failed runs the failed ones again)" if counts["failed"] else "")
    )
    if survey.not_looked_up:
        lines.append(f"{survey.not_looked_up} runs not checked yet; existing ones will be reused")
    if counts["missing"]:
        lines.append(
            f"about {duration(cost.core_s)} of one core, {duration(cost.core_s / jobs)} with "
            f"-j {jobs}; {_size(cost.disk_kib)} of disk"
        )
    return lines


def _computed(survey: Survey) -> list[str]:
    """The computed figures of derived platforms, each sentence once."""
    if not survey.computed:
        return []
    texts = {text: None for lines in survey.computed.values() for text in lines}
    return [
        f"{len(survey.computed)} derived platforms; device trees, capacities and what the kernel "
        "is given follow from each",
        *(f"  {text}" for text in texts),
    ]


def _size(kib: int) -> str:
    return f"{kib / 1e6:.1f} GB" if kib >= 1e6 else f"{kib / 1e3:.1f} MB"
