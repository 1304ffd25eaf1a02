# SPDX-License-Identifier: GPL-2.0-or-later
"""Mixtures that gem5 executes: what is asked, and what is made of it."""

import pytest

from eascope.engines.timing.mixture import misses_of
from eascope.experiments.characterisation.guest import LEVEL_MARKS, Chain, guest
from eascope.experiments.characterisation.measure import KernelMeasurement, request
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from research.memory_time import COLUMNS, PLATFORMS, SHARES, chains, measured, rows_of, taken


@pytest.mark.parametrize("name", PLATFORMS)
def test_what_is_executed_is_what_is_taken(name: str) -> None:
    """The engines' mixture has the ratio of the chain's whole parts, and nearly the share."""
    platform, activity = measured(name)
    kernels = chains(platform, activity)
    assert len({(kernel.busy, kernel.misses) for kernel in kernels}) == len(kernels)
    assert 2 * len(kernels) <= LEVEL_MARKS
    for kernel in kernels:
        mixed = taken(platform, activity, kernel)
        assert mixed.busy / mixed.misses == pytest.approx(kernel.busy / kernel.misses)
        if kernel.misses > 1:
            assert min(abs(mixed.memory - aimed) for aimed in SHARES) < 0.011


def test_the_program_calls_each_chain_with_its_numbers() -> None:
    kernels = [Chain("first", 4, 104, 16), Chain("second", 30, 8, 1)]
    program = guest(3, 50_000, kernels)
    names = run([arm64_tool("nm"), program]).decode()
    assert all(f" {kernel.name}\n" in names for kernel in (*kernels, Chain("mixture", 1, 1, 1)))
    text = run([arm64_tool("objdump"), "-d", program]).decode()
    stub = text.split("<first>:")[1].split("<second>:")[0]
    for register, number in (("x9", 4), ("x10", 104), ("x11", 16)):
        assert f"mov\t{register}, #{number:#x}" in stub
    assert guest(3, 50_000) != program


def test_a_request_has_the_program_of_the_chains() -> None:
    platform, activity = measured(PLATFORMS[0])
    kernels = chains(platform, activity)
    asked = request(platform, platform.clusters[0], kernels)
    assert asked["vmlinux"] == str(guest(3, 50_000, kernels))
    assert asked["vmlinux"] != request(platform, platform.clusters[0])["vmlinux"]


def test_an_iteration_is_the_time_of_its_parts() -> None:
    """Cores that need exactly the parts' time differ in nothing from what the engines take."""
    platform, activity = measured("juno-r2")
    kernels = chains(platform, activity)
    points: dict[str, list[KernelMeasurement]] = {}
    for cluster, miss in zip(platform.clusters, misses_of(platform, activity), strict=True):
        own = activity.iteration_instructions / activity.ipc(cluster)
        for opp in reversed(cluster.opps):
            for kernel in kernels:
                cycles = kernel.busy * own + kernel.misses * miss.cycles
                ns = kernel.rounds * (cycles * 1e6 / opp.khz + kernel.misses * miss.memory_ns)
                ipc = 1000 / (ns * opp.khz / 1e6)
                point = KernelMeasurement(cluster.name, kernel.name, opp.khz, 1000, ipc, {})
                points.setdefault(cluster.name, []).append(point)
    rows = [
        dict(zip(COLUMNS, row, strict=True)) for row in rows_of(platform, activity, kernels, points)
    ]
    opps = sum(len(cluster.opps) for cluster in platform.clusters)
    assert len(rows) == len(kernels) * opps
    assert [row["khz"] for row in rows[:opps]] == [
        opp.khz for cluster in platform.clusters for opp in cluster.opps
    ]
    assert [row["percent"] for row in rows] == pytest.approx([0] * len(rows), abs=1e-9)
