# SPDX-License-Identifier: GPL-2.0-or-later
"""What replicates must bring about: docs/concepts/replicates.md has the figures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats

from analysis.compare import Comparison, comparison
from analysis.derive import Derived
from analysis.trace import read_trace
from analysis.window import read_window
from configs.platform_file import load_platform
from experiments.cell import identity_of, prepare
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.request import Request, resolve
from power.choice import DEFAULT_POWER

pytestmark = [pytest.mark.guest, pytest.mark.long]

PLATFORM, VARIANT = "juno-r2", "mainline"
SEEDS, SPLITS = 40, 60
#: Of device, mechanism, periodic and endless tasks.
SCENARIOS = ("eas/idle-screen", "eas/video-playback", "eas/game", "uclamp/eight-capped-tasks")


@cache
def replicates(scenario: str) -> list[Derived]:
    """Mainline's runs of the seeds 0 to 39."""
    names = resolve(Request(PLATFORM, VARIANT, scenario))
    identity = identity_of(names.engine)
    cells = [prepare(names.with_seed(seed), identity) for seed in range(SEEDS)]
    return list(run_all(cells, lambda cell, run: derived_for(cell, run, DEFAULT_POWER)))


def compared(scenario: str) -> Comparison:
    """The seeds 20 to 39 as if they were another variant with the seeds 0 to 19."""
    runs = replicates(scenario)
    half = SEEDS // 2
    others = [
        replace(run, cell=replace(run.cell, seed=run.cell.seed - half, variant="again"))
        for run in runs[half:]
    ]
    return comparison(load_platform(PLATFORM), {VARIANT: runs[:half], "again": others})


def test_seeds_do_not_differ_from_other_seeds() -> None:
    """At most 5 % of the rows do, over random halves of the seeds, by Welch's t test.

    Rows of a scenario are not independent, so of one pair of halves many or none may differ: what
    our own intervals say of seeds 0-19 and 20-39 is printed, and depends on more than the seeds.
    """
    measures, starred = [], 0
    for scenario in SCENARIOS:
        lines = [line for line in compared(scenario).lines if line.differences]
        stars = sum(bool(line.differences["again"].clear) for line in lines)
        print(f"{scenario}: {stars} of {len(lines)} rows")
        starred += stars
        for line in lines:
            halves = (line.values[name].values() for name in (VARIANT, "again"))
            measures.append(np.array([value for half in halves for value in half]))
    print(f"together: {starred} of {len(measures)} rows")
    random = np.random.default_rng(1)
    shares = []
    for _ in range(SPLITS):
        order = random.permutation(SEEDS)
        differ = [
            stats.ttest_ind(*np.split(values[order], 2), equal_var=False).pvalue < 0.05
            for values in measures
            if len(values) == SEEDS and values.std()
        ]
        shares.append(float(np.mean(differ)))
    print(f"random halves, Welch's t: {100 * np.mean(shares):.1f} % of the rows")
    assert len(measures) > 200
    assert np.mean(shares) <= 0.05


def test_eight_capped_tasks_do_not_stay_where_they_are() -> None:
    """The source calls them unstable under maximum aggregation."""
    runs = replicates("uclamp/eight-capped-tasks")
    counts = [run.result.migrations for run in runs]
    often = sum(count >= 4 for count in counts)
    print(f"at least 4 migrations in 4 s: {often} of {SEEDS}, mean {sum(counts) / SEEDS:.1f}")
    assert all(run.result.window_s == pytest.approx(4, abs=0.01) for run in runs)
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
