# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings in every form: the same tables, work at the clock of each instant, clear errors."""

import gzip
import lzma
import random
import re
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.perfetto import machine
from eascope.analysis.recordings.beside import agreement, window_figures
from eascope.analysis.recordings.bursts import bursts_of, window_of
from eascope.analysis.recordings.device import device_of
from eascope.analysis.recordings.read import read_recording
from eascope.analysis.recordings.tables import RecordingError
from eascope.analysis.trace import read_trace
from eascope.configs.platform_file import list_platforms, load_platform
from tests.support import recordings as of
from tests.support import tracefile

#: Juno r2's clocks, whose bigs are CPU 1 and 2: little 0.398 of a big at the top of both.
JUNO = (950_000, 1_200_000, 1_200_000, 950_000, 950_000, 950_000)


def test_pages_are_read_as_trace_cmd_reads_them(tmp_path: Path) -> None:
    draws, events, at = random.Random(1), [], 10**9
    for number in range(4_000):
        at += draws.choice([100, 5_000, 90_000, 10**8 if number % 97 == 0 else 1])
        cpu, task = draws.randrange(4), (f"task {number % 7}", 100 + number % 7)
        kinds = [
            tracefile.switch(at, cpu, task, draws.choice([0, 1, 2, 256]), ("swapper/0", 0)),
            tracefile.waking(at, cpu, task, cpu, by=draws.choice([0, 101])),
            tracefile.marker(at, cpu, 5, "x" * draws.randrange(200)),
            tracefile.TraceEvent(at, cpu, 0, "cpu_frequency", (number + 1, cpu)),
        ]
        events.append(draws.choice(kinds))
    path = tmp_path / "trace.dat"
    tracefile.write(path, events, 5)
    ours, theirs = read_recording(path), read_trace(path)
    columns = ["t_ns", "cpu", "prev_pid", "prev_state", "next_pid"]
    same = theirs.table("sched_switch").select(columns).cast(pl.Int64)
    assert ours.switch.select(columns).equals(same)
    woken = theirs.table("sched_waking").select("t_ns", "cpu", "pid").cast(pl.Int64)
    assert ours.wake.select("t_ns", "cpu", "pid").equals(woken)
    texts = theirs.table("print")["buf"].str.strip_chars_end()
    assert ours.mark["text"].str.strip_chars_end().equals(texts)
    assert ours.freq.height == theirs.table("cpu_frequency").height
    assert (ours.cpus, ours.form) == (5, "trace.dat")


#: One course: thread 7 runs, wakes 8 and is preempted by it.
COURSE = (
    of.clock(0, 0, 1_000_000),
    of.switch(100, 0, 0, "R", 7),
    of.waking(200, 0, 7, 8),
    of.switch(300, 0, 7, "R+", 8),
    of.switch(400, 0, 8, "S", 7),
    of.switch(500, 0, 7, "D", 0),
)
ROWS = [(0, 0, 7), (7, 0, 8), (8, 1, 7), (7, 1, 0)]


def _perfetto_course(*, packed: bool) -> bytes:
    t0 = 100 * 10**9
    bundle = {
        "cpu": 0,
        "event": [{"timestamp": t0, "pid": 0, "cpu_frequency": {"state": 1_000_000, "cpu_id": 0}}],
        "compact_sched": {
            "intern_table": ["t7", "t8", "swapper/0"],
            "switch_timestamp": [t0 + 100_000, 200_000, 100_000, 100_000],
            "switch_prev_state": [0, 0, 1, 2],
            "switch_next_pid": [7, 8, 7, 0],
            "switch_next_prio": [120, 120, 120, 120],
            "switch_next_comm_index": [0, 1, 0, 2],
            "waking_timestamp": [t0 + 200_000],
            "waking_pid": [8],
            "waking_target_cpu": [0],
            "waking_prio": [120],
            "waking_comm_index": [1],
            "waking_common_flags": [1],
        },
    }
    tree = {"process_tree": {"threads": [{"tid": 8, "tgid": 7, "name": "t8"}]}}
    return of.perfetto({"ftrace_events": bundle}, tree, packed=packed)


def _pretty(text: str) -> str:
    """As trace-cmd's own plugins print it, without flags."""
    text = re.sub(
        r"prev_comm=(\S+) prev_pid=(\d+) prev_prio=(\d+) prev_state=", r"\1:\2 [\3] ", text
    )
    text = re.sub(r"next_comm=(\S+) next_pid=(\d+) next_prio=(\d+)", r"\1:\2 [\3]", text)
    text = re.sub(r"comm=(\S+) pid=(\d+) prio=(\d+) target_cpu=(\d+)", r"\1:\2 [\3] CPU:\4", text)
    return text.replace(" d..2 ", " ")


def _html(text: str) -> str:
    """As systrace keeps it, with thread groups."""
    return "<html>\n<!-- # tracer: nop -->\n" + text.replace("  [", "  (    7) [") + "</html>\n"


def _raw(text: str) -> str:
    """States as numbers, as ``trace-cmd report -R`` prints them."""
    for letters, number in (("R+", 256), ("R", 0), ("S", 1), ("D", 2)):
        text = text.replace(f"prev_state={letters} ==>", f"prev_state={number}")
    return text


PERFETTO = _perfetto_course(packed=False)
FORMS: dict[str, str | bytes] = {
    "ftrace": of.text(*COURSE),
    "raw": _raw(of.text(*COURSE)),
    "trace-cmd": _pretty(of.text(*COURSE)),
    "systrace": _html(of.text(*COURSE)),
    "latency": re.sub(r"\[00(\d)\] ", r"\1", of.text(*COURSE)),
    "xz": lzma.compress(of.text(*COURSE).encode()),
    "gz": gzip.compress(of.text(*COURSE).encode()),
    "perfetto": PERFETTO,
    "perfetto, packed": _perfetto_course(packed=True),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_tables(tmp_path: Path, form: str) -> None:
    found = read_recording(of.saved(tmp_path / "r", FORMS[form]))
    prev = found.switch["prev_pid"].replace(-1, 0)
    states = (found.switch["prev_state"] & 0xFF).clip(0, 1)
    assert list(zip(prev, states, found.switch["next_pid"], strict=True)) == ROWS
    assert found.switch["t_ns"][0] == 100_000_100_000
    assert found.wake.select("pid", "waker").rows() == [(8, 7)]
    assert found.wake["context"][0] == (-1 if form in ("trace-cmd",) else 0)
    assert found.freq.rows() == [(100_000_000_000, 0, 1_000_000)]
    assert found.names[8] == "t8"
    if form == "systrace":
        assert found.tgids[7] == 7


def test_work_counts_the_clock_of_each_instant(tmp_path: Path) -> None:
    # On little CPU 3, then on big CPU 1, whose clock halves in the middle of the burst.
    events = (
        *of.clocks(0, JUNO),
        of.switch(1_000, 3, 0, "R", 7),
        of.switch(2_000, 3, 7, "R", 0),
        of.switch(2_000, 1, 0, "R", 7),
        of.clock(3_000, 1, 600_000),
        of.switch(5_000, 1, 7, "S", 0),
        of.switch(9_000, 1, 0, "R", 8),
        of.switch(9_500, 1, 8, "S", 0),
    )
    found = read_recording(of.saved(tmp_path / "r", of.text(*events, cpus=6)))
    device = device_of(found)
    assert device.name == "juno-r2"
    bursts = bursts_of(found, device, found.begin_ns, found.end_ns)
    little = 485 * 950_000 / (1024 * 1_200_000)
    works = bursts.bursts.sort("t0")["work"].to_list()
    assert works == pytest.approx([1000 * little + 1000 + 2000 * 0.5, 250])
    figures = window_figures(found, device, bursts)
    busy = dict(zip(device.cpus, figures.busy * figures.seconds * 1e6, strict=True))
    assert busy == pytest.approx({0: 0, 3: 1000, 4: 0, 5: 0, 1: 3500, 2: 0})
    assert figures.clocks["big"] == pytest.approx({1_200_000: 3.0, 600_000: 6.5})
    assert figures.running["big"] == pytest.approx({1_200_000: 1.0, 600_000: 2.5})
    assert figures.migrations == 1


def test_wakers_bursts_and_waits(tmp_path: Path) -> None:
    events = (
        *of.clocks(0, JUNO),
        *COURSE[1:],
        # An interrupt wakes 8 while 7 runs; its flag says so.
        of.switch(600, 0, 0, "R", 7),
        of.waking(650, 0, 7, 8),
        of.switch(660, 0, 7, "S", 8),
        of.switch(700, 0, 8, "S", 0),
    )
    text = of.text(*events, cpus=6)
    lines = text.splitlines()
    place = next(n for n, line in enumerate(lines) if "100.000650" in line)
    lines[place] = lines[place].replace("d..2", "dnh3")
    found = read_recording(of.saved(tmp_path / "r", "\n".join(lines)))
    table = bursts_of(found, device_of(found), found.begin_ns, found.end_ns).bursts
    seven, eight = (table.filter(pl.col("pid") == pid) for pid in (7, 8))
    speed = 485 * 950_000 / (1024 * 1_200_000)
    assert seven["cause"].to_list() == ["unknown", "unknown"]
    assert seven["work"].to_list() == pytest.approx([300 * speed, 60 * speed])
    assert seven["preempted"].to_list() == [100_000, 0]
    assert eight["cause"].to_list() == ["thread", "timer or interrupt"]
    assert eight["wait"].to_list() == [100_000, 10_000]
    assert eight["waker_burst"].to_list() == [seven["burst"][0], -1]
    assert eight["offset"][0] == pytest.approx(100 * speed)


def test_rails_are_energies_at_their_samples_own_time(tmp_path: Path) -> None:
    rails = {
        "timestamp": 5,
        "power_rails": {
            "rail_descriptor": [{"index": 1, "rail_name": "S2M", "subsys_name": "cpu"}],
            "energy_data": [{"index": 1, "timestamp_ms": 7, "energy": 42}],
        },
    }
    found = read_recording(of.saved(tmp_path / "r", PERFETTO + of.perfetto(rails)))
    assert found.rail.rows() == [(7_000_000, "cpu S2M", 42.0)]


MARKED = [
    "5 0 9 print tracing_mark_write: cpu_frequency_devlib: state=850000 cpu_id=0",
    "6 0 9 tracing_mark_write cpu_frequency: state=700000 cpu_id=1",
]
#: What a person is told of a recording, by what was done to `COURSE`.
SAID = {
    "1 pids change their name without an end: each is taken as one thread: sh 7, then t7": (
        *(event.replace("t7", "sh") for event in COURSE[:4]),
        *COURSE[4:],
    ),
    "2 frequencies are values of markers": (*COURSE, *MARKED),
    "no frequency was recorded": COURSE[1:],
    "no wake-up was recorded": (*COURSE[:2], *COURSE[3:]),
    "no sched_waking": (*COURSE[:2], of.waking(200, 0, 7, 8, "sched_wakeup"), *COURSE[3:]),
    "CPU 1: no switch and no idle event": (*COURSE, of.clock(600, 1, 1_000_000)),
    "events are missing: 1 of 3 switches": (*COURSE[:3], *COURSE[4:]),
    "the clock goes back 1 times": (of.switch(9_000, 0, 0, "R", 0), *COURSE),
    "the clock jumps by 99.0 s": (*COURSE, of.switch(99_000_500, 0, 0, "R", 7)),
}


@pytest.mark.parametrize("words", SAID)
def test_what_is_odd_is_said(tmp_path: Path, words: str) -> None:
    found = read_recording(of.saved(tmp_path / "r", of.text(*SAID[words])))
    assert any(note.startswith(words) for note in found.notes), found.notes
    if "markers" in words:  # without a change before it, such a value was there from the begin
        begin = found.begin_ns
        rows = [(begin, 0, 10**6), (begin, 1, 700_000), (begin + 5_000, 0, 850_000)]
        assert found.freq.rows() == rows


def test_lost_events_are_counted(tmp_path: Path) -> None:
    head = "# entries-in-buffer/entries-written: 90/100   #P:1\n"
    lost = "CPU:0 [5 EVENTS DROPPED]\n"
    found = read_recording(of.saved(tmp_path / "r", head + of.text(*COURSE) + lost))
    assert any("15 counted" in note for note in found.notes)


def test_options_of_a_trace_dat_are_said(tmp_path: Path) -> None:
    texts = {2: b"CPU: 0\noverrun: 3\ndropped events: 4\n\0", 4: b"[local] global mono\0"}
    more = b"".join(struct.pack("<HI", n, len(text)) + text for n, text in texts.items())
    data = _dat()
    begin = data.index(b"options  \0") + 10
    # The room before the first page holds the options.
    places = begin + 2 + len(b"flyrecord\0") + 16
    room = data[places : places + 4096]
    assert room[: len(more)] == bytes(len(more))
    whole = data[:begin] + more + data[begin:places] + room[len(more) :]
    path = of.saved(tmp_path / "r", whole + data[places + len(room) :])
    notes = read_recording(path).notes
    assert any("7 counted" in note for note in notes)
    assert any("the clock is local" in note for note in notes)


def _dat() -> bytes:
    task = ("a", 5)
    events = [tracefile.switch(10**9, 0, task, 1, ("b", 6)), tracefile.waking(10**9, 0, task, 0)]
    return tracefile.trace_dat(events, 1)


#: Content, and what the one line says.
REFUSED: dict[str, str | bytes] = {
    "not a recording (1003 bytes)": b"PK\x03\x04" + b"x" * 999,
    "not a recording (0 bytes)": b"",
    "truncated: ": PERFETTO[:-5],
    "truncated: 300": _dat()[:300],
    "truncated: 16380 of": _dat()[:16_380],
    "big-endian": _dat().replace(b"tracing6\0\0", b"tracing6\0\1"),
    "truncated or damaged": lzma.compress(_dat())[:-20],
    "damaged: no packet at byte": PERFETTO + b"xyz" * 9,
    "damaged: IndexError": PERFETTO.replace(b"t8", b"\xfft", 1).replace(
        b"\x00\x01\x00\x02", b"\x00\x09\x00\x02"
    ),
    "no sched_switch": of.text(*COURSE[:1]),
    "1 lines of sched_switch are not understood": of.text("1 0 7 sched_switch what=is this"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, words: str) -> None:
    with pytest.raises(RecordingError, match=re.escape(words)) as caught:
        read_recording(of.saved(tmp_path / "r", REFUSED[words]))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "r"))
    assert caught.value.exit_code == 2


def test_windows(tmp_path: Path) -> None:
    found = read_recording(of.saved(tmp_path / "r", of.text(*COURSE)))
    whole = (found.begin_ns, found.end_ns)
    assert window_of(found, "") == window_of(found, "0..50") == whole
    assert window_of(found, "0.0001..0.0003") == (whole[0] + 100_000, whole[0] + 300_000)
    assert window_of(found, "100.0002..") == (100_000_200_000, whole[1])
    for wrong in ("9..10", "0.0003..0.0001", "x..1", "5"):
        with pytest.raises(RecordingError, match="--window"):
            window_of(found, wrong)


@pytest.mark.parametrize(
    ("khz", "given"),
    [
        (JUNO, ()),
        ((950_000, 0, 0, *[950_000] * 3), ()),
        ((850_000, 625_000, 625_000, *[850_000] * 3), ()),
        ((1_000_000,) * 8, ()),
        ((1, 2, 2), ()),
        ((1, 1, 1), (100, 1024, 100)),
    ],
)
def test_devices_are_known_by_their_clocks(
    tmp_path: Path, khz: tuple[int, ...], given: tuple[float, ...], snapshot: SnapshotAssertion
) -> None:
    events = (*of.clocks(0, khz), *COURSE[1:])
    found = read_recording(of.saved(tmp_path / "r", of.text(*events, cpus=len(khz))))
    device = device_of(found, capacities=given)
    assert {
        "name": device.name,
        "clusters": [str(cluster.cpus) for cluster in device.clusters],
        "gap": device.gaps[0],
    } == snapshot


@pytest.mark.parametrize("name", [name for name, _ in list_platforms()])
def test_a_platform_knows_its_own_recordings(tmp_path: Path, name: str) -> None:
    """As trace.dat, as Perfetto's export, and by clocks alone, where others may have the same."""
    platform, draws = load_platform(name), random.Random(name)
    for _ in range(5):
        khz = {one.name: draws.choice(one.opps).khz for one in platform.clusters}
        clocks = [(cpu, khz[platform.cluster_of(cpu).name]) for cpu in platform.cpus]
        events = [tracefile.switch(10**9, 0, ("a", 7), 0, ("b", 8))] + [
            tracefile.TraceEvent(10**9 + 10, cpu, 0, "cpu_frequency", (state, cpu))
            for cpu, state in clocks
        ]
        tracefile.write(tmp_path / "own.dat", events, len(platform.cpus), uname=f"eascope {name}")
        packets = [TracePacket(), TracePacket()]
        machine(packets[0], packets[1], platform)
        exported = Trace(packet=packets)
        for cpu, state in clocks:
            bundle = exported.packet.add().ftrace_events
            bundle.cpu = cpu
            bundle.event.add(timestamp=10**9, sched_switch={"next_pid": 7, "next_comm": "a"})
            bundle.event.add(timestamp=10**9, cpu_frequency={"state": state, "cpu_id": cpu})
        files = [
            tmp_path / "own.dat",
            of.saved(tmp_path / "own.pftrace", bytes(exported.SerializeToString())),
        ]
        for file in files:
            device = device_of(read_recording(file))
            assert (device.platform, device.cpus, device.gaps) == (name, platform.cpus, ())
        text = of.text(*(of.clock(0, cpu, state) for cpu, state in clocks), *COURSE[1:])
        device = device_of(read_recording(of.saved(tmp_path / "r", text)))
        assert device.name == name or name in device.gaps[0]
        assert device.platform


def test_agreement_of_two_courses() -> None:
    one = np.array([0.1, 0.2, 0.3])
    assert agreement(one, one).error == 0
    other = agreement(one, one[::-1])
    assert (other.error, other.correlation) == pytest.approx((40 / 3, -1))
