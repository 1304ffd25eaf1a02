# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot for many runs: the bytes of a run that boots by itself, whatever ran before it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.engines.base import EngineFailed, EngineRun, Machine
from eascope.engines.qemu import boots
from eascope.engines.qemu.boots import MAX_IDLE, Boot, Boots
from eascope.engines.qemu.engine import QemuEngine
from tests.support import linux
from tests.support.processes import has_ended, qemus
from tests.support.waiting import until

SCRIPTS = (linux.busy_script(3), linux.sleep_script(200), linux.busy_script(3))


@pytest.mark.guest
def test_runs_of_one_boot_have_the_bytes_of_runs_alone(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """The first run, another script, and the first script again."""
    booted = set()
    for number, script in enumerate(SCRIPTS):
        machine = linux_machine(script)
        shared, alone = tmp_path / f"shared{number}", tmp_path / f"alone{number}"
        spent = QemuEngine().run(machine, shared)
        booted |= set(qemus())
        by_itself = QemuEngine(shares_boots=False).run(machine, alone)
        assert linux.digests(shared) == linux.digests(alone)
        assert (spent.sim_s, spent.instructions) == (by_itself.sim_s, by_itself.instructions)
        assert spent.transitions == by_itself.transitions
    assert len(booted) == 1, "one machine was booted"


@pytest.mark.guest
def test_another_machine_boots(linux_machine: Callable[..., Machine], tmp_path: Path) -> None:
    """Also where its files have the names of the first one's: here its rt-app does not start."""
    good = linux_machine(linux.busy_script(1))
    QemuEngine().run(good, tmp_path / "first")
    first = set(qemus())
    whole = good.initramfs.read_bytes()
    broken = linux.with_program(whole, b"not a program")
    good.initramfs.write_bytes(broken)
    with pytest.raises(EngineFailed, match="rt-app"):
        QemuEngine().run(good, tmp_path / "another")
    assert first < set(qemus()), "both machines wait"
    good.initramfs.write_bytes(whole)
    QemuEngine().run(good, tmp_path / "again")
    assert linux.digests(tmp_path / "first") == linux.digests(tmp_path / "again")


@pytest.mark.guest
def test_a_run_that_fails_ends_neither_the_boot_nor_the_next_run(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    bad = linux_machine(b"eascope-script 1\nnonsense\n")
    good = linux_machine(linux.sleep_script(10))
    QemuEngine().run(good, tmp_path / "first")
    (waiting,) = qemus()
    with pytest.raises(EngineFailed, match="nonsense"):
        QemuEngine().run(bad, tmp_path / "bad")
    QemuEngine().run(good, tmp_path / "again")
    assert qemus() == [waiting]
    assert linux.digests(tmp_path / "first") == linux.digests(tmp_path / "again")


@pytest.mark.guest
def test_a_machine_that_was_killed_while_it_waited_is_booted_again(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    machine = linux_machine(linux.sleep_script(10))
    QemuEngine().run(machine, tmp_path / "first")
    (waiting,) = qemus()
    os.kill(waiting, signal.SIGKILL)
    until(lambda: has_ended(waiting), "the end of QEMU")
    QemuEngine().run(machine, tmp_path / "again")
    assert linux.digests(tmp_path / "first") == linux.digests(tmp_path / "again")


@pytest.mark.guest
def test_a_run_ends_with_its_machine(linux_machine: Callable[..., Machine], tmp_path: Path) -> None:
    """A killed parent takes its run along; the error says how it was killed."""
    QemuEngine().run(linux_machine(linux.sleep_script(10)), tmp_path / "first")
    (waiting,) = qemus()
    runs: list[int] = []

    def kill(_: float) -> None:
        if not runs:
            runs.extend(qemus(waiting))
            os.kill(waiting, signal.SIGKILL)

    machine = linux_machine(linux.busy_script(2000, traced=False))
    with pytest.raises(EngineFailed, match="was killed by signal 9"):
        QemuEngine().run(machine, tmp_path / "out", kill)
    assert len(runs) == 1
    until(lambda: has_ended(runs[0]), "the end of the run")


@pytest.mark.guest
def test_a_cancelled_run_ends_its_machine(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    def cancel(_: float) -> None:
        raise KeyboardInterrupt

    QemuEngine().run(linux_machine(linux.sleep_script(10)), tmp_path / "first")
    (waiting,) = qemus()
    machine = linux_machine(linux.busy_script(2000, traced=False))
    with pytest.raises(KeyboardInterrupt):
        QemuEngine().run(machine, tmp_path / "out", cancel)
    assert has_ended(waiting)


@pytest.mark.guest
def test_the_run_that_boots_pays_for_the_boot(
    linux_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """And the next one's speed leaves out instructions that it has not executed."""
    runs = [
        QemuEngine().run(linux_machine(linux.sleep_script(1)), tmp_path / str(number))
        for number in range(2)
    ]

    def executed(run: EngineRun) -> float:
        return run.mips * run.host_s * 1e6

    ((_, boot),) = boots.BOOTS._idle
    assert runs[0].cpu_s > boot.spent.cpu_s > 0
    assert runs[0].host_s > boot.spent.host_s > 0
    assert executed(runs[0]) == pytest.approx(runs[0].instructions)
    assert executed(runs[1]) < 0.5 * runs[1].instructions


class Stub(Boot):
    """A machine that only says that it was ended."""

    def __init__(self, ended: list[int], number: int) -> None:
        self.say, self.number = ended, number

    def kill(self) -> None:
        self.say.append(self.number)


def test_few_machines_wait() -> None:
    ended: list[int] = []
    waiting = Boots()
    for number in range(MAX_IDLE + 2):
        waiting.give(str(number), Stub(ended, number))
    assert ended == [0, 1]
    assert waiting.take("0") is None
    taken = waiting.take("3")
    assert isinstance(taken, Stub)
    assert taken.number == 3
    assert waiting.take("3") is None, "one run at a time"
    waiting.end()
    assert sorted(ended) == [0, 1, *(n for n in range(2, MAX_IDLE + 2) if n != 3)]
