# SPDX-License-Identifier: GPL-2.0-or-later
"""Perfetto's protobuf, by the classes of the package ``perfetto``."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eascope.analysis.recordings.tables import BACK_NS, Ints, Raw, RecordingError

#: Field 1 of `Trace`, a packet with a length.
_PACKET = 0x0A
#: Fields of events that we take, by event, besides time, CPU and pid.
_FIELDS = {
    "sched_switch": (
        *("prev_pid", "prev_prio", "prev_state", "next_pid", "next_prio", "prev_comm", "next_comm"),
    ),
    **dict.fromkeys(
        ("sched_waking", "sched_wakeup", "sched_wakeup_new"), ("pid", "prio", "target_cpu", "comm")
    ),
    **dict.fromkeys(("cpu_frequency", "cpu_idle"), ("state", "cpu_id")),
    **dict.fromkeys(("irq_handler_entry", "irq_handler_exit"), ("irq",)),
    "print": ("buf",),
}
_TEXTS = ("prev_comm", "next_comm", "comm", "buf")


def is_perfetto(data: bytes) -> bool:
    """True if the file begins with a packet."""
    if len(data) < 3 or data[0] != _PACKET:
        return False
    size, at = _varint(data, 1)
    return 0 < size <= 1 << 30 and at < len(data) and data[at] & 7 in (0, 1, 2, 5)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
    raise IndexError


def _packets(path: Path, data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        try:
            tag, begin = data[at], at + 1
            size, begin = _varint(data, begin)
        except IndexError:
            tag, size, begin = _PACKET, 1, len(data)
        if tag != _PACKET:
            raise RecordingError(f"{path}: damaged: no packet at byte {at} of {len(data)}")
        if begin + size > len(data):
            raise RecordingError(
                f"{path}: truncated: {len(data)} of at least {begin + size} bytes are there"
            )
        yield data[begin : begin + size]
        at = begin + size


def _text(value: str | bytes) -> str:
    """A text; one that is no UTF-8 comes as bytes."""
    return value if isinstance(value, str) else value.decode(errors="replace")


class _Columns:
    """Events of one kind as lists, a column each."""

    def __init__(self, event: str) -> None:
        self.event = event
        self.fields = ("t_ns", "cpu", "common_pid", "common_flags", *_FIELDS[event])
        self.lists: dict[str, list[Any]] = {name: [] for name in self.fields}

    def column(self, name: str) -> Ints | None:
        values = self.lists.get(name)
        if not values or name in _TEXTS:
            return None
        return np.array(values, np.int64)

    def text(self, name: str, rows: Ints) -> list[str]:
        values = self.lists.get(name, [])
        return [_text(values[row]) for row in rows] if values else []


def read_perfetto(path: Path, data: bytes) -> Raw:
    """The events of a Perfetto trace.

    :raises RecordingError: truncated or damaged.
    """
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - the package takes 0.1 s

    raw, tables = Raw(), {event: _Columns(event) for event in _FIELDS}
    reader = _Reader(raw, tables)
    try:
        for packet in _packets(path, data):
            reader.packet(packet)
    except (DecodeError, zlib.error) as error:
        raise RecordingError(f"{path}: damaged: {error}") from error
    for event, table in tables.items():
        if table.lists["t_ns"]:
            t_ns = np.array(table.lists["t_ns"], np.int64)
            cpu = np.array(table.lists["cpu"], np.int64)
            raw.add(event, t_ns, cpu, table.column, table.text)
    raw.counts |= reader.others
    raw.rails(*reader.rails)
    return raw


class _Reader:
    def __init__(self, raw: Raw, tables: dict[str, _Columns]) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2  # noqa: PLC0415

        self.raw, self.tables, self.proto = raw, tables, perfetto_trace_pb2
        self.others: Any = type(raw.counts)()
        self.rails: tuple[list[int], list[str], list[float]] = ([], [], [])
        self.rail_names: dict[int, str] = {}
        self.running: dict[int, tuple[int, int, str]] = {}
        self.overrun: dict[int, int] = {}

    def packet(self, data: bytes) -> None:
        packet = self.proto.TracePacket.FromString(data)
        kind = packet.WhichOneof("data")
        if kind == "ftrace_events":
            self.bundle(packet.ftrace_events)
        elif kind == "compressed_packets":
            inside = zlib.decompress(packet.compressed_packets)
            for part in _packets(Path("compressed packet"), inside):
                self.packet(part)
        elif kind == "power_rails":
            self.power(packet)
        elif kind == "sys_stats":
            # Polled clocks: the only ones where the kernel's event is missing.
            for cpu, khz in enumerate(packet.sys_stats.cpufreq_khz):
                self.raw.polled.append((packet.timestamp, cpu, khz))
        elif kind in ("process_tree", "ftrace_stats", "cpu_info", "system_info"):
            getattr(self, kind)(getattr(packet, kind))

    def process_tree(self, tree: Any) -> None:  # noqa: ANN401 - a message
        for process in tree.processes:
            if process.cmdline:
                self.raw.names.setdefault(process.pid, _text(process.cmdline[0]).rpartition("/")[2])
            self.raw.tgids[process.pid] = process.pid
        for thread in tree.threads:
            self.raw.tgids[thread.tid] = thread.tgid
            if thread.name:
                self.raw.names.setdefault(thread.tid, _text(thread.name))

    def cpu_info(self, info: Any) -> None:  # noqa: ANN401 - a message
        for number, cpu in enumerate(info.cpus):
            if cpu.capacity:
                self.raw.capacities[number] = cpu.capacity
            if cpu.frequencies:
                self.raw.clocks[number] = tuple(sorted(cpu.frequencies))
        self.raw.cpus = max(self.raw.cpus, len(info.cpus))

    def system_info(self, info: Any) -> None:  # noqa: ANN401 - a message
        words = (info.android_soc_model, info.android_build_fingerprint)
        known = filter(None, (*words, *info.device_tree_compatibles))
        self.raw.device = " ".join(map(_text, known))
        self.raw.cpus = max(self.raw.cpus, info.num_cpus)

    def ftrace_stats(self, stats: Any) -> None:  # noqa: ANN401 - a message
        for cpu in stats.cpu_stats:
            lost = cpu.overrun + cpu.dropped_events
            first = self.overrun.setdefault(cpu.cpu, lost)
            self.raw.lost += max(0, lost - first)
            self.overrun[cpu.cpu] = max(first, lost)
            self.raw.cpus = max(self.raw.cpus, cpu.cpu + 1)

    def power(self, packet: Any) -> None:  # noqa: ANN401 - a message
        rails = packet.power_rails
        for rail in rails.rail_descriptor:
            self.rail_names[rail.index] = (
                f"{_text(rail.subsys_name)} {_text(rail.rail_name)}".strip()
            )
        for sample in rails.energy_data:
            # The sample's own time: two polls of the same sample have one.
            self.rails[0].append(sample.timestamp_ms * 1_000_000 or packet.timestamp)
            self.rails[1].append(self.rail_names.get(sample.index, str(sample.index)))
            self.rails[2].append(float(sample.energy))

    def bundle(self, bundle: Any) -> None:  # noqa: ANN401 - a message
        self.raw.lost_before += int(bundle.lost_events)
        if bundle.HasField("compact_sched"):
            self.compact(bundle.cpu, bundle.compact_sched)
        before = 0
        for event in bundle.event:
            kind = event.WhichOneof("event")
            table = self.tables.get(kind)
            if table is None:
                self.others[kind or "unknown"] += 1
                continue
            if event.timestamp < before - BACK_NS:
                self.raw.steps_back += 1
            before = event.timestamp
            message, lists = getattr(event, kind), table.lists
            lists["t_ns"].append(event.timestamp)
            lists["cpu"].append(bundle.cpu)
            lists["common_pid"].append(event.pid)
            lists["common_flags"].append(
                event.common_flags if event.HasField("common_flags") else -1
            )
            for name in _FIELDS[kind]:
                lists[name].append(getattr(message, name))

    def compact(self, cpu: int, compact: Any) -> None:  # noqa: ANN401 - a message
        """Switches and wake-ups of a bundle as columns: times are deltas, names are interned."""
        names = list(compact.intern_table)
        if count := len(compact.switch_timestamp):
            lists = self.tables["sched_switch"].lists
            next_pid = list(compact.switch_next_pid)
            next_prio = list(compact.switch_next_prio)
            next_comm = [names[number] for number in compact.switch_next_comm_index]
            times = np.cumsum(np.array(compact.switch_timestamp, np.int64)).tolist()
            # The thread that was there is the last one that the same CPU was given.
            pid, prio, comm = self.running.get(cpu, (-1, -1, ""))
            lists["t_ns"] += times
            lists["cpu"] += [cpu] * count
            lists["common_pid"] += [pid, *next_pid[:-1]]
            lists["common_flags"] += [-1] * count
            lists["prev_pid"] += [pid, *next_pid[:-1]]
            lists["prev_prio"] += [prio, *next_prio[:-1]]
            lists["prev_comm"] += [comm, *next_comm[:-1]]
            lists["prev_state"] += list(compact.switch_prev_state)
            lists["next_pid"] += next_pid
            lists["next_prio"] += next_prio
            lists["next_comm"] += next_comm
            self.running[cpu] = (next_pid[-1], next_prio[-1], next_comm[-1])
        if count := len(compact.waking_timestamp):
            self.compact_waking(cpu, compact, names, count)

    def compact_waking(self, cpu: int, compact: Any, names: list[str], count: int) -> None:  # noqa: ANN401
        """Wake-ups of a bundle; who ran there is known from the switches alone."""
        lists = self.tables["sched_waking"].lists
        flags = list(compact.waking_common_flags)
        lists["t_ns"] += np.cumsum(np.array(compact.waking_timestamp, np.int64)).tolist()
        lists["cpu"] += [cpu] * count
        lists["common_pid"] += [-1] * count
        lists["common_flags"] += flags if len(flags) == count else [-1] * count
        lists["pid"] += list(compact.waking_pid)
        lists["prio"] += list(compact.waking_prio)
        lists["target_cpu"] += list(compact.waking_target_cpu)
        lists["comm"] += [names[number] for number in compact.waking_comm_index]
