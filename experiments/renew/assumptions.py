# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranges over the model axes whose values need runs, of variants of a shipped scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eascope.analysis.compare import Comparison
from eascope.analysis.difference import Difference
from eascope.analysis.known.assumptions import (
    AssumedCell,
    Assumptions,
    RecordedDifference,
    RecordedValue,
    RecordedVerdict,
    inputs_of,
)
from eascope.analysis.overall import Assumed
from eascope.analysis.rows import PER_WORK
from eascope.configs.knobs import AXES
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.axes import BILLING_AXES, cases_of
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.measure import Group, compare, seeded
from eascope.experiments.runs.request import Request, resolve
from eascope.power.choice import power_of

#: Axes whose values need runs.
RUN_AXES = tuple(axis for axis in AXES if axis not in BILLING_AXES)


@dataclass(frozen=True)
class Compared:
    """What is compared: variants, the baseline first, on a scenario and a platform."""

    platform: str
    scenario: str
    variants: tuple[str, ...]
    source_conditions: bool = False


def measure(of: Compared, seeds: int) -> Comparison:
    """The comparison with all values of `RUN_AXES`; executes what is missing.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    asked = Request(of.platform, "", of.scenario, source_conditions=of.source_conditions)
    firsts = [resolve(replace(asked, variant=variant)) for variant in of.variants]
    billing = BilledBy(power_of(firsts[0].platform))
    cases = cases_of(firsts, billing, RUN_AXES, named=False)
    (compared,) = compare([Group(seeded(firsts, seeds), billing, cases)])
    return compared


def record_of(measured: Comparison, of: Compared, command: str) -> Assumptions:
    """The record of one comparison."""
    cells = [run.cell for runs in measured.variants.values() for run in runs]
    cell = AssumedCell(
        platform=of.platform,
        scenario=of.scenario,
        variants=of.variants,
        source_conditions=of.source_conditions,
        seeds=len(measured.seeds),
        conditions=vars(measured.conditions),
        inputs=inputs_of(cells),
        values=tuple(_value(measured, at) for at in measured.assumed),
        left_out=tuple(measured.not_varied),
    )
    return Assumptions(origin_of(command, cells), (cell,))


def _value(measured: Comparison, at: Assumed) -> RecordedValue:
    paths = [path for path in (measured.total.row.path, PER_WORK) if measured.line(*path)]
    verdicts = [at.verdict(v.variant, v.statement) for v in measured.as_asked]
    return RecordedValue(
        axis=at.axis,
        value=at.value,
        source=at.source,
        own_runs=at.own_runs,
        differences={
            name: {
                ".".join(path): _difference(difference)
                for path in paths
                if (difference := at.difference(name, path)) is not None
            }
            for name in measured.names[1:]
        },
        verdicts=tuple(
            RecordedVerdict(v.variant, v.statement, v.verdict, v.known_bad) for v in verdicts if v
        ),
        other_work=at.other_work,
    )


def _difference(of: Difference) -> RecordedDifference:
    ends = () if of.low is None or of.high is None else (of.low, of.high)
    return RecordedDifference(
        *(of.absolute, of.percent, of.baseline, of.seeds, ends, of.in_percent() or ()),
    )


def merged(record: Assumptions | None, more: Assumptions) -> Assumptions:
    """``record`` with the cells of ``more`` in place of its own, or after them.

    Cells of ``record`` keep their origin, each for itself.
    """
    cells = {
        compared_of(cell): replace(cell, origin=record.origin_of(cell))
        for cell in (record.cells if record else ())
        if record
    }
    cells |= {compared_of(cell): cell for cell in more.cells}
    return replace(more, cells=tuple(cells.values()))


def compared_of(cell: AssumedCell) -> Compared:
    """What a cell compares."""
    return Compared(cell.platform, cell.scenario, cell.variants, cell.source_conditions)
