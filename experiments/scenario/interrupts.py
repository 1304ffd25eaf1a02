# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[interrupt]]`` of a scenario file: timers whose handlers take time of their CPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from eascope.analysis.records.cell import InterruptRecord
from eascope.experiments.scenario.clamps import CPUS
from eascope.host.errors import bad_input
from eascope.host.keys import Place, Placed, key, label, same
from eascope.kernels.switches import INTERRUPTS

#: Timers that the kernel has room for; characters of a name.
MOST_TIMERS, MOST_CHARACTERS = 64, 24
LEAST_US, MOST_US = 20, 1_000_000
#: What a CPU's handlers may take together: without the rest, nothing on it would end.
MOST_PERCENT = 90


@dataclass(frozen=True, kw_only=True)
class InterruptFile(Placed):
    """A load of interrupts."""

    name: str = key("unique among interrupts", form=label(MOST_CHARACTERS))
    cpus: tuple[int, ...] = key("the CPUs that are interrupted", form=CPUS)
    period_us: int = key("time between interrupts", LEAST_US, MOST_US, "us")
    work_us: int = key("time in the handler", 1, MOST_US, "us, less than period_us")
    #: The shortest warm-up is twice as long as the most, so all loads have begun by START.
    start_us: int = key("offset of the first interrupt", 0, 100_000, "us", default=0)

    def check(self) -> None:
        """A handler ends before the next one is due."""
        self.place.within("work_us", 1, self.period_us - 1, "us, less than period_us")


def interrupts_of(top: Place, files: Sequence[InterruptFile]) -> tuple[InterruptRecord, ...]:
    """The loads of interrupts, in the order of the file.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    loads: dict[str, InterruptRecord] = {}
    percent: dict[int, Fraction] = defaultdict(Fraction)
    for own in files:
        if own.name in loads:
            raise own.place.error("name", "a name that no other interrupt has")
        for cpu in own.cpus:
            percent[cpu] += Fraction(100 * own.work_us, own.period_us)
            if percent[cpu] > MOST_PERCENT:
                allowed = f"up to {MOST_PERCENT} % of the time of CPU {cpu} for its interrupts, "
                raise own.place.error(
                    "work_us", f"{allowed}which makes {float(percent[cpu]):.1f} %"
                )
        loads[own.name] = InterruptRecord(**same(InterruptRecord, own))
    if (timers := sum(len(load.cpus) for load in loads.values())) > MOST_TIMERS:
        allowed = f"up to {MOST_TIMERS}, one on each CPU of each"
        raise bad_input(top.file, "interrupt", f"{timers} timers", allowed)
    return tuple(loads.values())


def begin(loads: Sequence[InterruptRecord]) -> Iterator[str]:
    """Lines of the agent's script that state the loads and start them."""
    for load in loads:
        yield from (f"write {INTERRUPTS} {load.line(cpu)}" for cpu in load.cpus)
    if loads:
        yield f"write {INTERRUPTS} start"
