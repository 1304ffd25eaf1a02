# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope ladder``: what each patch of a series changes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT
from eascope.experiments.arguments import count
from eascope.experiments.cli.dry_run import add_dry_run, dry_run
from eascope.experiments.cli.options import add_billing, add_cell, add_format, form_of
from eascope.experiments.cli.output import print_json
from eascope.experiments.cli.request import billing_of, request_of, warn

if TYPE_CHECKING:
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.request import Resolved
    from eascope.kernels.steps import Step

SUMMARY = "compare a series patch by patch, each kernel with the one before it"
EXAMPLE = "eascope ladder ~/my-idea --platform juno-r2 --scenario eas/video-playback --seeds 20"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The series, the number of seeds, the cell, the power model."""
    add_series(parser)
    parser.add_argument(
        "--seeds",
        type=count,
        default=ENOUGH_FOR_VERDICT,
        metavar="N",
        help="runs per step, with seeds 0 to N-1 (default %(default)s, the fewest with a verdict)",
    )
    add_cell(parser, own=False)
    add_billing(parser)
    add_format(parser)
    add_dry_run(parser)


def add_series(parser: argparse.ArgumentParser) -> None:
    """The series and, of a range of commits, its tree."""
    parser.add_argument(
        "series",
        metavar="SERIES|A..B",
        help="the name of an imported series, of a variant of your own with patches, or of one of "
        "our series; whatever 'series import' takes; or A..B, commits of --tree",
    )
    parser.add_argument(
        "--tree",
        default="",
        metavar="DIR",
        help="git tree of Linux that has the commits A..B (default: this directory); each is built "
        "as it is there, as with --kernel",
    )


def asked_steps(
    options: argparse.Namespace,
) -> tuple[Sequence[Step], Callable[[int], Resolved], BilledBy]:
    """The steps of the series, the cell of each with the first seed, and the powers.

    :raises RequestError: for the first name or value that is wrong.
    """
    from dataclasses import replace

    from eascope.experiments.runs.request import resolve
    from eascope.experiments.runs.writable import check_runs_place
    from eascope.kernels.steps import steps_of
    from eascope.power.given import given_model

    check_runs_place()
    steps, own = steps_of(options.series, options.tree)
    model = given_model(options.em, options.em_error)
    billing = billing_of(options)

    @cache
    def named(step: int) -> Resolved:
        return resolve(replace(request_of(options, steps[step].variant, 0, model), own=own))

    billing.check(named(0))
    return steps, named, billing


def run(options: argparse.Namespace) -> int:
    """Build and run what is missing, and print the steps.

    :raises EascopeError: the request is wrong, the base does not build, or a run failed.
    """
    from eascope.experiments.runs.ladder import climbed
    from eascope.experiments.runs.measure import seeded

    def cells() -> list[Resolved]:
        steps, named, _ = asked_steps(options)
        return seeded([named(number) for number in range(len(steps))], options.seeds)

    form = form_of(options)
    if options.dry_run:
        return dry_run(options, lambda: (cells(), []))
    steps, named, billing = asked_steps(options)
    names = [named(number) for number in range(len(steps))]
    warn(names[0], billing.power, names[1:])
    ladder = climbed(steps, names, options.seeds, billing)
    if form == "json":
        print_json(ladder.record)
    else:
        print(ladder.text if form == "text" else ladder.paper(form), end="")
    return 0
