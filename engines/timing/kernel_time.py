# SPDX-License-Identifier: GPL-2.0-or-later
"""Time of a workload kernel as ``C/f + M``: core cycles, and memory time that no clock changes.

A core's own work takes a number of cycles, so a faster clock shortens it. Interconnect and memory
have their own clocks, so a load that misses every cache waits about equally long at any OPP. Both
parts follow from a kernel's instructions per cycle at several OPPs.
"""

from __future__ import annotations

from dataclasses import dataclass

from eascope.configs.activity import KernelActivity


@dataclass(frozen=True)
class KernelTime:
    """An instruction of a kernel on a cluster's core takes ``cycles / f + memory_ns``.

    :param cycles: of the core's clock, per instruction.
    :param memory_ns: ns per instruction; noise about zero where the core alone decides.
    :param residual: the largest relative error of the fitted time at an OPP; None with two OPPs,
        through which any line goes.
    """

    kernel: str
    cluster: str
    cycles: float
    memory_ns: float
    residual: float | None

    def ns(self, khz: int) -> float:
        """Time of an instruction at ``khz``."""
        return self.cycles * 1e6 / khz + self.memory_ns


def kernel_time(kernel: KernelActivity) -> KernelTime | None:
    """Cycles and memory time that fit a kernel's speeds best; None with fewer than two OPPs.

    Least squares of the relative error: instructions per cycle are known to a number of digits, so
    every OPP's time is as exact as any other's. With the time ``t`` and the period ``p`` of each
    OPP, the sum of ``(cycles p/t + memory 1/t - 1)^2`` is least where its two derivatives are 0.
    """
    periods = [1e6 / khz for khz in kernel.ipc]
    times = [period / ipc for period, ipc in zip(periods, kernel.ipc.values(), strict=True)]
    if len(times) < 2:
        return None
    a = [period / time for period, time in zip(periods, times, strict=True)]
    b = [1 / time for time in times]
    aa, ab, bb = _product(a, a), _product(a, b), _product(b, b)
    determinant = aa * bb - ab * ab
    cycles = (sum(a) * bb - sum(b) * ab) / determinant
    memory_ns = (sum(b) * aa - sum(a) * ab) / determinant
    errors = (abs(cycles * p + memory_ns * q - 1) for p, q in zip(a, b, strict=True))
    residual = max(errors) if len(times) > 2 else None
    return KernelTime(kernel.kernel, kernel.cluster, cycles, memory_ns, residual)


def _product(left: list[float], right: list[float]) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))
