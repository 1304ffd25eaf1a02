"""What takes minutes: stub builds, every patch by itself, lock debugging, the same bytes twice."""

from __future__ import annotations

import platform as host
import re
from pathlib import Path

import pytest

from configs.host.cache import sha256_file
from configs.host.proc import run
from configs.platform import Platform
from kernels.build import (
    OUT,
    KernelArtefact,
    configure,
    fragment_text,
    lost_options,
    make,
    names,
    options,
)
from kernels.source import Source, apply_series, series_patches
from kernels.variants import SERIES, load_kernels, load_variants, state_expectations
from tests.kernels.guest import boot

pytestmark = pytest.mark.long

#: What the queue touches and can be compiled by itself.
PARTS = ["kernel/sched/", "drivers/cpufreq/", "drivers/cpuidle/"]
STRICT = {"KCFLAGS": "-Werror", "W": "1"}

#: Options that a build must do without, with what else that changes (empty: left to Kconfig).
WITHOUT = {
    "UCLAMP_TASK": {"UCLAMP_TASK_GROUP": "", "UCLAMP_BUCKETS_COUNT": ""},
    "ENERGY_MODEL": {},
    "FAIR_GROUP_SCHED": {"CFS_BANDWIDTH": "", "UCLAMP_TASK_GROUP": ""},
    "SCHED_LAB": {"SCHED_LAB_TRACE": ""},
    "SCHED_LAB_TRACE": {},
    "CPU_FREQ_GOV_SCHEDUTIL": {
        "CPU_FREQ_DEFAULT_GOV_SCHEDUTIL": "",
        "CPU_FREQ_DEFAULT_GOV_PERFORMANCE": "y",
        "UCLAMP_TASK": "",
        "UCLAMP_TASK_GROUP": "",
        "UCLAMP_BUCKETS_COUNT": "",
    },
    "JUMP_LABEL": {},
}


def fragment(**changed: str) -> str:
    """The base fragment with options set (``y``), off (``n``) or left out (empty)."""
    kept = []
    for line in fragment_text(load_kernels()["base"]).splitlines():
        if not set(options(line)) & set(changed):
            kept.append(line)
    for key, value in changed.items():
        if value == "n":
            kept.append(f"# CONFIG_{key} is not set")
        elif value:
            kept.append(f"CONFIG_{key}={value}")
    return "\n".join(kept) + "\n"


@pytest.fixture(scope="module")
def tree(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked tree with the base queue applied, below a folder of its own."""
    folder = tmp_path_factory.mktemp("kernel") / "src"
    source.unpack(folder)
    apply_series(folder, SERIES / "base", source)
    return folder


@pytest.mark.parametrize("option", WITHOUT)
def test_compiles_without(tree: Path, option: str) -> None:
    out, log = tree.parent / f"out-{option}", tree.parent / f"{option}.log"
    configure(tree, out, fragment(**{option: "n"}, **WITHOUT[option]), log)
    make(tree, out, ["prepare", *PARTS], log, **STRICT)
    assert (out / "kernel/sched/fair.o").is_file()


@pytest.mark.skipif(host.machine() != "x86_64", reason="arm64 is always SMP; x86 is not")
def test_scheduler_compiles_for_one_cpu(tree: Path) -> None:
    out, log = tree.parent / "out-up", tree.parent / "up.log"
    out.mkdir()
    wanted = "".join(
        f"CONFIG_{key}=y\n"
        for key in ("EXPERT", "DEBUG_KERNEL", "DEBUG_FS", "SCHED_DEBUG", "SCHED_LAB")
    )
    (out / "up.config").write_text(wanted + "# CONFIG_SMP is not set\n")
    native = {"ARCH": "x86", "CROSS_COMPILE": "", "CC": "gcc"}
    make(tree, out, ["allnoconfig"], log, KCONFIG_ALLCONFIG=str(out / "up.config"), **native)
    assert lost_options(wanted, (out / ".config").read_text()) == []
    # Without W=1: mainline has an unused constant there.
    make(tree, out, ["prepare", "kernel/sched/"], log, **native, KCFLAGS="-Werror")
    assert (out / "kernel/sched/lab.o").is_file()


def test_every_patch_compiles_by_itself(source: Source, tmp_path: Path) -> None:
    tree, out, log = tmp_path / "src", tmp_path / "out", tmp_path / "log"
    source.unpack(tree)
    for patch in series_patches(SERIES / "base"):
        run(["patch", "-p1", "--fuzz=0", "--batch", "-d", tree, "-i", patch.resolve()])
        there = {
            "SCHED_LAB": (tree / "kernel/sched/lab.c").is_file(),
            "SCHED_LAB_TRACE": (tree / "kernel/sched/lab_trace.c").is_file(),
            "GEM5_CPUFREQ": (tree / "drivers/cpufreq/gem5-cpufreq.c").is_file(),
            "GEM5_CPUIDLE": (tree / "drivers/cpuidle/cpuidle-gem5.c").is_file(),
        }
        known = {key: "y" if yes else "" for key, yes in there.items()}
        configure(tree, out, fragment(**known), log)
        make(tree, out, ["prepare", *PARTS], log, **STRICT)


def test_lock_debugging_finds_nothing(tree: Path, juno: Platform) -> None:
    out, log = tree.parent / "out-debug", tree.parent / "debug.log"
    debug = ("PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_LIST", "DEBUG_PREEMPT")
    configure(tree, out, fragment(KALLSYMS_ALL="y", **dict.fromkeys(debug, "y")), log)
    make(tree, out, ["Image"], log, **names(load_kernels()["base"]))
    tracing = "/sys/kernel/tracing"
    script = [
        *(" ".join(line) for line in state_expectations(load_variants()["mainline"], juno)),
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
    image, folder = out / "arch/arm64/boot/Image", tree.parent / "boot"
    # "quiet" would hide warnings.
    done = boot(image, juno, script, folder, arguments="ignore_loglevel", limit_s=300)
    assert "Linux version" in done.console
    found = re.search(r"WARNING|BUG|INFO: |possible|Call trace", done.console)
    assert not found, done.console[-4000:]
    assert re.search(r"debug_locks:\s+1", done.text("lockdep_stats"))


def test_the_same_inputs_give_the_same_bytes(
    tree: Path, base_kernel: KernelArtefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built again in another folder, without ccache."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    spec = load_kernels()["base"]
    out, log = tree / OUT, tree.parent / "again.log"
    configure(tree, out, fragment_text(spec), log)
    make(tree, out, ["Image", "vmlinux"], log, **names(spec))
    assert sha256_file(out / ".config") == sha256_file(base_kernel.config)
    assert sha256_file(out / "arch/arm64/boot/Image") == sha256_file(base_kernel.image)
