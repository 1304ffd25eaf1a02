# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``blocked-tick`` claims, asked of a kernel in a guest, and what must be found."""

import re
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import FEATURES, SCHED_DEBUG, STATS
from tests.support.kernel_guest import boot
from tests.support.stress import counters, guest_program

TRACING = "/sys/kernel/tracing"
CPU = 4
#: 25 ticks, and more than three half-lives of utilization.
IDLE_MS = 100


def check_decays(kernel: KernelArtefact, platform: Platform, folder: Path, *, on: bool) -> None:
    """A CPU falls idle and keeps its tick; its load balance is not due."""
    domains = [
        f"write {SCHED_DEBUG}/domains/cpu{cpu}/domain{level}/{which}_interval 1000"
        for cpu in platform.cpus
        for level in (0, 1)
        for which in ("max", "min")
    ]
    script = [
        f"write {SCHED_DEBUG}/verbose Y",
        *domains,
        f"write {FEATURES} {'BLOCKED_TICK' if on else 'NO_BLOCKED_TICK'}",
        "trace-setup 4096 lisa:lisa__sched_pelt_cfs",
        # It runs for longer than any interval of load balance before, and then sleeps.
        f"spawn hog /bin/hog -c {CPU} -r 700000 -p 2000000",
        "sleep-ms 720",
        f"write {STATS} 0",
        f"write {TRACING}/tracing_on 1",
        f"sleep-ms {IDLE_MS}",
        f"write {TRACING}/tracing_on 0",
        f"collect {STATS} stats.txt",
        f"collect {TRACING}/trace trace.txt",
        "kill hog",
    ]
    done = boot(
        kernel.image,
        platform,
        script,
        folder / "out",
        arguments="loglevel=5 panic_on_warn=1 nohz=off",
        programs={"hog": guest_program("hog", folder)},
    )
    counted = counters(done.text("stats.txt"))
    assert counted["tick_idle"] > 0.8 * 25 * len(platform.cpus)
    own = re.findall(
        rf"lisa__sched_pelt_cfs: cpu={CPU} path=/ .* util=(\d+)", done.text("trace.txt")
    )
    utils = [int(util) for util in own]
    if on:
        assert counted["tick_blocked"] > 0.8 * counted["tick_idle"]
        assert 20 <= len(utils) <= 32
        assert utils == sorted(utils, reverse=True)
        assert utils[0] > 6 * utils[-1] > 0
    else:
        assert counted["tick_blocked"] == 0
        assert len(utils) < 5


def check_utilized(kernel: KernelArtefact, _: Platform, folder: Path, *, utilized: bool) -> None:
    """A CPU with an eighth of its time used, which is idle for 14 ms in a row.

    On pixel6, whose CPUs have two idle states.
    """
    platform = load_platform("pixel6")
    usage = f"/sys/devices/system/cpu/cpu{CPU}/cpuidle/state1/usage"
    script = [
        f"spawn hog /bin/hog -c {CPU} -r 2000 -p 16000",
        "sleep-ms 500",
        f"collect {usage} before",
        "sleep-ms 480",
        f"collect {usage} after",
        "kill hog",
    ]
    arguments = f"loglevel=5 panic_on_warn=1 cpuidle.governor=teo teo.utilized={int(utilized)}"
    programs = {"hog": guest_program("hog", folder)}
    done = boot(
        kernel.image, platform, script, folder / "out", arguments=arguments, programs=programs
    )
    deep = int(done.text("after")) - int(done.text("before"))
    assert deep <= 3 if utilized else deep >= 25
