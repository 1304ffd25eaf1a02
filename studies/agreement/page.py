# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that compares the fast engine with gem5: the parts for its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.results.agreement import (
    Against,
    Agreement,
    AgreementCell,
    Answer,
    CellMeasure,
    Sample,
)
from analysis.results.error import speeds_words
from host.table import Column, Table
from studies.agreement.plan import NAMES
from studies.drawing import Drawing
from studies.patches import origin_words

#: What is aimed at: difference of energy in per cent, points of residency.
ENERGY_GOAL, RESIDENCY_GOAL = 5, 2
#: How many times less processor time is aimed at than gem5 takes that executes the loops on atomic
#: CPUs.
SPEED_GOAL = 100
#: Of a record that does not say which powers its runs were billed by.
UNKNOWN_BILLING = (
    "* The record does not say which powers billed these runs. Captions therefore call them "
    '"measured with earlier billing".'
)


def parts(record: Agreement) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    return {
        "answer": answer(record),
        "conditions": _conditions(record),
        "differences": _differences(record).markdown(),
        "wake-ups": _wake_ups(record).markdown(),
        "ratios": "\n".join(_ratios(record)),
        "costs": _costs(record).markdown(),
        "cells": "\n\n".join(_cell(record, cell) for cell in record.cells),
    }


def also(record: Agreement) -> dict[str, str]:
    """Figures that notes may quote in a sentence, by name."""
    ends = [
        abs(end)
        for cell in record.cells
        for sample in cell.samples.values()
        for end in (sample.least, sample.most)
        if end is not None
    ]
    answers = [
        answer.alike
        for cell in record.cells
        for against in cell.against.values()
        for answer in against.answers
    ]
    times: dict[str, list[float]] = {}
    for cell in record.cells:
        for name, ratio in cell.times.items():
            times.setdefault(name, []).append(ratio)
    return {
        "seeds": f"{max(ends, default=0):.0f} %",
        "alike": f"{sum(answers)} of {len(answers)}",
        "times": ", ".join(
            f"{min(some):.0f} to {max(some):.0f} times less processor time than gem5's `{name}`"
            for name, some in times.items()
        ),
    }


def answer(record: Agreement) -> str:
    """The differences of energies, by the column of gem5 with most seeds."""
    columns = {column.name: column.cpu_words for column in record.columns[1:]}

    def seeds(name: str) -> int:
        return max(len(cell.samples[name].seeds) for cell in record.cells if name in cell.samples)

    name = max(columns, key=seeds)
    rows = [cell.against[name].energy_percent for cell in record.cells if name in cell.against]
    goal = sum(abs(percent) <= ENERGY_GOAL for percent in rows)
    over = f"means over {seeds(name)} seeds" if seeds(name) > 1 else "one seed"
    return (
        f"the energies differ by at most {max(map(abs, rows)):.1f} %, and by {ENERGY_GOAL} % or "
        f"less in {goal} of {len(rows)} cells (gem5's {columns[name]} CPUs, {over})"
    )


def _conditions(record: Agreement) -> str:
    lines = [
        f"* Platform {record.platform} at {speeds_words(record.speeds)}, {record.duration} "
        f"windows, busy loops elided on all engines, energy from {record.power} power.",
        *(
            f"* gem5 in mode `{column.mode}`: {_models(column.cpus)}."
            for column in record.columns
            if column.mode
        ),
        f"* {origin_words(record.origin)}",
        *([] if record.billing else [UNKNOWN_BILLING]),
    ]
    return "\n".join(lines)


def _models(cpus: Mapping[str, str]) -> str:
    return ", ".join(f"{cluster} {model}" for cluster, model in cpus.items())


def _differences(record: Agreement) -> Table:
    """One line per cell and mode of gem5."""
    rows = [
        _difference(cell, name, against)
        for cell in record.cells
        for name, against in cell.against.items()
    ]
    columns = [
        *(Column(head, "left") for head in ("scenario", "variant", "gem5")),
        *(Column(head) for head in ("energy", "seeds", "95 % interval")),
        *(Column(head) for head in ("fast's seeds, %", "gem5's seeds, %")),
        Column("worst residency, points"),
        Column("statements", "left"),
        Column("processor s per s"),
    ]
    return Table(tuple(columns), tuple(rows))


def _difference(cell: AgreementCell, name: str, against: Against) -> list[str]:
    fast, gem5 = next(iter(cell.samples.values())), cell.samples[name]
    percent = round(against.energy_percent, 1) + 0.0  # never -0.0
    return [
        *(cell.scenario, cell.variant, name),
        f"{percent:+.1f} %{_star(abs(percent) <= ENERGY_GOAL)}",
        f"{len(fast.seeds)}, {len(gem5.seeds)}",
        _range(against.low, against.high),
        *(_range(sample.least, sample.most) for sample in (fast, gem5)),
        f"{against.residency_points:.1f}{_star(against.residency_points <= RESIDENCY_GOAL)}",
        "; ".join(map(_words, against.answers)) or "none stated",
        f"{gem5.cpu_s_per_s:.1f} ({fast.cpu_s_per_s:.2f})",
    ]


def _star(good: bool) -> str:
    return "" if good else " *"


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:+.1f} .. {high:+.1f}"


def _words(answer: Answer) -> str:
    (fast, gem5), (of_fast, of_gem5) = answer.met, answer.seeds
    means = "the same" if answer.alike else "differ *"
    return (
        f"`{answer.statement}` is met in {fast} of {of_fast} and {gem5} of {of_gem5}, by the means "
        f"{means}"
    )


def _wake_ups(record: Agreement) -> Table:
    names = [column.name for column in record.columns]
    rows = [
        [
            *(cell.scenario, cell.variant, task),
            *(f"{medians[name]:.1f}" if name in medians else "-" for name in names),
        ]
        for cell in record.cells
        for task, medians in cell.wake_up_us.items()
    ]
    return Table.of(["scenario", "variant", "task", *names], rows, left=3)


def _ratios(record: Agreement) -> Iterator[str]:
    for name, ratio in record.wake_ups.items():
        yield (
            f"The fast engine's are {ratio.mean:.2f} times those of `{name}` (geometric mean of "
            f"{ratio.tasks}; {ratio.close} within 20 %)."
        )


def _costs(record: Agreement) -> Table:
    rows = [
        [
            *(cost.scenario, f"{cost.gem5:.0f}", f"{cost.fast:.2f}"),
            f"{cost.times:.0f}{_star(cost.times >= SPEED_GOAL)}",
        ]
        for cost in record.executed
    ]
    return Table.of(["scenario", "gem5, executed", "fast", "times less"], rows)


def _cell(record: Agreement, cell: AgreementCell) -> str:
    seeds = ", ".join(f"{name} {_seeds(sample)}" for name, sample in cell.samples.items())
    names = [column.name for column in record.columns if column.name in cell.samples]
    costs = {name: sample.cpu_s_per_s for name, sample in cell.samples.items()}
    return "\n".join(
        [
            f"### {cell.scenario}, {cell.variant}",
            "",
            f"Means: {seeds}.",
            "",
            columns_table(names, cell.measures, costs, cell.times).markdown(),
        ]
    )


def _seeds(sample: Sample) -> str:
    seeds = list(sample.seeds)
    if len(seeds) == 1:
        return f"1 seed ({seeds[0]})"
    if seeds == list(range(seeds[0], seeds[-1] + 1)):
        return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})"
    return f"{len(seeds)} seeds ({', '.join(map(str, seeds))})"


def columns_table(
    names: Sequence[str],
    measures: Sequence[CellMeasure],
    costs: Mapping[str, float],
    times: Mapping[str, float],
) -> Table:
    """Every measure of the columns ``names``, with differences from the first one.

    :param costs: processor seconds per simulated second by column.
    :param times: the same of each further column as so many times the first one's.
    """
    first, *others = names
    heads = ["measure", first]
    for name in others:
        heads += [f"gem5 {name}", "diff"]
    rows = []
    for measure in measures:
        row = [measure.name, f"{measure.values[first]:.1f}"]
        for name in others:
            if name in measure.values:
                row += [f"{measure.values[name]:.1f}", _change(measure, name)]
            else:
                row += ["-", "-"]
        rows.append(row)
    cost = ["processor s per simulated s", f"{costs[first]:.2f}"]
    for name in others:
        cost += [f"{costs[name]:.1f}", _times(times[name])]
    return Table.of(heads, [*rows, cost])


def _change(measure: CellMeasure, name: str) -> str:
    difference = measure.differences[name]
    if difference is None:
        return "-"
    return f"{difference:+.1f} %" if measure.relative else f"{difference:+.1f}"


def _times(ratio: float) -> str:
    """A cost as so many times another, or as a fraction of it."""
    return f"{ratio:.0f} x" if ratio >= 1 else f"1/{1 / ratio:.0f}"


DRAWINGS = {name: Drawing(Agreement, parts, also) for name in NAMES.values()}
