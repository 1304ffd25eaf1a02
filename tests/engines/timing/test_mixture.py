# SPDX-License-Identifier: GPL-2.0-or-later
"""Mixtures of the busy loop and of misses: the time of a turn, and what cannot be mixed."""

import random
import re
from dataclasses import replace

import pytest

from eascope.configs.activity import Activity, KernelActivity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.timing.kernel_time import kernel_time
from eascope.engines.timing.mixture import MEMORY, MISS_INSTRUCTIONS, misses_of, mixture
from eascope.experiments.characterisation.guest import KERNELS, SOURCE
from eascope.host.errors import RequestError

SHARES = (0.01, 0.1, 0.3, 0.5, 0.7)
PLATFORMS = ("juno-r2", "pixel6")


def of(name: str) -> tuple[Platform, Activity]:
    platform = load_platform(name)
    return platform, load_activity(platform)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", PLATFORMS)
def test_the_share_is_that_of_the_largest_cpu_at_its_top_opp(name: str, share: float) -> None:
    """There a turn takes as long as the busy loop's, and so much of it is memory's."""
    platform, activity = of(name)
    turn, plain = (mixture(platform, activity, memory) for memory in (share, 0))
    largest = platform.largest
    took = turn.iteration_ns(largest, largest.max_khz)
    assert took == pytest.approx(plain.iteration_ns(largest, largest.max_khz))
    assert turn.memory_ns[largest.index] / took == pytest.approx(share)


@pytest.mark.parametrize("name", PLATFORMS)
def test_half_the_clock_takes_less_than_twice_as_long(name: str) -> None:
    """A turn is cycles / f + memory_ns, so only the cycles' part doubles."""
    platform, activity = of(name)
    turn = mixture(platform, activity, 0.3)
    for cluster in platform.clusters:
        top, half = (turn.iteration_ns(cluster, cluster.max_khz // divisor) for divisor in (1, 2))
        assert half - top == pytest.approx(turn.cycles[cluster.index] * 1e6 / cluster.max_khz)
        assert half < 1.95 * top


def test_a_turn_is_what_its_parts_are(juno: Platform, juno_activity: Activity) -> None:
    turn = mixture(juno, juno_activity, 0.3)
    for cluster, miss in zip(juno.clusters, misses_of(juno, juno_activity), strict=True):
        own = juno_activity.iteration_instructions / juno_activity.ipc(cluster)
        cycles = turn.busy * own + turn.misses * miss.cycles
        assert turn.cycles[cluster.index] == pytest.approx(cycles)
        assert turn.memory_ns[cluster.index] == pytest.approx(turn.misses * miss.memory_ns)
        assert 80 < miss.memory_ns < 90  # gem5's DDR3-1600, a bus at 1 GHz
    parts = turn.busy * juno_activity.iteration_instructions + turn.misses * MISS_INSTRUCTIONS
    assert abs(turn.instructions - parts) <= 0.5


def test_without_memory_a_turn_is_the_busy_loops(juno: Platform, juno_activity: Activity) -> None:
    turn = mixture(juno, replace(juno_activity, measured=()), 0)
    assert (turn.busy, turn.misses, turn.memory_ns) == (1.0, 0.0, (0.0, 0.0))
    for cluster in juno.clusters:
        for opp in cluster.opps:
            per_us = juno_activity.instructions_per_us(cluster, opp.khz)
            loop_ns = 1000 * juno_activity.iteration_instructions / per_us
            assert turn.iteration_ns(cluster, opp.khz) == pytest.approx(loop_ns)


def test_more_than_a_core_leaves_is_refused(juno: Platform, juno_activity: Activity) -> None:
    allowed = r"memory = 0\.73: juno-r2 supports 0 to 0\.72, because a miss takes 38 cycles"
    with pytest.raises(RequestError, match=allowed):
        mixture(juno, juno_activity, 0.73)
    assert mixture(juno, juno_activity, 0.72).busy > 0


def test_a_platform_that_nobody_characterised_is_refused(
    juno: Platform, juno_activity: Activity
) -> None:
    with pytest.raises(RequestError, match=r"a miss on little is missing, .*characterise juno-r2"):
        mixture(juno, replace(juno_activity, measured=()), 0.3)


def test_a_miss_is_as_many_instructions_as_the_kernels() -> None:
    """The kernel's loop in the assembly that is measured."""
    assert MEMORY in KERNELS
    body = re.search(r"^memory:$(.*?)^\tret$", SOURCE.read_text(), re.MULTILINE | re.DOTALL)
    assert body
    loop = body[1].split("1:")[1].strip().splitlines()
    assert loop[-1].split() == ["b.ne", "1b"]
    assert len(loop) == MISS_INSTRUCTIONS
    assert sum(line.split()[0] == "ldr" for line in loop) == 1


KHZ = (450_000, 800_000, 950_000, 1_200_000)


def _kernel(cycles: float, memory_ns: float, khz: tuple[int, ...] = KHZ) -> KernelActivity:
    """A kernel whose instruction takes exactly that long at every OPP."""
    ipc = {item: 1 / (cycles + memory_ns * item / 1e6) for item in khz}
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
