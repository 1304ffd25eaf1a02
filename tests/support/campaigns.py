# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns for tests, and runs that no engine made."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from configs.platform import Platform
from experiments.cell import Cell
from experiments.runs import Run
from experiments.sweeps.campaign import Campaign
from experiments.sweeps.campaign_file import campaign_from
from experiments.sweeps.ledger import platforms_folder
from experiments.sweeps.part import SCHEMA, PartGroup, SweepPart
from experiments.sweeps.survey import Survey, survey_of
from host.cache import runs_root
from host.errors import EascopeError
from host.strict import StrictTable
from tests.support.synthetic import playback, write_run

AXES = {"platform": "juno-r2", "scenario": "smoke", "variant": ["mainline", "cas"]}


def campaign(name: str = "test", **axes: Any) -> Campaign:
    """A campaign of mainline and cas on juno-r2 with more ``axes``; other keys by their names."""
    keys = ("reference", "constraints", "axis", "power", "full")
    others = {key: axes.pop(key) for key in keys if key in axes}
    content = {"summary": "a test", "axes": {**AXES, **axes}, **others}
    return campaign_from(StrictTable("test.toml", content), name, Path.cwd())


def surveyed(of: Campaign, *, look_up: bool = True) -> Survey:
    return survey_of(of, platforms_folder(), look_up=look_up)


def part_of(survey: Survey, job: str = "j-0", *, retry: bool = False) -> SweepPart:
    """All that is missing, as one part."""
    groups = tuple(PartGroup(point, tuple(seeds)) for _, point, seeds in survey.to_run(retry=retry))
    campaign = survey.campaign
    return SweepPart(SCHEMA, campaign.name, campaign.file, job, groups, retry=retry)


class StandInRuns:
    """Stands for `experiments.runs.execute`: writes a run of a short schedule.

    :param fails: variants whose cells fail.
    """

    def __init__(self, juno: Platform, fails: tuple[str, ...] = ()) -> None:
        self.juno = juno
        self.fails = fails
        self.cells: list[tuple[str, int]] = []

    def __call__(self, cell: Cell) -> Run:
        variant, seed = cell.record.variant, cell.record.seed
        folder = runs_root() / cell.simkey
        if Run(folder).state == "done":
            return Run(folder)
        shutil.rmtree(folder, ignore_errors=True)
        self.cells.append((variant, seed))
        if variant in self.fails:
            raise EascopeError(f"{variant} fails here")
        write_run(folder, self.juno, playback(variant, seed), variant=variant, seed=seed)
        return Run(folder, fresh=True)
