# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of measurements of eascope itself: ``results/scale.json``, ``reliability.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class FigureSet(Record):
    """The figures that one command has measured.

    :param command: the command.
    :param made_from: ``runs``, or the page that the figures were taken from, with its digits.
    :param version: of eascope; empty where it is not known.
    :param figures: by name; a name ends with its unit, unless it is a count.
    """

    command: str
    made_from: str
    figures: Mapping[str, float]
    version: str = ""


@dataclass(frozen=True)
class FigureRecord(ResultRecord):
    """Measurements by name; each was made by itself, so each has its own command and origin."""

    measured: Mapping[str, FigureSet]

    def figure(self, name: str, figure: str) -> float:
        """One figure of a measurement."""
        return self.measured[name].figures[figure]
