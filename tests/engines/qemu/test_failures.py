# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that end badly: the reason in one line, the console's last lines, nothing left running."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.engines.base import EngineFailed, Machine
from eascope.engines.qemu.build import plugin
from eascope.engines.qemu.command import BootFiles, command
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.qemu.process import QemuRun, run_alone
from eascope.engines.qemu.provider import qemu
from eascope.engines.registry import get_engine
from eascope.host.errors import EascopeError, RequestError
from tests.support.bare_metal import GuestRun
from tests.support.processes import has_ended, qemu_child
from tests.support.waiting import until

BAD_ENDS = {
    1: r"^the agent is unhappy",
    2: r"^the guest is dead: every CPU has been idle since 0\.00",
    3: r"^the run has not ended after 0\.5\d* simulated seconds",
    4: r"^guest panic: Kernel panic - not syncing: Attempted to kill init!",
    5: r"^the guest powered off or restarted before its agent's EXIT",
    6: r"^the guest sends a file whose name is not allowed",
    7: r"^the guest sends the unknown message 77",
    8: r"^the guest writes EnergyCtrl at offset 0x40",
    9: r"^the idle driver on cpu0 names cpu3",
    10: r"^the guest sends 2097152 bytes of large at once: allowed: up to 1048576",
    11: r"^the guest sends a file whose name is not allowed",
    12: r"^the idle driver enters state 5: allowed: below 3",
}


@pytest.mark.guest
@pytest.mark.parametrize("how", BAD_ENDS)
def test_a_bad_end_names_its_reason(run_guest: Callable[..., GuestRun], how: int) -> None:
    """And shows what the console said."""
    limit_s = 1e6 if how == 4 else 0.5 if how == 3 else 3600.0
    with pytest.raises(EngineFailed, match=BAD_ENDS[how]) as caught:
        run_guest("misbehave", limits={"limit_s": limit_s}, HOW=how)
    assert "hello from the guest" in caught.value.console_tail
    assert "hello from the guest" in str(caught.value)


@pytest.mark.guest
def test_an_exit_code_other_than_0_is_a_failure(run_guest: Callable[..., GuestRun]) -> None:
    """The agent says EXIT 0 or the run has failed."""
    with pytest.raises(EascopeError, match="ended with exit code 3"):
        run_guest("misbehave", HOW=13)


@pytest.mark.guest
def test_a_qemu_that_stands_still_is_killed(
    bare_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """Stopped from outside, it makes no progress: the watchdog ends it."""
    stopped: list[int] = []

    def stop(_: float) -> None:
        if not stopped:
            stopped.append(qemu_child())
            os.kill(stopped[0], signal.SIGSTOP)

    with pytest.raises(EngineFailed, match=r"no simulated progress for 2 s of host time"):
        QemuEngine().run(bare_machine("misbehave", HOW=3), tmp_path / "out", stop, stall_s=2.0)
    assert has_ended(stopped[0])


@pytest.mark.guest
def test_a_cancelled_run_leaves_no_qemu(
    bare_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """What ``on_progress`` raises comes through, and QEMU is gone."""
    pids: list[int] = []

    def cancel(_: float) -> None:
        pids.append(qemu_child())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        QemuEngine().run(bare_machine("misbehave", HOW=3), tmp_path / "out", cancel)
    assert has_ended(pids[0])


@pytest.mark.guest
def test_qemu_ends_when_its_parent_is_killed(
    bare_machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """SIGKILL leaves no time to clean up: the plugin finds no reader and ends QEMU."""
    machine = bare_machine("misbehave", HOW=3)
    program = f"""
import sys
from pathlib import Path
from eascope.configs.platform_file import load_platform
from eascope.configs.activity import load_activity
from eascope.engines.base import Machine
from eascope.engines.qemu.engine import QemuEngine
platform = load_platform("juno-r2")
paths = [Path(name) for name in {[str(machine.image), str(machine.dtb), str(machine.initramfs)]!r}]
machine = Machine(platform, load_activity(platform), *paths, b"", "")
QemuEngine().run(machine, Path({str(tmp_path / "out")!r}), lambda s: print(s, flush=True))
"""
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(elsewhere)},
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        child = qemu_child(parent.pid)
        parent.kill()
    until(lambda: has_ended(child), "the end of QEMU")
    assert list(elsewhere.iterdir()) == [], "all that is left lies in the run's own folder"
    (left,) = (tmp_path / "out").glob(".qemu.tmp-*")
    assert (left / "qemu.log").is_file()


@pytest.mark.guest
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("thread=single", "thread=multi", "accelerator table is not that of QEMU 10.0"),
        ("cluster=1:4-5", "cluster=1:4-6", "is not the machine that the options describe"),
        ("cluster=1:4-5:", "cluster=1:4-5,", "wrong plugin option cluster"),
        ("latency_ns=", "latency=", "wrong plugin option latency"),
        ("dead_ns=", "limit_ns=", "plugin option dead_ns is missing"),
        ("cluster_sleep=1:2", "cluster_sleep=1:0", "wrong plugin option cluster_sleep"),
        ("loop_weight=1:", "loop_weight=1:0,loop_weight=1:", "wrong plugin option loop_weight"),
        ("-0x41ff30", "-0x41fe00", "wrong plugin option loop_code"),
        ("=a9bc7bfd:", "=a9bc7bfd,", "wrong plugin option loop_begins"),
    ],
)
def test_another_qemu_than_the_plugin_knows_does_not_start(
    bare_machine: Callable[..., Machine], tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Another thread mode, another number of CPUs, another version of the options."""
    machine = bare_machine("misbehave", HOW=1)
    # A busy loop with a rate of its own, so that all options are there.
    clusters = tuple(replace(cluster, system_ipc=0.5) for cluster in machine.activity.clusters)
    machine = replace(machine, activity=replace(machine.activity, clusters=clusters))
    files = BootFiles(qemu().command, plugin(), machine.image, machine.dtb, machine.initramfs)
    words = command(QemuEngine().settings(machine), files)
    assert sum(old in word for word in words) == 1
    words = [word.replace(old, new) for word in words]
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(EngineFailed, match=message):
        run_alone(QemuRun(command=words, script=b"", out=out, scratch=tmp_path, stall_s=60.0))


def test_the_fast_engine_has_no_modes() -> None:
    """One line, exit code 2."""
    with pytest.raises(RequestError, match=r"^mode 'timing': engine qemu has no modes; "):
        get_engine("qemu", "timing")


def test_an_unknown_engine_is_offered_the_nearest() -> None:
    """One line, exit code 2."""
    with pytest.raises(RequestError, match=r"unknown engine 'qmu' \(did you mean qemu\?\)"):
        get_engine("qmu")
