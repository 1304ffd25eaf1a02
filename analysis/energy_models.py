# SPDX-License-Identifier: GPL-2.0-or-later
"""Two energy models compared: the same variants on kernels with different powers.

EAS decides by its energy model. So a comparison under another model shows each verdict next to the
verdict under the platform's published model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eascope.analysis.compare import Comparison
from eascope.analysis.compare_json import differences_json, variant_json
from eascope.analysis.statement import Absent, value_at
from eascope.analysis.verdict_text import short
from eascope.host.errors import EascopeError
from eascope.host.table import Section, Table


@dataclass(frozen=True)
class StatementRow:
    """One statement with its verdicts under the usual and under the asked energy model."""

    group: str
    label: str
    usual: str
    asked: str


@dataclass(frozen=True)
class EnergyModels:
    """Two comparisons of the same variants, scenario and seeds under two energy models."""

    usual: Comparison
    asked: Comparison

    def __post_init__(self) -> None:
        """Refuse comparisons of different runs."""
        if self.usual.names != self.asked.names or self.usual.seeds != self.asked.seeds:
            raise EascopeError("internal error: energy models compared over different runs")

    @property
    def words(self) -> tuple[str, str]:
        """The two energy models in words."""
        return self.usual.cell.energy_model.words, self.asked.cell.energy_model.words

    @property
    def rows(self) -> list[StatementRow]:
        """Energy, placement and misses of each variant, differences, and every expectation."""
        rows = []
        both = (self.usual, self.asked)
        for name in self.asked.names:
            rows += [
                StatementRow(
                    name, label, *(_cell(compared, name, path, scale, digits) for compared in both)
                )
                for label, path, scale, digits in self._measures()
            ]
        for name in self.asked.names[1:]:
            group = f"{name} against {self.asked.baseline}"
            rows.append(
                StatementRow(group, "energy (%)", *(_percent(compared, name) for compared in both))
            )
        words = [
            {(v.variant, v.statement): short(v) for v in compared.verdicts} for compared in both
        ]
        for key, word in words[1].items():
            rows.append(
                StatementRow("expectations", f"{key[0]}: {key[1]}", words[0].get(key, "-"), word)
            )
        return rows

    def _measures(self) -> Iterable[tuple[str, tuple[str, ...], float, int]]:
        """(label, path in a summary, scale, digits) of each shown measure."""
        yield "energy (mJ)", ("energy_j", "total"), 1e3, 2
        for cluster in self.asked.platform.clusters:
            yield f"work on {cluster.name} (%)", ("work_share", cluster.name), 100, 1
        yield "missed deadlines", ("missed_deadlines",), 1, 1

    def text(self) -> str:
        """An aligned block to be printed below the comparison."""
        return f"the kernel's energy model\n{self.table.text()}\n"

    @property
    def table(self) -> Table:
        """A row per measure and expectation: under the usual model, under the asked one."""
        rows: list[Sequence[str] | Section] = []
        group = ""
        for row in self.rows:
            if row.group != group:
                group = row.group
                rows.append(Section(group))
            rows.append((row.label, row.usual, row.asked))
        return Table.of(("", *self.words), rows)

    def record(self) -> dict[str, Any]:
        """``energy_models`` of ``eascope compare --json``."""
        usual, asked = self.words
        return {
            "asked": asked,
            "usual": usual,
            "usual_variants": {name: variant_json(self.usual, name) for name in self.usual.names},
            "usual_differences": differences_json(self.usual),
        }


def _cell(
    comparison: Comparison, name: str, path: tuple[str, ...], scale: float, digits: int
) -> str:
    """A measure of a variant's mean result, ``-`` where no run gives it."""
    try:
        value = value_at(comparison.means[name], path)
    except Absent:
        return "-"
    return f"{value * scale:.{digits}f}"


def _percent(comparison: Comparison, name: str) -> str:
    """Energy of a variant relative to the baseline's, in percent."""
    percent = comparison.total.differences[name].percent
    return "-" if percent is None else f"{percent:+.1f}"
