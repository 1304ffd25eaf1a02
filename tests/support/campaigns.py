# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns for tests, and runs that no engine made."""

import shutil
from pathlib import Path
from typing import Any

from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.store import Run
from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.campaign_file import campaign_from
from eascope.experiments.sweeps.ledger import platforms_folder
from eascope.experiments.sweeps.part import SCHEMA, PartGroup, SweepPart
from eascope.experiments.sweeps.survey import Survey, survey_of
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError
from eascope.host.keys import Place
from tests.support.synthetic import MS, Burst, Schedule, write_run

AXES = {"platform": "juno-r2", "scenario": "smoke", "variant": ["mainline", "cas"]}


def campaign(name: str = "test", **axes: Any) -> Campaign:
    """A campaign of mainline and cas on juno-r2 with more ``axes``; other keys by their names."""
    keys = ("reference", "constraints", "axis", "power", "full")
    others = {key: axes.pop(key) for key in keys if key in axes}
    content = {"summary": "a test", "axes": {**AXES, **axes}, **others}
    return campaign_from(Place("test.toml", content), name, Path.cwd())


def surveyed(of: Campaign, *, look_up: bool = True) -> Survey:
    return survey_of(of, platforms_folder(), look_up=look_up)


def part_of(survey: Survey, job: str = "j-0", *, retry: bool = False) -> SweepPart:
    """All that is missing, as one part."""
    groups = tuple(PartGroup(point, tuple(seeds)) for _, point, seeds in survey.to_run(retry=retry))
    campaign = survey.campaign
    return SweepPart(SCHEMA, campaign.name, campaign.file, job, groups, retry=retry)


def _schedule(cell: Cell) -> Schedule:
    """Each thread of the cell on a CPU of its own, for ``cas`` on the larger ones."""
    platform, seed = cell.resolved.platform, cell.record.seed
    cpus = platform.cpus if cell.record.variant != "cas" else tuple(reversed(platform.cpus))
    bursts = [
        Burst(thread, (1 + 20 * job + (seed * 7 + cpu) % 16) * MS, cpu, (1 + cpu) * MS, slack_us=9)
        for thread, cpu in zip(cell.record.threads, cpus, strict=False)
        for job in range(10)
    ]
    khz = {cluster.index: [(0, cluster.opps[0].khz)] for cluster in platform.clusters}
    eas = bool(cell.record.declares.get("eas"))
    return Schedule(500 * MS, bursts, khz, exit_ns=5_000, eas=eas)


class StandInRuns:
    """Stands for `experiments.runs.store.execute`: writes a run of a short schedule.

    :param fails: variants whose cells fail.
    """

    def __init__(self, fails: tuple[str, ...] = ()) -> None:
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
        write_run(folder, cell.resolved.platform, _schedule(cell), of=cell)
        return Run(folder, fresh=True)
