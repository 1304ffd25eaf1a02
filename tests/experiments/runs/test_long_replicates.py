# SPDX-License-Identifier: GPL-2.0-or-later
"""What replicates must bring about: docs/concepts/replicates.md has the figures."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats

from eascope.analysis.compare import Comparison, comparison, discoveries
from eascope.analysis.derive import Derived
from eascope.analysis.difference import difference
from eascope.analysis.trace import read_trace
from eascope.analysis.window import read_window
from eascope.configs.platform_file import load_platform
from eascope.experiments.runs.cell import identity_of, prepare
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.pool import run_all
from eascope.experiments.runs.request import Request, resolve

pytestmark = [pytest.mark.guest, pytest.mark.long]

PLATFORM, VARIANT = "juno-r2", "mainline"
SEEDS, SPLITS = 40, 10
#: Of device, mechanism, periodic and endless tasks.
SCENARIOS = ("eas/idle-screen", "eas/video-playback", "eas/game", "uclamp/eight-capped-tasks")


@cache
def replicates(scenario: str) -> list[Derived]:
    """Mainline's runs of the seeds 0 to 39."""
    names = resolve(Request(PLATFORM, VARIANT, scenario))
    identity = identity_of(names.engine)
    cells = [prepare(names.with_seed(seed), identity) for seed in range(SEEDS)]
    return list(run_all(cells, derived_for))


def compared(scenario: str) -> Comparison:
    """The seeds 20 to 39 as if they were another variant with the seeds 0 to 19."""
    runs = replicates(scenario)
    half = SEEDS // 2
    others = [
        replace(
            run,
            cell=replace(
                run.cell,
                seed=run.cell.seed - half,
                variant="again",
                replicate=partner.cell.replicate,
            ),
        )
        for run, partner in zip(runs[half:], runs[:half], strict=True)
    ]
    return comparison(load_platform(PLATFORM), {VARIANT: runs[:half], "again": others})


def test_seeds_do_not_differ_from_other_seeds() -> None:
    """At most 5 % of the rows do, by the intervals of reports, over random halves of the seeds.

    Seeds of two halves are no pairs. Rows of a scenario depend on one another, so of one pair of
    halves, as seeds 0-19 and 20-39, many or none may differ: that share is printed.
    """
    rows = {
        scenario: [
            [value for name in (VARIANT, "again") for value in line.values[name].values()]
            for line in compared(scenario).lines
            if line.differences
        ]
        for scenario in SCENARIOS
    }
    first = {scenario: starred(values, range(SEEDS)) for scenario, values in rows.items()}
    for scenario, count in first.items():
        print(f"{scenario}: {count} of {len(rows[scenario])} rows")
    every = [values for scenario in SCENARIOS for values in rows[scenario]]
    corrected = sum(stars(values) for values in rows.values()) / len(every)
    print(f"seeds 0-19 and 20-39, as tables star them: {100 * corrected:.1f} %")
    assert corrected <= 0.05
    print(f"seeds 0-19 and 20-39: {100 * sum(first.values()) / len(every):.1f} % of {len(every)}")
    random = np.random.default_rng(1)
    orders = [random.permutation(SEEDS).tolist() for _ in range(SPLITS)]
    share = np.mean([starred(every, order) / len(every) for order in orders])
    print(f"random halves: {100 * share:.1f} % of the rows")
    assert len(every) > 200
    assert share <= 0.05


def stars(rows: Sequence[Sequence[float]]) -> int:
    """How many rows of one scenario have a star with the seeds 0-19 against 20-39."""
    half = SEEDS // 2
    result = {
        number: difference(values[:half], values[half:], aligned=False)
        for number, values in enumerate(rows)
        if len(values) == SEEDS
    }
    known = {number: item.p for number, item in result.items() if item.p is not None}
    return sum(bool(result[number].clear) for number in discoveries(known))


def starred(rows: Sequence[Sequence[float]], order: Sequence[int]) -> int:
    """In how many rows the first half of the seeds, in ``order``, differs from the second."""
    first, second = order[: SEEDS // 2], order[SEEDS // 2 :]
    return sum(
        bool(
            difference(
                [values[seed] for seed in first], [values[seed] for seed in second], aligned=False
            ).clear
        )
        for values in rows
        if len(values) == SEEDS
    )


@pytest.mark.xfail(
    strict=True,
    reason="goal missed: over the 50 turns, 1 of 20 seeds migrates once a second, mean 0.46",
)
def test_eight_capped_tasks_do_not_stay_where_they_are() -> None:
    """The source calls them unstable under maximum aggregation."""
    runs = replicates("uclamp/eight-capped-tasks")
    rates = [run.result.migrations / run.result.window_s for run in runs]
    often = sum(rate >= 1 for rate in rates)
    print(f"at least one migration a second: {often} of {SEEDS}, mean {sum(rates) / SEEDS:.2f}")
    assert all(run.result.turns == {"capped": 8 * 50} for run in runs)
    assert often > SEEDS / 2


def test_wake_ups_of_an_idle_screen_are_uniform_over_a_second() -> None:
    """By task, over seeds: the first wake-up in the window, within the task's period."""
    runs = replicates("eas/idle-screen")
    (clock,) = (task for task in runs[0].cell.tasks if task.name == "clock")
    assert clock.period_us == 1_000_000
    phases: dict[str, list[float]] = {}
    for run in runs:
        trace, window = read_trace(run.run / "trace.dat"), read_window(run.run / "marks.json")
        woken = trace.table("sched_waking").with_columns(pl.col("t_ns") + window.offset_ns)
        inside = woken.filter((pl.col("t_ns") >= window.t0_ns) & (pl.col("t_ns") < window.t1_ns))
        for task in run.cell.tasks:
            times = inside.filter(pl.col("comm").is_in(task.threads))["t_ns"].to_list()
            first_s = (times[0] - window.t0_ns) / 1e9
            period_s = (task.period_us or 0) / 1e6
            # A Poisson process has no period to be in step with: its wait is exponential.
            cdf = (
                stats.expon(scale=period_s).cdf
                if task.deadline_us is None
                else stats.uniform(scale=period_s).cdf
            )
            phases.setdefault(task.name, []).append(float(cdf(first_s)))
    for name, values in phases.items():
        p = stats.kstest(values, "uniform").pvalue
        print(f"{name}: Kolmogorov-Smirnov p = {p:.2f} of {len(values)} seeds")
        assert p > 0.01, name
