# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's speed: processor time, each figure against something named.

Ratios are of the best of a few alternating runs, because a busy host only ever adds time.
``make bench`` prints the figures.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.engines.base import Machine
from eascope.engines.qemu.build import plugin
from eascope.engines.qemu.command import BootFiles, command
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.qemu.provider import qemu
from eascope.host.lisa import lisa_binaries
from eascope.rootfs.elide import FUNCTION_OFFSET
from tests.support import linux

pytestmark = [pytest.mark.guest, pytest.mark.long]

REPEATS = 5


def engine_s(machine: Machine, out: Path) -> float:
    """Processor seconds of a run on the engine."""
    return QemuEngine(shares_boots=False).run(machine, out).cpu_s


def plain_s(machine: Machine, scratch: Path) -> float:
    """Processor seconds of the same QEMU on the same machine, single-threaded, without plugin."""
    initrd = scratch / "plain-initrd"
    initrd.write_bytes(machine.initramfs.read_bytes() + b"\0" * 4)
    files = BootFiles(qemu().command, plugin(), machine.image, machine.dtb, initrd)
    words = command(QemuEngine().settings(machine), files)
    words = words[: words.index("-plugin")]
    with subprocess.Popen(words, cwd=scratch, stdin=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


#: Least share of plain QEMU's speed. rt-app's loop is what a run executes when it does not elide;
#: the others are loops of one block, of ten and of two instructions: the worst that there is, since
#: the plugin's work is for each block.
LEAST_SPEED = {"rt-app": 0.85, "ten": 0.65, "two": 0.5}


@pytest.mark.parametrize("loop", LEAST_SPEED)
def test_speed_with_six_busy_cpus(
    bare_machine: Callable[..., Machine], tmp_path: Path, loop: str
) -> None:
    """Executed, all CPUs busy: aggregate MIPS against the same QEMU without the plugin."""
    if loop == "rt-app":
        program = lisa_binaries() / "arm64" / "rt-app"
        machine = bare_machine("rtapp", RTAPP=program, FUNCTION=FUNCTION_OFFSET, TURNS=800_000)
    else:
        machine = bare_machine("busy", **({"SHORT_BLOCKS": 1} if loop == "two" else {}))
    with_plugin, without = [], []
    for number in range(REPEATS):
        out = tmp_path / f"out{number}"
        ended = QemuEngine(shares_boots=False).run(machine, out)
        with_plugin.append(ended.instructions / 1e6 / ended.cpu_s)
        without.append(ended.instructions / 1e6 / plain_s(machine, tmp_path))
    share = max(with_plugin) / max(without)
    print(
        f"{loop} loop, 6 busy CPUs: {max(with_plugin):.0f} MIPS against {max(without):.0f} "
        f"without the plugin: {share:.0%}"
    )
    assert share > LEAST_SPEED[loop]


def test_boot_and_idle(linux_machine: Callable[..., Machine], tmp_path: Path) -> None:
    """Boot in 2 s of processor time or less, idle below 0.1 s for each simulated second."""
    short = min(
        engine_s(linux_machine(linux.sleep_script(1)), tmp_path / f"boot{number}")
        for number in range(REPEATS)
    )
    idle = 60
    long = min(
        engine_s(linux_machine(linux.sleep_script(idle * 1000)), tmp_path / f"idle{number}")
        for number in range(2)
    )
    per_second = (long - short) / idle
    print(f"boot {short:.2f} s; idle {per_second:.4f} s per simulated second")
    assert short < 2.0
    assert per_second < 0.1


def test_elision_saves_thirty_times(linux_machine: Callable[..., Machine], tmp_path: Path) -> None:
    """Six tasks, 70 % busy: host time beyond boot, executed against elided."""
    activations = 60
    boot = min(
        engine_s(linux_machine(linux.busy_script(1)), tmp_path / f"boot{number}")
        for number in range(REPEATS)
    )
    script = linux.busy_script(activations)
    elided = min(
        engine_s(linux_machine(script), tmp_path / f"elided{number}") for number in range(REPEATS)
    )
    executed = engine_s(linux_machine(script, elided=False), tmp_path / "executed")
    ratio = (executed - boot) / (elided - boot)
    print(
        f"{activations * 0.016:.2f} simulated s: executed {executed - boot:.2f} s, "
        f"elided {elided - boot:.3f} s beyond a boot of {boot:.2f} s: {ratio:.0f} times"
    )
    assert ratio > 30
