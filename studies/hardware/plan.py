# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the statements that count, the records with their comparisons, the predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.records.cell import Expectation
from configs.platform_file import load_platform
from experiments.scenario_file import load_scenario
from experiments.scenario_names import names
from studies.pages.plan import FIVE, NAMES, OF_PROGRAMS

NAME = "hardware"
#: The pages whose records are read. Controls are not what a source had, and no source measured
#: programs with these variants.
PAGES = tuple(name for name in NAMES if name not in ("controls", *OF_PROGRAMS))
#: The page and the scenarios that nobody has measured on its platform.
PREDICTED_ON, PREDICTED = "uclamp-pixel6", FIVE
#: Goals, as shares: of the decided with the source's sign, and of sizes within a factor of two.
SIGNS, SIZES = 0.8, 0.5
#: Any platform: what a scenario is asked does not depend on it.
_ANY = "juno-r2"


@dataclass(frozen=True)
class Stated:
    """A statement with a size, of a scenario."""

    scenario: str
    expectation: Expectation

    @property
    def theirs(self) -> float:
        """The source's figure, in the unit of the comparison."""
        entry = self.expectation
        size = entry.size if entry.size_percent is None else entry.size_percent
        if size is None:
            raise ValueError("a statement without a size")
        return size


def quantified() -> Iterator[Stated]:
    """Every statement with a measured size, in the order of scenarios."""
    platform = load_platform(_ANY)
    for name in names():
        for entry in load_scenario(name, platform).expect:
            if entry.measured:
                yield Stated(name, entry)
