# SPDX-License-Identifier: GPL-2.0-or-later
"""Who requests frequencies in a guest: the scheduler itself, or schedutil's thread that waits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.kernels.build import KernelArtefact
from eascope.kernels.naming import variant_named
from eascope.kernels.state import state_expectations
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
        lines = [" ".join(line) for line in state_expectations(performance, platform)]
        switching = [line for line in lines if "fast_switch" in line or line.startswith("thread")]
        policies = [f"cpufreq/policy{cluster.cpus[0]}" for cluster in juno.clusters]
        assert switching == [
            f"expect /sys/devices/system/cpu/{policy}/fast_switch_enabled 0" for policy in policies
        ]
