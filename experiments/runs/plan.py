# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of a request: runs that are there, artefacts to build, and the expected time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eascope.experiments.runs.cell import missing, prepare
from eascope.experiments.runs.pool import Work, seconds_for
from eascope.experiments.runs.request import Names
from eascope.experiments.runs.store import Run, existing
from eascope.host.cache import entries
from eascope.host.proc import duration


@dataclass(frozen=True)
class Planned:
    """A cell that was not run.

    :param simkey: empty while one of its inputs is not built.
    :param run: the finished run that is there.
    """

    names: Names
    simkey: str
    run: Run | None

    @property
    def state(self) -> str:
        """``there``, ``to run`` or, while its key is not known, ``not known``."""
        if self.run is not None:
            return "there"
        return "to run" if self.simkey else "not known"


@dataclass(frozen=True)
class Plan:
    """The plan of a request.

    :param to_build: artefacts that would be built or fetched first, with an estimate in words.
    :param run_s: host seconds for all cells without a known run.
    """

    cells: tuple[Planned, ...]
    to_build: Mapping[str, str]
    run_s: float

    @property
    def to_run(self) -> int:
        """Number of runs, at most; cells of one key are one run."""
        missing = [cell for cell in self.cells if cell.run is None]
        known = {cell.simkey for cell in missing if cell.simkey}
        return len(known) + sum(not cell.simkey for cell in missing)

    @property
    def words(self) -> str:
        """One line: the number of runs and their time."""
        if not self.to_run:
            return "nothing to run"
        most = "at most " if any(cell.state == "not known" for cell in self.cells) else ""
        return f"to run: {most}{self.to_run} of {len(self.cells)}, about {duration(self.run_s)}"


def plan_of(requests: Sequence[Names]) -> Plan:
    """The plan of cells, within `host.dry.nothing_built`.

    :raises EascopeError: an error that would end the command before any run.
    """
    to_build: dict[str, str] = {}
    cells = []
    for names in requests:
        lacking = missing(names)
        to_build |= {part.label: part.estimate for part in lacking}
        for kind in names.engine.artefacts:
            if kind != names.engine.name and not list(entries(kind)):
                to_build[f"{kind} (of the engine)"] = ""
        simkey = "" if lacking else prepare(names).simkey
        cells.append(Planned(names, simkey, existing(simkey) if simkey else None))
    to_do = {cell.simkey or number: cell for number, cell in enumerate(cells) if cell.run is None}
    works = [Work.of_names(cell.names) for cell in to_do.values()]
    return Plan(tuple(cells), to_build, seconds_for(works))
