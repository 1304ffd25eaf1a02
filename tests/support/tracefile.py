# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small real ``trace.dat`` files (version 6) whose content a test knows.

The layout is the one of the trace-cmd.dat(5) manual page: header pages, event formats, and per CPU
ring-buffer pages of 4096 bytes.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PAGE = 4096
HEADER_PAGE = """\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
"""
HEADER_EVENT = """\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
COMMON = (
    ("unsigned short", "common_type", 2),
    ("unsigned char", "common_flags", 1),
    ("unsigned char", "common_preempt_count", 1),
    ("int", "common_pid", 4),
)
#: name: (id, system, fields (type, name, struct format))
EVENTS: dict[str, tuple[int, str, tuple[tuple[str, str, str], ...]]] = {
    "print": (5, "ftrace", (("unsigned long", "ip", "Q"), ("char", "buf[]", "text"))),
    "sched_switch": (
        101,
        "sched",
        (
            ("char", "prev_comm[16]", "16s"),
            ("pid_t", "prev_pid", "i"),
            ("int", "prev_prio", "i"),
            ("long", "prev_state", "q"),
            ("char", "next_comm[16]", "16s"),
            ("pid_t", "next_pid", "i"),
            ("int", "next_prio", "i"),
        ),
    ),
    "sched_waking": (
        102,
        "sched",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("int", "prio", "i"),
            ("int", "target_cpu", "i"),
        ),
    ),
    "sched_migrate_task": (
        103,
        "sched",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("int", "prio", "i"),
            ("int", "orig_cpu", "i"),
            ("int", "dest_cpu", "i"),
        ),
    ),
    "sched_wakeup": (
        107,
        "sched",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("int", "prio", "i"),
            ("int", "target_cpu", "i"),
        ),
    ),
    "sched_wakeup_new": (
        110,
        "sched",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("int", "prio", "i"),
            ("int", "target_cpu", "i"),
        ),
    ),
    "cpu_frequency": (104, "power", (("u32", "state", "I"), ("u32", "cpu_id", "I"))),
    "cpu_idle": (106, "power", (("u32", "state", "I"), ("u32", "cpu_id", "I"))),
    "lisa__sched_overutilized": (
        105,
        "lisa",
        (("int", "overutilized", "i"), ("char", "span[16]", "16s")),
    ),
    "sched_feec_decision": (
        108,
        "eascope",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("int", "prev_cpu", "i"),
            ("int", "dst_cpu", "i"),
            ("int", "mode", "i"),
            ("int", "path", "i"),
            ("char", "candidates[64]", "64s"),
        ),
    ),
    "sched_decision": (
        109,
        "eascope",
        (
            ("char", "comm[16]", "16s"),
            ("pid_t", "pid", "i"),
            ("unsigned int", "activation", "I"),
            ("int", "prev_cpu", "i"),
            ("int", "chosen", "i"),
            ("int", "cpu", "i"),
        ),
    ),
}


@dataclass(frozen=True)
class TraceEvent:
    """One event: time (ns), CPU, pid of the running task, event name, field values."""

    t_ns: int
    cpu: int
    pid: int
    name: str
    values: tuple[object, ...]


def switch(
    t_ns: int, cpu: int, prev: tuple[str, int], state: int, following: tuple[str, int]
) -> TraceEvent:
    """``sched_switch`` from ``prev`` (name, pid), left in ``state``, to ``following``."""
    values = (*prev, 120, state, *following, 120)
    return TraceEvent(t_ns, cpu, prev[1], "sched_switch", values)


def waking(t_ns: int, cpu: int, task: tuple[str, int], target: int, by: int = 0) -> TraceEvent:
    """``sched_waking`` of ``task`` by the task with pid ``by``."""
    return TraceEvent(t_ns, cpu, by, "sched_waking", (*task, 120, target))


def migrate(t_ns: int, cpu: int, task: tuple[str, int], orig: int, dest: int) -> TraceEvent:
    """``sched_migrate_task`` of ``task``."""
    return TraceEvent(t_ns, cpu, 0, "sched_migrate_task", (*task, 120, orig, dest))


def marker(t_ns: int, cpu: int, pid: int, text: str) -> TraceEvent:
    """A line that the task ``pid`` wrote to ``trace_marker``."""
    return TraceEvent(t_ns, cpu, pid, "print", (0xFFFF800080000000, text))


def _size(kind: str) -> int:
    return 0 if kind == "text" else struct.calcsize("<" + kind)


def _layout(name: str) -> tuple[str, list[tuple[int, str]]]:
    """The format file of an event, and (offset, struct format) of its own fields."""
    number, system, fields = EVENTS[name]
    lines = [f"name: {name}", f"ID: {number}", "format:"]
    offset = 0
    for kind, field, size in COMMON:
        signed = int(kind == "int")
        lines.append(f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{signed};")
        offset += size
    lines.append("")
    places = []
    for kind, field, form in fields:
        size = _size(form)
        align = {"i": 4, "I": 4, "q": 8, "Q": 8}.get(form, 1)
        offset += -offset % align
        signed = int(form in "iq")
        lines.append(f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{signed};")
        places.append((offset, form))
        offset += size
    lines += [
        "",
        'print fmt: "%d", REC->common_pid' if system != "ftrace" else 'print fmt: "%s", REC->buf',
    ]
    return "\n".join(lines) + "\n", places


def _payload(event: TraceEvent) -> bytes:
    number, _, _ = EVENTS[event.name]
    _, places = _layout(event.name)
    data = bytearray(struct.pack("<HBBi", number, 0, 0, event.pid))
    for (offset, form), value in zip(places, event.values, strict=True):
        data += bytes(offset - len(data))
        if form == "text":
            data += str(value).encode() + b"\0"
        elif form.endswith("s"):
            data += struct.pack("<" + form, str(value).encode())
        else:
            data += struct.pack("<" + form, value)
    return bytes(data) + bytes(-len(data) % 4)


def _pages(events: list[TraceEvent]) -> bytes:
    pages = []
    body = bytearray()
    start = last = events[0].t_ns if events else 0

    def close() -> None:
        pages.append((struct.pack("<QQ", start, len(body)) + body).ljust(PAGE, b"\0"))
        body.clear()

    for event in events:
        payload = _payload(event)
        need = len(payload) + 8 + 8
        if len(body) + need > PAGE - 16:
            close()
            start = last = event.t_ns
        delta = event.t_ns - last
        if delta >= 1 << 27:  # TIME_EXTEND: low 27 bits in the header, the rest in the next word
            body += struct.pack("<II", 30 | (delta & ((1 << 27) - 1)) << 5, delta >> 27)
            delta = 0
        if len(payload) <= 112:
            body += struct.pack("<I", (len(payload) // 4) | delta << 5)
        else:
            body += struct.pack("<II", delta << 5, len(payload) + 4)
        body += payload
        last = event.t_ns
    close()
    return b"".join(pages)


def trace_dat(
    events: Iterable[TraceEvent],
    cpus: int,
    names: dict[int, str] | None = None,
    uname: str = "",
) -> bytes:
    """The bytes of a ``trace.dat`` with ``events``, for a machine of ``cpus`` CPUs.

    :param names: comms of pids (the file's saved command lines).
    """
    out = bytearray(b"\x17\x08\x44tracing6\0" + bytes([0, 8]) + struct.pack("<I", PAGE))
    for label, text in ((b"header_page\0", HEADER_PAGE), (b"header_event\0", HEADER_EVENT)):
        out += label + struct.pack("<Q", len(text)) + text.encode()

    def formats(system: str) -> bytes:
        texts = [_layout(name)[0].encode() for name, entry in EVENTS.items() if entry[1] == system]
        return struct.pack("<I", len(texts)) + b"".join(
            struct.pack("<Q", len(text)) + text for text in texts
        )

    out += formats("ftrace")
    systems = sorted({entry[1] for entry in EVENTS.values()} - {"ftrace"})
    out += struct.pack("<I", len(systems))
    for system in systems:
        out += system.encode() + b"\0" + formats(system)
    out += struct.pack("<I", 0) + struct.pack("<I", 0)  # kallsyms, printk formats
    lines = "".join(f"{pid} {name}\n" for pid, name in sorted((names or {}).items())).encode()
    out += struct.pack("<Q", len(lines)) + lines
    known = struct.pack("<HI", 5, len(uname)) + uname.encode() if uname else b""
    out += struct.pack("<I", cpus) + b"options  \0" + known + struct.pack("<H", 0) + b"flyrecord\0"
    per_cpu: list[list[TraceEvent]] = [[] for _ in range(cpus)]
    for event in sorted(events, key=lambda entry: entry.t_ns):
        per_cpu[event.cpu].append(event)
    chunks = [_pages(entries) if entries else b"" for entries in per_cpu]
    position = len(out) + 16 * cpus
    # At least a page of room for options.
    position += PAGE + -position % PAGE
    first = position
    for chunk in chunks:
        out += struct.pack("<QQ", position, len(chunk))
        position += len(chunk)
    out += bytes(first - len(out))
    return bytes(out) + b"".join(chunks)


def write(
    path: Path,
    events: Iterable[TraceEvent],
    cpus: int,
    names: dict[int, str] | None = None,
    uname: str = "",
) -> None:
    """Write :func:`trace_dat` to ``path``."""
    path.write_bytes(trace_dat(events, cpus, names, uname))
