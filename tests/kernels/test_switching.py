# SPDX-License-Identifier: GPL-2.0-or-later
"""Who requests frequencies in a guest: the scheduler itself, or schedutil's thread that waits."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.base import EngineFailed
from eascope.kernels.build import KernelArtefact
from eascope.kernels.naming import variant_named
from eascope.kernels.state import on_platform, state_expectations
from eascope.kernels.variants import load_variants
from tests.support.kernel_guest import Booted, boot
from tests.support.releases import kernel_of, of_releases

pytestmark = pytest.mark.guest

TRACING = "/sys/kernel/tracing"
EVENTS = "eascope:gem5_dvfs power:cpu_frequency sched:sched_switch"
LATENCY_US = 1450
BURST = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
#: Of a thread's wake-up, and of leaving the deepest idle state of a Juno.
WAKE_UP_US = 1500


def waiting(juno: Platform) -> Platform:
    """The Juno with times as long as a board's, and no fast switch."""
    return replace(juno, fast_switch=False, transition_latency_us=LATENCY_US, rate_limit_us=4000)


def proofs(platform: Platform, variant: str = "mainline") -> list[str]:
    """The lines that prove the state of ``variant``."""
    return [" ".join(line) for line in state_expectations(variant_named(variant)[1], platform)]


@pytest.fixture(scope="module", params=of_releases("base"))
def booted(
    request: pytest.FixtureRequest, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Booted:
    """A burst of work and idle time on the machine that waits; the state is proven before it."""
    script = [
        *proofs(waiting(juno), request.param.replace("base", "mainline")),
        f"trace-setup 8192 {EVENTS}",
        f"file /tmp/burst.sh {len(BURST)}",
        BURST,
        f"write {TRACING}/tracing_on 1",
        "spawn burst /bin/busybox sh /tmp/burst.sh",
        "wait burst 20000",
        "sleep-ms 100",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    image = kernel_of(request.param).image
    out = tmp_path_factory.mktemp("guest") / "out"
    return boot(image, waiting(juno), script, out, arguments="loglevel=5")


def test_only_schedutils_deadline_threads_request(booted: Booted, juno: Platform) -> None:
    trace = booted.text("trace.txt")
    requesters = re.findall(r"^ *(\S+)-\d+ +\[\d+\] .* gem5_dvfs: domain=(\d)", trace, re.MULTILINE)
    assert set(requesters) == {(f"sugov:{c.cpus[0]}", str(c.index)) for c in juno.clusters}
    prios = re.findall(r"next_comm=sugov:\d next_pid=\d+ next_prio=(-?\d+)", trace)
    assert set(prios) == {"-1"}, "SCHED_DEADLINE"


def test_a_request_is_over_when_its_latency_is(booted: Booted, juno: Platform) -> None:
    """The kernel believes a frequency only then, and asks for no other one before."""
    asked_s: dict[int, float] = {}
    waits_us = []
    for at, event, fields in re.findall(
        r" ([\d.]+): (gem5_dvfs|cpu_frequency): (.*)$", booted.text("trace.txt"), re.MULTILINE
    ):
        numbers = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", fields)}
        if event == "gem5_dvfs":
            assert numbers["domain"] not in asked_s, "the one before is over"
            assert numbers["latency_ns"] == LATENCY_US * 1000
            asked_s[numbers["domain"]] = float(at)
        else:
            cluster = juno.cluster_of(numbers["cpu_id"])
            if numbers["cpu_id"] == cluster.cpus[-1]:
                waits_us.append((float(at) - asked_s.pop(cluster.index)) * 1e6)
    assert len(waits_us) > 3
    assert min(waits_us) >= LATENCY_US - 1, "trace.txt shows whole us"
    assert max(waits_us) < LATENCY_US + WAKE_UP_US


def test_console_is_quiet_and_clean(booted: Booted) -> None:
    assert not re.search(r"WARNING|BUG|Oops|Call trace|error|fail", booted.console, re.IGNORECASE)


CPUFREQ = "/sys/devices/system/cpu/cpufreq"


def frequencies(*steps: tuple[int, str, int, int], file: str) -> list[str]:
    """Per step a request of a policy (its file and kHz), and what ``file`` of littles then has."""
    lines = []
    for policy, setting, khz, little in steps:
        lines += [f"write {CPUFREQ}/policy{policy}/{setting} {khz}", "sleep-ms 20"]
        lines += [f"expect {CPUFREQ}/policy0/{name} {little}" for name in file.split()]
    return lines


@pytest.mark.parametrize("release", of_releases("base"))
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "waits"])
def test_a_floor_holds_while_the_other_cluster_requests_it(
    release: str, fast: bool, tmp_path: Path
) -> None:
    """And no longer; a little's own request during the floor is in force after it.

    Nobody switches fast but under schedutil, where ``scaling_min_freq`` of bigs stands for their
    load. Littles ask for their slowest OPP there.
    """
    pixel6 = replace(load_platform("pixel6"), fast_switch=fast)
    both = "scaling_cur_freq cpuinfo_cur_freq"
    script = [
        *(f"write {CPUFREQ}/policy{n}/scaling_governor userspace" for n in (0, 4, 6)),
        *(
            f"write {CPUFREQ}/policy{n}/scaling_setspeed {khz}"
            for n, khz in ((0, 300_000), (4, 400_000), (6, 500_000))
        ),
        "sleep-ms 20",
        *frequencies(
            (4, "scaling_setspeed", 2_253_000, 1_328_000),
            (6, "scaling_setspeed", 2_802_000, 1_401_000),
            (4, "scaling_setspeed", 400_000, 1_401_000),
            (6, "scaling_setspeed", 500_000, 300_000),
            # What is in force already is remembered as littles' own request.
            (4, "scaling_setspeed", 2_253_000, 1_328_000),
            (0, "scaling_setspeed", 1_328_000, 1_328_000),
            (4, "scaling_setspeed", 400_000, 1_328_000),
            (0, "scaling_setspeed", 300_000, 300_000),
            file=both,
        ),
        *(f"write {CPUFREQ}/policy{n}/scaling_governor powersave" for n in (0, 4)),
        f"write {CPUFREQ}/policy6/scaling_governor schedutil",
        f"trace-setup 8192 {EVENTS}",
        f"write {TRACING}/tracing_on 1",
        f"write {CPUFREQ}/policy6/scaling_min_freq 2802000",
        "sleep-ms 60",
        f"expect {CPUFREQ}/policy0/cpuinfo_cur_freq 1401000",
        # An idle cluster requests nothing, and its floor stays; powersave requests at once.
        f"write {CPUFREQ}/policy6/scaling_min_freq 500000",
        f"write {CPUFREQ}/policy6/scaling_governor powersave",
        "sleep-ms 20",
        *(f"expect {CPUFREQ}/policy0/{name} 300000" for name in both.split()),
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    guest = boot(kernel_of(release).image, pixel6, script, tmp_path / "out", arguments="loglevel=5")
    states = re.findall(r"cpu_frequency: state=(\d+) cpu_id=0", guest.text("trace.txt"))
    assert "1401000" in states
    assert states[-1] == "300000", "the floor has ended"
    assert not re.search(r"WARNING|BUG|Oops|Call trace", guest.console)


@pytest.mark.parametrize("release", of_releases("base"))
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "waits"])
def test_a_floor_holds_for_a_cluster_that_comes_back(
    release: str, fast: bool, tmp_path: Path
) -> None:
    """Its governor asks once, before the driver is told that the cluster is there."""
    littles = f"{CPUFREQ}/policy0/cpuinfo_cur_freq"
    script = [
        *(f"write {CPUFREQ}/policy{n}/scaling_governor userspace" for n in (0, 4)),
        f"write {CPUFREQ}/policy4/scaling_setspeed 400000",
        f"write {CPUFREQ}/policy6/scaling_governor performance",
        f"write {CPUFREQ}/policy0/scaling_setspeed 300000",
        *("sleep-ms 20", f"expect {littles} 1401000"),
        *(f"write /sys/devices/system/cpu/cpu{n}/online 0" for n in (6, 7)),
        f"write {CPUFREQ}/policy0/scaling_setspeed 300000",
        *("sleep-ms 20", f"expect {littles} 300000"),
        *("write /sys/devices/system/cpu/cpu6/online 1", "sleep-ms 20"),
        f"expect {littles} 1401000",
    ]
    pixel6 = replace(load_platform("pixel6"), fast_switch=fast)
    guest = boot(kernel_of(release).image, pixel6, script, tmp_path / "out", arguments="loglevel=5")
    assert not re.search(r"WARNING|BUG|Oops|Call trace", guest.console)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("fast_switch_enabled", "fast_switch_enabled: found '1', wanted '0'"),
        ("thread sugov:", "thread sugov:0: there is none of this name"),
    ],
)
def test_a_machine_that_switches_fast_is_not_taken_for_one_that_waits(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path, line: str, reason: str
) -> None:
    (first, *_) = [proof for proof in proofs(waiting(juno)) if line in proof]
    with pytest.raises(EngineFailed, match=re.escape(reason)):
        boot(base_kernel.image, juno, [first], tmp_path / "out")


def test_with_another_governor_nobody_switches_fast(juno: Platform) -> None:
    """And there is no thread of schedutil."""
    performance = load_variants()["cas-performance"]
    for platform in (juno, waiting(juno)):
        placed = on_platform(performance, platform)
        lines = [" ".join(line) for line in state_expectations(placed, platform)]
        switching = [line for line in lines if "fast_switch" in line or line.startswith("thread")]
        policies = [f"cpufreq/policy{cluster.cpus[0]}" for cluster in juno.clusters]
        assert switching == [
            f"expect /sys/devices/system/cpu/{policy}/fast_switch_enabled 0" for policy in policies
        ]
