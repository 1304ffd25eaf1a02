# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of comparisons at values of model axes that need runs: ``data/assumptions.json``.

A cell is valid for the variants, the conditions, the files and the kernels of its runs. For others
there is no such range but that of ``compare --robust``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from eascope.analysis.difference import Difference
from eascope.analysis.known.origin import DATA, KnownRecord, Origin
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.verdict import Verdict
from eascope.host.cache import digest_of
from eascope.host.record import Record

FILE = DATA / "assumptions.json"


@dataclass(frozen=True)
class RecordedDifference(Record):
    """A difference in energy in mJ, and its 95 % intervals.

    :param ends: of ``absolute``; empty with too few seeds, as ``percent_ends``.
    """

    absolute: float
    percent: float | None
    baseline: float
    seeds: int
    ends: tuple[float, ...] = ()
    percent_ends: tuple[float, ...] = ()


@dataclass(frozen=True)
class RecordedVerdict(Record):
    """A verdict on a variant's statement, and those under its known-bad variants."""

    variant: str
    statement: str
    verdict: str
    known_bad: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedValue(Record):
    """A comparison at one value of an axis (`analysis.overall.Assumed`).

    :param differences: by variant and measure.
    """

    axis: str
    value: str
    source: str
    own_runs: int
    differences: Mapping[str, Mapping[str, RecordedDifference]]
    verdicts: tuple[RecordedVerdict, ...] = ()
    other_work: Mapping[str, float] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Any]:
        """That it was not compared now."""
        return {"recorded": True}

    def difference(self, name: str, path: tuple[str, ...]) -> Difference | None:
        """Of a measure of variant ``name`` from the baseline's."""
        of = self.differences.get(name, {}).get(".".join(path))
        if of is None:
            return None
        low, high = of.ends or (None, None)
        ends = (of.percent_ends[0], of.percent_ends[1]) if of.percent_ends else None
        return Difference(
            *(of.absolute, of.percent, low, high, of.baseline, of.seeds), percent_ends=ends
        )

    def verdict(self, variant: str, statement: str) -> Verdict | None:
        """On an expectation."""
        for of in self.verdicts:
            if (of.variant, of.statement) == (variant, statement):
                return Verdict(variant, statement, "", None, of.verdict, known_bad=of.known_bad)
        return None


@dataclass(frozen=True)
class AssumedCell(Record):
    """A scenario and platform under one set of conditions, for some variants.

    :param variants: the first one is the baseline.
    :param source_conditions: whether the conditions of its source were asked for.
    :param conditions: `analysis.known.conditions.Conditions`, by name.
    :param inputs: `inputs_of` of the runs.
    :param left_out: axes that have no other value here, and why.
    :param origin: if it is not that of the record.
    """

    platform: str
    scenario: str
    variants: tuple[str, ...]
    source_conditions: bool
    seeds: int
    conditions: Mapping[str, str]
    inputs: Mapping[str, str]
    values: tuple[RecordedValue, ...]
    left_out: tuple[str, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True)
class Assumptions(KnownRecord):
    """Every recorded comparison; the record's origin is that of the cells measured last."""

    cells: tuple[AssumedCell, ...]

    def origin_of(self, cell: AssumedCell) -> Origin:
        """The cell's own origin, or the record's."""
        return cell.origin or self.origin


def inputs_of(cells: Iterable[CellRecord]) -> dict[str, str]:
    """Digests of what runs were made of: the files of the first, and every variant's kernel.

    Not Linux's own version: `analysis.known.conditions.Conditions` has the release.
    """
    inputs: dict[str, str] = {}
    for cell in cells:
        own = cell.inputs
        files = {"platform": own.platform, "activity": own.activity, "scenario": own.scenario}
        inputs = {**files, **own.others, **inputs}
        kernel = cell.kernel
        made_of = [kernel.source_words, *kernel.series, kernel.series_sha256, *kernel.options]
        switches = [list(switch) for switch in cell.switches]
        inputs[f"kernel of {cell.variant}"] = digest_of({"kernel": made_of, "switches": switches})
    return inputs


def recorded(
    variants: Sequence[str],
    cells: Sequence[CellRecord],
    conditions: Mapping[str, str],
    but: Collection[str] = (),
    file: Path = FILE,
) -> tuple[list[RecordedValue], list[str]]:
    """The recorded values of a comparison, and lines about what is recorded and not valid for it.

    :param variants: the baseline first.
    :param cells: of a run of each.
    :param but: axes that are left out.
    """
    record, inputs, first = _read(file), inputs_of(cells), cells[0]
    lines: list[str] = []
    for cell in record.cells if record else ():
        own, *others = cell.variants
        if (cell.platform, cell.scenario, own) != (first.platform, first.scenario, variants[0]):
            continue
        if {*others} != {*variants[1:]} or cell.conditions != conditions:
            continue
        changed = [name for name in inputs if inputs[name] != cell.inputs.get(name)]
        if not changed:
            return [value for value in cell.values if value.axis not in but], []
        lines.append(f"recorded ranges (of another {', '.join(changed)})")
    return [], lines


@cache
def _read(file: Path) -> Assumptions | None:
    return Assumptions.read(file) if file.is_file() else None
