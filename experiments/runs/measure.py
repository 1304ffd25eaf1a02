# SPDX-License-Identifier: GPL-2.0-or-later
"""The loop of everything that is measured: requests and seeds, missing runs, results, comparisons.

`eascope compare`, studies and renewals say what they want as groups. All their runs are in one
list, so they share progress and estimate, and an interrupted command continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from eascope.analysis.compare import Comparison, by_variant, comparison
from eascope.analysis.derive import Derived
from eascope.analysis.derivers import Derivers, derivers
from eascope.analysis.known.assumptions import recorded
from eascope.analysis.null import Null
from eascope.analysis.overall import Assumed
from eascope.analysis.robust import AtValue
from eascope.configs.knobs import AXES
from eascope.experiments.runs.axes import AxisCase, Cases
from eascope.experiments.runs.cell import Cell, identity_of, prepare
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.pool import run_all, workers
from eascope.experiments.runs.request import Resolved
from eascope.experiments.runs.store import Run

Result = TypeVar("Result")
#: A run's derivations by what they are billed by.
ByBilling = Mapping[BilledBy, Derived]
_NO_CASES = Cases((), ())


def prepared(resolved: Sequence[Resolved]) -> list[Cell]:
    """The cells of ``resolved``.

    :raises EascopeError: when an artefact cannot be had.
    """
    engines = {(each.engine.name, each.engine.mode): each.engine for each in resolved}
    identities = {key: identity_of(engine) for key, engine in engines.items()}
    return [prepare(each, identities[each.engine.name, each.engine.mode]) for each in resolved]


def measured(resolved: Sequence[Resolved], read: Callable[[Cell, Run], Result]) -> list[Result]:
    """What ``read`` gives of each run; executes what is missing.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    return run_all(prepared(resolved), read)


def seeded(resolved: Sequence[Resolved], seeds: int) -> list[Resolved]:
    """Each of ``resolved`` with the seeds 0 to ``seeds`` - 1."""
    return [each.with_seed(seed) for each in resolved for seed in range(seeds)]


@dataclass(frozen=True)
class Group:
    """What is compared.

    :param resolved: every variant with every seed, the baseline first.
    :param cases: other values of model axes.
    :param null: cells that measure the noise floor: a variant's, then as many of its double's.
    :param rename: gives a run the name of its variant in statements.
    """

    resolved: Sequence[Resolved]
    billing: BilledBy
    cases: Cases = _NO_CASES
    null: Sequence[Resolved] = ()
    rename: Callable[[Derived], Derived] | None = None

    @property
    def parts(self) -> list[Sequence[Resolved]]:
        """The cells of ``resolved``, of ``null``, and those that each case needs besides."""
        seeds = len({each.request.seed for each in self.resolved})
        return [
            self.resolved,
            self.null,
            *(seeded(case.resolved, seeds) for case in self.cases.cases),
        ]

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The prepared cells of `parts`; their artefacts are built if missing.

        :raises EascopeError: when an artefact cannot be had.
        """
        cells = iter(prepared([resolved for part in self.parts for resolved in part]))
        return [[next(cells) for _ in part] for part in self.parts]

    @property
    def wanted(self) -> Iterator[tuple[Cell, Sequence[BilledBy]]]:
        """Every cell, and what it is billed by."""
        asked, *others = self.cells
        free = (case.billing for case in self.cases.cases if not case.resolved)
        every = (self.billing, *free)
        yield from ((cell, every) for cell in asked)
        yield from ((cell, (self.billing,)) for cells in others for cell in cells)

    def compared(self, runs: Mapping[str, ByBilling]) -> Comparison:
        """The comparison, with its noise floor and its values of model axes.

        :param runs: by `Cell.asked`.
        """

        def of(cells: Sequence[Cell], billing: BilledBy) -> dict[str, list[Derived]]:
            derived = [runs[cell.asked][billing] for cell in cells]
            if self.rename is not None:
                derived = [self.rename(run) for run in derived]
            return by_variant((run.cell.variant, run) for run in derived)

        def at(case: AxisCase, own: Sequence[Cell]) -> AtValue:
            count = len({cell.simkey for cell in own} - {cell.simkey for cell in asked})
            value, cells = case.value, own or asked
            same = comparison(cells[0].resolved.platform, of(cells, case.billing))
            return AtValue(case.axis, value.name, value.source, count, same)

        asked, null, *varied = self.cells
        again = of(null, self.billing)
        return replace(
            comparison(asked[0].resolved.platform, of(asked, self.billing)),
            null=Null(next(iter(again)), *again.values()) if again else None,
            assumed=[*map(at, self.cases.cases, varied)],
            not_varied=self.cases.left_out,
        )


def derived_by_each(
    derive: Derivers, cell: Cell, run: Run, billings: Sequence[BilledBy]
) -> list[Derived]:
    """As `experiments.runs.finished.derived_for`, by each of ``billings``."""
    platform, activity = cell.resolved.platform, cell.resolved.activity
    models = [billed.model(platform, activity) for billed in billings]
    return derive(run.path, platform, activity, models, cell.record)


def compare(groups: Sequence[Group]) -> list[Comparison]:
    """The comparison of each group; executes what is missing, seed by seed.

    So an interrupted command leaves whole seeds.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    wanted = [pair for group in groups for pair in group.wanted]
    wanted.sort(key=lambda pair: pair[0].record.seed)
    billings: dict[str, dict[BilledBy, None]] = {}
    for cell, billed in wanted:
        billings.setdefault(cell.asked, {}).update(dict.fromkeys(billed))

    cells = {cell.asked: cell for cell, _ in wanted}
    with derivers(workers()) as derive:

        def read(cell: Cell, run: Run) -> ByBilling:
            billed = list(billings[cell.asked])
            return dict(zip(billed, derived_by_each(derive, cell, run, billed), strict=True))

        runs = dict(zip(cells, run_all(list(cells.values()), read, at_once=True), strict=True))
    return [group.compared(runs) for group in groups]


def with_recorded(compared: Comparison) -> Comparison:
    """``compared`` with the recorded values of axes that were not varied."""
    if compared.cell.own_platform:
        return compared
    cells = [runs[0].cell for runs in compared.variants.values()]
    varied = {at.axis for at in compared.assumed}
    known, lines = recorded(compared.names, cells, vars(compared.conditions), varied)
    order = list(AXES)
    every: list[Assumed] = [*compared.assumed, *known]
    assumed = sorted(every, key=lambda at: order.index(at.axis))
    return replace(compared, assumed=assumed, not_varied=(*compared.not_varied, *lines))
