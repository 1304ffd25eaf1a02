# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as tables, whatever its format.

All tables are polars frames in the order of time; `t_ns` is of the recording's own clock.

* ``switch``: ``cpu prev_pid prev_prio prev_state next_pid next_prio``
* ``wake``: ``cpu waker pid prio target context``; ``context`` is 0 for a thread, 1 for an interrupt
  or a timer, 2 for a softirq, -1 where it was not recorded
* ``freq``: ``cpu khz``; ``idle``: ``cpu state`` (-1 at the end of a stay)
* ``irq``: ``cpu enter``; ``mark``: ``cpu pid text``; ``rail``: ``name uj``, energy since boot
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.host.errors import RequestError

Ints = npt.NDArray[np.int64]
#: Columns of each table besides ``t_ns``.
COLUMNS: dict[str, tuple[str, ...]] = {
    "switch": ("cpu", "prev_pid", "prev_prio", "prev_state", "next_pid", "next_prio"),
    "wake": ("cpu", "waker", "pid", "prio", "target", "context"),
    "freq": ("cpu", "khz"),
    "idle": ("cpu", "state"),
    "irq": ("cpu", "enter"),
    "mark": ("cpu", "pid", "text"),
    "rail": ("name", "uj"),
}
TEXTS = ("text", "name")
#: `common_flags`: in an interrupt, in a softirq.
HARDIRQ, SOFTIRQ = 8, 16
#: Kernel's bits of a sleeping thread; with none of them it was preempted.
SLEEPING = 0xFF
#: Of them those of a thread that has ended: EXIT_DEAD, EXIT_ZOMBIE.
DEAD = 0x30
WAKES = ("sched_waking", "sched_wakeup")
#: A step back in time that is no race between CPUs.
BACK_NS = 1_000_000


class RecordingError(RequestError):
    """A recording that cannot be used; the message is one line."""


@dataclass
class Raw:
    """What a reader has found; `finished` makes the tables."""

    cpus: int = 0
    clock: str = ""
    device: str = ""
    #: Events that the recorder knows to be lost, and pages before which some were.
    lost: int = 0
    lost_before: int = 0
    #: Steps back of the clock in the file's own order.
    steps_back: int = 0
    names: dict[int, str] = field(default_factory=dict)
    #: The name that a switch to a thread has first.
    first_names: dict[int, str] = field(default_factory=dict)
    tgids: dict[int, int] = field(default_factory=dict)
    #: Clocks that were polled: time, CPU, kHz.
    polled: list[tuple[int, int, int]] = field(default_factory=list)
    #: What the recorder says of the CPUs.
    capacities: dict[int, int] = field(default_factory=dict)
    clocks: dict[int, tuple[int, ...]] = field(default_factory=dict)
    #: Ends of threads: time, pid, name.
    ended: list[tuple[int, int, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(
        self,
        event: str,
        t_ns: Ints,
        cpu: npt.NDArray[Any],
        column: Callable[[str], Ints | None],
        text: Callable[[str, Ints], Sequence[str]],
    ) -> None:
        """Events of one kind.

        :param column: a field as numbers, None where there is none.
        :param text: a field of some rows as text.
        """
        self.counts[event] += len(t_ns)
        at = {"t_ns": t_ns, "cpu": cpu}

        def number(name: str, missing: int = -1) -> Ints:
            found = column(name)
            return np.full(len(t_ns), missing, np.int64) if found is None else found

        def named(pids: Ints, comm: str) -> None:
            known, last = np.unique(pids[::-1], return_index=True)
            rows = len(pids) - 1 - last
            fresh = [n for n, pid in enumerate(known) if pid and int(pid) not in self.names]
            if event == "sched_switch" or fresh:
                texts = text(comm, rows)
                self.names |= {
                    int(pid): name for pid, name in zip(known, texts, strict=True) if pid and name
                }

        if event == "sched_switch":
            row = {name: number(name) for name in COLUMNS["switch"][1:]}
            self._put("switch", at | row)
            named(row["prev_pid"], "prev_comm")
            named(row["next_pid"], "next_comm")
            pids, rows = np.unique(row["next_pid"], return_index=True)
            firsts = dict(zip(pids.tolist(), text("next_comm", rows), strict=False))
            self.first_names = firsts | self.first_names
            dead = np.flatnonzero((row["prev_state"] & DEAD != 0) & (row["prev_pid"] > 0))
            comms = text("prev_comm", dead)
            self.ended += zip(t_ns[dead], row["prev_pid"][dead], comms, strict=False)
        elif event in (*WAKES, "sched_wakeup_new"):
            flags = number("common_flags")
            context = np.where(flags & HARDIRQ, 1, np.where(flags & SOFTIRQ, 2, 0))
            row = {
                "waker": number("common_pid"),
                "pid": number("pid"),
                "prio": number("prio"),
                "target": number("target_cpu"),
                "context": np.where(flags < 0, -1, context),
            }
            self._put(event, at | row)
            named(row["pid"], "comm")
        elif event == "cpu_frequency":
            self._put("freq", {"t_ns": t_ns, "cpu": number("cpu_id"), "khz": number("state")})
        elif event == "cpu_idle":
            state = number("state")
            state = np.where((state == 0xFFFFFFFF) | (state < 0), -1, state)
            self._put("idle", {"t_ns": t_ns, "cpu": number("cpu_id"), "state": state})
        elif event in ("irq_handler_entry", "irq_handler_exit"):
            enter = np.full(len(t_ns), int(event.endswith("entry")), np.int64)
            self._put("irq", at | {"enter": enter})
        elif event in ("print", "tracing_mark_write"):
            texts = list(text("buf", np.arange(len(t_ns))))
            self._put("mark", at | {"pid": number("common_pid"), "text": texts})

    def rails(self, t_ns: Sequence[int], names: Sequence[str], uj: Sequence[float]) -> None:
        """Energies of rails since boot."""
        self._put("rail", {"t_ns": t_ns, "name": names, "uj": uj})

    def _put(self, table: str, columns: Mapping[str, Any]) -> None:
        self.parts.setdefault(table, []).append(dict(columns))

    def table(self, name: str, columns: Sequence[str]) -> pl.DataFrame:
        """All parts of a table in the order of time."""
        kinds = {
            column: pl.String if column in TEXTS else (pl.Float64 if column == "uj" else pl.Int64)
            for column in ("t_ns", *columns)
        }
        parts = [pl.DataFrame(part, schema_overrides=kinds) for part in self.parts.get(name, [])]
        whole = pl.concat([pl.DataFrame(schema=kinds), *(part.select(*kinds) for part in parts)])
        return whole.sort("t_ns", maintain_order=True)


@dataclass(frozen=True)
class Recording:
    """A recording of a device; see the module.

    :ivar waking: whether ``wake`` has sched_waking, and not sched_wakeup, which loses wakers of
        other CPUs.
    :ivar notes: what a person has to know of it, a line each.
    :ivar capacities: by CPU, where the recorder says them; ``clocks`` are all of a CPU.
    :ivar broken: switches whose predecessor is not the thread that was switched to before.
    """

    path: Path
    form: str
    cpus: int
    begin_ns: int
    end_ns: int
    switch: pl.DataFrame
    wake: pl.DataFrame
    freq: pl.DataFrame
    idle: pl.DataFrame
    irq: pl.DataFrame
    mark: pl.DataFrame
    rail: pl.DataFrame
    names: dict[int, str]
    tgids: dict[int, int]
    counts: Counter[str]
    waking: bool
    broken: int
    device: str
    notes: tuple[str, ...]
    capacities: dict[int, int] = field(default_factory=dict)
    clocks: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end_ns - self.begin_ns) / 1e9
