# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at another value of one model axis, as a value of `analysis.overall.Assumed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eascope.analysis.compare import Comparison
from eascope.analysis.difference import Difference
from eascope.analysis.records.verdict import Verdict


@dataclass(frozen=True)
class AtValue:
    """The comparison at one value of one axis.

    :param source: of the value.
    :param own_runs: runs that only this value needs.
    """

    axis: str
    value: str
    source: str
    own_runs: int
    compared: Comparison

    @property
    def facts(self) -> Mapping[str, Any]:
        """The power model, and controls that are not at their defaults."""
        compared = self.compared
        return {
            "power_model": compared.power_model.name,
            "set_otherwise": list(compared.cell.set_otherwise),
        }

    @property
    def other_work(self) -> Mapping[str, float]:
        """See `analysis.overall.Assumed`, as the others."""
        return self.compared.other_work

    def difference(self, name: str, path: tuple[str, ...]) -> Difference | None:
        """Of a measure of variant ``name`` from the baseline's."""
        line = self.compared.line(*path)
        return None if line is None else line.differences.get(name)

    def verdict(self, variant: str, statement: str) -> Verdict | None:
        """On an expectation."""
        key = variant, statement
        return next(
            (v for v in self.compared.as_asked if (v.variant, v.statement) == key),
            None,
        )
