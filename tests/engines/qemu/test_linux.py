# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux on the fast engine: time, determinism, elision against execution."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl
import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import EngineRun, Machine
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.records import MARKS, START, STOP, read_marks
from tests.support import linux
from tests.support.columns import most
from tests.support.slow_idle import (
    ALONE_MS,
    ASKED_MS,
    CLUSTER_MS,
    FIRST_EXIT_MS,
    LAST_ENTRY_MS,
    SLACK_MS,
    sleeps_script,
    slept_ms,
    slow,
)

pytestmark = pytest.mark.guest

#: How far apart an event of an elided and of an executed run may lie. Nearly all lie at the same
#: nanosecond; where one does not, the kernel's CPUs have met in another order since then.
ELISION_NS = 5_000
SAME_TIME = 0.99


@contextmanager
def host_load(processes: int) -> Iterator[None]:
    """Other work on the host."""
    with ExitStack() as stack:
        for _ in range(processes):
            busy = stack.enter_context(
                subprocess.Popen([sys.executable, "-c", "while True: sum(range(10**5))"])
            )
            stack.callback(busy.kill)
        yield


def test_a_second_is_a_second(linux_machine: Callable[..., Machine], tmp_path: Path) -> None:
    """A sleep of 1 s takes 1.000 s by the engine's clock and by the guest's.

    WFI only: the exit from a deeper state would be part of it, as on a board.
    """
    script = linux.sleep_script(1000, shallow=True)
    QemuEngine().run(linux_machine(script), tmp_path / "out")
    marks = {mark.id: mark for mark in read_marks(tmp_path / "out" / MARKS)}
    start, stop = marks[START], marks[STOP]
    for slept in (stop.t_ns - start.t_ns, stop.mono_ns - start.mono_ns):
        assert slept == pytest.approx(1e9, rel=0.0002)


@pytest.mark.parametrize(
    ("cluster_sleep", "wanted"), [(True, CLUSTER_MS), (False, ALONE_MS)], ids=["last", "alone"]
)
def test_a_deep_sleep_takes_what_the_platform_states(
    linux_machine: Callable[..., Machine],
    juno: Platform,
    tmp_path: Path,
    cluster_sleep: bool,
    wanted: tuple[float, ...],
) -> None:
    """A sleep ends later by the exit, one that ends during the entry by the rest of it, too."""
    script = sleeps_script(cluster_sleep=cluster_sleep)
    QemuEngine().run(linux_machine(script, platform=slow(juno)), tmp_path / "out")
    assert slept_ms(tmp_path / "out") == pytest.approx(wanted, abs=SLACK_MS)


def test_the_time_is_booked_as_entry_and_exit(
    linux_machine: Callable[..., Machine], juno: Platform, tmp_path: Path
) -> None:
    """The boot CPU goes to its cluster's sleep and comes back once: the last, and the first."""
    script = sleeps_script(cluster_sleep=True)
    QemuEngine().run(linux_machine(script, platform=slow(juno)), tmp_path / "out")
    marks = [mark.t_ns for mark in read_marks(tmp_path / "out" / MARKS) if mark.id in (START, STOP)]
    rows = pl.read_parquet(tmp_path / "out" / "counters.parquet").filter(pl.col("cpu") >= 0)
    for begin, end, asleep_ms in ((*marks[:2], ASKED_MS[0] - LAST_ENTRY_MS), (*marks[2:], 0)):
        inside = rows.filter((pl.col("t0_ns") >= begin) & (pl.col("t1_ns") <= end))
        per_cpu = inside.group_by("cpu").agg(pl.sum("entry_ns", "exit_ns", "idle2_ns"))
        awake = per_cpu.filter(pl.col("exit_ns") > 0).rows(named=True)
        assert per_cpu.height == 6
        assert len(awake) == 1
        assert awake[0]["entry_ns"] == pytest.approx(1e6 * LAST_ENTRY_MS, abs=20_000)
        assert awake[0]["exit_ns"] == pytest.approx(1e6 * FIRST_EXIT_MS, abs=20_000)
        assert awake[0]["idle2_ns"] == pytest.approx(1e6 * asleep_ms, abs=1e6 * SLACK_MS)


def test_runs_are_byte_identical_whatever_the_host_does(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """Three runs of one cell under different host load: console, trace, counters, marks."""
    machine = linux_machine(linux.busy_script(30), quiet=False)
    digests = []
    for load in (0, 2, 5):
        out = tmp_path / f"load{load}"
        with host_load(load):
            QemuEngine().run(machine, out)
        digests.append(linux.digests(out))
    assert set(digests[0]) >= {"console.log", "trace.dat", "counters.parquet", "marks.json"}
    assert (tmp_path / "load0" / "console.log").stat().st_size > 2000
    assert digests[0] == digests[1] == digests[2]


def run_both(
    linux_machine: Callable[..., Machine], tmp_path: Path, script: bytes
) -> dict[str, tuple[Path, EngineRun]]:
    """One script with the loop elided and executed."""
    runs = {}
    for name in ("elided", "executed"):
        machine = linux_machine(script, elided=name == "elided")
        runs[name] = (tmp_path / name, QemuEngine().run(machine, tmp_path / name))
    return runs


@pytest.mark.parametrize("pinned", [True, False])
def test_elided_and_executed_agree(
    linux_machine: Callable[..., Machine], juno: Platform, tmp_path: Path, pinned: bool
) -> None:
    """Six tasks, 70 % busy, with DVFS: the same events on the same CPUs at the same times.

    Every sched_switch (bursts), sched_waking (wake-ups), sched_migrate_task (placement) and
    cpu_frequency event; OPP transitions; energy within 0.1 %.
    """
    runs = run_both(linux_machine, tmp_path, linux.busy_script(12, pinned=pinned))
    (elided, cost_elided), (executed, cost_executed) = runs["elided"], runs["executed"]
    off: list[int] = []
    for cpu in juno.cpus:
        left, right = (
            [event for event in linux.events(run / "trace.dat") if event.cpu == cpu]
            for run in (elided, executed)
        )
        assert len(left) > 5
        assert [(e.thread, e.text) for e in left] == [(e.thread, e.text) for e in right]
        off += [abs(a.ns - b.ns) for a, b in zip(left, right, strict=True)]
    assert max(off) <= ELISION_NS
    assert off.count(0) >= SAME_TIME * len(off)
    tables = [pl.read_parquet(run / "counters.parquet") for run in (elided, executed)]
    assert tables[0].height == tables[1].height
    assert tables[0]["khz"].to_list() == tables[1]["khz"].to_list()
    for edge in ("t0_ns", "t1_ns"):
        assert most((tables[0][edge] - tables[1][edge]).abs()) <= ELISION_NS
    energies = [linux.energy_uj(table, juno) for table in tables]
    assert energies[0] == pytest.approx(energies[1], rel=0.001)
    assert cost_elided.transitions == cost_executed.transitions
    assert cost_elided.instructions == pytest.approx(cost_executed.instructions, rel=1e-5)
