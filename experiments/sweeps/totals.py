# SPDX-License-Identifier: GPL-2.0-or-later
"""Totals of a campaign: cells by state, causes of failures, cost of its runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from eascope.experiments.sweeps.ledger import DONE, FAILED
from eascope.experiments.sweeps.resolver import cell_id
from eascope.experiments.sweeps.survey import Survey


@dataclass(frozen=True)
class Cause:
    """A cause of failures: how many cells it has ended, and the first of these."""

    text: str
    cells: int
    first: str


@dataclass(frozen=True)
class Totals:
    """Sums over the finished cells of a campaign.

    :param core_s: processor seconds of all, as the plan counts them.
    :param host_s: host seconds of the simulations, ``cpu_s`` their processor time.
    :param mips: the median of all cells; ``peak_mib`` the largest process of a job.
    :param measured: cells whose cost the ledger has.
    """

    states: Mapping[str, int]
    causes: tuple[Cause, ...]
    core_s: float
    host_s: float
    cpu_s: float
    sim_s: float
    mips: float
    peak_mib: int
    disk_kib: int
    measured: int


def totals_of(survey: Survey) -> Totals:
    """The totals of a campaign's ledger, as far as its cells are done."""
    causes: dict[str, list[str]] = {}
    done = {}
    for group, states in zip(survey.groups, survey.states, strict=True):
        for seed, state in zip(survey.campaign.seeds, states, strict=True):
            line = survey.lines.get(cell_id(group.group_id, seed))
            if state == FAILED or (state != DONE and line is not None and line.state == FAILED):
                cause = line.cause if line else "run by another command: eascope status says why"
                causes.setdefault(cause, []).append(f"{group.point.words}, seed {seed}")
            elif state == DONE and line is not None and line.state == DONE:
                done[line.cell] = line  # once, however many ways of billing share the run
    lines = list(done.values())
    by_size = sorted(causes.items(), key=lambda item: -len(item[1]))
    return Totals(
        states=survey.counts,
        causes=tuple(Cause(text, len(cells), cells[0]) for text, cells in by_size),
        core_s=sum(line.spent_s for line in lines),
        host_s=sum(line.host_s for line in lines),
        cpu_s=sum(line.cpu_s for line in lines),
        sim_s=sum(line.sim_s for line in lines),
        mips=statistics.median([line.mips for line in lines]) if lines else 0.0,
        peak_mib=max((line.peak_mib for line in lines), default=0),
        disk_kib=sum(line.disk_kib for line in lines),
        measured=len(lines),
    )
