# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as tables, whatever its format: `read_recording`.

All tables are polars frames in the order of time; `t_ns` is of the recording's own clock.

* ``switch``: ``cpu prev_pid prev_prio prev_state next_pid next_prio``
* ``wake``: ``cpu waker pid prio target context``; ``context`` is 0 for a thread, 1 for an interrupt
  or a timer, 2 for a softirq, -1 where it was not recorded
* ``freq``: ``cpu khz``; ``idle``: ``cpu state`` (-1 at the end of a stay)
* ``irq``: ``cpu enter``; ``mark``: ``cpu pid text``; ``rail``: ``name uj``, energy since boot
"""

from __future__ import annotations

import gzip
import lzma
import re
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
WAKES = ("sched_waking", "sched_wakeup")
_FIRST_VALUE = re.compile(r"cpu_frequency(?:_devlib)?:\s+state=(\d+) cpu_id=(\d+)")
#: A pause of all CPUs that is no idling, and a step back that is no race between CPUs.
LONG_NS, BACK_NS = 10_000_000_000, 1_000_000


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
    tgids: dict[int, int] = field(default_factory=dict)
    #: Clocks that were polled: time, CPU, kHz.
    polled: list[tuple[int, int, int]] = field(default_factory=list)
    #: What the recorder says of the CPUs.
    capacities: dict[int, int] = field(default_factory=dict)
    clocks: dict[int, tuple[int, ...]] = field(default_factory=dict)
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


def read_recording(path: Path) -> Recording:
    """Read a recording; ``.xz`` and ``.gz`` are unpacked.

    :raises RecordingError: one line: missing, truncated, of no known form, without a switch.
    """
    try:
        data = path.read_bytes()
        if data[:6] == b"\xfd7zXZ\0":
            data = lzma.decompress(data)
        elif data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error
    except (lzma.LZMAError, EOFError) as error:
        raise RecordingError(f"{path}: truncated or damaged: {error}") from error
    form, raw = _read(path, data)
    return _finished(path, form, raw)


def _read(path: Path, data: bytes) -> tuple[str, Raw]:
    from eascope.analysis.recordings import perfetto, text, tracedat  # noqa: PLC0415 - they need Raw

    if data.startswith(tracedat.MAGIC):
        raw = tracedat.read_trace_dat(path, data)
        return "trace.dat", text.reported(path, data) if raw is None else raw
    if perfetto.is_perfetto(data):
        return "Perfetto", perfetto.read_perfetto(path, data)
    found = text.read_text(path, data)
    if found is None:
        raise RecordingError(
            f"{path}: no recording ({len(data)} bytes): allowed: Perfetto's protobuf, trace.dat, "
            "text of trace-cmd report, text or HTML of ftrace or systrace"
        )
    return "text", found


def _finished(path: Path, form: str, raw: Raw) -> Recording:
    tables = {name: raw.table(name, columns) for name, columns in COLUMNS.items()}
    waking = bool(raw.counts["sched_waking"])
    woken = pl.concat(
        raw.table(name, COLUMNS["wake"])
        for name in (WAKES[0] if waking else WAKES[1], "sched_wakeup_new")
    )
    tables["wake"] = woken.sort("t_ns", maintain_order=True)
    switch = tables["switch"]
    if not switch.height:
        there = ", ".join(f"{n} {event}" for event, n in raw.counts.most_common(3))
        raise RecordingError(f"{path}: no sched_switch: allowed: a recording with it ({there})")
    notes = []
    marked = [
        (at, int(found[2]), int(found[1]))
        for at, text in tables["mark"].select("t_ns", "text").iter_rows()
        if (found := _FIRST_VALUE.search(text))
    ]
    for more, origin in ((marked, "values of markers"), (raw.polled, "polled")):
        if more:
            rows = pl.DataFrame(more, schema=["t_ns", "cpu", "khz"], orient="row")
            both = pl.concat([tables["freq"], rows.cast(pl.Int64)])
            tables["freq"] = both.sort("t_ns", maintain_order=True)
            notes.append(f"{len(more)} frequencies are {origin}")
    timed = [tables[name] for name in ("switch", "wake", "freq", "idle") if tables[name].height]
    begin = min(int(table["t_ns"][0]) for table in timed)
    end = max(int(table["t_ns"][-1]) for table in timed)
    cpus = max(raw.cpus, *(int(table["cpu"].max() or 0) + 1 for table in timed))
    by_cpu = switch.with_columns(pl.col("next_pid").shift(1).over("cpu").alias("before"))
    gap = (pl.col("before") != pl.col("prev_pid")) & (pl.col("prev_pid") >= 0)
    broken = by_cpu.filter(gap).height
    tables["wake"] = _with_wakers(tables["wake"], switch)
    notes += _losses(raw, broken, switch.height) + _clock(raw, switch)
    seen = set(switch["cpu"].unique()) | set(tables["idle"]["cpu"].unique())
    silent = [cpu for cpu in range(cpus) if cpu not in seen]
    if silent:
        which = ", ".join(map(str, silent))
        notes.append(f"CPU {which}: no event at all: asleep, off or lost; taken as idle")
    if not tables["freq"].height:
        notes.append("no frequency was recorded: every CPU is taken to be at its top clock")
    if not waking:
        notes.append(
            "no sched_waking: sched_wakeup comes on the woken CPU, so remote wakers are lost"
            if woken.height
            else "no wake-up was recorded: its cause and the time until the CPU are unknown"
        )
    return Recording(
        path=path,
        form=form,
        cpus=cpus,
        begin_ns=begin,
        end_ns=end,
        **tables,
        names=raw.names,
        tgids=raw.tgids,
        counts=raw.counts,
        waking=waking,
        broken=broken,
        device=raw.device,
        notes=tuple(notes),
        capacities=raw.capacities,
        clocks=raw.clocks,
    )


def _with_wakers(wake: pl.DataFrame, switch: pl.DataFrame) -> pl.DataFrame:
    """Wake-ups; where the event does not say who ran there, the switches do."""
    if not (wake["waker"] < 0).any():
        return wake
    running = switch.select("t_ns", "cpu", pl.col("next_pid").alias("ran"))
    joined = wake.join_asof(running, on="t_ns", by="cpu", check_sortedness=False)
    waker = pl.when(pl.col("waker") < 0).then(pl.col("ran").fill_null(-1))
    return joined.with_columns(waker.otherwise(pl.col("waker")).alias("waker")).drop("ran")


def _losses(raw: Raw, broken: int, switches: int) -> list[str]:
    notes = []
    if raw.lost or raw.lost_before:
        notes.append(
            f"the recorder lost events: {raw.lost} counted, {raw.lost_before} pages after a gap"
        )
    if broken:
        notes.append(
            f"events are missing: {broken} of {switches} switches come from another thread than "
            "the one that ran"
        )
    return notes


def _clock(raw: Raw, switch: pl.DataFrame) -> list[str]:
    notes = []
    if raw.steps_back:
        notes.append(f"the clock goes back {raw.steps_back} times: events are sorted by time")
    pause = int(switch["t_ns"].diff().max() or 0)
    if pause > LONG_NS:
        notes.append(f"the clock jumps by {pause / 1e9:.1f} s between two switches")
    return notes
