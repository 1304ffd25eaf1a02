# SPDX-License-Identifier: GPL-2.0-or-later
"""What it takes to read a recording of a minute and to import ten seconds of it: processor time."""

import random
import resource
import struct
import time
from pathlib import Path

import pytest

from eascope.analysis.recordings.device import device_of
from eascope.analysis.recordings.read import read_recording
from eascope.analysis.trace import FIELDS, read_trace
from eascope.experiments.recordings.importing import import_recording
from eascope.experiments.recordings.toml import write_import
from tests.support import tracefile

pytestmark = pytest.mark.long

CPUS, SECONDS, EVENTS = 8, 60, 2_000_000
#: Processor seconds, and bytes.
MOST_READING_S, MOST_IMPORT_S, MOST_BYTES = 5.0, 10.0, 1 << 30


def a_second() -> bytes:
    draws, events = random.Random(1), []
    for cpu in range(CPUS):
        at, idle, task = 10**9, (f"swapper/{cpu}", 0), ("", 0)
        for number in range(EVENTS // SECONDS // CPUS):
            at += draws.randrange(100_000, 380_000)
            task = (f"task{number // 4 % 40}", 100 + 40 * cpu + number // 4 % 40)
            kinds = (
                tracefile.waking(at, cpu, task, cpu),
                tracefile.switch(at, cpu, idle, 0, task),
                tracefile.TraceEvent(at, cpu, 0, "cpu_frequency", (500_000 + number % 7, cpu)),
                tracefile.switch(at, cpu, task, 1, idle),
            )
            events.append(kinds[number % 4])
    return tracefile.trace_dat(events, CPUS)


def a_minute(path: Path) -> None:
    """Every second has the pages of the first one, with later times."""
    one = a_second()
    at = one.index(b"flyrecord\0") + 10
    places = [struct.unpack_from("<QQ", one, at + 16 * cpu) for cpu in range(CPUS)]
    head, pages = bytearray(one[: places[0][0]]), bytearray()
    for cpu, (offset, size) in enumerate(places):
        struct.pack_into("<QQ", head, at + 16 * cpu, len(head) + len(pages), size * SECONDS)
        for second in range(SECONDS):
            for begin in range(offset, offset + size, tracefile.PAGE):
                (t_ns,) = struct.unpack_from("<Q", one, begin)
                pages += struct.pack("<Q", t_ns + second * 10**9)
                pages += one[begin + 8 : begin + tracefile.PAGE]
    path.write_bytes(head + pages)


def test_a_minute_of_eight_cpus(tmp_path: Path) -> None:
    a_minute(tmp_path / "trace.dat")
    begin = time.process_time()
    recording = read_recording(tmp_path / "trace.dat")
    reading = time.process_time() - begin
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    begin = time.process_time()
    out = tmp_path / "load.toml"
    made = import_recording(recording, device_of(recording), "0..10", out.with_suffix(".b"), 400)
    write_import(made, out)
    importing = time.process_time() - begin
    del recording, made
    begin = time.process_time()
    trace = read_trace(tmp_path / "trace.dat")
    events = [trace.table(event).height for event in FIELDS]
    tables = time.process_time() - begin
    print(
        f"{sum(events)} events: {reading:.1f} s and {used / 1e9:.2f} GB as a recording, "
        f"{tables:.1f} s as a run's trace; 10 s imported in {importing:.1f} s"
    )
    assert sum(events) > 0.99 * EVENTS
    assert max(reading, tables) <= MOST_READING_S
    assert importing <= MOST_IMPORT_S
    assert used <= MOST_BYTES
