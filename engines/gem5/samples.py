# SPDX-License-Identifier: GPL-2.0-or-later
"""What CPUs executed in the samples of a run, in user space and in the kernel apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from eascope.configs.platform import Platform
from eascope.engines.gem5.inside.request import SAMPLES_JSON, SAMPLES_TRACE, SCHEMA
from eascope.host.errors import EascopeError
from eascope.host.record import Record

#: Set in every address of the kernel, clear in those of user space, however many bits they have.
_KERNEL_BIT = 55


@dataclass(frozen=True)
class Samples(Record):
    """``samples.json``, as `engines.gem5.inside.request.SamplesRecord` has it.

    :param cpus: each CPU's number by its name in the trace.
    :param samples: ticks of begin and end, and each cluster's clock in Hz, 0 if it changed.
    """

    schema_read: ClassVar[int] = SCHEMA

    schema: int
    cpus: Mapping[str, int]
    samples: tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass
class ModeCount:
    """Instructions of a mode of a CPU in a sample, and the ticks from each to the next one."""

    instructions: int = 0
    ticks: int = 0


@dataclass(frozen=True)
class CpuSample:
    """A sample of one CPU.

    :param begin: tick.
    :param khz: its clock; 0: it changed in the sample.
    """

    cpu: int
    begin: int
    khz: int
    user: ModeCount
    kernel: ModeCount


def read_samples(folder: Path, platform: Platform) -> list[CpuSample]:
    """The samples that gem5 left in ``folder``: all CPUs of the first one, and so on.

    The time from an instruction to the next one of its CPU counts as the first one's. So what an
    exception costs until the handler's first instruction counts for the code that it interrupts.

    :raises EascopeError: when gem5 recorded nothing.
    """
    for name in (SAMPLES_JSON, SAMPLES_TRACE):
        if not (folder / name).is_file():
            raise EascopeError(f"gem5 left no {name}: no samples")
    record = Samples.read(folder / SAMPLES_JSON)
    clusters = {cpu: cluster.index for cluster in platform.clusters for cpu in cluster.cpus}
    samples = []
    with (folder / SAMPLES_TRACE).open("rb") as stream:
        lines = _instructions(stream, record.cpus)
        ahead = next(lines, None)
        if ahead is None:
            raise EascopeError("gem5 recorded no instruction: it was built without its tracing")
        for begin, end, hertz in record.samples:
            last: dict[int, tuple[int, ModeCount]] = {}
            own = {cpu: (ModeCount(), ModeCount()) for cpu in record.cpus.values()}
            while ahead is not None and ahead[0] < end:
                tick, cpu, in_kernel = ahead
                if cpu in last:
                    before, executed = last[cpu]
                    executed.instructions += 1
                    executed.ticks += tick - before
                last[cpu] = (tick, own[cpu][in_kernel])
                ahead = next(lines, None)
            samples += [
                CpuSample(cpu, begin, hertz[clusters[cpu]] // 1000, *own[cpu])
                for cpu in sorted(own)
            ]
    return samples


def _instructions(
    lines: Iterator[bytes], cpus: Mapping[str, int]
) -> Iterator[tuple[int, int, bool]]:
    """Tick, CPU and whether it is the kernel's, of each instruction in the trace."""
    numbers = {name.encode(): cpu for name, cpu in cpus.items()}
    for line in lines:
        tick, _, rest = line.partition(b": ")
        name, _, address = rest.partition(b": ")
        if name in numbers and address.startswith(b"0x"):
            number = int(address.split(None, 1)[0], 16)
            yield int(tick), numbers[name], bool(number >> _KERNEL_BIT & 1)
