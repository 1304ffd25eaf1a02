# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the comparison of the engines, from its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean

from analysis.difference import unpaired_difference
from analysis.engine import cpu_models
from analysis.records.result import Result
from analysis.results.agreement import (
    Against,
    Agreement,
    AgreementCell,
    AgreementColumn,
    Answer,
    Executed,
    Sample,
    WakeUps,
)
from analysis.results.findings import conditions_of
from analysis.verdicts import judge
from studies.agreement.plan import PLATFORM
from studies.costed import (
    ByColumn,
    BySeed,
    Cells,
    CostedRun,
    column_values,
    mean,
    residency_points,
)
from studies.versions import origin_over_seeds

#: Medians of wake-ups that differ by no more count as close.
CLOSE = 0.2


def record_of(cells: Cells, command: str, executed: Mapping[str, float]) -> Agreement:
    """The record of the executed runs.

    :param executed: processor seconds per simulated second of gem5 executing the loops, by
        scenario.
    """
    every = [
        run for columns in cells.values() for runs in columns.values() for run in runs.values()
    ]
    first = every[0]
    return Agreement(
        origin=origin_over_seeds(command, [run.cell for run in every]),
        platform=PLATFORM,
        speeds=first.cell.controls.speeds,
        power=first.result.power_model.name,
        duration=first.cell.duration,
        columns=_columns(cells),
        cells=tuple(_cell(cells, key) for key in cells),
        wake_ups=_wake_ups(cells),
        executed=tuple(_executed(cells, executed)),
        conditions=conditions_of(first.cell, first.result.power_model.name),
        billing=first.billing,
    )


def _columns(cells: Cells) -> tuple[AgreementColumn, ...]:
    columns = {}
    for by_column in cells.values():
        for name, runs in by_column.items():
            cell = next(iter(runs.values())).cell
            columns[name] = AgreementColumn(
                *(name, cell.engine, cell.mode), cpu_models(cell), cell.engine_traits.cpu_words
            )
    return tuple(columns.values())


def _cell(cells: Cells, key: tuple[str, str]) -> AgreementCell:
    columns = cells[key]
    means = {name: mean(runs) for name, runs in columns.items()}
    base, *others = columns
    tasks = dict.fromkeys(task for run in means.values() for task in run.result.latency_us)
    return AgreementCell(
        *key,
        samples={name: _sample(runs) for name, runs in columns.items()},
        against={name: compared(cells, key, name) for name in others},
        measures=column_values(list(means.values()), list(means)),
        wake_up_us={task: _medians(means, task) for task in tasks},
        times={name: means[name].host_s_per_s / means[base].host_s_per_s for name in others},
    )


def _sample(runs: BySeed) -> Sample:
    joules = [run.total_j for run in runs.values()]
    middle = sum(joules) / len(joules)
    alone = len(joules) == 1
    return Sample(
        seeds=tuple(sorted(runs)),
        least=None if alone else 100 * (min(joules) / middle - 1),
        most=None if alone else 100 * (max(joules) / middle - 1),
        cpu_s_per_s=mean(runs).host_s_per_s,
    )


def compared(cells: Cells, key: tuple[str, str], column: str) -> Against:
    """The fast engine's seeds of a cell against those of one column of gem5."""
    base = next(iter(cells[key]))
    fast, gem5 = (cells[key][name] for name in (base, column))
    energy = unpaired_difference(*([run.total_j for run in runs.values()] for runs in (gem5, fast)))
    points = residency_points(mean(fast).result, mean(gem5).result)
    return Against(
        energy.percent,
        energy.low,
        energy.high,
        residency_points=100 * max(points.values()),
        answers=tuple(_answers(cells, key, (base, column))),
    )


def _judged(
    cells: Cells, key: tuple[str, str], column: str, seeds: Sequence[int]
) -> dict[str, bool]:
    """Statement -> whether the means over ``seeds`` meet it, where it can be answered."""
    scenario, variant = key
    results: dict[str, dict[int, Result]] = {
        name: {seed: run.result for seed, run in columns.get(column, {}).items() if seed in seeds}
        for (where, name), columns in cells.items()
        if where == scenario
    }
    entries = next(iter(cells[key][column].values())).cell.expect
    judged = judge([entry for entry in entries if entry.variant == variant], results)
    return {verdict.statement: verdict.met for verdict in judged if verdict.met is not None}


def _answers(cells: Cells, key: tuple[str, str], columns: tuple[str, str]) -> Iterator[Answer]:
    """Every expectation that both columns can answer, by their means and seed by seed."""
    seeds = [list(cells[key][column]) for column in columns]
    pairs = list(zip(columns, seeds, strict=True))
    means = [_judged(cells, key, column, mine) for column, mine in pairs]
    alone = [[_judged(cells, key, column, [seed]) for seed in mine] for column, mine in pairs]
    for statement in means[0]:
        if statement not in means[1]:
            continue
        met = [[each[statement] for each in some if statement in each] for some in alone]
        yield Answer(
            statement,
            met=(sum(met[0]), sum(met[1])),
            seeds=(len(met[0]), len(met[1])),
            alike=means[0][statement] == means[1][statement],
        )


def _medians(means: Mapping[str, CostedRun], task: str) -> dict[str, float]:
    latencies = {name: run.result.latency_us for name, run in means.items()}
    return {name: times[task].p50 for name, times in latencies.items() if task in times}


def _wake_ups(cells: Cells) -> dict[str, WakeUps]:
    ratios: dict[str, list[float]] = {}
    for columns in cells.values():
        means = {name: mean(runs) for name, runs in columns.items()}
        base = next(iter(columns))
        for task in means[base].result.latency_us:
            medians = _medians(means, task)
            for name in list(columns)[1:]:
                if name in medians:
                    ratios.setdefault(name, []).append(medians[base] / medians[name])
    return {
        name: WakeUps(
            geometric_mean(some), len(some), sum(abs(ratio - 1) <= CLOSE for ratio in some)
        )
        for name, some in ratios.items()
    }


def _executed(cells: Cells, costs: Mapping[str, float]) -> Iterator[Executed]:
    for (scenario, variant), columns in cells.items():
        if variant == "mainline" and scenario in costs and columns:
            fast = mean(_first(columns)).host_s_per_s
            yield Executed(scenario, costs[scenario], fast, costs[scenario] / fast)


def _first(columns: ByColumn) -> BySeed:
    return columns[next(iter(columns))]
