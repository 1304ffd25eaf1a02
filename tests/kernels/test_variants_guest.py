# SPDX-License-Identifier: GPL-2.0-or-later
"""Every variant in a guest: its kernel has each switch, takes it, and proves what is declared."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.tables.split import AWAKE, stretches
from eascope.analysis.trace import ENDS, as_counted, read_trace
from eascope.analysis.window import read_window
from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.engines.records import MARKS, TRACE
from eascope.kernels.naming import kernel_names, releases_of, variant_named
from eascope.kernels.releases import DEFAULT
from eascope.kernels.state import (
    BOOT_PROOF,
    boot_proof,
    eas_possible,
    on_platform,
    state_expectations,
)
from eascope.kernels.switches import ENERGY_AWARE, FEATURES, check_switches
from eascope.kernels.variants import Variant, boot_args, load_catalogue
from tests.support.boot_switches import at_boot, refusals
from tests.support.kernel_guest import boot
from tests.support.releases import booted, kernel_of

pytestmark = pytest.mark.guest


def together(variant: Variant) -> tuple[str, str, str]:
    """Variants of which one boot can become each, one after the other."""
    return variant.kernel, variant.dtb, variant.boot


SHIPPED = [
    variant_named(variant.name if release == DEFAULT else f"{variant.name}@{release}")[1]
    for variant in load_catalogue().shipped()
    for release in releases_of(variant)
]
BOOTS = [list(group) for _, group in groupby(sorted(SHIPPED, key=together), key=together)]


def becoming(variant: Variant, platform: Platform) -> list[str]:
    """Lines that make a guest ``variant``, whatever it was, and that prove it."""
    variant = on_platform(variant, platform)
    # A governor that a variant before it switched to has no EAS to switch.
    policies = [f"policy{cluster.cpus[0]}" for cluster in platform.clusters]
    schedutil = [
        f"write /sys/devices/system/cpu/cpufreq/{policy}/scaling_governor schedutil"
        for policy in policies
        if "default_governor" not in variant.boot
    ]
    eas = [f"write {ENERGY_AWARE} 1"] if eas_possible(variant, platform) else []
    switches = [f"write {path} {value}" for path, value in variant.switches]
    proof = [" ".join(line) for line in state_expectations(variant, platform)]
    return [*schedutil, *eas, *switches, *proof]


@pytest.mark.parametrize("variants", [booted(group[0].kernel, group) for group in BOOTS])
def test_every_variant_is_what_it_declares(
    variants: list[Variant], juno: Platform, tmp_path: Path
) -> None:
    (flavour,) = {variant.dtb for variant in variants}
    lines = boot_proof(variants[0])
    lines += [line for variant in variants for line in becoming(variant, juno)]
    image = kernel_of(variants[0].kernel).image
    arguments = boot_args(variants[0])
    boot(image, juno, lines, tmp_path / "out", arguments=arguments, flavour=flavour)


#: Each governor with tunables, as a person's variant has them.
GOVERNED = {
    "ondemand": (("ondemand/up_threshold", "85"), ("ondemand/sampling_down_factor", "150")),
    "conservative": (("conservative/freq_step", "10"), ("conservative/down_threshold", "40")),
    "userspace": (("scaling_setspeed", "{top}"),),
    "powersave": (),
    "performance": (),
    "schedutil": (("schedutil/rate_limit_us", "500"),),
}


@pytest.mark.parametrize("base", ["mainline", "cas"])
def test_any_governor_is_a_switch_of_any_variant(base: str, juno: Platform, tmp_path: Path) -> None:
    """One boot becomes each, and back; EAS follows."""
    lines: list[str] = []
    cpufreq = "/sys/devices/system/cpu/cpufreq"
    booted_with = [
        f"write {cpufreq}/policy{cluster.cpus[0]}/scaling_governor schedutil"
        for cluster in juno.clusters
    ]
    for governor, tunables in GOVERNED.items():
        switches = [
            (f"/sys/devices/system/cpu/cpufreq/policy{cluster.cpus[0]}/{file}", value.format(
                top=cluster.opps[-1].khz))
            for cluster in juno.clusters
            for file, value in (("scaling_governor", governor), *tunables)
        ]  # fmt: skip
        variant = load_catalogue().variants[base].with_more("", tuple(switches))
        check_switches(governor, "", on_platform(variant, juno).switches, juno)
        lines += [*booted_with, *becoming(variant, juno)]
    boot(kernel_of("base").image, juno, lines, tmp_path / "out")


def test_a_governor_from_boot_has_its_tunables(juno: Platform, tmp_path: Path) -> None:
    """With the switch of EAS that cas has, and that this kernel would refuse."""
    tunables = [
        (f"/sys/devices/system/cpu/cpufreq/policy{n}/ondemand/up_threshold", "85") for n in (0, 4)
    ]
    arguments = "cpufreq.default_governor=ondemand"
    variant = load_catalogue().variants["cas"].with_more(arguments, tuple(tunables))
    lines = [*boot_proof(variant), *becoming(variant, juno)]
    boot(kernel_of("base").image, juno, lines, tmp_path / "out", arguments=arguments)


def test_no_cpuidle_driver_is_a_state_like_any_other(juno: Platform, tmp_path: Path) -> None:
    """Proven, traced as state 1, and counted as WFI: no time is in a deeper state."""
    arguments = "cpuidle.off=1"
    variant = load_catalogue().variants["mainline"].with_more(arguments, ())
    lines = [
        *boot_proof(variant),
        *becoming(variant, juno),
        "trace-setup 1024 power:cpu_idle",
        "write /sys/kernel/tracing/tracing_on 1",
        *("sleep-ms 100", "start", "sleep-ms 200", "stop", "trace-collect"),
    ]
    done = boot(kernel_of("base").image, juno, lines, tmp_path / "out", arguments=arguments)
    trace = read_trace(done.out / TRACE)
    assert {*trace.table("cpu_idle")["state"]} == {1, ENDS}
    window = read_window(done.out / MARKS)
    rows = pl.read_parquet(done.out / "counters.parquet").filter(
        (pl.col("cpu") >= 0) & (pl.col("t0_ns") >= window.t0_ns) & (pl.col("t1_ns") <= window.t1_ns)
    )
    assert rows["idle1_ns"].sum() == rows["idle2_ns"].sum() == 0
    told = stretches(as_counted(trace, juno, arguments), juno, window)
    for cpu in juno.cpus:
        spent = rows.filter(pl.col("cpu") == cpu)["idle0_ns"].sum()
        assert {each.state for each in told[cpu]} <= {AWAKE, 0}
        wanted = sum(each.t1_ns - each.t0_ns for each in told[cpu] if each.state == 0)
        assert spent == pytest.approx(wanted, rel=0.01), cpu


#: Misspelt, compiled out, refused as values, or of a part that is not there.
NOT_TAKEN = (
    "cpuidle.govenor=teo nohz_full=5 threadirq nohz=maybe kvm.mode=none",
    "cpuidle.governor=tea cpufreq.default_governor=fast",
)


def with_boot(arguments: str, platform: Platform, out: Path) -> None:
    """Boot with ``arguments`` and prove them as a run does."""
    proof = boot_proof(replace(load_catalogue().variants["mainline"], boot=arguments))
    boot(kernel_of("base").image, platform, proof, out, arguments=arguments)


def test_what_the_kernel_takes_of_its_command_line_is_proven(
    juno: Platform, tmp_path: Path
) -> None:
    taken = (
        "cpufreq.default_governor=powersave cpuidle.governor=teo threadirqs skew_tick=1 nohz=off "
        "printk.time=1 cpuidle.off=0 sysctl.kernel.sched_schedstats=1 schedstats=enable"
    )
    with_boot(taken, juno, tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *zip(NOT_TAKEN, NOT_TAKEN, strict=True),
        (
            "printk.time=maybe sysctl.kernel.no=1",
            "printk.time=maybe sysctl.kernel.no=1 "
            "Booting kernel: `maybe' invalid for parameter `printk.time' "
            "Failed to set sysctl parameter 'kernel.no=1': parameter not found",
        ),
        ("loglevel=loud", "Malformed early option 'loglevel'"),
        (
            "sched_thermal_decay_shift=3 relax_domain_level=foo",
            "Ignoring the deprecated sched_thermal_decay_shift= option "
            "Unable to set relax_domain_level",
        ),
    ],
)
def test_what_it_does_not_take_is_named(
    arguments: str, message: str, juno: Platform, tmp_path: Path
) -> None:
    with pytest.raises(EngineFailed) as failed:
        with_boot(f"{arguments} skew_tick=1", juno, tmp_path / "out")
    assert failed.value.reason.endswith(
        f"{BOOT_PROOF} failed: exit status 1, last output: {message}"
    )


@pytest.mark.parametrize("name", [booted(name, name) for name in kernel_names()])
def test_a_kernel_boots_with_the_switches_that_variants_leave_alone(
    name: str, juno: Platform, tmp_path: Path
) -> None:
    """Each then takes its greatest value, and keeps it where a wrong one is written."""
    lines = [*at_boot(name), *refusals(name)]
    assert boot(kernel_of(name).image, juno, lines, tmp_path / "out").text("taken") == ""


def test_a_feature_is_compared_as_a_word(juno: Platform, tmp_path: Path) -> None:
    """The file has NO_FEEC_SPARE0, in which FEEC_SPARE0 is contained."""
    lines = [f"write {FEATURES} NO_FEEC_SPARE0", f"word {FEATURES} FEEC_SPARE0"]
    with pytest.raises(EngineFailed, match="no 'FEEC_SPARE0' in it"):
        boot(kernel_of("base").image, juno, lines, tmp_path / "out")
