# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of programs on both engines: ``results/program-speed.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class ProgramRate(Record):
    """What a program printed on both engines.

    :param cluster: where it ran.
    :param own_figures: the fast engine had a rate that was measured for the program.
    :param at_kernels: of the fast engine without that, at the kernel's rate.
    """

    program: str
    run: str
    cluster: str
    own_figures: bool
    fast: float
    at_kernels: float
    gem5: float

    @property
    def percent(self) -> float:
        """How much more the fast engine's is."""
        return 100 * (self.fast / self.gem5 - 1)


@dataclass(frozen=True)
class WholeRun(Record):
    """A scenario that both engines ran to its end, gem5 on CPUs without pipelines.

    :param cpu_s: processor seconds of each engine for the run, without its boot.
    :param sim_s: simulated seconds of gem5's run, from power-on.
    :param measures: what its program printed, by measure: on the fast engine and on gem5.
    """

    scenario: str
    program: str
    mode: str
    cpu_s: tuple[float, float]
    sim_s: float
    measures: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class ProgramSpeeds(ResultRecord):
    """All programs of a scenario.

    :param measure: as ``result.json`` names it.
    :param cpu_s: processor seconds of each engine for the run, without its boot.
    :param sim_s: simulated seconds of the window, on gem5.
    """

    platform: str
    variant: str
    scenario: str
    mode: str
    measure: str
    cpu_s: tuple[float, float]
    sim_s: float
    programs: tuple[ProgramRate, ...]
    whole: WholeRun
