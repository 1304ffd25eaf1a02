# SPDX-License-Identifier: GPL-2.0-or-later
"""Times as C/f + M: recovered from speeds that were made so, and from gem5's cores."""

from __future__ import annotations

import random

import pytest

from eascope.configs.activity import Activity, KernelActivity
from eascope.configs.platform import Platform
from eascope.engines.timing.kernel_time import kernel_time

KHZ = (450_000, 800_000, 950_000, 1_200_000)


def _kernel(cycles: float, memory_ns: float, khz: tuple[int, ...] = KHZ) -> KernelActivity:
    """A kernel whose instruction takes exactly that long at every OPP."""
    ipc = {each: 1 / (cycles + memory_ns * each / 1e6) for each in khz}
    return KernelActivity("memory", "big", ipc, {})


def test_both_parts_come_back_exactly() -> None:
    draws = random.Random(7)
    for _ in range(200):
        cycles, memory_ns = draws.uniform(0.2, 400), draws.uniform(0, 200)
        time = kernel_time(_kernel(cycles, memory_ns))
        assert time is not None
        assert time.cycles == pytest.approx(cycles, rel=1e-6)
        assert time.memory_ns == pytest.approx(memory_ns, rel=1e-6, abs=1e-6)
        assert time.residual == pytest.approx(0, abs=1e-9)


def test_two_opps_have_no_residual_and_one_has_no_fit() -> None:
    time = kernel_time(_kernel(5, 12, KHZ[:2]))
    assert time is not None
    assert time.cycles == pytest.approx(5)
    assert time.memory_ns == pytest.approx(12)
    assert time.residual is None
    assert kernel_time(_kernel(5, 12, KHZ[:1])) is None


def test_the_residual_is_the_largest_relative_error() -> None:
    kernel = _kernel(5, 12)
    wrong = dict(kernel.ipc) | {800_000: kernel.ipc[800_000] * 1.1}
    time = kernel_time(KernelActivity("memory", "big", wrong, {}))
    assert time is not None
    errors = [abs(time.ns(khz) * ipc * khz / 1e6 - 1) for khz, ipc in wrong.items()]
    assert time.residual == pytest.approx(max(errors))
    assert 0.02 < max(errors) < 0.1
    # The best fit: moving either part makes the sum of squares larger.
    best = sum(error**2 for error in errors)
    for more, longer in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        moved = [
            ((time.cycles + more) * 1e6 / khz + time.memory_ns + longer) * ipc * khz / 1e6 - 1
            for khz, ipc in wrong.items()
        ]
        assert sum(error**2 for error in moved) > best


def test_gem5s_cores_fit_and_share_one_memory(juno: Platform, juno_activity: Activity) -> None:
    """The figures of the page: a miss takes as long on both cores, the busy loop has none."""
    times = {
        (entry.kernel, entry.cluster): time
        for entry in juno_activity.measured
        if (time := kernel_time(entry)) is not None
    }
    misses = [times["memory", cluster.name] for cluster in juno.clusters]
    assert all(time.residual is not None and time.residual < 0.01 for time in misses)
    little, big = (7 * time.memory_ns for time in misses)
    assert little == pytest.approx(big, rel=0.02)
    for cluster in juno.clusters:
        loop = times["busy_loop", cluster.name]
        assert abs(loop.memory_ns / loop.ns(cluster.max_khz)) < 0.01
