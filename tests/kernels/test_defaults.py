# SPDX-License-Identifier: GPL-2.0-or-later
"""Switches and arguments of one's own that only say what holds without them."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.defaults import already_so, held_at_boot
from eascope.kernels.naming import kernel_named, releases_of, variant_named
from eascope.kernels.provenance import KERNEL_SRC
from eascope.kernels.releases import DEFAULT
from eascope.kernels.state import on_platform
from eascope.kernels.switches import FEATURES, IDLE_GOVERNOR, SCHED_DEBUG, Switches
from eascope.kernels.variants import Kernel, load_catalogue

CPU = "/sys/devices/system/cpu"
CLAMP, SYSCTL = "/proc/sys/kernel/sched_util_clamp_min", "sysctl.kernel.sched_util_clamp_min"
GOVERNOR = f"{CPU}/cpufreq/policy{{}}/scaling_governor"


def named(
    platform: Platform,
    boot: str,
    *switches: tuple[str, str],
    base: str = "mainline",
    kernel: Kernel | None = None,
) -> list[str]:
    """What is named of a variant that adds these."""
    below, variant = variant_named(base)
    variant = on_platform(variant.with_more(boot, switches), platform)
    return [*already_so(variant, kernel or below, platform)]


@pytest.mark.parametrize(
    ("boot", "switches", "idle"),
    [
        ("nohz=off cpuidle.off=0 skew_tick=0", (), ["cpuidle.off=0", "skew_tick=0"]),
        ("cpufreq.default_governor=schedutil", (), ["cpufreq.default_governor=schedutil"]),
        (f"{SYSCTL}=1024", (), [f"{SYSCTL}=1024"]),
        ("", ((CLAMP, "1024"),), [f"{CLAMP}=1024"]),
        ("", ((IDLE_GOVERNOR, "menu"),), [f"{IDLE_GOVERNOR}=menu"]),
        ("", ((FEATURES, "NO_HRTICK"), (FEATURES, "NO_WA_IDLE")), [f"{FEATURES}=NO_HRTICK"]),
        ("", ((GOVERNOR.format("*"), "schedutil"),), [f"{GOVERNOR.format('*')}=schedutil"]),
        (
            "",
            ((f"{CPU}/cpu*/cpuidle/state*/disable", "0"),),
            [f"{CPU}/cpu*/cpuidle/state*/disable=0"],
        ),
        # Each of these changes something, or what is before it does.
        ("cpuidle.governor=teo", ((IDLE_GOVERNOR, "menu"),), []),
        ("cpufreq.default_governor=ondemand", ((GOVERNOR.format("4"), "schedutil"),), []),
        (f"{SYSCTL}=9", ((CLAMP, "1024"),), []),
        ("", ((CLAMP, "512"), (FEATURES, "NO_UTIL_BOOST")), []),
        ("", ((f"{CPU}/cpu2/cpuidle/state1/disable", "1"),), []),
        ("", ((f"{CPU}/cpu0/power/pm_qos_resume_latency_us", "n/a"),), []),
    ],
)  # fmt: skip
def test_what_says_what_holds_without_it_is_named(
    juno: Platform, boot: str, switches: Switches, idle: list[str]
) -> None:
    assert named(juno, boot, *switches) == idle


def test_only_what_a_person_adds_is_named(juno: Platform) -> None:
    """Variants of ours state what a kernel of several switches has, whatever its defaults."""
    for variant in load_catalogue().shipped():
        for release in releases_of(variant):
            name = variant.name if release == DEFAULT else f"{variant.name}@{release}"
            assert named(juno, "", base=name) == []
    push = (f"{SCHED_DEBUG}/eascope/eas_push", "0")
    assert named(juno, "", push, base="feec-b") == ["=".join(push)]
    assert named(juno, "", push, base="feec-c") == [], "it takes a push away"


def test_a_series_and_a_release_have_their_own() -> None:
    held = {name: held_at_boot(kernel_named(name)) for name in ("base", "sum", "base@7.3")}
    spare = (FEATURES, "FEEC_SPARE0")
    assert [held[name][spare] for name in held] == ["FEEC_SPARE0", "NO_FEEC_SPARE0", "FEEC_SPARE0"]
    clamps = (FEATURES, "UCLAMP_MAX_FILTER")
    assert [clamps in held[name] for name in held] == [True, False, False]
    assert (FEATURES, "WA_IDLE") not in held["base@7.3"], "known of 6.12 alone"


def test_what_a_persons_code_decides_is_not_known(
    juno: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = tmp_path / "mine"
    series.mkdir()
    (series / "series").write_text("0001-mine.patch\n")
    (series / "0001-mine.patch").write_text(
        "--- a/kernel/sched/features.h\n+++ b/kernel/sched/features.h\n@@ -1 +1 @@\n"
        "-SCHED_FEAT(UTIL_BOOST, true)\n+SCHED_FEAT(UTIL_BOOST, false)\n"
    )
    kernel = kernel_named("base").with_series(series)
    boost, parity = (FEATURES, "UTIL_BOOST"), (FEATURES, "RUN_TO_PARITY")
    assert named(juno, "", boost, parity, kernel=kernel) == [f"{FEATURES}=RUN_TO_PARITY"]
    # What decides a governor need not name it.
    governor = "cpufreq.default_governor=schedutil"
    assert named(juno, f"skew_tick=0 {governor}", kernel=kernel) == ["skew_tick=0"]
    with (series / "0001-mine.patch").open("a") as patch:
        patch.write("+static int skew_tick = 1;\n")
    assert named(juno, "skew_tick=0", kernel=kernel) == []
    assert named(juno, governor) == [governor]
    monkeypatch.setenv(KERNEL_SRC, str(tmp_path))
    assert named(juno, "", parity) == []
