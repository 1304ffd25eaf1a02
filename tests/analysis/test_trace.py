# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.dat to tables: known answers, and one clear line for what cannot be read."""

import struct
from pathlib import Path

import pytest

from eascope.analysis import trace as traces
from eascope.analysis.trace import TraceError, read_trace
from tests.support.tracefile import TraceEvent, marker, migrate, switch, trace_dat, waking, write

MS = 1_000_000
TASK = ("odd c=a pid=9", 11)
IDLE0 = ("swapper/0", 0)


def some_events() -> list[TraceEvent]:
    return [
        waking(1_000 * MS + 5, 0, TASK, 1),
        switch(1_000 * MS + 105, 0, IDLE0, 0, TASK),
        marker(1_001 * MS, 0, 11, "rtapp_stats: period=16667 slack=-10 c_run=4"),
        switch(1_003 * MS, 0, TASK, 1, IDLE0),
        migrate(1_500 * MS, 1, TASK, 0, 1),
        TraceEvent(61_000 * MS, 1, 0, "cpu_frequency", (800_000, 1)),
    ]


def test_every_field_of_every_event_comes_back(tmp_path: Path) -> None:
    write(tmp_path / "trace.dat", some_events(), 2, {11: TASK[0]})
    trace = read_trace(tmp_path / "trace.dat")
    assert trace.events.height == 6
    first = trace.table("sched_switch").row(0, named=True)
    assert first == {
        "t_ns": 1_000 * MS + 105,
        "cpu": 0,
        "prev_comm": "swapper/0",
        "prev_pid": 0,
        "prev_state": 0,
        "next_comm": TASK[0],
        "next_pid": 11,
    }
    assert trace.table("sched_waking").row(0) == (1_000 * MS + 5, 0, TASK[0], 11, 1)
    assert trace.table("sched_migrate_task").row(0) == (1_500 * MS, 1, TASK[0], 11, 0, 1)
    # 59 s after the event before it: the ring buffer's time-extend record.
    assert trace.table("cpu_frequency").row(0) == (61_000 * MS, 1, 800_000, 1)
    assert "slack=-10" in trace.table("print")["buf"][0]


def test_an_event_that_did_not_occur_is_an_empty_table(tmp_path: Path) -> None:
    write(tmp_path / "trace.dat", some_events(), 2)
    table = read_trace(tmp_path / "trace.dat").table("lisa__sched_overutilized")
    assert table.height == 0
    assert table.columns == ["t_ns", "cpu", "overutilized"]


def test_counts_over_many_pages(tmp_path: Path) -> None:
    events = []
    for number in range(3_000):
        at = 1_000 * MS + number * 100_000
        cpu = number % 2
        idle = (f"swapper/{cpu}", 0)
        events += [
            waking(at, cpu, TASK, cpu),
            switch(at + 10, cpu, idle, 0, TASK),
            switch(at + 90, cpu, TASK, 1, idle),
        ]
    write(tmp_path / "trace.dat", events, 2)
    trace = read_trace(tmp_path / "trace.dat")
    assert trace.table("sched_waking").height == 3_000
    assert trace.table("sched_switch").height == 6_000
    assert trace.events["t_ns"].is_sorted()


@pytest.mark.parametrize("part", [0, 10, 100, 2_000, 5_000, 0.5, 0.99])
def test_a_truncated_trace_is_refused_in_one_line(tmp_path: Path, part: float) -> None:
    whole = trace_dat(some_events(), 2)
    size = part if isinstance(part, int) else int(len(whole) * part)
    path = tmp_path / "trace.dat"
    path.write_bytes(whole[:size])
    with pytest.raises(TraceError, match="truncated") as caught:
        read_trace(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    assert caught.value.exit_code == 1


def test_a_marker_of_several_lines_is_one_event(tmp_path: Path) -> None:
    events = [marker(1_000 * MS, 0, 11, "first\nsecond"), waking(1_001 * MS, 0, TASK, 0)]
    write(tmp_path / "trace.dat", events, 1)
    trace = read_trace(tmp_path / "trace.dat")
    assert trace.events["event"].to_list() == ["print", "sched_waking"]


def test_lines_that_are_not_understood_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "trace.dat", some_events(), 2)
    reported = traces._report(tmp_path / "trace.dat")
    monkeypatch.setattr(traces, "_direct", lambda path: None)
    for words, lines in (
        ("line cannot be parsed: 'what is this'", b"what is this\n"),
        ("events were lost: CPU:1", b"CPU:1 [123 EVENTS DROPPED]\n"),
    ):
        more = reported + lines
        monkeypatch.setattr(traces, "_report", lambda path, more=more: more)
        with pytest.raises(TraceError, match=words):
            read_trace(tmp_path / "trace.dat")


def test_lost_events_are_refused(tmp_path: Path) -> None:
    data = bytearray(trace_dat(some_events(), 2))
    (page,) = struct.unpack_from("<Q", data, data.index(b"flyrecord\0") + 10)
    data[page + 11] |= 0x80  # the ring buffer's mark on a page after lost events
    (tmp_path / "trace.dat").write_bytes(data)
    with pytest.raises(TraceError, match="events were lost: 0 and before 1 pages"):
        read_trace(tmp_path / "trace.dat")


def test_pages_give_what_trace_cmd_prints(tmp_path: Path) -> None:
    write(tmp_path / "trace.dat", some_events() * 50, 2, {11: TASK[0]})
    ours, theirs = traces._direct(tmp_path / "trace.dat"), traces._reported(tmp_path / "trace.dat")
    assert ours is not None
    assert ours.events.drop("detail").equals(theirs.events.drop("detail"))
    for event in traces.FIELDS:
        assert ours.table(event).equals(theirs.table(event))


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.dat"
    with pytest.raises(TraceError, match=r"trace\.dat is missing"):
        read_trace(path)
    path.write_bytes(b"PK\x03\x04" + b"x" * 9_000)
    with pytest.raises(TraceError, match=r"not a trace\.dat"):
        read_trace(path)
