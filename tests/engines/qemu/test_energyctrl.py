# SPDX-License-Identifier: GPL-2.0-or-later
"""EnergyCtrl: registers as gem5 has them, transitions by its rules and at exact times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import Transitions
from tests.support.bare_metal import GuestRun

#: The guest polls the level: one turn of that loop on CPU 0 and one tick of its clock, in ns.
POLL_NS = 150

pytestmark = pytest.mark.guest


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
