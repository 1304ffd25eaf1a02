# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a comparison at all values of the model axes: every missing run once, then derivations.

All runs are in one list. So they share progress and estimate, and an interrupted command continues.
Values that change only the billing have no runs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eascope.analysis.compare import Comparison, by_variant, comparison
from eascope.analysis.derive import Derived
from eascope.analysis.known.assumptions import RecordedValue, recorded
from eascope.analysis.overall import Assumed
from eascope.analysis.robust import AtValue
from eascope.configs.knobs import AXES
from eascope.engines.base import Identity
from eascope.experiments.axes import AxisCase, Cases
from eascope.experiments.cell import Cell, prepare
from eascope.experiments.finished import BilledBy, derived_by_each
from eascope.experiments.pool import run_all
from eascope.experiments.request import Names
from eascope.experiments.runs import Run

#: A run's derivations by what they are billed by.
ByBilling = Mapping[BilledBy, Derived]


@dataclass(frozen=True)
class PreparedCase:
    """A case with its cells for every seed; none if only the billing differs."""

    case: AxisCase
    cells: tuple[Cell, ...]


def seeded(cases: Iterable[AxisCase], seeds: int) -> list[Names]:
    """The additional cells of ``cases``: every variant with every seed."""
    return [
        names.with_seed(seed) for case in cases for names in case.names for seed in range(seeds)
    ]


def prepared(cases: Cases, seeds: int, identity: Identity | None = None) -> list[PreparedCase]:
    """Every case with its cells.

    :raises EascopeError: when an artefact cannot be had.
    """
    return [
        PreparedCase(case, tuple(prepare(names, identity) for names in seeded([case], seeds)))
        for case in cases.cases
    ]


def run_with(
    cells: Sequence[Cell],
    asked: Sequence[Cell],
    varied: Sequence[PreparedCase],
    billing: BilledBy,
) -> dict[str, ByBilling]:
    """Execute missing runs of ``cells`` and ``varied``; returns derivations by `Cell.asked`.

    :param asked: those of ``cells`` that are billed otherwise, too.
    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    again = {cell.asked for cell in asked}
    billings = (billing, *(case.case.billing for case in varied if not case.cells))

    def read(cell: Cell, run: Run) -> ByBilling:
        wanted = billings if cell.asked in again else (billing,)
        return dict(zip(wanted, derived_by_each(cell, run, wanted), strict=True))

    every = {cell.asked: cell for cell in cells}
    every |= {cell.asked: cell for case in varied for cell in case.cells}
    return dict(zip(every, run_all(list(every.values()), read), strict=True))


def at_values(
    asked: Sequence[Cell], varied: Sequence[PreparedCase], runs: Mapping[str, ByBilling]
) -> list[AtValue]:
    """The comparison of the cells ``asked`` at every other value."""
    simkeys = {cell.simkey for cell in asked}
    values = []
    for item in varied:
        value = item.case.value
        own = len({cell.simkey for cell in item.cells} - simkeys)
        compared = _at(item, asked, runs)
        values.append(AtValue(item.case.axis, value.name, value.source, own, compared))
    return values


def assuming(
    compared: Comparison, values: Sequence[AtValue], left_out: Sequence[str]
) -> Comparison:
    """``compared`` with its values of model axes, and with the recorded ones of other axes.

    :param left_out: axes that have no other value here, and why.
    """
    known: list[RecordedValue] = []
    lines: list[str] = []
    if not compared.cell.own_platform:
        cells = [runs[0].cell for runs in compared.variants.values()]
        varied = {at.axis for at in values}
        known, lines = recorded(compared.names, cells, vars(compared.conditions), varied)
    order = list(AXES)
    every: list[Assumed] = [*values, *known]
    assumed = sorted(every, key=lambda at: order.index(at.axis))
    return replace(compared, assumed=assumed, not_varied=(*left_out, *lines))


def _at(varied: PreparedCase, asked: Sequence[Cell], runs: Mapping[str, ByBilling]) -> Comparison:
    cells = varied.cells or asked
    derived = [(cell.record.variant, runs[cell.asked][varied.case.billing]) for cell in cells]
    return comparison(cells[0].machine.platform, by_variant(derived))
