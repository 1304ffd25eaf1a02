# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops that wait for memory: what a turn takes at every OPP, and across a change of the OPP."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Machine
from eascope.engines.qemu.eliding_copy import marked_function
from eascope.engines.timing.mixture import mixture
from eascope.host.lisa import lisa_binaries
from eascope.rootfs.elide import with_function
from tests.support.bare_metal import GuestRun, run_machine

pytestmark = pytest.mark.guest

SHARES = (0.1, 0.3, 0.6)
#: Not a multiple of four: both hints are used.
TURNS = 20_003
LEVELS = 3


@pytest.fixture
def mixture_run(rt_app_machine: Callable[..., Machine], tmp_path: Path) -> Callable[..., GuestRun]:
    """Call the copy of mixture ``number`` on every CPU; other keywords are ``-D`` of the guest."""

    def start(number: int, system_ipc: tuple[float, ...] = (), **defines: int) -> GuestRun:
        rt_app = (lisa_binaries() / "arm64" / "rt-app").read_bytes()
        program = with_function(rt_app, marked_function(number))
        machine = rt_app_machine(program, **{"TURNS": TURNS, **defines})
        rates = machine.activity.clusters
        if system_ipc:
            rates = tuple(
                replace(rate, system_ipc=ipc) for rate, ipc in zip(rates, system_ipc, strict=True)
            )
        activity = replace(machine.activity, clusters=rates)
        return run_machine(replace(machine, activity=activity, memory=SHARES), tmp_path / "out")

    return start


@pytest.mark.parametrize("level", range(LEVELS))
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_turn_takes_cycles_and_memory_time_at_every_opp(
    mixture_run: Callable[..., GuestRun],
    juno: Platform,
    juno_activity: Activity,
    number: int,
    level: int,
) -> None:
    """Within 0.1 % of C/f + M, and the instructions are the mixture's."""
    ended = mixture_run(number, LEVEL=level)
    turn = mixture(juno, juno_activity, SHARES[number - 1])
    for cpu in juno.cpus:
        cluster = juno.cluster_of(cpu)
        khz = sorted((opp.khz for opp in cluster.opps), reverse=True)[level]
        expected = TURNS * turn.iteration_ns(cluster, khz)
        assert ended.result[f"took_ns.{cpu}"] == pytest.approx(expected, rel=1e-3), (cpu, khz)
    own = ended.counters.filter(pl.col("cpu") > 0).group_by("cpu").agg(pl.sum("instructions"))
    for counted in own["instructions"]:
        assert counted == pytest.approx(TURNS * turn.instructions, rel=1e-3)


def test_a_turn_does_not_depend_on_the_rate_of_system_code(
    mixture_run: Callable[..., GuestRun], juno: Platform, juno_activity: Activity
) -> None:
    ended = mixture_run(2, system_ipc=(0.4, 0.55))
    turn = mixture(juno, juno_activity, SHARES[1])
    for cpu in juno.cpus:
        cluster = juno.cluster_of(cpu)
        expected = TURNS * turn.iteration_ns(cluster, cluster.max_khz)
        assert ended.result[f"took_ns.{cpu}"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("level", "after"), [(0, 2), (2, 0)])
def test_a_change_of_the_opp_changes_the_cycles_alone(
    mixture_run: Callable[..., GuestRun],
    juno: Platform,
    juno_activity: Activity,
    level: int,
    after: int,
) -> None:
    """The turns before and after it, each by the clock that it had, are those that were asked."""
    ended = mixture_run(3, LEVEL=level, NEXT_LEVEL=after, NEXT_NS=700_000, TURNS=40_000)
    turn = mixture(juno, juno_activity, SHARES[2])
    for cpu in juno.cpus[1:]:
        cluster = juno.cluster_of(cpu)
        opps = sorted((opp.khz for opp in cluster.opps), reverse=True)
        rows = ended.counters.filter(pl.col("cpu") == cpu).sort("t0_ns")
        assert rows["khz"].to_list()[-2:] == [opps[level], opps[after]]
        took, began = ended.result[f"took_ns.{cpu}"], ended.result[f"began_ns.{cpu}"]
        before = rows["t0_ns"][-1] - began
        assert 0 < before < took
        turns = before / turn.iteration_ns(cluster, opps[level])
        turns += (took - before) / turn.iteration_ns(cluster, opps[after])
        assert turns == pytest.approx(40_000, rel=2e-3), cpu
