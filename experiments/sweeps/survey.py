# SPDX-License-Identifier: GPL-2.0-or-later
"""Survey of a campaign: its cells by state, and the cost of the missing cells."""

from __future__ import annotations

import gc
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from eascope.experiments.runs.cell import missing, prepare
from eascope.experiments.runs.failures import from_outside
from eascope.experiments.runs.pool import BESIDE_S, Work, seconds_of, seen_times
from eascope.experiments.runs.request import Resolved
from eascope.experiments.runs.store import Run, all_runs
from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.ledger import DONE, FAILED, LedgerLine, read_ledger, run_folders
from eascope.experiments.sweeps.part import MOST_CELLS, disk_kib
from eascope.experiments.sweeps.point import Point
from eascope.experiments.sweeps.resolver import Resolver, cell_id
from eascope.host.cache import runs_root
from eascope.host.errors import RequestError
from eascope.power.choice import power_of

#: States of cells; a cell whose kernel is not built yet is missing, too.
MISSING = "missing"
STATES = (DONE, FAILED, MISSING)
#: Cells without a line in the ledger of which the simkey is computed (some 20 ms each), at most.
MOST_LOOKED_UP = 400
#: Finished runs whose size is measured where the ledger has none.
SAMPLED_RUNS = 20
#: KiB of a run before any was measured: some seconds of a window.
USUAL_KIB = 600


#: Cells that a sweep runs: their machine, point and seeds.
Missing: TypeAlias = tuple[str, Point, list[int]]


@dataclass(frozen=True)
class Group:
    """All cells of a point.

    :param group_id: empty while one of their inputs is not built.
    :param machine: an id of the boot that they share.
    """

    point: Point
    resolved: Resolved
    group_id: str
    machine: str


@dataclass
class Survey:
    """The groups of a campaign, and the state of each of their cells.

    :param lines: of the ledger, by cell id.
    :param states: by group and seed, in order.
    :param computed: computed figures of derived platforms, by platform; a platform with all figures
        of its base has none.
    :param to_build: artefacts that would be built or fetched first, with an estimate in words.
    :param not_looked_up: cells without a line in the ledger that may have a run by another command.
    """

    campaign: Campaign
    groups: list[Group]
    lines: dict[str, LedgerLine]
    states: list[list[str]]
    computed: dict[str, tuple[str, ...]]
    to_build: dict[str, str] = field(default_factory=dict)
    not_looked_up: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by state."""
        counted = Counter(state for states in self.states for state in states)
        return {state: counted[state] for state in STATES}

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.groups) * len(self.campaign.seeds)

    def each(self) -> Iterator[tuple[Group, int, str, LedgerLine | None]]:
        """Group, seed, state and line in the ledger of every cell, in order."""
        for group, states in zip(self.groups, self.states, strict=True):
            for seed, state in zip(self.campaign.seeds, states, strict=True):
                yield group, seed, state, self.lines.get(cell_id(group.group_id, seed))

    def to_run(self, *, retry: bool) -> list[Missing]:
        """Machine, point and seeds of the cells that a sweep would run.

        :param retry: whether cells that have failed are run again.
        """
        wanted, groups = wanted_states(retry=retry), []
        for group, states in zip(self.groups, self.states, strict=True):
            pairs = zip(self.campaign.seeds, states, strict=True)
            seeds = [seed for seed, state in pairs if state in wanted]
            if seeds:
                groups.append((group.machine, group.point, seeds))
        return groups


def wanted_states(*, retry: bool) -> tuple[str, ...]:
    """States of the cells that a sweep runs."""
    return (MISSING, FAILED) if retry else (MISSING,)


@dataclass(frozen=True)
class Cost:
    """The cost of missing cells: processor seconds, and KiB of disk."""

    core_s: float
    disk_kib: int


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without the collection of cycles: it goes over each line of a ledger many times for nothing.

    What was made meanwhile is left out of later collections, too.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()


@_without_collection()
def survey_of(campaign: Campaign, platforms: Path, *, look_up: bool = True) -> Survey:
    """The state of every cell of a campaign.

    :param platforms: where files of derived platforms go.
    :param look_up: whether runs that the ledger does not know are looked for.
    :raises RequestError: one line: a fault of the campaign, with its cell.
    """
    points = campaign.checked_points()
    resolver = Resolver(platforms, campaign.file)
    lines, folders = read_ledger(campaign.name), run_folders()
    groups, states = [], []
    for point in points:
        resolved = resolver.resolved(point, campaign.seeds[0])
        _check_power(campaign, point, resolved)
        group = Group(point, resolved, resolver.group_id(resolved), resolver.machine_id(resolved))
        groups.append(group)
        ids = [cell_id(group.group_id, seed) for seed in campaign.seeds]
        states.append([_state(lines.get(name), folders) for name in ids])
    survey = Survey(campaign, groups, lines, states, resolver.computed)
    for resolved in {g.resolved.kernel: g.resolved for g in groups if not g.group_id}.values():
        survey.to_build |= {part.label: part.estimate for part in missing(resolved)}
    if look_up:
        _look_up(survey)
    return survey


def _check_power(campaign: Campaign, point: Point, resolved: Resolved) -> None:
    """Refuse a power that the point's platform does not offer, before anything runs.

    :raises RequestError: one line with file, key and cell.
    """
    power = point.billing.get("power", campaign.power)
    try:
        billed = point.billed(campaign.power)
        power_of(resolved.platform, billed.power)
    except RequestError as error:
        raise RequestError(
            f"{campaign.file}: power = {power!r}: cell {point.words}: {error}"
        ) from error
    try:
        billed.model(resolved.platform, resolved.activity)
    except RequestError as error:
        raise RequestError(f"{campaign.file}: cell {point.words}: {error}") from error


def _state(line: LedgerLine | None, folders: set[str]) -> str:
    """The state by the ledger and the listing of runs."""
    if line is None or (line.state == DONE and line.simkey not in folders):
        return MISSING
    if line.state == DONE:
        return DONE
    # Somebody may have tried it again.
    if line.simkey in folders and Run(runs_root() / line.simkey).state == "done":
        return DONE
    return MISSING if from_outside(line.cause) else FAILED


def _look_up(survey: Survey) -> None:
    """Look for runs of other commands: `eascope compare` writes no ledger."""
    unknown = [
        (number, place)
        for number, group in enumerate(survey.groups)
        for place, state in enumerate(survey.states[number])
        if state == MISSING and group.group_id
    ]
    survey.not_looked_up = max(0, len(unknown) - MOST_LOOKED_UP)
    for number, place in unknown[:MOST_LOOKED_UP]:
        resolved = survey.groups[number].resolved.with_seed(survey.campaign.seeds[place])
        survey.states[number][place] = _state_of(Run(runs_root() / prepare(resolved).simkey))


def _state_of(run: Run) -> str:
    """The state of a cell whose run is ``run``, which may not be there."""
    if run.state == "failed" and not from_outside(run.failure.cause):
        return FAILED
    return DONE if run.state == "done" else MISSING


def cost_of(survey: Survey, *, retry: bool = False) -> Cost:
    """The cost of the missing cells, estimated from earlier runs.

    Cells of the campaign itself count first, by scenario; then the last runs of the same kind.
    """
    spent: dict[tuple[str, str, str], list[float]] = {}
    sizes: list[int] = []
    for group, _, _, line in survey.each():
        if line is not None and line.state == DONE:
            spent.setdefault(_kind(group.point), []).append(line.spent_s)
            sizes.append(line.disk_kib)
    usual = {kind: statistics.mean(values) for kind, values in spent.items()}
    seen = seen_times()
    wanted = wanted_states(retry=retry)
    seconds, cells, counted = 0.0, 0, set()
    for group, states in zip(survey.groups, survey.states, strict=True):
        lacking = sum(state in wanted for state in states)
        if group.group_id in counted:  # the same runs, billed by another power
            seconds += lacking * BESIDE_S
            continue
        counted |= {group.group_id} - {""}
        cells += lacking
        if lacking:
            known, sharing = usual.get(_kind(group.point)), min(lacking, MOST_CELLS)
            seconds += lacking * (
                seconds_of(Work.of_names(group.resolved, sharing), seen) if known is None else known
            )
    size = statistics.mean(sizes) if sizes else _usual_kib()
    return Cost(seconds, round(cells * size))


def _kind(point: Point) -> tuple[str, str, str]:
    return point.scenario, point.engine, point.mode


def _usual_kib() -> float:
    """KiB of a finished run: the median of the last ones."""
    finished: Sequence[Run] = [run for run in all_runs()[-SAMPLED_RUNS:] if run.state == "done"]
    sizes = []
    for run in finished:
        try:
            sizes.append(disk_kib(run.path))
        except OSError:  # removed meanwhile
            continue
    return statistics.median(sizes) if sizes else USUAL_KIB


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
    for group, seed, state, line in survey.each():
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
