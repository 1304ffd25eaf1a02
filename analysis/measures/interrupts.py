# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of a scenario's loads of interrupts, by the kernel's own counts of them."""

from __future__ import annotations

import re

from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.records.result import Interrupts
from eascope.analysis.run_data import RunData
from eascope.engines.records import STATE
from eascope.host.errors import EascopeError
from eascope.kernels.switches import INTERRUPTS

#: A reading in ``state.txt``: lines as they were written, each with three counts behind it.
_READING = re.compile(rf"^{re.escape(INTERRUPTS)}: ((?:\w+(?: \d+){{7}}\n)+)", re.MULTILINE)


def came(state: str) -> dict[str, tuple[int, int, int]]:
    """By line what came between START and STOP: handlers that ran, their ns, missed periods."""
    readings = [
        {words[0]: [*map(int, words[1:])] for words in (line.rsplit(" ", 3) for line in lines)}
        for lines in (reading.splitlines() for reading in _READING.findall(state))
    ]
    if len(readings) < 2:
        return {}
    before, after = readings[-2:]
    return {
        line: (after[line][0] - was[0], after[line][1] - was[1], after[line][2] - was[2])
        for line, was in before.items()
        if line in after
    }


def check_interrupts(data: RunData) -> None:
    """Refuse a run in which a load did not come, or not once in each of its periods.

    :raises EascopeError: one line that names the load.
    """
    found = came(data.state)
    for load in data.cell.interrupts:
        due = data.window.ns // (1000 * load.period_us)
        for cpu in load.cpus:
            count, _, missed = found.get(load.line(cpu), (0, 0, 0))
            if count + missed < due - 1:
                raise EascopeError(
                    f"{data.run}: interrupt {load.name} came {count} times on CPU {cpu} and missed "
                    f"{missed} periods: allowed: {due} in all, one in {load.period_us} us"
                )


def _by_load(data: RunData) -> dict[str, tuple[int, int, float]]:
    """By load, on all of its CPUs together: what ran, what was missed, the share of their time."""
    sums: dict[str, list[int]] = {}
    for line, (count, spent_ns, missed) in came(data.state).items():
        name, _, period_ns, *_ = line.split()
        own = (count, missed, spent_ns, (count + missed) * int(period_ns))
        sums[name] = [a + b for a, b in zip(sums.get(name, [0] * 4), own, strict=True)]
    return {
        name: (count, missed, spent_ns / time_ns)
        for name, (count, missed, spent_ns, time_ns) in sums.items()
        if time_ns
    }


@measure(
    keys="<load>.count, .missed",
    files=(STATE,),
    lines=Lines("loads of interrupts", "{name}: {key}", ("count", "missed"), digits=0),
)
def interrupts(data: RunData) -> dict[str, Interrupts]:
    """Handlers of a load of interrupts that ran, and periods that passed without one."""
    return {name: Interrupts(*found[:2]) for name, found in _by_load(data).items()}


@measure(
    keys="<load>",
    unit="share of its CPUs' time",
    files=(STATE,),
    lines=Lines("loads of interrupts", "{name}: time of its CPUs", digits=2),
)
def interrupt_share(data: RunData) -> dict[str, float]:
    """Time in the handlers of a load of interrupts, which is busy time of its CPUs."""
    return {name: share for name, (_, _, share) in _by_load(data).items()}
