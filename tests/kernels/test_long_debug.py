# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kernel with everything that it can check in itself: traced, stressed, without a splat."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.kernels.naming import kernel_names
from eascope.kernels.state import state_expectations
from tests.support.kernel_guest import boot
from tests.support.mutants import Edit, edited_image
from tests.support.releases import source_for
from tests.support.stress import SPLAT, busiest, busy_switches, counters, survive
from tests.support.threaded_guest import survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

DEBUG = (
    *("PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_LIST", "DEBUG_PREEMPT"),
    *("SCHED_STACK_END_CHECK", "BUG_ON_DATA_CORRUPTION", "KALLSYMS_ALL"),
)
#: Simulated, for each seed: another one is another order of everything.
STRESS_MS = 1_000
SEEDS = range(1, 5)
#: Of the host's time.
THREADED_MS = 3_000
#: Mainline's `sched_cfs_period_timer()` prints when the host stops a CPU for three periods. It
#: holds a lock that a wake-up needs, and printing wakes up a task: lockdep would say so.
PRINTS_LATER = [
    Edit(
        "kernel/sched/fair.c",
        f'pr_warn_ratelimited(\n\t"cfs_period_timer[cpu%d]: period too short, {end}',
        f'printk_deferred(KERN_WARNING\n\t"cfs_period_timer[cpu%d]: period too short, {end}',
    )
    for end in ("scaling up", "but cannot")
]


@dataclass(frozen=True)
class Debugged:
    """The image of ``kernel`` with `DEBUG`."""

    kernel: str
    image: Path


@pytest.fixture(scope="module", params=kernel_names())
def debugged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Debugged:
    """Each kernel's debug build, one after the other."""
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    return Debugged(name, edited_image(name, PRINTS_LATER, source_for(name), folder, DEBUG))


def test_everything_that_can_be_switched_may_be(
    debugged: Debugged, juno: Platform, tmp_path: Path
) -> None:
    """All events, EAS off and on, a CPU gone and back, another governor; no lock is misused."""
    tracing, variant = "/sys/kernel/tracing", busiest(debugged.kernel)
    script = [
        *(f"write {path} {value}" for path, value in variant.switches),
        *(" ".join(line) for line in state_expectations(variant, juno)),
        *(f"write {path} {value}" for path, value in busy_switches(debugged.kernel)),
        "trace-setup 1024 sched:sched_switch power:cpu_idle",
        f"write {tracing}/events/lisa/enable 1",
        f"write {tracing}/events/eascope/enable 1",
        f"write {tracing}/tracing_on 1",
        "sleep-ms 200",
        "write /proc/sys/kernel/sched_energy_aware 0",
        "write /sys/kernel/debug/sched/eascope/stats 0",
        "write /sys/devices/system/cpu/cpu5/online 0",
        "sleep-ms 50",
        "write /sys/devices/system/cpu/cpu5/online 1",
        "write /proc/sys/kernel/sched_energy_aware 1",
        "write /sys/devices/system/cpu/cpufreq/policy0/scaling_governor performance",
        "write /sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil",
        "sleep-ms 200",
        f"write {tracing}/events/enable 0",
        "collect /proc/lockdep_stats lockdep_stats",
    ]
    # "quiet" would hide warnings.
    done = boot(
        debugged.image, juno, script, tmp_path / "run", arguments="ignore_loglevel", limit_s=300
    )
    assert "Linux version" in done.console
    assert not SPLAT.search(done.console), done.console[-4000:]
    assert re.search(r"debug_locks:\s+1", done.text("lockdep_stats"))


@pytest.mark.parametrize("seed", SEEDS)
def test_survives_stress(debugged: Debugged, juno: Platform, tmp_path: Path, seed: int) -> None:
    done = survive(
        debugged.image,
        juno,
        tmp_path / "run",
        switches=busy_switches(debugged.kernel),
        ms=STRESS_MS,
        seed=seed,
        limit_s=900,
    )
    assert re.search(r"Lock dependency validator", done.console)
    assert not counters(done.text("stats.txt")).get("uclamp_broken")


def test_survives_stress_on_host_threads(
    debugged: Debugged, juno: Platform, tmp_path: Path
) -> None:
    """CPUs are at the same place in the kernel at the same time, and lockdep looks on."""
    done = survive_threaded(
        debugged.image,
        juno,
        tmp_path / "run",
        switches=busy_switches(debugged.kernel),
        ms=THREADED_MS,
    )
    assert re.search(r"Lock dependency validator", done.console)
    assert done.counters["feec_called"]
    assert not done.counters.get("uclamp_broken")


def test_what_a_throttled_group_leaves_is_inherited_under_stress(
    juno: Platform, tmp_path: Path
) -> None:
    """Two locks of a class nest there: without the note that they may, lockdep says so."""
    edit = Edit(
        "kernel/sched/uclamp.c",
        "\traw_spin_lock_nested(&child->removed.lock, SINGLE_DEPTH_NESTING);\n",
        "\traw_spin_lock(&child->removed.lock);\n",
    )
    edits = [*PRINTS_LATER, edit]
    image = edited_image("sum", edits, source_for("sum"), tmp_path / "build", DEBUG)
    with pytest.raises((AssertionError, EngineFailed)):
        survive(image, juno, tmp_path / "run", switches=busy_switches("sum"), ms=400)
    console = (tmp_path / "run/console.log").read_text(errors="replace")
    complaint = console.partition("possible recursive locking detected")[2][:2000]
    assert "__uclamp_sum_inherit" in complaint, console[-4000:]
