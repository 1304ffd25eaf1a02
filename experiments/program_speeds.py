# SPDX-License-Identifier: GPL-2.0-or-later
"""Which programs of a scenario run at figures of their own on the fast engine, and which do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from eascope.configs.platform import Platform
from eascope.configs.program_activity import ProgramActivity, load_program
from eascope.engines.base import Engine, ProgramSpeed
from eascope.experiments.program_kinds import KINDS
from eascope.experiments.scenario import Scenario


def figures_of(
    scenario: Scenario, platform: Platform, engine: Engine
) -> tuple[ProgramActivity, ...]:
    """The figures of the scenario's programs, by their names; none where CPU models decide.

    Two loads of one program, such as two benchmarks of perf, are the same code for the engine. In a
    scenario with both, neither has figures.

    :raises RequestError: when a file is wrong.
    """
    if not engine.traits.stated_rates:
        return ()
    kinds = sorted({program.run for program in scenario.programs})
    paths = Counter(KINDS[kind].path for kind in kinds)
    loaded = (load_program(platform, kind) for kind in kinds if paths[KINDS[kind].path] == 1)
    return tuple(figures for figures in loaded if figures is not None)


def speeds_of(figures: Sequence[ProgramActivity]) -> tuple[ProgramSpeed, ...]:
    """The same for an engine, which knows programs by their paths."""
    return tuple(ProgramSpeed(KINDS[figure.program].path, figure.clusters) for figure in figures)


def without_figures(
    scenario: Scenario, platform: Platform, figures: Sequence[ProgramActivity]
) -> tuple[str, ...]:
    """One line for each program whose own code runs at system code's rate, for records."""
    known = {figure.program for figure in figures}
    kinds = dict.fromkeys(program.run for program in scenario.programs)
    return tuple(
        f"program {kind}: its code runs at the kernel's instructions per cycle: it was not "
        f"measured on {platform.name}"
        for kind in kinds
        if kind not in known
    )
