# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants side by side: an aligned text table with differences, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

from analysis.decided import decided, verdict_word
from analysis.derive import Derived
from analysis.engine import engine_words, kernel_words
from analysis.expect import Verdict, judge
from analysis.records.cell import CellRecord, Expectation
from analysis.records.mean import mean_result
from analysis.records.result import PowerModelRecord, Result
from analysis.results.findings import Conditions, control_words, findings
from analysis.rows import Row, rows
from analysis.statistics import ENOUGH, Difference, difference
from configs.platform import Platform
from host.errors import EascopeError
from host.table import Section, Table

_INDENT = "  "
#: Where what belongs to an expectation stands, and how wide its sentences are.
_DEEP = " " * 6
_WIDTH = 118


@dataclass(frozen=True)
class Line:
    """One measure over variants: values per seed, and differences from the baseline."""

    row: Row
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
    """

    platform: Platform
    variants: dict[str, list[Derived]]

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
        """``cell.json`` of the baseline's first run: what all runs have in common."""
        return self.variants[self.baseline][0].cell

    @property
    def power_model(self) -> PowerModelRecord:
        """Name and description of the power model that all energy is computed with."""
        return self.variants[self.baseline][0].result.power_model

    @property
    def engine(self) -> str:
        """The engine of all runs."""
        return self.cell.engine

    @property
    def tasks(self) -> list[str]:
        """Names of the scenario's tasks."""
        return [task.name for task in self.cell.tasks]

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds that every variant has."""
        common = set.intersection(
            *({run.cell.seed for run in runs} for runs in self.variants.values())
        )
        return sorted(common)

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
        lines = []
        for row in rows(self.platform, self.tasks):
            values = {
                name: {
                    seed: number
                    for seed, result in by_seed.items()
                    if (number := row.value(result)) is not None
                }
                for name, by_seed in self.results.items()
            }
            if not any(values.values()):
                continue
            base = values[self.baseline]
            differences = {}
            for name in self.names[1:]:
                common = [seed for seed in self.seeds if seed in base and seed in values[name]]
                if common:
                    differences[name] = difference(
                        [base[seed] for seed in common], [values[name][seed] for seed in common]
                    )
            lines.append(Line(row, values, differences))
        return lines

    def line(self, *path: str) -> Line | None:
        """The measure at a path of ``result.json``, or None when no run gives it."""
        for line in self.lines:
            if line.row.path == path and not line.row.per_second:
                return line
        return None

    @property
    def total(self) -> Line:
        """The energy of the whole window."""
        line = self.line("energy_j", "total")
        if line is None:
            raise EascopeError("internal error: a result has no energy")
        return line

    @cached_property
    def conditions(self) -> Conditions:
        """What the runs were made with, by which a finding is about them or not."""
        cell = self.cell
        return Conditions(
            kernel=cell.kernel.source_words,
            engine=cell.engine,
            duration=cell.duration,
            speeds=cell.controls.speeds,
            power=self.power_model.name,
            energy_model=cell.energy_model.words,
            controls=control_words(cell.set_otherwise),
        )

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The scenario's expectations about the variants that were run."""
        expectations: dict[tuple[str, str], Expectation] = {}
        for runs in self.variants.values():
            for each in runs[0].cell.expect:
                expectations.setdefault((each.variant, each.statement), each)
        known = {
            key: finding.shown(self.conditions)
            for key, finding in findings(self.platform.name, self.cell.scenario).items()
        }
        judged = [
            judge(each, self.results, known.get(key, ""))
            for key, each in expectations.items()
            if each.variant in self.variants
        ]
        return [replace(verdict, decided=decided(verdict, self.results)) for verdict in judged]

    @cached_property
    def means(self) -> dict[str, Result]:
        """The result of each variant: that of its only run, or the mean over its seeds."""
        return {name: mean_result(list(runs.values())) for name, runs in self.results.items()}

    def summary(self, variant: str) -> dict[str, Any]:
        """`means` of a variant as JSON, with its seeds and the verdicts about it."""
        merged = self.means[variant].encode()
        merged["seeds"] = sorted(self.results[variant])
        merged["expect"] = [
            {
                "statement": verdict.statement,
                "value": verdict.sides[0][0] if len(verdict.sides) == 1 else None,
                "holds": verdict.holds,
                "decided": verdict.decided,
                "source": verdict.source,
                **({"finding": verdict.explained} if verdict.explained else {}),
            }
            for verdict in self.verdicts
            if verdict.variant == variant and verdict.holds is not None
        ]
        return merged

    def differences_json(self) -> list[dict[str, Any]]:
        """``differences`` of ``eascope compare --json``, in the units of ``result.json``."""
        objects = []
        for line in self.lines:
            raw = {
                name: {
                    seed: number
                    for seed, result in by_seed.items()
                    if (number := line.row.raw(result)) is not None
                }
                for name, by_seed in self.results.items()
            }
            for name in line.differences:
                objects.append(self._difference_json(line.row, raw, name))
        return objects

    def _difference_json(
        self, row: Row, raw: Mapping[str, Mapping[int, float]], name: str
    ) -> dict[str, Any]:
        base, other = raw[self.baseline], raw[name]
        common = [seed for seed in self.seeds if seed in base and seed in other]
        made = difference([base[seed] for seed in common], [other[seed] for seed in common])
        entry: dict[str, Any] = {
            "measure": row.measure,
            "label": f"{row.group}: {row.label}",
            "unit": row.raw_unit,
            "baseline": self.baseline,
            "variant": name,
            "baseline_value": sum(base.values()) / len(base),
            "value": sum(other.values()) / len(other),
            "difference": made.absolute,
            "seeds": made.pairs,
        }
        if made.percent is not None:
            entry["percent"] = made.percent
        if made.low is not None and made.high is not None:
            entry["confidence_95"] = [made.low, made.high]
        return entry

    def variant_json(self, name: str) -> dict[str, Any]:
        """One of ``variants`` of ``eascope compare --json``: each seed's run, and their mean."""
        runs = self.variants[name]
        return {
            "kernel": runs[0].cell.kernel.encode(),
            "switches": [list(switch) for switch in runs[0].cell.switches],
            "mean": self.summary(name),
            "seeds": {
                str(run.cell.seed): {
                    "run": str(run.run),
                    "simkey": run.cell.simkey,
                    "result": run.result.encode(),
                }
                for run in runs
            },
        }

    @property
    def set_otherwise(self) -> str:
        """Controls that are not as the platform and the kernel have them, in words."""
        return ", ".join(word.replace("-", " ") for word in self.cell.set_otherwise)

    def text(self) -> str:
        """The table, as it is pasted into a mail."""
        return "\n".join([*self.head(), "", *self._table(), *self._seeds(), *self._expect()]) + "\n"

    def head(self) -> list[str]:
        """What was run: scenario, variants, engine, window, seeds, power, kernels, settings."""
        cell = self.cell
        window = self.variants[self.baseline][0].result.window_s
        elided = "busy loops elided" if cell.elide else "busy loops executed"
        power = self.power_model.name
        given = cell.energy_model.words
        return [
            f"{cell.scenario} on {cell.platform}: {', '.join(self.names)}",
            f"engine {engine_words(cell)} ({elided}), {cell.duration} window of {window:.3f} s, "
            f"{_ranges(self.seeds)}, energy from {power} power",
            *(
                []
                if given == "published"
                else [f"the kernel is given another energy model: {given}"]
            ),
            *([f"set otherwise: {self.set_otherwise}"] if self.set_otherwise else []),
            *self._kernels(),
        ]

    def _kernels(self) -> list[str]:
        """Which kernel each variant ran: version, and where its source is from."""
        by_kernel: dict[str, list[str]] = {}
        for name, runs in self.variants.items():
            by_kernel.setdefault(kernel_words(runs[0].cell.kernel), []).append(name)
        return [f"kernel of {', '.join(names)}: {words}" for words, names in by_kernel.items()]

    def _table(self) -> list[str]:
        return self.table(self.lines).text().splitlines()

    def table(self, lines: Sequence[Line]) -> Table:
        """``lines`` as a table: means by variant, then differences of each further variant."""
        heads = ["", "unit", *self.names]
        confident = len(self.seeds) >= ENOUGH
        for name in self.names[1:]:
            lead = "" if len(self.names) == 2 else f"{name} "
            heads += [f"{lead}diff", "diff %"] + (["95 % interval"] if confident else [])
        rows: list[Sequence[str] | Section] = []
        group = ""
        for line in lines:
            if line.row.group != group:
                group = line.row.group
                rows.append(Section(group))
            rows.append(self._cells(line, confident))
        return Table.of(heads, rows, left=2)

    def _cells(self, line: Line, confident: bool) -> list[str]:
        """The texts of one line: label, unit, means, and differences per further variant."""
        digits = line.row.digits
        counts = digits == 0 and len(self.seeds) > 1
        cells = [line.row.label, line.row.unit]
        shown = 1 if counts else digits
        cells += [number(line.mean(name), shown) for name in self.names]
        for name in self.names[1:]:
            difference = line.differences.get(name)
            if difference is None:
                cells += ["-", "-"] + (["-"] if confident else [])
                continue
            # Percent of a percentage misleads: shares are compared in points only.
            percent = None if line.row.unit == "%" else difference.percent
            cells += [signed(difference.absolute, shown), signed(percent, 1)]
            if confident:
                mark = " *" if difference.clear else "  "
                cells.append(
                    f"{signed(difference.low, shown)} .. {signed(difference.high, shown)}{mark}"
                    if difference.low is not None
                    else "-"
                )
        return cells

    def _seeds(self) -> list[str]:
        """Every seed's values of the leading measures, and what the spread means."""
        if len(self.seeds) < 2:
            if len(self.names) < 2:
                return []
            return ["", "One seed: values only, no test. Use --seeds 10 for confidence intervals."]
        shown = [
            line
            for line in self.lines
            if line.row.path in (("energy_j", "total"), ("missed_deadlines",))
            and not line.row.per_second
        ]
        heads = ["by seed", "", *(str(seed) for seed in self.seeds)]
        rows = []
        for line in shown:
            unit = f" ({line.row.unit})" if line.row.unit else ""
            for name in self.names:
                values = line.values[name]
                cells = [number(values.get(seed), line.row.digits) for seed in self.seeds]
                label = f"{_INDENT}{line.row.group}, {line.row.label}{unit}"
                rows.append([label, name, *cells])
        spread = "The spread over seeds comes from start offsets: phase sensitivity, not noise."
        test = (
            "Intervals: paired bootstrap over seeds; * excludes zero."
            if len(self.seeds) >= ENOUGH
            else f"Fewer than {ENOUGH} seeds: values only, no test."
        )
        return ["", *Table.of(heads, rows, left=2).text().splitlines(), "", spread, test]

    def _expect(self) -> list[str]:
        if not self.verdicts:
            return []
        lines = ["", "expectations"]
        for verdict in self.verdicts:
            lines.append(
                f"{_INDENT}{verdict_word(verdict)}: {verdict.variant}: {verdict.statement}"
            )
            detail = verdict_values(verdict)
            if detail:
                lines.append(f"{_DEEP}{detail}")
            if verdict.source:
                lines.append(f"{_DEEP}source: {verdict.source}")
            if verdict.explained:
                lines += wrap(
                    f"finding: {verdict.explained}",
                    width=_WIDTH,
                    initial_indent=_DEEP,
                    subsequent_indent=_DEEP + _INDENT,
                )
        return lines


#: What runs have in common that are compared.
_SAME = ("platform", "scenario", "engine", "mode", "duration", "elide", "set_otherwise")


def comparison(platform: Platform, variants: Mapping[str, Sequence[Derived]]) -> Comparison:
    """Put derived runs side by side; the first variant is the baseline.

    :raises EascopeError: when there is no variant or no run, or the runs differ in platform,
        scenario, engine, mode, duration, elision or controls: a difference would mean nothing.
    """
    if not variants or not all(variants.values()):
        raise EascopeError("nothing to compare: every variant needs at least one run")
    ordered = {name: sorted(runs, key=lambda run: run.cell.seed) for name, runs in variants.items()}
    first = next(iter(ordered.values()))[0].cell
    for name, runs in ordered.items():
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
                        f"{run.run}: was made of another {key} file than the other runs: they "
                        "cannot be compared"
                    )
            own, other = run.cell.energy_model.words, first.energy_model.words
            if own != other:
                raise EascopeError(
                    f"{run.run}: its kernel was given the energy model {own}, in the other runs "
                    f"{other}: they cannot be compared"
                )
            if run.cell.variant != name:
                raise EascopeError(f"{run.run}: is a run of {run.cell.variant}, not of {name}")
    compared = Comparison(platform, ordered)
    if not compared.seeds:
        raise EascopeError("nothing to compare: the variants have no seed in common")
    return compared


def verdict_values(verdict: Verdict) -> str:
    """The values that a verdict compares, or why there is none."""
    if verdict.holds is None:
        return verdict.absent
    sides = "; ".join(f"{left:.6g} against {right:.6g}" for left, right in verdict.sides)
    if verdict.seeds > 1:
        return f"{sides} (means); in {verdict.seeds_held} of {verdict.seeds} seeds"
    return sides


def number(value: float | None, digits: int) -> str:
    """``value`` with ``digits`` after the point, ``-`` for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """``value`` with its sign, zero without one, ``-`` for none."""
    if value is None:
        return "-"
    text = f"{value:+.{digits}f}"
    return text if float(text) != 0 else f"{0:.{digits}f}"


def _ranges(seeds: Sequence[int]) -> str:
    """``seed 3``, ``seeds 0-9`` or ``seeds 0, 2, 5``."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]}-{seeds[-1]}"
    return "seeds " + ", ".join(map(str, seeds))
