# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the missing runs of the samples on both engines, and checks every run's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.derive import Derived
from engines.base import Identity
from experiments.cell import Cell, identity_of, prepare
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.runs import Run, check, existing
from experiments.sweeps.campaign import Campaign
from experiments.sweeps.campaign_file import load_campaign
from experiments.sweeps.ledger import platforms_folder
from experiments.sweeps.point import Point
from experiments.sweeps.resolver import Resolver
from host.errors import EascopeError
from studies.samples.plan import on_gem5, sample_of


@dataclass(frozen=True)
class CellRuns:
    """The runs of a cell, derived.

    :param fast: by seed.
    :param gem5_run: simkey of the run on gem5.
    :param gem5_cpu_s: processor seconds of the run on gem5.
    """

    point: Point
    fast: Mapping[int, Derived]
    gem5: Derived
    gem5_run: str
    gem5_cpu_s: float


@dataclass(frozen=True)
class _Planned:
    """A cell before it is run: on the fast engine by seed, and on gem5."""

    point: Point
    fast: Mapping[int, Cell]
    gem5: Cell

    @property
    def cells(self) -> list[Cell]:
        return [*self.fast.values(), self.gem5]


def run(
    names: Sequence[str], fast_seeds: int, *, present: bool = False
) -> dict[str, list[CellRuns]]:
    """Execute the missing runs of the samples of campaigns; a cell of several is run once.

    :param fast_seeds: seeds of the fast engine, from 0.
    :param present: run nothing, and leave out cells that lack a run.
    :raises EascopeError: the first failure; or files of runs that have changed since.
    """
    engines: dict[str, Identity] = {}
    campaigns = [load_campaign(name) for name in names]
    planned = {
        campaign.name: [
            each
            for each in _planned(campaign, fast_seeds, engines)
            if not present or all(existing(cell.simkey) for cell in each.cells)
        ]
        for campaign in campaigns
    }
    unique = {
        cell.simkey: cell for cells in planned.values() for each in cells for cell in each.cells
    }
    done = dict(zip(unique, run_all(list(unique.values()), lambda _, made: made), strict=True))
    problems = [problem for made in done.values() for problem in check(made)]
    if problems:
        raise EascopeError("; ".join(problems))
    return {
        campaign.name: [_derived(each, done, campaign.power) for each in planned[campaign.name]]
        for campaign in campaigns
    }


def _planned(
    campaign: Campaign, fast_seeds: int, engines: dict[str, Identity]
) -> Iterator[_Planned]:
    resolver = Resolver(platforms_folder(), campaign.file)

    def prepared(point: Point, seed: int) -> Cell:
        names = resolver.names(point, seed)
        engine = names.engine
        key = f"{engine.name} {engine.mode}"
        if key not in engines:
            engines[key] = identity_of(engine)
        return prepare(names, engines[key])

    for point in sample_of(campaign):
        yield _Planned(
            point,
            {seed: prepared(point, seed) for seed in campaign.seeds[:fast_seeds]},
            prepared(on_gem5(point), campaign.seeds[0]),
        )


def _derived(planned: _Planned, done: Mapping[str, Run], power: str | None) -> CellRuns:
    billed = planned.point.billed(power)
    gem5 = done[planned.gem5.simkey]
    return CellRuns(
        planned.point,
        {seed: derived_for(cell, done[cell.simkey], billed) for seed, cell in planned.fast.items()},
        derived_for(planned.gem5, gem5, billed),
        planned.gem5.simkey,
        gem5.host.cpu_s,
    )
