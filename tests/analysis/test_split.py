# SPDX-License-Identifier: GPL-2.0-or-later
"""Active and idle time of a gem5 run's rows, from cpu_idle events with known answers."""

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.run_data import with_elided
from eascope.analysis.tables.split import split
from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.activity import load_activity
from eascope.configs.platform import Platform
from eascope.engines.timing.mixture import mixture
from eascope.host.errors import EascopeError

US = 1000
COLUMNS = ("active", "entry", "exit", "idle")
#: The trace's clock is 1 ms late.
WINDOW = Window(10_000 * US, 30_000 * US, offset_ns=1_000 * US)


def trace(events: dict[int, list[tuple[int, int]]]) -> Trace:
    """A trace with these (us since power-on, state) of each CPU."""
    rows = sorted((at, cpu, state) for cpu, those in events.items() for at, state in those)
    table = pl.DataFrame(
        {
            "t_ns": [at * US - WINDOW.offset_ns for at, _, _ in rows],
            "cpu": [cpu for _, cpu, _ in rows],
            "state": [state for _, _, state in rows],
            "cpu_id": [cpu for _, cpu, _ in rows],
        },
        schema=dict.fromkeys(("t_ns", "cpu", "state", "cpu_id"), pl.Int64),
    )
    trace_of_idle = Trace(Path("trace.dat"), pl.DataFrame())
    trace_of_idle._tables["cpu_idle"] = table
    return trace_of_idle


def rows(platform: Platform, *edges_us: int) -> pl.DataFrame:
    """Rows of all CPUs and shared parts between these edges."""
    edges = [WINDOW.t0_ns // US, *edges_us, WINDOW.t1_ns // US]
    keys = [(c.index, cpu) for c in platform.clusters for cpu in (*c.cpus, -1)]
    return pl.DataFrame(
        [
            {"cluster": cluster, "cpu": cpu, "t0_ns": a * US, "t1_ns": b * US}
            for cluster, cpu in keys
            for a, b in pairwise(edges)
        ]
    )


def times(table: pl.DataFrame, cpu: int, cluster: int = 0) -> list[dict[str, int]]:
    """Each row's times of a CPU in us, without those that are 0."""
    part = table.filter((pl.col("cpu") == cpu) & (pl.col("cluster") == cluster)).sort("t0_ns")
    names = [name for name in part.columns if name.startswith(COLUMNS)]
    return [
        {name.removesuffix("_ns"): value // US for name, value in row.items() if value}
        for row in part.select(names).rows(named=True)
    ]


def test_wfi_has_no_ways_and_a_deep_state_has(juno: Platform) -> None:
    """cpu-sleep takes a little 22 us to enter and 14 to leave; the driver plays both."""
    events = {0: [(12_000, 0), (13_000, ENDS), (15_000, 1), (20_000, ENDS)]}
    table = split(rows(juno), trace(events), juno, WINDOW)
    assert times(table, 0) == [
        {"active": 14_000, "entry": 22, "idle0": 1_000, "idle1": 4_964, "exit": 14}
    ]


def test_every_row_adds_up_across_breaks(juno: Platform) -> None:
    """Breaks lie on the ways; a stay of 36 us, in whose entry an interrupt came, has no sleep."""
    events = {
        0: [(12_000, 1), (16_000, ENDS), (20_000, 1), (20_036, ENDS), (29_000, 2)],
        4: [(11_000, 0), (11_500, ENDS)],
    }
    table = split(rows(juno, 12_010, 15_995, 29_500), trace(events), juno, WINDOW)
    names = [name for name in table.columns if name.startswith(COLUMNS)]
    spent = table.select(pl.sum_horizontal(names)).to_series()
    assert (spent == table["t1_ns"] - table["t0_ns"]).all()
    assert times(table, 0) == [
        {"active": 2_000, "entry": 10},
        {"entry": 12, "idle1": 3_964, "exit": 9},
        # CPUs 1 to 3 sleep all the time, so CPU 0 is the last of the cluster at 29 ms.
        {"active": 12_964, "entry": 22 + 114, "exit": 5 + 14, "idle2": 386},
        {"idle2": 500},
    ]


def test_an_idle_state_entered_before_the_window_continues_in_it(juno: Platform) -> None:
    events = {0: [(5_000, 1), (14_000, ENDS)], 1: [(2_000, 0), (3_000, ENDS)]}
    table = split(rows(juno), trace(events), juno, WINDOW)
    assert times(table, 0) == [{"active": 16_000, "idle1": 3_986, "exit": 14}]
    assert times(table, 1) == [{"active": 20_000}]


def test_a_cpu_without_events_was_idle_for_the_whole_window(juno: Platform) -> None:
    table = split(rows(juno), trace({}), juno, WINDOW)
    assert times(table, 3) == [{"idle2": 20_000}]


def test_the_last_cpu_of_a_cluster_takes_longer_to_enter_its_sleep(juno: Platform) -> None:
    """A big: 21 and 17 us, the last one in 195, the first one out 22. Two bigs in turn."""
    events = {
        4: [(11_000, 2), (15_000, ENDS), (17_000, 2), (19_000, ENDS), (21_000, 1), (25_000, ENDS)],
        5: [(13_000, 2), (16_000, ENDS), (18_000, 2), (20_000, ENDS), (22_000, 2), (24_000, ENDS)],
    }
    awake = {cpu: [(10_500, 0), (10_600, ENDS)] for cpu in range(4)}
    table = split(rows(juno), trace(awake | events), juno, WINDOW)
    one = times(table, 4, cluster=1)[0]
    # Twice first in, first out of both, then in cpu-sleep, where no CPU is the last.
    assert (one["entry"], one["exit"]) == (21 + 21 + 18, 22 + 22 + 15)
    # Twice last in and last out, then alone in cluster-sleep.
    other = times(table, 5, cluster=1)[0]
    assert (other["entry"], other["exit"]) == (195 + 195 + 21, 17 + 17 + 17)
    # Off from the end of the last one's entry until the first one begins to leave.
    off = (15_000 - 22) - (13_000 + 195) + (19_000 - 22) - (18_000 + 195)
    assert times(table, -1, cluster=1) == [{"active": 20_000 - off, "idle2": off}]


def test_a_cluster_sleeps_while_all_its_cpus_do(juno: Platform) -> None:
    """State 2 is cluster-sleep: the shared part is off where all four are in it."""
    awake = {0: [(14_000, 2), (24_000, ENDS)], 4: [(11_000, 1)], 5: [(11_000, 2)]}
    table = split(rows(juno), trace(awake), juno, WINDOW)
    # CPU 0 enters for 114 us and leaves for 20; CPUs 1 to 3 sleep all the time.
    assert times(table, -1) == [{"active": 10_134, "idle2": 9_866}]
    assert times(table, -1, cluster=1) == [{"active": 20_000}]


def test_a_state_that_the_platform_does_not_have(juno: Platform) -> None:
    with pytest.raises(EascopeError, match="cpu 2 enters idle state 7, but has only 3 states"):
        split(rows(juno), trace({2: [(12_000, 7)]}), juno, WINDOW)


def test_iterations_that_stood_still_count_as_instructions(juno: Platform) -> None:
    """2 ms and 1 ms of a loop on a CPU at 450 and 950 MHz, at 1 instruction per cycle."""
    activity = load_activity(juno)
    edges = [(10_000, 20_000, 450_000), (20_000, 30_000, 950_000)]
    slices = pl.DataFrame(
        [
            {"cluster": 0, "cpu": cpu, "t0_ns": a * US, "t1_ns": b * US, "khz": khz}
            | {"instructions": 7}
            for cpu in (0, -1)
            for a, b, khz in edges
        ]
    )
    elided = pl.DataFrame(
        {
            "cpu": [0, 0, 0, 1],
            "thread": ["a", "x", "p", "a"],
            "t0_ns": [18_000 * US, 22_000 * US, 23_000 * US, 11_000 * US],
            "t1_ns": [21_000 * US, 23_000 * US, 24_000 * US, 12_000 * US],
        }
    )
    table = with_elided(slices, elided, juno, activity, {"a": 0.0})
    assert table["instructions"].to_list() == [7 + 900_000, 7 + 950_000, 7, 7]


def test_iterations_that_wait_for_memory_count_fewer_instructions(juno: Platform) -> None:
    """1 ms of them at 950 MHz: as many iterations as fit, each of the mixture's instructions."""
    activity = load_activity(juno)
    row = {"cluster": 0, "cpu": 0, "t0_ns": 0, "t1_ns": 2_000 * US, "khz": 950_000}
    slices = pl.DataFrame([row | {"instructions": 0}])
    ran = pl.DataFrame({"cpu": [0], "thread": ["m"], "t0_ns": [0], "t1_ns": [1_000 * US]})
    turn = mixture(juno, activity, 0.3)
    wanted = 1e6 / turn.iteration_ns(juno.clusters[0], 950_000) * turn.instructions
    for threads in ({"m": 0.3}, {"m": 0.3, "a": 0.0}):
        table = with_elided(slices, ran, juno, activity, threads)
        assert table["instructions"].to_list() == [round(wanted)]
    assert wanted < 0.8 * 950_000
