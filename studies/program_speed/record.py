# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a scenario's programs on both engines."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.results.origin import RUNS, Origin
from analysis.results.program_speed import ProgramRate, ProgramSpeeds, WholeRun
from experiments.request import Names
from studies.costed import CostedRun
from studies.patches import patches_of
from studies.program_speed.plan import (
    MEASURE,
    PLATFORM,
    SCENARIO,
    VARIANT,
    WHOLE,
    WHOLE_MEASURES,
)
from studies.versions import versions_of

#: The runs of a scenario: the fast engine's, and gem5's.
Both = tuple[CostedRun, CostedRun]


def record_of(
    names: Names, speeds: Both, without: CostedRun, whole: Both, command: str
) -> ProgramSpeeds:
    """The record.

    :param names: the fast engine's, which say what programs have figures of their own.
    :param speeds: of the compared scenario; ``whole`` of the one that gem5 runs to its end.
    :param without: of the compared scenario on the fast engine, no program with figures.
    """
    cells = [run.cell for run in (*speeds, without, *whole)]
    return ProgramSpeeds(
        origin=Origin(
            *(command, RUNS, versions_of(cells)),
            patches=patches_of(cell.kernel for cell in cells),
        ),
        platform=PLATFORM,
        variant=VARIANT,
        scenario=SCENARIO,
        mode=speeds[1].cell.mode,
        measure=MEASURE,
        cpu_s=_costs(speeds),
        sim_s=speeds[1].result.window_s,
        programs=tuple(_rates(names, speeds, without)),
        whole=_whole(whole),
    )


def _costs(runs: Both) -> tuple[float, float]:
    return runs[0].host.cpu_s, runs[1].host.cpu_s


def _rates(names: Names, runs: Both, without: CostedRun) -> Iterator[ProgramRate]:
    known = {each.program for each in names.figures}
    clusters = {cpu: cluster.name for cluster in names.platform.clusters for cpu in cluster.cpus}
    for program in names.scenario.programs:
        if program.cpus:
            fast, gem5, kernels = (
                float(run.result.program[program.name][MEASURE]) for run in (*runs, without)
            )
            yield ProgramRate(
                program=program.name,
                run=program.run,
                cluster=clusters[program.cpus[0]],
                own_figures=program.run in known,
                fast=fast,
                at_kernels=kernels,
                gem5=gem5,
            )


def _whole(runs: Both) -> WholeRun:
    gem5 = runs[1]
    (program,) = gem5.result.program
    printed = [run.result.program[program] for run in runs]
    return WholeRun(
        scenario=WHOLE,
        program=program,
        mode=gem5.cell.mode,
        cpu_s=_costs(runs),
        sim_s=gem5.host.sim_s,
        measures={
            name: (float(printed[0][name]), float(printed[1][name])) for name in WHOLE_MEASURES
        },
    )
