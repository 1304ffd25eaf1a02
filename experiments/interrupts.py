# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[interrupt]]`` of a scenario file: timers whose handlers take time of their CPU."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from eascope.analysis.records.cell import InterruptRecord
from eascope.configs.platform import Platform
from eascope.experiments.groups import read_cpus
from eascope.host.errors import bad_input, missing_key
from eascope.host.strict import StrictTable
from eascope.kernels.switches import INTERRUPTS

#: Timers that the kernel has room for; characters of a name.
MOST_TIMERS, MOST_CHARACTERS = 64, 24
LEAST_US, MOST_US = 20, 1_000_000
#: The shortest warm-up is twice as long, so all loads have begun by START.
MOST_START_US = 100_000
#: What a CPU's handlers may take together: without the rest, nothing on it would end.
MOST_PERCENT = 90
KEYS = ("name", "cpus", "period_us", "work_us", "start_us")


def read_interrupts(top: StrictTable, platform: Platform) -> tuple[InterruptRecord, ...]:
    """The loads of interrupts, in the order of the file.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    loads: dict[str, InterruptRecord] = {}
    percent: dict[int, Fraction] = defaultdict(Fraction)
    tables = top.tables("interrupt", 1, MOST_TIMERS) if top.has("interrupt") else ()
    for table in tables:
        table.only(KEYS)
        name = table.text("name")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > MOST_CHARACTERS:
            allowed = f"1 to {MOST_CHARACTERS} of a-z 0-9 _, beginning with a letter"
            raise table.error("name", allowed)
        if name in loads:
            raise table.error("name", "a name that no other interrupt has")
        cpus = read_cpus(table, platform)
        if cpus is None:
            raise missing_key(table.file, table.key("cpus"), "a CPU name, such as big:0")
        period = table.integer("period_us", LEAST_US, MOST_US, "us")
        work = table.integer("work_us", 1, period - 1, "us, less than period_us")
        start = table.integer("start_us", 0, MOST_START_US, "us") if table.has("start_us") else 0
        for cpu in cpus:
            percent[cpu] += Fraction(100 * work, period)
            if percent[cpu] > MOST_PERCENT:
                allowed = f"up to {MOST_PERCENT} % of the time of CPU {cpu} for its interrupts, "
                raise table.error("work_us", f"{allowed}which makes {float(percent[cpu]):.1f} %")
        loads[name] = InterruptRecord(name, cpus, period, work, start)
        table.finish()
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
