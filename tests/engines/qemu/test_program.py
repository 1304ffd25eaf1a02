# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with figures of their own: their code's time, and nobody else's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.configs.program_activity import ClusterProgram
from eascope.engines.base import ProgramSpeed
from eascope.kernels.build import kernel
from tests.support.kernel_guest import boot
from tests.support.linux import digests
from tests.support.stress import guest_program

pytestmark = pytest.mark.guest

TURNS, CALLS = 1_000_000, 20_000
#: Instructions of a turn of each loop of tests/kernels/spins.c.
SPIN, CALL = 2, 5
#: What a few ticks may make of a difference; threads take 6 ms or more, calls 16.
TICKS_NS = 60_000
#: One CPU of each cluster, and where its OPPs are set.
CPUS = {"little": 0, "big": 4}
NAMES = ("one", "two")


@dataclass(frozen=True)
class Spun:
    """Ns that a guest printed, by program, CPU and thread; and its files' digests."""

    ns: Mapping[tuple[str, int, str], int]
    digests: Mapping[str, str]


def speed(
    platform: Platform, activity: Activity, factor: float, memory_ns: float = 0.0, name: str = "one"
) -> ProgramSpeed:
    """A program's cycles as system code's times ``factor``, and the same memory time everywhere."""
    clusters = tuple(
        ClusterProgram(cluster.name, factor / activity.system_ipc(cluster), memory_ns, ())
        for cluster in platform.clusters
    )
    return ProgramSpeed(f"/bin/{name}", clusters)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two programs whose code differs in one instruction."""
    folder = tmp_path_factory.mktemp("programs")
    return {
        name: guest_program("spins", folder / name, f"-DSECOND={number}")
        for number, name in enumerate(NAMES)
    }


@pytest.fixture
def spin(juno: Platform, programs: dict[str, Path], tmp_path: Path) -> Callable[..., Spun]:
    """Run both programs on a CPU of each cluster, at its slowest or fastest OPP."""

    def start(*speeds: ProgramSpeed, fastest: bool = True) -> Spun:
        lines = []
        for cluster in juno.clusters:
            cpu, khz = CPUS[cluster.name], cluster.opps[-1 if fastest else 0].khz
            policy = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq"
            lines += [f"write {policy}/scaling_{end}_freq {khz}" for end in ("min", "max")]
            for name in NAMES:
                label = f"{name}-{cpu}"
                lines += [
                    f"spawn {label} /bin/launch 0 {cpu} /bin/{name} {TURNS} {CALLS}",
                    f"wait {label} 20000",
                    f"collect /tmp/{label}.log {label}.log",
                ]
        out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        done = boot(kernel("base").image, juno, lines, out, programs=programs, speeds=speeds)
        ns = {
            (name, cpu, line.split()[0]): int(line.split()[1])
            for name in NAMES
            for cpu in CPUS.values()
            for line in done.text(f"{name}-{cpu}.log").splitlines()
        }
        return Spun(ns, digests(out))

    return start


@pytest.mark.parametrize("fastest", [True, False])
def test_half_the_rate_takes_twice_the_time_in_user_space_alone(
    spin: Callable[..., Spun], juno: Platform, juno_activity: Activity, fastest: bool
) -> None:
    """In every thread and in a child; the kernel and another program take as long as before.

    A longer time has more of the kernel's ticks.
    """
    plain = spin(fastest=fastest)
    slow = spin(speed(juno, juno_activity, 2.0, memory_ns=0.5), fastest=fastest)
    for (name, cpu, thread), before in plain.ns.items():
        cluster = juno.cluster_of(cpu)
        period = 1e6 / cluster.opps[-1 if fastest else 0].khz
        instructions = CALLS * CALL if thread == "calls" else TURNS * SPIN
        more = instructions * (period / juno_activity.system_ipc(cluster) + 0.5)
        after = slow.ns[name, cpu, thread]
        where = (name, cpu, thread, before, after)
        if name == "two":
            assert after == pytest.approx(before, abs=TICKS_NS), where
        else:
            assert after - before == pytest.approx(more, rel=0.02, abs=TICKS_NS), where


def test_figures_that_change_no_time_change_no_byte(
    spin: Callable[..., Spun], juno: Platform, juno_activity: Activity
) -> None:
    """Neither the rate that the program has anyway, nor the figures of one that does not run."""
    plain = spin()
    unused = ProgramSpeed("/bin/ping-pong", speed(juno, juno_activity, 3.0).clusters)
    assert spin(speed(juno, juno_activity, 1.0), unused).digests == plain.digests


def test_two_programs_have_their_own_figures(
    spin: Callable[..., Spun], juno: Platform, juno_activity: Activity
) -> None:
    plain = spin()
    both = spin(speed(juno, juno_activity, 0.25), speed(juno, juno_activity, 3.0, name="two"))
    for cpu in CPUS.values():
        for name, factor in (("one", 0.25), ("two", 3.0)):
            key = (name, cpu, "thread")
            assert both.ns[key] == pytest.approx(factor * plain.ns[key], rel=0.02), key
