# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's time per instruction from samples: its mean, its interval, and its two parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

from eascope.configs.activity import KernelActivity
from eascope.configs.platform import Cluster
from eascope.configs.program_activity import ProgramSamples
from eascope.configs.system_activity import digits
from eascope.engines.gem5.samples import CpuSample
from eascope.engines.timing.kernel_time import kernel_time
from eascope.host.errors import EascopeError

#: Half the width of a mean's 95 % interval, relative to the mean, up to which it is a figure.
MOST_INTERVAL = 0.10
LEVEL = 0.95
#: Samples with the program's own code in them, at each OPP.
LEAST_SAMPLES = 5
PS_PER_S = 10**12


@dataclass(frozen=True)
class ProgramTime:
    """An instruction of a program on a cluster's core takes ``cycles / f + memory_ns``.

    :param samples: by OPP, from the slowest on.
    """

    cluster: str
    cycles: float
    memory_ns: float
    samples: tuple[ProgramSamples, ...]

    @property
    def interval(self) -> float:
        """The widest of the samples' intervals."""
        return max(sample.interval for sample in self.samples)

    @property
    def residual(self) -> float:
        """How far the time lies from what was measured, relative to it, at the worst OPP."""
        return max(
            abs(
                (self.cycles + self.memory_ns * sample.khz / 1e6)
                * sample.instructions
                / sample.cycles
                - 1
            )
            for sample in self.samples
        )


def program_time(program: str, cluster: Cluster, samples: Iterable[CpuSample]) -> ProgramTime:
    """The time of an instruction of ``program`` that fits its samples at all OPPs best.

    :param samples: of the program's CPU, each at one clock.
    :raises EascopeError: when an OPP has too few samples with the program's code.
    """
    by_khz: dict[int, list[tuple[int, float]]] = {}
    for sample in samples:
        own = by_khz.setdefault(sample.khz, [])
        if sample.user.instructions:
            cycles = sample.user.ticks * sample.khz * 1000 / PS_PER_S
            own.append((sample.user.instructions, cycles))
    short = [khz for khz, own in by_khz.items() if len(own) < LEAST_SAMPLES]
    if short or not by_khz:
        where = f" at {short[0]} kHz" if short else ""
        raise EascopeError(
            f"{program}: {cluster.name}{where}: less than {LEAST_SAMPLES} samples have its code: "
            "it ended, it sleeps, or nearly all of its time is the kernel's"
        )
    rows = tuple(_samples(khz, own) for khz, own in sorted(by_khz.items()))
    ipc = {row.khz: row.instructions / row.cycles for row in rows}
    cycles, memory_ns = time_parts(program, cluster.name, ipc)
    return ProgramTime(cluster.name, digits(cycles), digits(memory_ns), rows)


def _samples(khz: int, own: Sequence[tuple[int, float]]) -> ProgramSamples:
    instructions, cycles = (sum(item) for item in zip(*own, strict=True))
    return ProgramSamples(khz, len(own), int(instructions), round(cycles), digits(interval(own)))


def interval(samples: Sequence[tuple[float, float]]) -> float:
    """Half the width of the 95 % interval of a ratio of means, relative to the ratio.

    The ratio estimator's variance for ``(x, y)`` with ratio ``r = sum y / sum x`` is that of
    ``y - r x``, divided by the square of the mean of ``x`` and by the number of samples (Cochran,
    Sampling Techniques, chapter 6).
    """
    count = len(samples)
    total_x, total_y = (math.fsum(item) for item in zip(*samples, strict=True))
    ratio = total_y / total_x
    spread = math.fsum((y - ratio * x) ** 2 for x, y in samples) / (count - 1)
    error = math.sqrt(spread / count) / (total_x / count)
    return float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error / ratio


def time_parts(program: str, cluster: str, ipc: Mapping[int, float]) -> tuple[float, float]:
    """Cycles and memory time in ns of an instruction; a time that noise makes negative is 0.

    :param ipc: instructions per cycle, by kHz.
    """
    fitted = kernel_time(KernelActivity(program, cluster, ipc, {}))
    if fitted is None or fitted.memory_ns < 0 or fitted.cycles <= 0:
        # Least squares of the relative error with cycles alone.
        total, squares = math.fsum(ipc.values()), math.fsum(item**2 for item in ipc.values())
        return total / squares, 0.0
    return fitted.cycles, fitted.memory_ns
