# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine compared with gem5: a fixed set of cells on both, and the record of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean

from eascope.analysis.difference import unpaired_difference
from eascope.analysis.engine import cpu_models
from eascope.analysis.known.agreement import (
    Against,
    Agreement,
    AgreementCell,
    AgreementColumn,
    Answer,
    Sample,
    WakeUps,
)
from eascope.analysis.known.conditions import conditions_of
from eascope.analysis.records.result import Result
from eascope.analysis.verdicts import judge
from eascope.experiments.controls import Controls
from eascope.experiments.renew.costed import (
    BySeed,
    Cells,
    CostedRun,
    derive_costed,
    host_s_per_s,
    mean,
    residency_points,
)
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.measure import prepared
from eascope.experiments.runs.pool import run_all
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import existing

PLATFORM = "juno-r2"
SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/frequency-spike",
    "uclamp/capped-tasks-spread",
)
VARIANTS = ("mainline", "cas")
#: The cheap engine first: the others are compared with it. Name of the column, engine, mode.
ENGINES = (
    ("fast", "qemu", None),
    ("elided", "gem5", "elided"),
    ("elided-detailed", "gem5", "elided-detailed"),
)
FAST, DETAILED = ENGINES[0][0], ENGINES[-1][0]
#: Seeds 0..N-1 of a cell: in mode elided; on the fast engine; in mode elided-detailed.
SEEDS, FAST_SEEDS, DETAILED_SEEDS = 5, 20, 1
#: The record, by the speeds at which all engines run.
NAMES = {"board": "engine-agreement", "measured": "engine-agreement-measured"}
#: Scenario, variant, column, seed.
Key = tuple[str, str, str, int]


def requests(
    scenarios: Sequence[str], seeds: Mapping[str, int], speeds: str = "board"
) -> Iterator[tuple[Key, Request]]:
    """The requests, in the order in which they are run.

    Cheap engines are first, then seeds: an interrupted set has whole seeds of all cells.

    :param seeds: how many of each column; columns that are not in it are left out.
    """
    controls = Controls(speeds=speeds)
    for column, engine, mode in ENGINES:
        for seed in range(seeds.get(column, 0)):
            for scenario in scenarios:
                for variant in VARIANTS:
                    request = Request(
                        PLATFORM, variant, scenario, engine,
                        seed=seed, mode=mode, controls=controls,
                    )  # fmt: skip
                    yield (scenario, variant, column, seed), request


def run(
    scenarios: Sequence[str],
    seeds: Mapping[str, int],
    *,
    speeds: str = "board",
    present: bool = False,
) -> Cells:
    """Execute the missing runs of the set.

    :param present: run nothing, and leave out missing runs.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    asked = dict(requests(scenarios, seeds, speeds))
    every = zip(asked, prepared([resolve(request) for request in asked.values()]), strict=True)
    cells = {key: cell for key, cell in every if not present or existing(cell.simkey)}
    done = run_all(list(cells.values()), derive_costed)
    costed: dict[tuple[str, str], dict[str, dict[int, CostedRun]]] = {
        (scenario, variant): {} for scenario in scenarios for variant in VARIANTS
    }
    for (scenario, variant, column, seed), ran in zip(cells, done, strict=True):
        costed[scenario, variant].setdefault(column, {})[seed] = ran
    return costed


def comparable(cells: Cells) -> Cells:
    """Cells that were run on the fast engine and on gem5."""
    return {
        cell: columns for cell, columns in cells.items() if FAST in columns and len(columns) > 1
    }


#: Medians of wake-ups that differ by no more count as close.
CLOSE = 0.2


def record_of(cells: Cells, command: str) -> Agreement:
    """The record of the executed runs."""
    every = [
        run for columns in cells.values() for runs in columns.values() for run in runs.values()
    ]
    first = every[0]
    return Agreement(
        origin=origin_of(command, [run.cell for run in every]),
        platform=PLATFORM,
        speeds=first.cell.controls.speeds,
        power=first.result.power_model.name,
        duration=first.cell.duration,
        columns=_columns(cells),
        cells=tuple(_cell(cells, key) for key in cells),
        wake_ups=_wake_ups(cells),
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
    costs = {name: host_s_per_s(runs.values()) for name, runs in columns.items()}
    tasks = dict.fromkeys(task for result in means.values() for task in result.latency_us)
    return AgreementCell(
        *key,
        samples={name: _sample(runs) for name, runs in columns.items()},
        against={name: compared(cells, key, name) for name in others},
        wake_up_us={task: _medians(means, task) for task in tasks},
        times={name: costs[name] / costs[base] for name in others},
    )


def _sample(runs: BySeed) -> Sample:
    joules = [run.total_j for run in runs.values()]
    middle = sum(joules) / len(joules)
    alone = len(joules) == 1
    return Sample(
        seeds=tuple(sorted(runs)),
        least=None if alone else 100 * (min(joules) / middle - 1),
        most=None if alone else 100 * (max(joules) / middle - 1),
        cpu_s_per_s=host_s_per_s(runs.values()),
    )


def compared(cells: Cells, key: tuple[str, str], column: str) -> Against:
    """The fast engine's seeds of a cell against those of one column of gem5."""
    base = next(iter(cells[key]))
    fast, gem5 = (cells[key][name] for name in (base, column))
    energy = unpaired_difference(*([run.total_j for run in runs.values()] for runs in (gem5, fast)))
    points = residency_points(mean(fast), mean(gem5))
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
        met = [[answers[statement] for answers in some if statement in answers] for some in alone]
        yield Answer(
            statement,
            met=(sum(met[0]), sum(met[1])),
            seeds=(len(met[0]), len(met[1])),
            alike=means[0][statement] == means[1][statement],
        )


def _medians(means: Mapping[str, Result], task: str) -> dict[str, float]:
    return {
        name: result.latency_us[task].p50
        for name, result in means.items()
        if task in result.latency_us
    }


def _wake_ups(cells: Cells) -> dict[str, WakeUps]:
    ratios: dict[str, list[float]] = {}
    for columns in cells.values():
        means = {name: mean(runs) for name, runs in columns.items()}
        base = next(iter(columns))
        for task in means[base].latency_us:
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
