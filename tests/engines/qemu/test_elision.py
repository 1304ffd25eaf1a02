# SPDX-License-Identifier: GPL-2.0-or-later
"""The elided loop against the executed one, counted on bare metal."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Machine
from eascope.engines.qemu.eliding_copy import BULK_TURNS, elide_hint, skipped_instructions
from eascope.engines.qemu.engine import QemuEngine
from eascope.host.lisa import lisa_binaries
from eascope.rootfs.elide import (
    CALL_INSTRUCTIONS,
    FUNCTION_OFFSET,
    ITERATION_INSTRUCTIONS,
)
from tests.support.bare_metal import GuestRun, run_machine

#: Not a multiple of four: both hints are used.
TURNS = 20_003


@pytest.fixture
def loop_run(run_guest: Callable[..., GuestRun], tmp_path: Path) -> Callable[..., GuestRun]:
    """Call rt-app's loop on every CPU, executed or elided."""

    def start(*, elided: bool, turns: int) -> GuestRun:
        program = (lisa_binaries() / "arm64" / "rt-app").read_bytes()
        path = tmp_path / "rt-app"
        path.write_bytes(elide_hint(program) if elided else program)
        return run_guest("rtapp", RTAPP=path, FUNCTION=FUNCTION_OFFSET, TURNS=turns)

    return start


def instructions(run: GuestRun) -> list[int]:
    """Of each CPU that does nothing but the loop."""
    per_cpu = run.counters.filter(pl.col("cpu") > 0).group_by("cpu").agg(pl.sum("instructions"))
    return per_cpu.sort("cpu")["instructions"].to_list()


@pytest.mark.guest
def test_a_turn_has_the_instructions_that_the_activity_says(
    loop_run: Callable[..., GuestRun], juno_activity: Activity
) -> None:
    """Counted by the engine while it executes the loop: the difference of two lengths."""
    of_1000 = instructions(loop_run(elided=False, turns=1_000))
    of_3000 = instructions(loop_run(elided=False, turns=3_000))
    for short, long in zip(of_1000, of_3000, strict=True):
        assert long - short == 2_000 * juno_activity.iteration_instructions


@pytest.mark.guest
def test_elided_is_executed_to_the_instruction(loop_run: Callable[..., GuestRun]) -> None:
    """The same instructions and the same time on every CPU."""
    executed = loop_run(elided=False, turns=TURNS)
    readings, counted = executed.result, instructions(executed)
    elided = loop_run(elided=True, turns=TURNS)
    assert elided.result == readings
    assert instructions(elided) == counted
    assert min(counted) > CALL_INSTRUCTIONS + TURNS * ITERATION_INSTRUCTIONS


#: Of the busy loop and of everything else, unlike on every cluster.
LOOP_IPC, SYSTEM_IPC = (1.0, 2.0), (0.4, 0.55)


@pytest.fixture
def weighed_run(
    rt_app_machine: Callable[..., Machine],
    juno_activity: Activity,
    tmp_path: Path,
) -> Callable[..., GuestRun]:
    """As `loop_run`, where the loop and everything else run at rates of their own."""
    clusters = tuple(
        replace(rates, ipc=loop, system_ipc=system)
        for rates, loop, system in zip(juno_activity.clusters, LOOP_IPC, SYSTEM_IPC, strict=True)
    )
    activity = replace(juno_activity, clusters=clusters)

    def start(*, elided: bool) -> GuestRun:
        program = (lisa_binaries() / "arm64" / "rt-app").read_bytes()
        machine = rt_app_machine(elide_hint(program) if elided else program, TURNS=TURNS)
        return run_machine(replace(machine, activity=activity), tmp_path / "out")

    return start


@pytest.mark.guest
def test_elided_is_executed_where_the_loop_has_a_rate_of_its_own(
    weighed_run: Callable[..., GuestRun], juno: Platform
) -> None:
    executed = weighed_run(elided=False)
    readings, counted = executed.result, instructions(executed)
    elided = weighed_run(elided=True)
    assert elided.result == readings
    assert instructions(elided) == counted
    assert min(counted) > CALL_INSTRUCTIONS + TURNS * ITERATION_INSTRUCTIONS
    for cpu in juno.cpus:
        cluster = juno.cluster_of(cpu)
        per_ns = LOOP_IPC[cluster.index] * cluster.max_khz / 1e6
        expected = TURNS * ITERATION_INSTRUCTIONS / per_ns
        assert readings[f"took_ns.{cpu}"] == pytest.approx(expected, rel=0.001)


def test_engine_and_image_agree_on_the_constants(linux_like: Machine) -> None:
    """What the engine adds at each hint is what the copy leaves out."""
    assert linux_like.activity.iteration_instructions == ITERATION_INSTRUCTIONS
    settings = QemuEngine().settings(linux_like)
    assert settings.hint_4_iterations == skipped_instructions(BULK_TURNS)
    assert settings.hint_1_iteration == skipped_instructions(1)
