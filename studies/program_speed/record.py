# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a scenario's programs on both engines."""

from __future__ import annotations

from analysis.results.origin import RUNS, Origin
from analysis.results.program_speed import ProgramRate, ProgramSpeeds
from experiments.request import Names
from studies.costed import CostedRun
from studies.patches import patches_of
from studies.program_speed.plan import MEASURE, PLATFORM, SCENARIO, VARIANT
from studies.versions import versions_of


def record_of(names: Names, fast: CostedRun, gem5: CostedRun, command: str) -> ProgramSpeeds:
    """The record.

    :param names: the fast engine's, which say what programs have figures of their own.
    """
    cells = [fast.cell, gem5.cell]
    known = {each.program for each in names.figures}
    clusters = {cpu: cluster.name for cluster in names.platform.clusters for cpu in cluster.cpus}
    return ProgramSpeeds(
        origin=Origin(
            *(command, RUNS, versions_of(cells)),
            patches=patches_of(cell.kernel for cell in cells),
        ),
        platform=PLATFORM,
        variant=VARIANT,
        scenario=SCENARIO,
        mode=gem5.cell.mode,
        measure=MEASURE,
        cpu_s=(fast.host.cpu_s, gem5.host.cpu_s),
        sim_s=gem5.result.window_s,
        programs=tuple(
            ProgramRate(
                program=program.name,
                run=program.run,
                cluster=clusters[program.cpus[0]],
                own_figures=program.run in known,
                fast=float(fast.result.program[program.name][MEASURE]),
                gem5=float(gem5.result.program[program.name][MEASURE]),
            )
            for program in names.scenario.programs
            if program.cpus
        ),
    )
