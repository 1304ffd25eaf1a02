# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting a kernel on plain QEMU, with a host thread for each CPU and without the plugin's clock.

There CPUs are at the same place in the kernel at the same time, as they never are on the fast
engine. Time is the host's, and nothing can be measured. The DVFS controller is plain memory, whose
registers have the same content for all domains. So each cluster has one OPP, of the same frequency
(`one_opp`). That is enough for EAS.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from eascope.configs.devicetree import device_tree_source
from eascope.configs.layout import Layout
from eascope.configs.platform import Cluster, Platform
from eascope.engines.base import EngineFailed
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.qemu.provider import qemu
from eascope.experiments.runs.cell import BOOT
from eascope.experiments.runs.guest_image import guest_image
from eascope.host.proc import need, run
from eascope.kernels.switches import STATS
from eascope.rootfs.cpio import Archive
from tests.support.stress import IDLE, check_survived, counters, guest_program, stress_line
from tests.support.waiting import HANG_S, until

#: Counters of each kernel that are not zero under stress with all of `busy_switches`.
WORKS = {
    "base": (),
    "blocked-tick": ("tick_idle", "tick_blocked"),
    "feec": ("feec_tie_nr", "push_moved", "tick_check", "misfit_push"),
    "latnice": ("latnice_skip", "pack_miss", "idle_gated"),
    "push": ("push_check", "tick_check"),
    "schedmc": ("lb_active",),
    "sum": ("uclamp_checked", "uclamp_checked_idle", "uclamp_comp"),
    "sum-feec": ("uclamp_checked", "feec_tie_nr", "push_moved", "tick_check"),
    "sum-push": ("uclamp_checked", "push_check", "tick_check"),
}
#: What the agent says last on the console, where it has no other channel.
END = re.compile(r"^(EXIT \d+|FAIL .*)\r?$", re.MULTILINE)
PANIC = "Kernel panic"
#: Of RCU's threads, real-time.
RCU_PRIORITY = 50
#: Of the only OPP of each cluster.
KHZ = 1_000_000
#: What stands between the parts that `SHOW` prints.
MARK = "== part\n"
SHOW = f"""#!/bin/busybox sh
exec >/dev/console
echo '{MARK.strip()}'
busybox cat /tmp/stress.log
echo '{MARK.strip()}'
busybox cat {STATS}
echo '{MARK.strip()}'
"""


@dataclass(frozen=True)
class Threaded:
    """What a guest printed, and its kernel's counters."""

    console: str
    counters: dict[str, int]


def one_opp(platform: Platform) -> Platform:
    """``platform`` with the slowest OPP of each cluster alone, at `KHZ`."""

    def cluster(whole: Cluster) -> Cluster:
        return replace(whole, opps=(replace(whole.opps[0], khz=KHZ),))

    return replace(platform, clusters=tuple(map(cluster, platform.clusters)))


def registers(platform: Platform) -> dict[int, int]:
    """Offset -> content of EnergyCtrl: it is enabled, and each domain has one performance level."""
    uv = platform.clusters[0].opps[0].uv
    return {0x00: 1, 0x04: len(platform.clusters), 0x0C: 1_000, 0x1C: 1, 0x24: KHZ, 0x28: uv}


def device_tree(platform: Platform, layout: Layout) -> bytes:
    """The DTB of ``platform``, whose CPUs have one OPP, on ``layout``."""
    source = device_tree_source(one_opp(platform), layout)
    dtc = need("dtc", "device-tree-compiler")
    return run([dtc, "-I", "dts", "-O", "dtb", "-o", "-", "-"], stdin=source.encode(), label="dtc")


def boot_threaded(
    image: Path,
    platform: Platform,
    lines: Iterable[str],
    out: Path,
    *,
    arguments: str = "",
    programs: Mapping[str, Path] = MappingProxyType({}),
) -> str:
    """Boot ``image``, do ``lines`` (``exit`` is added) and return what the guest printed.

    :raises EngineFailed: when a line fails or the guest dies.
    :raises AssertionError: when it stands still.
    """
    out.mkdir(parents=True)
    console, dtb, initrd = out / "console.log", out / "machine.dtb", out / "initramfs.cpio"
    # Registers are in memory that the kernel does not use. The agent writes to the console.
    end_of_memory = LAYOUT.ram + (platform.memory_mib << 20)
    layout = replace(LAYOUT, transport="eascope,transport-console", energy_ctrl=end_of_memory)
    dtb.write_bytes(device_tree(platform, layout))
    more = Archive()
    for name, path in programs.items():
        more.file(f"bin/{name}", path.read_bytes(), 0o755)
    script = ("\n".join(["eascope-script 1", *lines, "exit"]) + "\n").encode()
    initrd.write_bytes(with_script(guest_image().path.read_bytes() + more.data(), script))
    command = [
        *qemu().command,
        *("-machine", "virt,gic-version=2", "-cpu", "cortex-a57"),
        *("-smp", str(len(platform.cpus)), "-m", str(platform.memory_mib + 1)),
        *_written(registers(platform), end_of_memory),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-monitor", "none", "-serial", f"file:{console}"),
        *("-kernel", str(image.absolute()), "-dtb", str(dtb), "-initrd", str(initrd)),
        *("-append", f"{BOOT} mem={platform.memory_mib}M {arguments}".strip()),
        *("-accel", "tcg,thread=multi"),
    ]
    with (out / "log").open("wb") as log:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        end = _wait(running, console)
    finally:
        running.kill()
        running.wait()
    text = console.read_text(errors="replace")
    if end != "EXIT 0":
        raise EngineFailed(end, text.splitlines()[-20:], [])
    return text


def _written(words: Mapping[int, int], base: int) -> list[str]:
    """QEMU's arguments that write 32-bit ``words`` to memory before the machine starts."""
    devices = [
        f"loader,addr={base + offset:#x},data={word:#x},data-len=4"
        for offset, word in words.items()
    ]
    return [argument for device in devices for argument in ("-device", device)]


def with_script(initramfs: bytes, script: bytes) -> bytes:
    """The guest image followed by a second archive that holds the agent's script.

    The kernel unpacks archives that follow one another, each at a multiple of four bytes.
    """
    archive = Archive()
    archive.file("eascope/script", script, 0o644)
    return initramfs + bytes(-len(initramfs) % 4) + archive.data()


def _wait(running: subprocess.Popen[bytes], console: Path) -> str:
    """Until the agent says how it ended, the kernel panics or QEMU ends: what was the end."""
    ends: list[str] = []

    def ended() -> bool:
        # First: what QEMU wrote before it ended is there when it is read.
        gone = running.poll() is not None
        text = console.read_text(errors="replace") if console.exists() else ""
        if end := END.search(text):
            ends.append(end[1])
        elif PANIC in text:
            ends.append("guest panic")
        elif gone:
            ends.append("QEMU ended")
        return bool(ends)

    until(ended, "the end of the guest")
    return ends[0]


def survive_threaded(
    image: Path,
    platform: Platform,
    out: Path,
    *,
    switches: Iterable[tuple[str, str]] = (),
    ms: int,
    seed: int = 1,
) -> Threaded:
    """The same as `tests.support.stress.survive`, for ``ms`` of the host's time or more."""
    programs = {"stress": guest_program("stress", out.parent / f"{out.name}-program")}
    programs["show"] = out.parent / "show"
    programs["show"].write_text(SHOW)
    script = [
        # A host that is busy lets CPUs wait: that is no fault of RCU's readers.
        "write /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress 1",
        # Counting in who sleeps may take a slow host three ticks: UCLAMP_CHECK would complain.
        "write /proc/sys/kernel/sched_util_clamp_min 512",
        *(f"write {path} {value}" for path, value in switches),
        # EAS is asked while little runs; the stress may leave the system overutilized.
        *IDLE,
        # On a slow host it takes longer until everything was done.
        stress_line(ms, seed, turns=round(HANG_S * 1000 / ms)),
        f"wait stress {HANG_S * 1000:.0f}",
        *("spawn show /bin/show", f"wait show {HANG_S * 1000:.0f}"),
    ]
    # More urgent than the stress, whose real-time tasks would keep RCU's threads from running.
    arguments = f"ignore_loglevel panic_on_warn=1 rcutree.kthread_prio={RCU_PRIORITY}"
    console = boot_threaded(image, platform, script, out, arguments=arguments, programs=programs)
    before, output, counted, after = console.replace("\r", "").split(MARK)
    check_survived(before + after, output)
    return Threaded(console, counters(counted))


def check_busy_threads(kernel: str, counted: Mapping[str, int]) -> None:
    """EAS was asked, and what ``kernel`` adds did its work without an error."""
    expected = {"select_wakeup", "feec_called", *WORKS[kernel.partition("@")[0]]}
    assert {name for name in expected if not counted[name]} == set(), counted
    assert not counted.get("uclamp_broken")
