# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of the scheduler's own work: what its counters say, and what a wake-up costs."""

from __future__ import annotations

from collections.abc import Mapping

from eascope.analysis.measures.cpus import per_cpu
from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.measures.tasks import latencies_us
from eascope.analysis.records.result import Pushes
from eascope.analysis.run_data import RunData
from eascope.engines.records import COUNTERS, STATE

#: How the kernel's own counters begin in ``state.txt``: a path, then a line for each counter, all
#: CPUs in it.
_HEAD = "/sys/kernel/debug/sched/eascope/stats: counter "
#: They are read with the proofs of the state (twice, where another variant came first), at START,
#: at STOP, and with the proofs again.
_READ = 4


def counted(state: str) -> dict[str, int]:
    """What each counter counted between START and STOP, by the text of ``state.txt``."""
    read = _tables(state)
    if len(read) < _READ:
        return {}
    start, stop = read[-3:-1]
    return {name: number - start.get(name, 0) for name, number in stop.items()}


def _tables(state: str) -> list[dict[str, int]]:
    """Each time that the counters were read: their sums over CPUs."""
    tables: list[dict[str, int]] = []
    within = False
    for line in state.splitlines():
        if line.startswith(_HEAD):
            tables.append({})
            within = True
            continue
        name, *numbers = line.split()
        within = within and not name.startswith("/")
        if within:
            tables[-1][name] = sum(map(int, numbers))
    return tables


def _per_s(data: RunData) -> dict[str, float]:
    return {name: number / data.window.seconds for name, number in counted(data.state).items()}


@measure(
    keys="checked, moved, waiting, at_ticks",
    unit="1/s",
    files=(STATE,),
    lines=Lines("placement", "pushed", ("moved",), digits=2),
)
def pushes_per_s(data: RunData) -> Pushes | None:
    """The kernel's looks at tasks to push, and tasks pushed; absent where it cannot push."""
    return pushes(_per_s(data))


def pushes(rates: Mapping[str, float]) -> Pushes | None:
    """Pushes by the counters' rates; None of a kernel without them."""
    try:
        waiting, at_ticks = rates["push_moved"], rates["tick_moved"]
        checked = rates["push_check"] + rates["tick_check"]
    except KeyError:
        return None
    return Pushes(checked, waiting + at_ticks, waiting, at_ticks)


@measure(unit="1/s", files=(STATE,))
def active_balances_per_s(data: RunData) -> float | None:
    """Running tasks that load balance moved; it wakes the CPU's stopper for each."""
    return _per_s(data).get("lb_active")


@measure(unit="1/s", files=(STATE,))
def overutilized_per_s(data: RunData) -> float | None:
    """How often the root domain became overutilized."""
    return _per_s(data).get("overutilized_set")


def _wakeups(data: RunData) -> int:
    return sum(map(len, latencies_us(data).values()))


@measure(
    events=("sched_switch", "sched_waking"),
    files=(COUNTERS,),
    lines=Lines("a wake-up of the scenario's threads", "instructions", digits=0),
)
def instructions_per_wakeup(data: RunData) -> float | None:
    """Instructions of all CPUs, tasks' busy loops among them, divided by threads' wake-ups."""
    wakeups = _wakeups(data)
    return float(per_cpu(data)["work"].sum()) / wakeups if wakeups else None


@measure(
    unit="us",
    events=("sched_switch", "sched_waking"),
    files=(COUNTERS,),
    lines=Lines("a wake-up of the scenario's threads", "busy time", digits=2),
)
def busy_per_wakeup_us(data: RunData) -> float | None:
    """Busy time of all CPUs, divided by the wake-ups of the scenario's threads."""
    wakeups = _wakeups(data)
    return float(per_cpu(data)["busy_ns"].sum()) / 1000 / wakeups if wakeups else None
