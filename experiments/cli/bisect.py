# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope bisect``: the patch of a series that changes something."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from eascope.experiments.arguments import between
from eascope.experiments.cli.ladder import add_series, asked_steps
from eascope.experiments.cli.options import add_billing, add_cell
from eascope.experiments.cli.output import print_columns, print_json, shown
from eascope.experiments.cli.request import warn

if TYPE_CHECKING:
    from eascope.experiments.runs.bisect import Bisection, Tested

SUMMARY = "find the first patch of a series with which a statement holds, with few builds"
EXAMPLE = "eascope bisect ~/my-idea --energy +2% --platform juno-r2 --scenario eas/video-playback"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The series, what is looked for, the cell, the power model."""
    add_series(parser)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        "--statement",
        metavar="TEXT",
        help="what is looked for, as in expectations of a scenario, about the variants base (below "
        "the series) and patched (a step; also of a measure without a variant)",
    )
    wanted.add_argument(
        "--energy",
        metavar="X%",
        help="energy per work changes by at least this, such as +2%% or, with =, --energy=-2%%",
    )
    parser.add_argument(
        "--seeds",
        type=partial(between, 10, 1000),
        default=160,
        metavar="N",
        help="most runs per step: 10 first, then twice as many while undecided (default "
        "%(default)s)",
    )
    add_cell(parser, own=False)
    add_billing(parser)


def run(options: argparse.Namespace) -> int:
    """Build and run what the search asks for, and print what it found.

    :raises EascopeError: the request is wrong, an end of the series does not build, a run failed.
    """
    from eascope.analysis.verdict_text import corrected_words
    from eascope.experiments.runs.bisect import Bisection, check_statement, energy_statement

    statement = options.statement or energy_statement(options.energy)
    steps, named, billing = asked_steps(options)
    check_statement(statement, named(0))
    warn(named(0), billing.power, [named(len(steps) - 1)])
    bisection = Bisection(steps, named, statement, billing, options.seeds)
    ends = bisection.found()
    record = _record(bisection, ends)
    if options.json:
        print_json(record)
        return 0
    for line in record["answer"]:
        print(line)
    print(f"\n{statement}; {corrected_words(bisection.level)}")
    rows = sorted(bisection.tested.values(), key=lambda tested: tested.step)
    print_columns((f"step {row.step}", row.words, steps[row.step].subject) for row in rows)
    if record["diff"]:
        print(f"why: {record['diff']}")
    return 0


def _record(bisection: Bisection, ends: tuple[Tested, Tested] | None) -> dict[str, Any]:
    from eascope.analysis.compare_json import verdict_json

    steps = bisection.steps
    return {
        "answer": [*_answer(bisection, ends)],
        "statement": bisection.statement,
        "level": bisection.level,
        "below": ends and ends[0].step,
        "step": ends and ends[1].step,
        "patch": ends and steps[ends[1].step].subject,
        "variant": ends and steps[ends[1].step].variant,
        "diff": ends and _diff(*ends),
        "tested": [
            {
                **{"step": each.step, "patch": steps[each.step].subject, "word": each.word},
                **{"why": each.why, "verdict": each.verdict and verdict_json(each.verdict)},
            }
            for each in sorted(bisection.tested.values(), key=lambda each: each.step)
        ],
    }


def _answer(bisection: Bisection, ends: tuple[Tested, Tested] | None) -> list[str]:
    """The finding first, then what it rests on."""
    from eascope.analysis.records.verdict import UNDECIDED
    from eascope.experiments.runs.bisect import BASE, PATCHED, Tested, judged, visible

    last = bisection.tested[bisection.last]
    if ends is None:
        seen = visible(last.verdict.effects[0]) if last.verdict else ""
        return [
            f"no step makes it hold; all {last.step} together: {last.words}"
            + (f"; {seen} would hold" if seen else "")
        ]
    below, first = ends
    subject = bisection.steps[first.step].subject
    lines = [f"step {first.step} is the first with which it holds: {subject}"]
    if skipped := ", ".join(map(str, range(below.step + 1, first.step))):
        lines.append(f"it may also be one that does not build: {skipped}")
    if below.word == UNDECIDED:
        lines.append(f"step {below.step} is undecided: patches before may have a part in it")
    if below.compared:
        runs = {BASE: below.results[PATCHED], PATCHED: first.results[PATCHED]}
        verdict = judged(bisection.statement, runs, bisection.level)
        alone = Tested(first.step, verdict.verdict, "", verdict)
        lines.append(f"from step {below.step} to step {first.step}: {alone.words}")
    return lines


def _diff(below: Tested, first: Tested) -> str:
    """The command that compares the runs of seed 0 of the two."""
    if first.compared is None:
        return ""
    base, patched = first.compared.variants.values()
    before = [*below.compared.variants.values()][1] if below.compared else base
    return f"eascope diff {shown(before[0].run)} {shown(patched[0].run)}"
