# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own counters over the window, as the agent reads them."""

from __future__ import annotations

from eascope.analysis.records.result import Pushes

#: How the counters begin in ``state.txt``: a path, then a line for each counter, all CPUs in it.
_HEAD = "/sys/kernel/debug/sched/eascope/stats: counter "
#: They are read with the proofs of the state, at START, at STOP, and with the proofs again.
_READ = 4
#: Of waiting tasks, and of those that run alone.
_CHECKED, _MOVED = ("push_check", "tick_check"), ("push_moved", "tick_moved")


def pushes(state: str, seconds: float) -> Pushes | None:
    """Pushes per second of a window, from the text of ``state.txt``; None without the counters."""
    read = _tables(state)
    if len(read) != _READ or not {*_CHECKED, *_MOVED} <= {*read[1]}:
        return None

    def rate(names: tuple[str, ...]) -> float:
        return sum(read[2][name] - read[1][name] for name in names) / seconds

    return Pushes(checked=rate(_CHECKED), moved=rate(_MOVED))


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
