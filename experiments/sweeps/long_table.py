# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign as one long table for other programs: a line for each cell and measure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from eascope.analysis.derive import Derived
from eascope.analysis.records.cell import CellRecord, Inputs
from eascope.analysis.rows import rows
from eascope.configs.platform import Platform
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.finished import derived_as
from eascope.experiments.runs.request import Resolved
from eascope.experiments.runs.store import Run
from eascope.experiments.sweeps.ledger import DONE, LedgerLine, ledger_folder
from eascope.experiments.sweeps.survey import Group, Survey
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError
from eascope.power.given import given_record

#: Columns after those of the campaign's axes.
COLUMNS = ("seed", "run", "measure", "unit", "value")


class MeasuredCell(NamedTuple):
    """A measure of a finished cell.

    :param axes: the value of each axis, in words.
    :param value: in ``unit``, as ``result.json`` has it: not rounded, not scaled.
    """

    axes: tuple[str, ...]
    seed: int
    run: str
    measure: str
    unit: str
    value: float


def measured(survey: Survey, wanted: Collection[str] = ()) -> Iterator[MeasuredCell]:
    """Every measure of every finished cell, in the campaign's order.

    :param wanted: only these measures; empty: all that a run gives.
    :raises EascopeError: a run is damaged, or the ledger has the run of another cell in the place
        of one.
    """
    for group, seed, state, line in survey.each():
        if state == DONE:
            run, asked = _run_of(survey, group, seed, line)
            billed = group.point.billed(survey.campaign.power)
            derived = derived_as(asked, group.resolved, run, billed)
            axes = tuple(group.point.labels[axis.name] for axis in survey.campaign.axes)
            for measure, unit, value in _values(derived, group.resolved.platform):
                if not wanted or measure in wanted:
                    yield MeasuredCell(axes, seed, derived.run.name, measure, unit, value)


def _run_of(
    survey: Survey, group: Group, seed: int, line: LedgerLine | None
) -> tuple[Run, CellRecord]:
    """The run of a cell, and the cell's record.

    :raises EascopeError: the ledger has another cell's run in its place, and it has no run itself.
    """
    names = group.resolved.with_seed(seed)
    # A run of another command has no line.
    known = Run(runs_root() / line.simkey) if line and line.state == DONE else None
    if known is not None and _is_of(known, names):
        return known, known.cell
    # It may be shared, or be made under other words: to prepare is exact, and takes some 20 ms.
    cell = prepare(names)
    run = Run(runs_root() / cell.simkey)
    if known is not None and run.path != known.path and run.state != "done":
        raise EascopeError(
            f"{known.path}: another run than that of {group.point.words}, seed {seed}, as the "
            f"ledger has it: remove {ledger_folder(survey.campaign.name)}; the runs stay, and are "
            "looked up anew"
        )
    return run, cell.record


def _is_of(run: Run, resolved: Resolved) -> bool:
    """True if the record of ``run`` is that of the cell ``resolved``: its words and files."""
    request, cell = resolved.request, run.cell
    platform, scenario = resolved.platform, resolved.scenario
    return (
        (cell.simkey, cell.seed) == (run.path.name, request.seed)
        and (cell.platform, cell.variant) == (platform.name, resolved.variant.name)
        and (cell.scenario, cell.engine) == (scenario.name, request.engine)
        and (cell.mode, cell.elide) == (resolved.engine.mode, request.elide)
        and cell.duration == ("full" if request.full else "short")
        and cell.set_otherwise == tuple(request.controls.words)
        and cell.energy_model.encode() == given_record(platform, request.energy_model)
        and cell.own_platform == platform.own
        and cell.inputs == Inputs(platform.digest, resolved.activity.digest, scenario.digest)
    )


def _values(derived: Derived, platform: Platform) -> Iterator[tuple[str, str, float]]:
    cell, result = derived.cell, derived.result
    printed = [
        (program, name)
        for program, measures in result.program.items()
        for name in measures
        if not name.startswith("thread")
    ]
    seen: set[str] = set()
    for row in rows(platform, cell, printed):
        value = row.raw(result)
        if value is not None and row.measure not in seen:
            seen.add(row.measure)
            yield row.measure, row.raw_unit, value
