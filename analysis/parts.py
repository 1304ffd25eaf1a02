# SPDX-License-Identifier: GPL-2.0-or-later
"""What a difference in energy is made of: parts by kind and cluster, whose sum is exact.

Energies of results are multiples of 2^-40 J, so as fractions their differences, quotients and means
are exact. Rounded parts are apportioned: they sum to the rounded total.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from eascope.analysis.energy import QUANTA
from eascope.analysis.records.result import Result
from eascope.configs.platform import Platform
from eascope.host.table import Table
from eascope.power.model import component_names

#: Components by their names for people. Idle states are one part; others have their own names.
WORDS = {
    "active": "busy",
    "idle_entry": "entering idle states",
    "idle_exit": "leaving idle states",
    "shared": "shared parts",
}
IDLE, ALL = "idle", "all"
#: Components by name in `Parts.line`; a single further one is named as well.
MOST_NAMED = 3
Key = TypeVar("Key", bound=Hashable)
Number = TypeVar("Number", int, Fraction)


@dataclass(frozen=True)
class Whole:
    """Parts in whole units, by (kind, cluster), whose sums are those of the rounded parts."""

    cells: Mapping[tuple[str, str], int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.cells.values())

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Sums by kind."""
        return _sums((kind, value) for (kind, _), value in self.cells.items())

    @cached_property
    def clusters(self) -> dict[str, int]:
        """Sums by cluster."""
        return _sums((cluster, value) for (_, cluster), value in self.cells.items())


@dataclass(frozen=True)
class Parts:
    """A difference in energy by kind and cluster.

    :param cells: J by (kind, cluster), exact.
    :param unit: ``mJ``, or in words mJ of a unit of work.
    :param measure: path of the difference in ``result.json``.
    """

    cells: Mapping[tuple[str, str], Fraction]
    unit: str
    measure: str

    @property
    def total(self) -> Fraction:
        """The whole difference in J."""
        return sum(self.cells.values(), Fraction())

    @cached_property
    def kinds(self) -> dict[str, Fraction]:
        """J by kind, the biggest first."""
        return _biggest_first((kind, value) for (kind, _), value in self.cells.items())

    @cached_property
    def clusters(self) -> dict[str, Fraction]:
        """J by cluster, the biggest first."""
        return _biggest_first((cluster, value) for (_, cluster), value in self.cells.items())

    def whole(self, unit: Fraction) -> Whole:
        """The parts in whole multiples of ``unit``, in J."""
        kinds = apportioned(self.kinds, unit, round(self.total / unit))
        cells: dict[tuple[str, str], int] = {}
        for kind, rounded in kinds.items():
            of_kind = {key: value for key, value in self.cells.items() if key[0] == kind}
            cells |= apportioned(of_kind, unit, rounded)
        return Whole(cells)

    @cached_property
    def digits(self) -> int:
        """Digits after the point of mJ: four digits of the largest number, and one at least."""
        most = 1000 * max(map(abs, (self.total, *self.kinds.values())))
        return max(1, 3 - math.floor(math.log10(most))) if most else 1

    @cached_property
    def shown(self) -> Whole:
        """The parts in units of the last digit that people are shown."""
        return self.whole(Fraction(1, 1000 * 10**self.digits))

    def number(self, value: int) -> str:
        """A number of `shown` in mJ."""
        return f"{value / 10**self.digits:{'+' if value else ''}.{self.digits}f}"

    def line(self, note: str = "") -> str:
        """``-4.1 mJ; by cluster: big -4.0; by component: leaving idle states -3.0, busy -1.1``.

        The biggest `MOST_NAMED` components are named, and the sum of the others. A cluster is named
        if its part is more than those of all others together; the others are named as well if its
        part is more than the whole.

        :param note: on the total, to stand after it in parentheses.
        """
        whole = self.shown
        kinds = [(name, value) for name, value in whole.kinds.items() if value]
        if len(kinds) > MOST_NAMED + 1:
            kinds[MOST_NAMED:] = [("others", sum(value for _, value in kinds[MOST_NAMED:]))]
        words = [f"{name} {self.number(value)}" for name, value in kinds]
        main, *others = map(abs, self.clusters.values())
        named = len(others) + 1 if main > abs(self.total) else int(main > sum(others))
        clusters = [(name, whole.clusters[name]) for name in self.clusters][:named]
        where = ", ".join(f"{name} {self.number(part)}" for name, part in clusters if part)
        return "; ".join(
            [
                f"{self.number(whole.total)} {self.unit}{f' ({note})' if note else ''}",
                *([f"by cluster: {where}"] if where else []),
                f"by component: {', '.join(words)}" if words else "no component differs",
            ]
        )

    @property
    def largest(self) -> str:
        """``leaving idle states -3.0 of -4.1 mJ``; empty where no component differs."""
        name, value = next(iter(self.shown.kinds.items()))
        of = f"{self.number(self.shown.total)} {self.unit}"
        return f"{name} {self.number(value)} of {of}" if value else ""

    @property
    def table(self) -> Table:
        """A row for each kind, a column for each cluster, and sums."""
        clusters, cells = self.shown.clusters, self.shown.cells
        rows = [
            (kind, *(self.number(cells.get((kind, name), 0)) for name in clusters), self.number(of))
            for kind, of in self.shown.kinds.items()
        ]
        sums = (*clusters.values(), self.shown.total)
        heads = (f"component ({self.unit})", *clusters, ALL)
        return Table.of(heads, [*rows, (ALL, *map(self.number, sums))])

    def record(self) -> dict[str, Any]:
        """An entry of ``parts`` of ``eascope compare --json``: J whose float sums are exact."""
        whole = self.whole(Fraction(1, QUANTA))
        by_cluster: dict[str, dict[str, float]] = {}
        for (kind, cluster), value in whole.cells.items():
            by_cluster.setdefault(cluster, {})[kind] = value / QUANTA
        return {
            "measure": self.measure,
            "unit": "J",
            "difference": whole.total / QUANTA,
            "by_part": {name: value / QUANTA for name, value in whole.kinds.items()},
            "by_cluster": by_cluster,
        }


def parts_of(
    platform: Platform, pairs: Sequence[tuple[Result, Result]], work_unit: str = ""
) -> Parts | None:
    """The mean over pairs (baseline, variant) of the difference in energy.

    :param work_unit: if stated, the energy of a unit of work is compared; a pair of which one has
        done none is left out.
    :returns: None where no result states its components.
    """
    if work_unit:
        pairs = [pair for pair in pairs if all(result.work for result in pair)]
    states = {name for cluster in platform.clusters for name in component_names(cluster)}
    words = dict.fromkeys(states, IDLE) | WORDS
    cells: dict[tuple[str, str], Fraction] = {}
    for pair in pairs:
        for sign, result in zip((-1, 1), pair, strict=True):
            of = len(pairs) * (Fraction(result.work or 0) if work_unit else 1)
            detail = result.energy_j.cluster_component
            for cluster in (name for name in platform.energy_parts if name in detail):
                for component, spent in detail[cluster].items():
                    key = words.get(component, component), cluster
                    cells[key] = cells.get(key, Fraction()) + sign * Fraction(spent) / of
    if not cells:
        return None
    if work_unit:
        return Parts(cells, f"mJ per {work_unit}", "energy_per_work_j")
    return Parts(cells, "mJ", "energy_j.total")


def apportioned(values: Mapping[Key, Fraction], unit: Fraction, total: int) -> dict[Key, int]:
    """``values`` in whole units that sum to ``total``, by the largest remainders.

    :param total: the sum of ``values`` in units, rounded, or at most one per value from that.
    """
    scaled = {key: value / unit for key, value in values.items()}
    whole = {key: math.floor(value) for key, value in scaled.items()}
    order = sorted(whole, key=lambda key: whole[key] - scaled[key])
    for number in range(total - sum(whole.values())):
        whole[order[number % len(order)]] += 1
    return whole


def _sums(items: Iterable[tuple[str, Number]]) -> dict[str, Number]:
    """The sum of the numbers of each name."""
    sums: dict[str, Number] = {}
    for name, value in items:
        sums[name] = sums[name] + value if name in sums else value
    return sums


def _biggest_first(items: Iterable[tuple[str, Fraction]]) -> dict[str, Fraction]:
    return dict(sorted(_sums(items).items(), key=lambda item: (-abs(item[1]), item[0])))
