# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kernel with everything that it can check in itself: traced, stressed, without a splat."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.platform import Platform
from engines.base import EngineFailed
from kernels.build import configure, fragment_text, make, names
from kernels.naming import kernel_named, kernel_names, variant_named
from kernels.patching import apply_series
from kernels.releases import DEFAULT
from kernels.state import state_expectations
from kernels.variants import SERIES, Variant, load_kernels, load_variants
from tests.support.kernel_guest import boot
from tests.support.mutants import Edit
from tests.support.releases import source_for
from tests.support.stress import SPLAT, counters, survive

pytestmark = [pytest.mark.long, pytest.mark.guest]

DEBUG = (
    *("PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_LIST", "DEBUG_PREEMPT"),
    *("SCHED_STACK_END_CHECK", "BUG_ON_DATA_CORRUPTION", "KALLSYMS_ALL"),
)
#: The variant of each kernel that has most switched on.
BUSIEST = {"base": "mainline", "feec": "feec-c", "push": "push-v8", "sum": "uclamp-sum-fixed"}
FEATURES = "/sys/kernel/debug/sched/features"
#: What else is switched on.
BESIDES = {"sum": [(FEATURES, "UCLAMP_CHECK")]}
#: Simulated, for each seed: another one is another order of everything.
STRESS_MS = 1_000
SEEDS = range(1, 5)


@dataclass(frozen=True)
class Debugged:
    """The image of ``kernel`` with `DEBUG`, and what to switch on in it.

    :ivar rebuild: builds the image again after a change below ``tree``.
    """

    kernel: str
    image: Path
    tree: Path
    rebuild: Callable[[], None]

    @property
    def variant(self) -> Variant:
        """Its busiest one."""
        name, at, release = self.kernel.partition("@")
        return variant_named(f"{BUSIEST[name]}{at}{release}")[1]

    @property
    def switches(self) -> list[tuple[str, str]]:
        """Of its busiest variant, and besides."""
        return [*self.variant.switches, *BESIDES.get(self.kernel.partition("@")[0], [])]


@pytest.fixture(scope="module", params=kernel_names())
def debugged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Debugged:
    """Each kernel's debug build, one after the other."""
    folder = tmp_path_factory.mktemp(request.param)
    tree, out, log = folder / "src", folder / "out", folder / "log"
    spec, source = kernel_named(request.param), source_for(request.param)
    release = spec.release or DEFAULT
    source.unpack(tree)
    for series in spec.series:
        apply_series(tree, SERIES / series, source)
    fragment = fragment_text(spec, release)
    fragment += "".join(f"CONFIG_{option}=y\n" for option in DEBUG)
    configure(tree, out, fragment, log)

    def build() -> None:
        make(tree, out, ["Image"], log, **names(spec, release))

    build()
    return Debugged(spec.name, out / "arch/arm64/boot/Image", tree, build)


def test_no_kernel_is_left_out() -> None:
    assert set(BUSIEST) == set(load_kernels())
    for kernel, variant in BUSIEST.items():
        assert load_variants()[variant].kernel == kernel


def test_everything_that_can_be_switched_may_be(
    debugged: Debugged, juno: Platform, tmp_path: Path
) -> None:
    """All events, EAS off and on, a CPU gone and back, another governor; no lock is misused."""
    tracing, variant = "/sys/kernel/tracing", debugged.variant
    script = [
        *(f"write {path} {value}" for path, value in debugged.switches),
        *(" ".join(line) for line in state_expectations(variant, juno)),
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
        switches=debugged.switches,
        ms=STRESS_MS,
        seed=seed,
        deadlines="@" not in debugged.kernel,
        limit_s=900,
    )
    assert re.search(r"Lock dependency validator", done.console)
    assert not counters(done.text("stats.txt")).get("uclamp_broken")


@pytest.mark.parametrize("debugged", ["sum"], indirect=True)
def test_what_a_throttled_group_leaves_is_inherited_under_stress(
    debugged: Debugged, juno: Platform, tmp_path: Path
) -> None:
    """Two locks of a class nest there: without the note that they may, lockdep says so."""
    edit = Edit(
        "kernel/sched/uclamp.c",
        "\traw_spin_lock_nested(&child->removed.lock, SINGLE_DEPTH_NESTING);\n",
        "\traw_spin_lock(&child->removed.lock);\n",
    )
    file = debugged.tree / edit.file
    whole = file.read_text()
    try:
        file.write_text(edit.edited(whole))
        debugged.rebuild()
        with pytest.raises((AssertionError, EngineFailed)):
            survive(debugged.image, juno, tmp_path / "run", switches=debugged.switches, ms=400)
    finally:
        file.write_text(whole)
        debugged.rebuild()
    console = (tmp_path / "run/console.log").read_text(errors="replace")
    complaint = console.partition("possible recursive locking detected")[2][:2000]
    assert "__uclamp_sum_inherit" in complaint, console[-4000:]
