# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants compared: measures by seed, differences from the baseline, verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from eascope.analysis.derive import Derived
from eascope.analysis.difference import Difference, difference
from eascope.analysis.known.conditions import Conditions, conditions_of
from eascope.analysis.known.noise import recorded
from eascope.analysis.null import Null, RecordedNull
from eascope.analysis.overall import Assumed, End, Overall, over_all, overall, sign, span
from eascope.analysis.parts import Parts, parts_of
from eascope.analysis.records.cell import CellRecord, Expectation
from eascope.analysis.records.result import PowerModelRecord, Result, mean_result
from eascope.analysis.records.verdict import LEVEL, Verdict
from eascope.analysis.rows import PER_WORK, WORK, MeasureRow, rows
from eascope.analysis.verdicts import judge
from eascope.configs.knobs import setting_words
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError

#: Variants whose work differs by more than these percent did not do the same.
OTHER_WORK_PERCENT = 2.0
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Line:
    """One measure over variants: values per seed, and differences from the baseline."""

    row: MeasureRow
    values: dict[str, dict[int, float]]
    differences: dict[str, Difference]

    def mean(self, variant: str) -> float | None:
        """Mean over seeds, or None when no run of the variant gives it."""
        by_seed = self.values.get(variant)
        return sum(by_seed.values()) / len(by_seed) if by_seed else None


@dataclass(frozen=True)
class Comparison:
    """Runs of several variants of one platform, scenario, engine and duration.

    :param variants: derived runs by variant, each list in the order of seeds; the first variant is
        the baseline.
    :param null: the noise floor, if it was asked for.
    :param not_varied: axes that have no other value here, and why, a line each.
    """

    platform: Platform
    variants: dict[str, list[Derived]]
    null: Null | None = None
    assumed: Sequence[Assumed] = ()
    not_varied: Sequence[str] = ()

    @cached_property
    def noise(self) -> Null | RecordedNull | None:
        """The noise floor: measured with this comparison, else recorded for its conditions."""
        if self.null is not None or self.cell.own_platform:
            return self.null
        cell = self.cell
        floor = recorded(cell.platform, cell.scenario, vars(self.conditions))
        return None if floor is None else RecordedNull(floor)

    @property
    def names(self) -> list[str]:
        """Variants, the baseline first."""
        return list(self.variants)

    @property
    def baseline(self) -> str:
        """The variant that the others are compared with."""
        return self.names[0]

    @property
    def cell(self) -> CellRecord:
        """``cell.json`` of the baseline's first run, for the common settings of all runs."""
        return self.variants[self.baseline][0].cell

    @property
    def power_model(self) -> PowerModelRecord:
        """Name and description of the power model that all energy is computed with."""
        return self.variants[self.baseline][0].result.power_model

    @property
    def tasks(self) -> list[str]:
        """Names of the scenario's tasks."""
        return [task.name for task in self.cell.tasks]

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of the runs; every variant has all of them."""
        return [run.cell.seed for run in self.variants[self.baseline]]

    @cached_property
    def results(self) -> dict[str, dict[int, Result]]:
        """Results by variant and seed."""
        return {
            name: {run.cell.seed: run.result for run in runs}
            for name, runs in self.variants.items()
        }

    @cached_property
    def lines(self) -> list[Line]:
        """Every measure that at least one run gives."""
        return [line for row in self._rows if (line := self._line(row)) is not None]

    def starred(self, line: Line, variant: str) -> bool:
        """True if a difference is marked as one: its interval excludes zero, and not by chance.

        The primary energy is tested by itself; all others are corrected for their number.
        """
        difference = line.differences.get(variant)
        if difference is None or not difference.clear:
            return False
        return line.row == self.primary.row or (line.row, variant) in self._discoveries

    @cached_property
    def _discoveries(self) -> set[tuple[MeasureRow, str]]:
        """The rows of each variant that differ from the baseline, corrected for their number."""
        marked: set[tuple[MeasureRow, str]] = set()
        for name in self.names[1:]:
            p_values = self._p_values(name)
            marked |= {(row, name) for row in discoveries(p_values)}
        return marked

    def tested(self, variant: str) -> int:
        """How many rows of a variant are tested together."""
        return len(self._p_values(variant))

    def _p_values(self, variant: str) -> dict[MeasureRow, float]:
        return {
            line.row: difference.p
            for line in self.lines
            if (difference := line.differences.get(variant)) and difference.p is not None
        }

    def line(self, *path: str) -> Line | None:
        """The measure at a path of ``result.json``, or None when no run gives it."""
        for row in self._rows:
            if row.path == path and not row.per_second and (line := self._line(row)) is not None:
                return line
        return None

    @cached_property
    def _rows(self) -> tuple[MeasureRow, ...]:
        printed = {
            (program, name): None
            for results in self.results.values()
            for result in results.values()
            for program, measures in result.program.items()
            for name in measures
            if not name.startswith("thread")
        }
        return tuple(rows(self.platform, self.cell, list(printed)))

    @cached_property
    def _made(self) -> dict[MeasureRow, Line | None]:
        """A cache of lines: an interval takes the host some 10 ms."""
        return {}

    def _line(self, row: MeasureRow) -> Line | None:
        """The measure of ``row``, or None when no run gives it."""
        if row not in self._made:
            values = {
                name: {
                    seed: number
                    for seed, result in by_seed.items()
                    if (number := row.value(result)) is not None
                }
                for name, by_seed in self.results.items()
            }
            differences = self._differences(values)
            self._made[row] = Line(row, values, differences) if any(values.values()) else None
        return self._made[row]

    def _differences(self, values: Mapping[str, Mapping[int, float]]) -> dict[str, Difference]:
        """Of each variant but the baseline, where both have a common seed."""
        base = values[self.baseline]
        differences = {}
        for name in self.names[1:]:
            common = [seed for seed in self.seeds if seed in base and seed in values[name]]
            if common:
                differences[name] = difference(
                    [base[seed] for seed in common], [values[name][seed] for seed in common]
                )
        return differences

    @property
    def total(self) -> Line:
        """The energy of the whole window."""
        line = self.line("energy_j", "total")
        if line is None:
            raise EascopeError("internal error: a result has no energy")
        return line

    @cached_property
    def other_work(self) -> dict[str, float]:
        """Variants whose work differs from the baseline's, with the difference in percent."""
        line = self.line(*WORK)
        if line is None:
            return {}
        return {
            name: diff.percent
            for name, diff in line.differences.items()
            if diff.percent is not None and abs(diff.percent) > OTHER_WORK_PERCENT
        }

    @property
    def primary(self) -> Line:
        """The energy by which variants are compared: of the same work, where work differs.

        Where it differs at any value of a model axis, it is of the same work at all.
        """
        differs = self.other_work or any(at.other_work for at in self.assumed)
        per_work = self.line(*PER_WORK) if differs else None
        return self.total if per_work is None else per_work

    def overall(self, name: str) -> Overall:
        """Whether variant ``name`` uses less or more energy, by all values of the model axes."""
        others = [
            (at.axis, at.value, sign(diff)) for at, diff in self._at_others(name, self.primary)
        ]
        return overall(sign(self.primary.differences[name]), others)

    def span(self, name: str, energy: Line | None = None) -> tuple[End, End] | None:
        """The range of the difference in percent of ``name`` over the values of the model axes.

        :param energy: `primary`, or else `total`.
        """
        energy = energy or self.primary
        percent = energy.differences[name].percent
        others = [
            End(diff.percent, at.axis, at.value)
            for at, diff in self._at_others(name, energy)
            if diff.percent is not None
        ]
        return None if percent is None else span(percent, others)

    def _at_others(self, name: str, energy: Line) -> list[tuple[Assumed, Difference]]:
        """The difference of variant ``name`` at each other value that knows it."""
        found = [(at, at.difference(name, energy.row.path)) for at in self.assumed]
        return [(at, diff) for at, diff in found if diff is not None]

    def parts(self, name: str, *, per_work: bool = False) -> Parts | None:
        """What the energy of variant ``name`` less the baseline's is made of, over common seeds.

        :param per_work: of the energy of a unit of work.
        :returns: None where results do not state their components.
        """
        base, other = self.results[self.baseline], self.results[name]
        pairs = [(base[seed], other[seed]) for seed in self.seeds]
        return parts_of(self.platform, pairs, self.cell.work.unit if per_work else "")

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions of the runs, which decide whether a recorded number is valid for them."""
        return conditions_of(self.cell, self.power_model.name)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """On the scenario's expectations about the variants that were run, by all model axes."""
        return [over_all(verdict, self.assumed) for verdict in self.as_asked]

    @cached_property
    def as_asked(self) -> list[Verdict]:
        """The same at the asked values alone."""
        expectations: dict[tuple[str, str], Expectation] = {}
        for runs in self.variants.values():
            for expectation in runs[0].cell.expect:
                expectations.setdefault((expectation.variant, expectation.statement), expectation)
        entries = [
            expectation
            for expectation in expectations.values()
            if expectation.variant in self.variants
        ]
        return judge(entries, self.results)

    @cached_property
    def means(self) -> dict[str, Result]:
        """The result of each variant: that of its only run, or the mean over its seeds."""
        return {name: mean_result(list(runs.values())) for name, runs in self.results.items()}

    @property
    def non_default_settings(self) -> str:
        """Controls that are not at their defaults, in words."""
        return control_text(self.cell.set_otherwise)

    @property
    def against_source(self) -> str:
        """Whether the runs had the conditions of the scenario's source; empty if not stated."""
        return against_source(self.cell)


#: What runs have in common that are compared.
_SAME = ("platform", "scenario", "engine", "mode", "duration", "elide", "set_otherwise")


def comparison(platform: Platform, variants: Mapping[str, Sequence[Derived]]) -> Comparison:
    """Put derived runs side by side; the first variant is the baseline.

    :raises EascopeError: when there is no variant or no run, or the runs differ in platform,
        scenario, engine, mode, duration, elision or controls: a difference would mean nothing.
            Or when a run has no partner (`paired`).
    """
    if not variants or not all(variants.values()):
        raise EascopeError("nothing to compare: every variant needs at least one run")
    first = next(iter(variants.values()))[0].cell
    for name, runs in variants.items():
        for run in runs:
            for key in _SAME:
                own, other = getattr(run.cell, key), getattr(first, key)
                if own != other:
                    raise EascopeError(
                        f"{run.run}: {key} is {own!r}, but {other!r} in the other runs: they "
                        "cannot be compared"
                    )
            for key in ("platform", "activity"):
                if getattr(run.cell.inputs, key) != getattr(first.inputs, key):
                    raise EascopeError(
                        f"{run.run}: was made from another {key} file than the other runs: they "
                        "cannot be compared"
                    )
            own, other = run.cell.energy_model.words, first.energy_model.words
            if own != other:
                raise EascopeError(
                    f"{run.run}: its kernel had the energy model {own}, the other runs had "
                    f"{other}: they cannot be compared"
                )
            if run.cell.variant != name:
                raise EascopeError(f"{run.run}: is a run of {run.cell.variant}, not of {name}")
    return Comparison(platform, paired(variants))


def discoveries(p_values: Mapping[Key, float]) -> set[Key]:
    """Keys of the rows that are starred, corrected for their number.

    Among a hundred rows without any difference, five have a 95 % interval that excludes zero. Rows
    that move together come in bunches: when two samples of the same runs are compared, one table in
    five has more than 5 % of such rows. So rows are starred by Benjamini and Hochberg's procedure
    ("Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995): at most one in twenty of
    a table's stars is there by chance.
    """
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    rate, many = 1 - LEVEL, len(ordered)
    last = max(
        (rank for rank, (_, p) in enumerate(ordered, 1) if p <= rate * rank / many), default=0
    )
    return {key for key, _ in ordered[:last]}


def control_text(words: Sequence[str]) -> str:
    """Words of `analysis.records.cell.CellRecord.set_otherwise` for a person."""
    return ", ".join(map(setting_words, words))


def against_source(cell: CellRecord) -> str:
    """The runs' conditions and the source's, in a line; empty where the scenario states none."""
    had = cell.source_conditions
    if had is None:
        return ""
    board = had.platform in ("", cell.platform)
    if board and {*had.controls} <= {*cell.set_otherwise}:
        if had.platform:
            return f"setup: as in the original posting ({had.source})"
        return f"setup: kernel settings of the original posting, platform defaults ({had.source})"
    if board:
        its = control_text(had.controls)
        return f"setup: defaults, not the original posting's (--source-conditions: {its})"
    return f"setup: defaults; the original posting's settings apply only to {had.platform}"


def by_variant(runs: Iterable[tuple[str, Derived]]) -> dict[str, list[Derived]]:
    """Runs by the variant that each was asked for, in the order in which variants first occur."""
    variants: dict[str, list[Derived]] = {}
    for variant, run in runs:
        variants.setdefault(variant, []).append(run)
    return variants


def paired(variants: Mapping[str, Sequence[Derived]]) -> dict[str, list[Derived]]:
    """The runs of each variant in the order of seeds: the same place is the same replicate.

    Seed and replicate are those that the runs record; the order of the given lists says nothing.

    :raises EascopeError: when a variant has a seed twice, when a run has no partner, or when one
        seed drew different things for two variants.
    """
    seeds = {name: _by_seed(name, runs) for name, runs in variants.items()}
    every = sorted({seed for runs in seeds.values() for seed in runs})
    for name, runs in seeds.items():
        missing = [str(seed) for seed in every if seed not in runs]
        if missing:
            others = ", ".join(
                other for other, has in seeds.items() if any(int(seed) in has for seed in missing)
            )
            raise EascopeError(
                f"{name} has no run of seed {', '.join(missing)}, but {others} has: runs are "
                "compared seed by seed"
            )
    first = next(iter(seeds.values()), {})
    for runs in seeds.values():
        for seed, run in runs.items():
            if run.cell.replicate != first[seed].cell.replicate:
                raise EascopeError(
                    f"{run.run}: seed {seed} drew another replicate than in {first[seed].run}: "
                    "they cannot be compared"
                )
    return {name: [runs[seed] for seed in every] for name, runs in seeds.items()}


def _by_seed(name: str, runs: Sequence[Derived]) -> dict[int, Derived]:
    seeds: dict[int, Derived] = {}
    for run in runs:
        other = seeds.setdefault(run.cell.seed, run)
        if other is not run:
            raise EascopeError(
                f"{run.run}: {name} has seed {run.cell.seed} twice, also in {other.run}"
            )
    return seeds
