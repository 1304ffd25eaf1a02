# SPDX-License-Identifier: GPL-2.0-or-later
"""``trace.dat`` of trace-cmd, version 6: the ring buffers' pages, read without trace-cmd.

The layout is that of the manual page trace-cmd.dat(5) and of the kernel's ring buffer. All pages
are walked together: a step takes the next event of every page, so no event is a Python object.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.recordings.tables import BACK_NS, Raw, RecordingError

MAGIC = b"\x17\x08\x44tracing"
#: A factor of sums by which texts are told apart.
_ODD = np.uint64(0x9E3779B97F4A7C15)
#: Of an event's first word: padding, a long pause, an absolute time.
_PADDING, _EXTEND, _STAMP = 29, 30, 31
#: Bits of a page's second word: its bytes, and whether events before it were lost.
_COMMIT, _MISSED = 0xFFFFF, 1 << 31
_FIELD = re.compile(
    r"field:([^;]*?)([A-Za-z_0-9]+)(\[[^\]]*\])?;\s*offset:(\d+);\s*size:(\d+);"
    r"(?:\s*signed:(\d);)?"
)
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Field:
    offset: int
    size: int
    signed: bool
    text: bool
    #: Neither a number nor a text.
    other: bool


@dataclass(frozen=True)
class _Format:
    name: str
    fields: dict[str, _Field]


#: What takes the events of one kind: name, places in the whole order, times, CPUs, fields.
Sink = Callable[[str, Ints, Ints, npt.NDArray[np.int32], "EventTable"], None]


class _Cursor:
    """The head of the file, read piece by piece."""

    def __init__(self, path: Path, data: bytes | memoryview, at: int) -> None:
        self.path, self.data, self.at, self.order = path, data, at, "<"

    def take(self, size: int) -> bytes:
        part = bytes(self.data[self.at : self.at + size])
        if len(part) < size:
            raise RecordingError(
                f"{self.path}: truncated: {len(self.data)} bytes, {self.at + size} are needed"
            )
        self.at += size
        return part

    def number(self, size: int) -> int:
        return int(struct.unpack(self.order + {2: "H", 4: "I", 8: "Q"}[size], self.take(size))[0])

    def word(self) -> str:
        end = bytes(self.data[self.at : self.at + 256]).find(b"\0")
        text = self.take(max(end, 0) + 1)[:-1]
        return text.decode(errors="replace")


def read_trace_dat(path: Path, data: bytes, sink: Sink | None = None) -> Raw | None:
    """The events of a trace.dat; None where the version is one that only trace-cmd reads.

    :param sink: takes the events in place of what is returned.
    :raises RecordingError: truncated, of the other byte order, or damaged.
    """
    cursor = _Cursor(path, data, len(MAGIC))
    version = cursor.word()
    if version != "6":
        return None
    if cursor.take(1) != b"\0":
        raise RecordingError(
            f"{path}: big-endian; only a trace.dat of a little-endian machine, such as arm64, can "
            "be read"
        )
    long_size = cursor.take(1)[0]
    page = cursor.number(4)
    formats, names, raw = _head(cursor)
    raw.names |= names
    count = cursor.number(4)
    kind = cursor.take(10)
    if kind == b"options  \0":
        _options(cursor, raw)
        kind = cursor.take(10)
    if kind != b"flyrecord\0":
        raise RecordingError(f"{path}: a latency trace; record events with `trace-cmd record`")
    places = [(cursor.number(8), cursor.number(8)) for _ in range(count)]
    raw.cpus = count
    whole = max((offset + size for offset, size in places), default=0)
    if whole > len(data):
        raise RecordingError(f"{path}: truncated: {len(data)} of {whole} bytes are there")

    def keep(name: str, _: Ints, t_ns: Ints, cpu: npt.NDArray[np.int32], table: EventTable) -> None:
        raw.add(name, t_ns, cpu, table.column, table.text)

    pages = np.frombuffer(data, np.uint8)
    _pages(path, pages, places, page, long_size, raw, formats, sink or keep)
    return raw


def _head(cursor: _Cursor) -> tuple[dict[int, _Format], dict[int, str], Raw]:
    """Formats of the events by number, names of threads by pid."""
    for word in ("header_page", "header_event"):
        if cursor.word() != word:
            raise RecordingError(f"{cursor.path}: truncated or damaged: it has no {word}")
        cursor.take(cursor.number(8))
    texts = [cursor.take(cursor.number(8)) for _ in range(cursor.number(4))]
    for _ in range(cursor.number(4)):
        cursor.word()
        texts += [cursor.take(cursor.number(8)) for _ in range(cursor.number(4))]
    cursor.take(cursor.number(4))  # the kernel's symbols
    cursor.take(cursor.number(4))  # texts of trace_printk
    comms = cursor.take(cursor.number(8)).decode(errors="replace")
    names = {}
    for line in comms.splitlines():
        pid, _, name = line.strip().partition(" ")
        if pid.isdigit():
            names[int(pid)] = name
    formats = {}
    for description in texts:
        words = description.decode(errors="replace")
        called, number = re.search(r"name: (\S+)", words), re.search(r"ID: (\d+)", words)
        if called and number:
            fields = {
                field[2]: _field(field)
                for field in _FIELD.finditer(words.partition("print fmt")[0])
            }
            formats[int(number[1])] = _Format(called[1], fields)
    return formats, names, Raw()


def _field(found: re.Match[str]) -> _Field:
    kind, array, size = found[1], found[3], int(found[5])
    several = bool(array) or "__data_loc" in kind or "[]" in kind
    text = several and "char" in kind
    other = (several and not text) or (not text and size not in (1, 2, 4, 8))
    return _Field(int(found[4]), size, found[6] == "1", text, other)


def _options(cursor: _Cursor, raw: Raw) -> None:
    """What the recorder counted by CPU, the clock, and the machine (uname)."""
    while option := cursor.number(2):
        text = cursor.take(cursor.number(4)).decode(errors="replace")
        if option == 2:
            for words in ("overrun", "dropped events"):
                raw.lost += sum(int(n) for n in re.findall(rf"^{words}: (\d+)", text, re.M))
        elif option == 4:
            raw.clock = next(iter(re.findall(r"\[(\S+)\]", text)), text.strip("\0 \n"))
        elif option == 5:
            raw.device = text.strip("\0 \n")


def _pages(
    path: Path,
    data: npt.NDArray[np.uint8],
    places: list[tuple[int, int]],
    page: int,
    long_size: int,
    raw: Raw,
    formats: dict[int, _Format],
    sink: Sink,
) -> None:
    starts = [
        (cpu, at)
        for cpu, (offset, size) in enumerate(places)
        for at in range(offset, offset + size - 15, page)
    ]
    if not starts:
        return
    cpus = np.array([cpu for cpu, _ in starts], np.int32)
    begins = np.array([at for _, at in starts], np.int64)
    if (begins % 8).any():  # never written by trace-cmd
        raise RecordingError(f"{path}: pages that do not lie at whole words")
    words = data[: len(data) // 4 * 4].view("<u4")
    times = (words[begins // 4].astype(np.int64)) | (words[begins // 4 + 1].astype(np.int64) << 32)
    commit = words[begins // 4 + 2].astype(np.int64)
    raw.lost_before += int((commit & _MISSED != 0).sum())
    at = begins + 8 + long_size
    ends = at + np.minimum(commit & _COMMIT, page - 8 - long_size)
    found: list[tuple[Ints, Ints, Ints]] = []
    pages = np.arange(len(at))
    for pages_now, offsets, stamps in _walk(words, pages, at, ends, times):
        found.append((pages_now, offsets, stamps))
    if not found:
        return
    of_page = np.concatenate([part[0] for part in found])
    offsets = np.concatenate([part[1] for part in found])
    stamps = np.concatenate([part[2] for part in found])
    order = np.lexsort((offsets, of_page))  # within a CPU in the order of the buffer
    of_page, offsets, stamps = of_page[order], offsets[order], stamps[order]
    back = (np.diff(stamps) < -BACK_NS) & (np.diff(cpus[of_page]) == 0)
    raw.steps_back += int(back.sum())
    order = np.argsort(stamps, kind="stable")
    offsets, stamps, cpu = offsets[order], stamps[order], cpus[of_page[order]]
    kinds = words[offsets // 4] & 0xFFFF
    for number in np.unique(kinds):
        wanted = formats.get(int(number))
        if wanted is None:
            raise RecordingError(f"{path}: an event of number {number}, which has no format")
        rows = np.flatnonzero(kinds == number)
        sink(wanted.name, rows, stamps[rows], cpu[rows], EventTable(data, offsets[rows], wanted))


def _walk(
    words: npt.NDArray[np.uint32], pages: Ints, at: Ints, ends: Ints, times: Ints
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each step the pages with an event, where its data lie, and its time."""
    while True:
        alive = at < ends
        if not alive.all():
            pages, at, ends, times = pages[alive], at[alive], ends[alive], times[alive]
        if not len(at):
            return
        word = words[at // 4].astype(np.int64)
        kind, delta = word & 31, word >> 5
        second = words[np.minimum(at // 4 + 1, len(words) - 1)].astype(np.int64)
        padding, plain = kind == _PADDING, kind < _PADDING
        long = np.where(kind == 0, second, kind * 4)
        step = np.where(plain, 4 + long, 8)
        # Padding without a delta fills the page's rest.
        step = np.where(padding, np.where(delta == 0, ends - at, 4 + second), step)
        extended = delta + (second << 27)
        stamp = kind == _STAMP
        times = np.where(plain, times + delta, times)
        times = np.where(padding & (delta != 0), times + delta, times)
        times = np.where(kind == _EXTEND, times + extended, times)
        times = np.where(stamp, (times & ~((1 << 59) - 1)) | extended, times)
        if plain.any():
            start = at + np.where(kind == 0, 8, 4)
            yield pages[plain], start[plain], times[plain]
        at = at + np.maximum(step, 4)


class EventTable:
    """The events of one kind: its fields as columns."""

    def __init__(self, data: npt.NDArray[np.uint8], offsets: Ints, wanted: _Format) -> None:
        self.data, self.offsets, self.format = data, offsets, wanted

    def whole(self) -> dict[str, Ints | pl.Series] | None:
        """All fields but the common ones; None where one is neither a number nor a text."""
        fields = {n: of for n, of in self.format.fields.items() if not n.startswith("common_")}
        if any(of.other for of in fields.values()):
            return None
        return {
            name: self._texts(name, of) if of.text else self._numbers(of)
            for name, of in fields.items()
        }

    def _texts(self, name: str, of: _Field) -> pl.Series:
        every = np.arange(len(self.offsets))
        if of.size in (0, 4):
            return pl.Series(name, self.text(name, every), pl.String)
        rows = self.data[self.offsets[:, None] + np.arange(of.offset, of.offset + of.size)]
        packed = np.ascontiguousarray(rows).view(f"S{of.size}").ravel()
        first, back = _kinds(rows)
        texts = pl.Series(name, [_ended(bytes(packed[at])) for at in first], pl.String)
        return texts.gather(pl.Series(back))

    def column(self, name: str) -> Ints | None:
        """A number; None where the event has no such field."""
        if name not in self.format.fields:
            return None
        return self._numbers(self.format.fields[name])

    def _numbers(self, of: _Field) -> Ints:
        offset, size, signed = of.offset, of.size, of.signed
        at = self.offsets + offset
        if size in (4, 8) and offset % 4 == 0:  # an event lies at a whole word
            words = self.data[: len(self.data) // 4 * 4].view("<u4")
            value = words[at // 4].astype(np.int64)
            if size == 8:
                value |= words[at // 4 + 1].astype(np.int64) << 32
        else:
            value = np.zeros(len(at), np.int64)
            for byte in range(size):
                value |= self.data[at + byte].astype(np.int64) << (8 * byte)
        if signed and size < 8:
            value -= (value >> (8 * size - 1)) << (8 * size)
        return value

    def text(self, name: str, rows: Ints) -> list[str]:
        """A text of fixed length, of the record's rest, or of where a word says that it lies."""
        offset, size = self.format.fields[name].offset, self.format.fields[name].size
        begins, length = self.offsets[rows] + offset, size
        if size in (0, 4):
            where = self.column(name) if size == 4 else None
            begins = self.offsets[rows] + (offset if where is None else where[rows] & 0xFFFF)
            length = 1024
        return [_ended(self.data[at : at + length].tobytes()) for at in begins]


def _kinds(rows: npt.NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """A row of each kind, and for each row the number of its kind."""
    if rows.shape[1] % 8 == 0:  # sorting texts takes ten times as long as sorting their sums
        words = np.ascontiguousarray(rows).view("<u8")
        sums = (words * _ODD ** np.arange(1, words.shape[1] + 1, dtype=np.uint64)).sum(axis=1)
        _, first, back = np.unique(sums, return_index=True, return_inverse=True)
        if (words[first][back] == words).all():
            return first, back
    _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, back.ravel()


def _ended(text: bytes) -> str:
    return text.partition(b"\0")[0].decode(errors="replace").rstrip("\n")
