# SPDX-License-Identifier: GPL-2.0-or-later
"""Where time goes: hand-computed windows, and rows that add up to the ns."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Machine, Transitions
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.records import START, STOP
from tests.support.bare_metal import GuestRun

pytestmark = pytest.mark.guest

#: Set-up of the timer, the guest's clock tick, the messages: in ns.
SLACK_NS = 2_000
#: The performance level that the guest asks for in the middle of its work.
LEVEL_AFTER = 1


def within(run: GuestRun) -> pl.DataFrame:
    """The rows between START and STOP."""
    at = {mark["id"]: mark["t_ns"] for mark in run.marks}
    inside = (pl.col("t0_ns") >= at[START]) & (pl.col("t1_ns") <= at[STOP])
    rows = run.counters.filter(inside)
    assert rows["t0_ns"].min() == at[START]
    assert rows["t1_ns"].max() == at[STOP]
    return rows


def test_a_window_of_known_parts(
    run_guest: Callable[..., GuestRun], juno: Platform, juno_activity: Activity
) -> None:
    """3 ms of work, 2 ms in state 1, twice 40 us in and 0.3 ms out, 0.5 ms of WFI, an OPP change.

    The second time an interrupt is pending: between the way in and the way out is nothing.
    """
    run = run_guest("account")
    rows = within(run).filter(pl.col("cpu") == 0)
    falling = sorted((opp.khz for opp in juno.cluster_of(0).opps), reverse=True)
    assert rows["khz"].to_list() == [falling[0], falling[LEVEL_AFTER]]
    first, second = rows.rows(named=True)
    latency = juno.transition_latency_us * 1000
    assert run.result["slept_ns"] == pytest.approx(2_000_000, abs=SLACK_NS)
    assert first["idle1_ns"] == pytest.approx(2_000_000, abs=SLACK_NS)
    assert first["entry_ns"] == pytest.approx(2 * 40_000, abs=SLACK_NS)
    assert first["exit_ns"] == pytest.approx(2 * 300_000, abs=SLACK_NS)
    assert first["idle2_ns"] == 0
    assert first["idle0_ns"] == pytest.approx(500_000, abs=SLACK_NS)
    assert first["active_ns"] == pytest.approx(2_000_000 + latency, abs=2 * SLACK_NS)
    assert second["active_ns"] == second["t1_ns"] - second["t0_ns"]
    assert second["active_ns"] == pytest.approx(1_000_000 - latency, abs=SLACK_NS)
    for row in (first, second):
        awake = row["active_ns"] + row["entry_ns"] + row["exit_ns"]
        assert row["cycles"] == awake * row["khz"] // 1_000_000
        rate = juno_activity.instructions_per_us(juno.cluster_of(0), row["khz"])
        assert row["instructions"] == pytest.approx(awake / 1000 * rate, rel=0.001)


def test_cpus_that_are_off_are_in_the_deepest_state(run_guest: Callable[..., GuestRun]) -> None:
    """And they execute nothing."""
    rows = within(run_guest("account")).filter(pl.col("cpu") > 0)
    assert (rows["idle2_ns"] == rows["t1_ns"] - rows["t0_ns"]).all()
    assert rows["instructions"].sum() == 0


def test_rows_are_gapless_and_add_up(run_guest: Callable[..., GuestRun]) -> None:
    """Active, exit and idle sum to a row's length; each CPU's rows follow each other from 0."""
    run = run_guest("rate")
    idle = [name for name in run.counters.columns if name.startswith("idle")]
    ways = ("entry_ns", "exit_ns")
    spent = run.counters.select(pl.sum_horizontal("active_ns", *ways, *idle)).to_series()
    assert (spent == run.counters["t1_ns"] - run.counters["t0_ns"]).all()
    for (cluster, cpu), unsorted in run.counters.group_by("cluster", "cpu"):
        rows = unsorted.sort("t0_ns")
        starts, ends = rows["t0_ns"].to_list(), rows["t1_ns"].to_list()
        assert starts == [0, *ends[:-1]], (cluster, cpu)
        assert ends[-1] == round(run.engine.sim_s * 1e9)


def shared_ns(run: GuestRun, cluster: int) -> tuple[int, int]:
    """How long a cluster's shared part was on and off between START and STOP."""
    rows = within(run).filter((pl.col("cpu") == -1) & (pl.col("cluster") == cluster))
    assert rows["cycles"].sum() == rows["instructions"].sum() == 0
    assert rows["exit_ns"].sum() == rows["idle0_ns"].sum() == rows["idle1_ns"].sum() == 0
    return int(rows["active_ns"].sum()), int(rows["idle2_ns"].sum())


def test_one_cpu_in_another_state_keeps_the_shared_part_on(
    run_guest: Callable[..., GuestRun],
) -> None:
    """CPU 0 works, sleeps in state 1 and in WFI; all others are off, the bigs for good."""
    run = run_guest("account")
    assert shared_ns(run, 0)[1] == 0
    assert shared_ns(run, 1)[0] == 0


def test_the_shared_part_sleeps_while_all_its_cpus_do(run_guest: Callable[..., GuestRun]) -> None:
    """Two CPUs in state 2 from 1 to 5 ms and from 2 to 4 ms; later one in state 2, one in 1."""
    run = run_guest("clustersleep")
    on, off = shared_ns(run, 0)
    assert off == pytest.approx(2_000_000, abs=SLACK_NS)
    assert on + off == pytest.approx(9_000_000, abs=2 * SLACK_NS)
    rows = within(run).filter(pl.col("cpu") == 1)
    assert rows["idle2_ns"].sum() == pytest.approx(5_000_000, abs=2 * SLACK_NS)
    first = within(run).filter(pl.col("cpu") == 0)
    assert first["idle2_ns"].sum() == pytest.approx(4_000_000, abs=SLACK_NS)
    assert first["idle1_ns"].sum() == pytest.approx(2_000_000, abs=SLACK_NS)


def test_a_cluster_without_cluster_sleep_is_always_on(
    bare_machine: Callable[..., Machine], tmp_path: Path, juno: Platform
) -> None:
    clusters = tuple(replace(cluster, cluster_sleep=None) for cluster in juno.clusters)
    machine = bare_machine("clustersleep")
    machine = replace(machine, platform=replace(juno, clusters=clusters))
    QemuEngine().run(machine, tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "counters.parquet").filter(pl.col("cpu") == -1)
    assert (rows["active_ns"] == rows["t1_ns"] - rows["t0_ns"]).all()


#: The guest polls the level: one turn of that loop on CPU 0 and one tick of its clock, in ns.
POLL_NS = 150


def test_registers_describe_the_platform(
    run_guest: Callable[..., GuestRun], juno: Platform
) -> None:
    """Domains are clusters; levels are OPPs by falling frequency; an unknown level reads 0."""
    result = run_guest("dvfs").result
    assert (result["status"], result["domains"]) == (1, len(juno.clusters))
    assert result["latency_ns"] == juno.transition_latency_us * 1000
    for cluster in juno.clusters:
        n = cluster.index
        assert (result[f"id.{n}"], result[f"first_level.{n}"]) == (n, 0)
        assert result[f"levels.{n}"] == len(cluster.opps)
        opps = sorted(cluster.opps, key=lambda opp: -opp.khz)
        read = [(result[f"khz{n}.{i}"], result[f"uv{n}.{i}"]) for i in range(len(opps) + 1)]
        assert read == [*((opp.khz, opp.uv) for opp in opps), (0, 0)]


def test_transition_rules(run_guest: Callable[..., GuestRun], juno: Platform) -> None:
    """Latency, replacement, cancellation, acknowledge flag, ignored requests."""
    run = run_guest("dvfs")
    result = run.result
    latency = juno.transition_latency_us * 1000
    assert result["old_level_reads_back"] == 0
    assert latency <= result["plain_ns"] <= latency + POLL_NS
    assert result["plain_level"] == 2
    assert (result["ack"], result["ack_again"]) == (1, 0)
    # Replaced after 10 us, so it takes that much longer, and level 1 is never in force.
    assert latency + 10_000 <= result["replaced_ns"] <= latency + 10_000 + 2 * POLL_NS
    assert (result["replaced_level"], result["replaced_seen"]) == (0, 0b101)
    assert (result["cancel_ack"], result["cancelled_level"]) == (0, 0)
    assert result["invalid_level"] == 0
    assert result["domain_stays"] == 1
    # Five valid requests, of which the plain one and the replacing one completed.
    assert run.engine.transitions["big"] == Transitions(requested=5, completed=2)


def test_rows_break_at_completed_transitions_only(
    run_guest: Callable[..., GuestRun], juno: Platform
) -> None:
    """The other cluster's rows are not broken; voltage and frequency change together."""
    counters = run_guest("dvfs").counters
    big = counters.filter((counters["cluster"] == 1) & (counters["cpu"] == 4))
    opps = sorted(juno.clusters[1].opps, key=lambda opp: -opp.khz)
    assert big["khz"].to_list() == [opps[0].khz, opps[2].khz, opps[0].khz]
    assert big["uv"].to_list() == [opps[0].uv, opps[2].uv, opps[0].uv]
    assert counters.filter(counters["cluster"] == 0).group_by("cpu").len()["len"].max() == 1
