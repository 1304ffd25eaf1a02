# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope status``: every run and its state, or the state of a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eascope.experiments.cli.campaign_options import add_campaign, campaign_of, is_campaign
from eascope.experiments.cli.output import print_columns, print_json, run_object
from eascope.host.cache import runs_root

if TYPE_CHECKING:
    from eascope.experiments.sweeps.survey import Survey

SUMMARY = "list every run and its state, or summarise the state of a campaign"
EXAMPLE = "eascope status"

COLUMNS = ("run", "state", "platform", "variant", "scenario", "engine", "seed")
#: Columns that are shown where runs differ in them, or one has something unusual.
DISTINGUISHING = ("mode", "duration", "elide", "controls", "kernel", "energy_model")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The campaign, if any."""
    add_campaign(parser)


def run(options: argparse.Namespace) -> int:
    """Print every run, or the state of a campaign.

    :raises RequestError: a fault of the campaign.
    """
    from eascope.experiments.runs.writable import check_runs_folder

    check_runs_folder()
    if is_campaign(options):
        return _campaign(options)
    return _runs(options)


def _campaign(options: argparse.Namespace) -> int:
    import tempfile

    from eascope.experiments.sweeps.survey import survey_of
    from eascope.host.dry import nothing_built

    campaign = campaign_of(options)
    with tempfile.TemporaryDirectory(prefix="eascope-") as folder, nothing_built():
        survey = survey_of(campaign, Path(folder))
    print_campaign(survey, as_json=options.json)
    return 0


def print_campaign(survey: Survey, *, as_json: bool) -> None:
    """Print the state of a campaign."""
    if as_json:
        print_json(campaign_object(survey))
    else:
        print("\n".join(campaign_lines(survey)))


def campaign_object(survey: Survey) -> dict[str, Any]:
    """The state of a campaign as JSON."""
    from eascope.experiments.sweeps.survey import totals_of

    totals = totals_of(survey)
    return {
        "campaign": survey.campaign.name,
        "cells": survey.cells,
        "states": dict(totals.states),
        "causes": [vars(cause) for cause in totals.causes],
        **{key: round(value, 1) for key, value in vars(totals).items() if key.endswith("_s")},
        **{key: getattr(totals, key) for key in ("mips", "peak_mib", "disk_kib", "measured")},
    }


def campaign_lines(survey: Survey) -> list[str]:
    """The state of a campaign in words."""
    from eascope.experiments.sweeps.survey import totals_of
    from eascope.host.proc import duration

    totals = totals_of(survey)
    states = ", ".join(f"{count} {state}" for state, count in totals.states.items())
    lines = [f"campaign {survey.campaign.name}: {survey.cells} cells: {states}"]
    for cause in totals.causes:
        lines.append(f"  failed, {cause.cells} of this cause: {cause.text}")
        lines.append(f"    the first of them: {cause.first}")
    if totals.measured:
        lines.append(
            f"{totals.measured} cells: {duration(totals.core_s)} of one core; simulations: host "
            f"time {duration(totals.host_s)}, processor {duration(totals.cpu_s)}, simulated "
            f"{duration(totals.sim_s)}; {totals.mips:.0f} MIPS (median); largest process "
            f"{totals.peak_mib} MiB; disk {totals.disk_kib / 1e3:.1f} MB"
        )
    return lines


def _runs(options: argparse.Namespace) -> int:
    from eascope.experiments.runs.store import all_runs

    objects = [run_object(entry) for entry in all_runs()]
    if options.json:
        print_json(objects)
        return 0
    for entry in objects:
        entry["run"] = Path(entry["run"]).name[:12]
        entry["time"] = f"{entry['host_s']:.1f} s" if "host_s" in entry else entry.get("cause", "")
    # A run that was asked for under several names has a line for each.
    lines = [{**entry, **named} for entry in objects for named in ({}, *entry.get("also", ()))]
    columns = [*COLUMNS, *distinguishing(lines), "time"]
    print_columns([[entry.get(column, "-") for column in columns] for entry in lines], columns)
    print(f"{len(objects)} runs in {runs_root()}")
    return 0


def distinguishing(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those of `DISTINGUISHING` in which the runs differ, as far as they are readable."""
    known = [entry for entry in objects if "platform" in entry]
    return [
        column
        for column in DISTINGUISHING
        if len({str(entry.get(column, "-")) for entry in known}) > 1
    ]
