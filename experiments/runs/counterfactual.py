# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs for `analysis.counterfactual`: two that count activations, and A with decisions of B.

All of them write the same number of lines of the same width into the kernel's table, before START.
A line that is not used names an activation that never comes. So a run with a forced decision is, to
the byte, the one without it until that decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eascope.analysis.counterfactual import (
    ALL,
    FORCED,
    WHY_NOT,
    Choice,
    Counterfactual,
    Left,
    Repeated,
    firsts,
    largest,
)
from eascope.analysis.derive import Derived
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.run_side import Side
from eascope.analysis.trace import CHOICE_EVENT
from eascope.configs.knobs import CONTROLS
from eascope.experiments.controls import Controls
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.finished import BilledBy, derived_for
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.experiments.runs.store import Run
from eascope.host.errors import RequestError
from eascope.power.given import GivenModel

OPTION = "--counterfactual"


def runs_of(asked: Sequence[Resolved], billed: BilledBy) -> list[Derived]:
    """The runs of ``asked``, executed where they are missing.

    :raises EascopeError: a run failed.
    """
    return measured(asked, lambda cell, run: derived_for(cell, run, billed))


def counted(resolved: Resolved, forced: Sequence[str] = ()) -> Resolved:
    """``resolved`` with counts of activations.

    :param forced: lines of the kernel's table.
    """
    controls = resolved.request.controls
    events = tuple(sorted({*controls.events, CHOICE_EVENT}))
    controls = replace(controls, forced=",".join(forced), events=events)
    return replace(resolved, request=replace(resolved.request, controls=controls))


def counterfactuals(
    pairs: Sequence[tuple[Resolved, Resolved]], billed: BilledBy, most: int, *, first: bool = True
) -> list[Counterfactual]:
    """Of each pair, A with each of ``most`` decisions of B alone, then with all of them.

    :param first: the first that differs of each thread; else those with the largest spans.
    :raises RequestError: no decision of any pair can be forced.
    :raises EascopeError: a run failed.
    """
    counts = [counted(each) for pair in pairs for each in pair]
    runs = runs_of(counts, billed)
    platform = pairs[0][0].platform
    diffs = [RunDiff.of(platform, *two) for two in zip(runs[::2], runs[1::2], strict=True)]
    found: list[tuple[list[Choice], list[Left]]] = [
        (firsts(diff, most), []) if first else largest(diff, most) for diff in diffs
    ]
    chosen = [choices for choices, _ in found]
    if not any(chosen):
        raise RequestError(
            f"{OPTION}: no wake-up or fork that A and B have differs; requests of the governor and "
            "moves by load balance cannot be forced"
        )
    groups = [[*([each] for each in own), *([own] if len(own) > 1 else [])] for own in chosen]
    forced = [
        counted(a, [choice.line for choice in group])
        for (a, _), own in zip(pairs, groups, strict=True)
        for group in own
    ]
    sides = (Side(run, platform) for run in runs_of(forced, billed))
    made = [
        Counterfactual(
            diff,
            [
                Repeated(f"A{number}" if len(group) == 1 else ALL, group, next(sides))
                for number, group in enumerate(own, 1)
            ],
            left,
        )
        for diff, own, (_, left) in zip(diffs, groups, found, strict=True)
    ]
    ends = [(each.choices[0], each.outcomes) for one in made for each in one.repeated[-1:]]
    if not any(FORCED in outcomes for _, outcomes in ends):
        choice, outcomes = ends[0]
        raise RequestError(f"{OPTION}: {choice.words} cannot be forced: {WHY_NOT[outcomes[0]]}")
    return made


def resolved_of(run: Run) -> Resolved:
    """The names of a finished run's cell, which is prepared again from today's files.

    :raises RequestError: its kernel, files or settings cannot be had again.
    """
    cell = run.cell
    names = resolve(_request(cell))
    if prepare(names).simkey != cell.simkey:
        raise RequestError(
            f"{run.path}: {OPTION}: today's files make another run of {cell.variant}, "
            f"{cell.scenario}; give two variants with --scenario, --platform and the options of "
            "the run"
        )
    return names


def _request(cell: CellRecord) -> Request:
    """The request of a cell, as far as its record has it."""
    had, record = cell.source_conditions, cell.controls
    values = {name: value for name, value in record.others.items() if name in CONTROLS}
    values["speeds"] = record.speeds
    for name in ("rate_limit_us", "transition_latency_us"):
        word = name.partition("_")[0]
        if any(each.startswith(f"{word}-") for each in cell.set_otherwise):
            values[name] = getattr(record, name)
    events = [word.removeprefix("event-") for word in cell.set_otherwise if word[:6] == "event-"]
    errors = tuple(sorted(cell.energy_model.errors_percent.items()))
    return Request(
        platform=cell.platform,
        variant=cell.variant,
        scenario=cell.scenario,
        engine=cell.engine,
        seed=cell.seed,
        full=cell.duration == "full",
        elide=cell.elide,
        controls=Controls(**values, events=tuple(sorted(events))),
        energy_model=GivenModel(cell.energy_model.source, errors),
        mode=cell.mode or None,
        source_conditions=had is not None and {*had.controls} <= {*cell.set_otherwise},
    )
