# SPDX-License-Identifier: GPL-2.0-or-later
"""A run as a trace of Perfetto: what it, and its estimator Wattson, read of a phone.

Times are those of the run's own trace: CLOCK_MONOTONIC, which is BOOTTIME in a guest that never
suspends. Within the window, ``cpu_frequency`` is the clock that the engine gave, as the table
``frequency`` has it; before and after, it is what the kernel asked for.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    FtraceEvent,
    Trace,
    TracePacket,
    TrackEvent,
)

from eascope.analysis.decisions import candidates, decisions, recorded
from eascope.analysis.derive import Derived
from eascope.analysis.trace import as_counted, read_trace
from eascope.analysis.window import Window, read_window
from eascope.configs.platform import Platform
from eascope.engines.records import MARKS, TRACE

if TYPE_CHECKING:
    from eascope.analysis.run_diff import RunDiff

#: Events whose fields have the same names in Perfetto's format.
SAME = ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "cpu_idle")
FREQUENCY = "cpu_frequency"
#: Events that are counters: the track's name by the event's fields, and the field of the value.
COUNTERS = {
    "lisa__sched_overutilized": ("overutilized {span}", "overutilized"),
    "lisa__sched_pelt_cfs": ("util {path} cpu {cpu}", "util"),
    "lisa__sched_pelt_se": ("util {comm} {pid}", "util"),
    "lisa__sched_util_est_cfs": ("util_est cpu {cpu}", "enqueued"),
    "lisa__sched_util_est_se": ("util_est {comm} {pid}", "enqueued"),
    "sched_uclamp_cpu": ("uclamp_max cpu {cpu}", "uclamp_max"),
    "sched_uclamp_task": ("uclamp_max {comm} {pid}", "uclamp_max"),
}
#: Steps of the rails' energies, in ns; their packets have whole ms.
RAIL_NS = 10_000_000
#: What Android says of a chip, by the name of its curves: so Wattson knows it (google/perfetto,
#: wattson/device_infos.sql at ec5d16b14b74).
SOC_MODELS = {"tensor": "Tensor", "tensor-g4": "Tensor G4"}
#: Of all times, as Perfetto names it.
CLOCK = "BOOTTIME"
#: Packets of one sequence share its state.
SEQUENCE = 1
_FIELD = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")


def perfetto(derived: Derived, platform: Platform) -> bytes:
    """The run as a trace of Perfetto.

    :raises EascopeError: its trace is damaged.
    """
    window = read_window(derived.run / MARKS)
    packets = Trace()
    machine(packets.packet.add(), packets.packet.add(), platform)
    _events(packets, derived, platform, window)
    _rails(packets, derived, window)
    return bytes(packets.SerializeToString())


def both(diff: RunDiff) -> bytes:
    """Two runs as one ZIP, which Perfetto opens as two machines on A's time, from START on.

    The manifest is that of <https://perfetto.dev/docs/reference/perfetto-manifest>: a clock reads T
    when the one that it is synchronised to reads T + ``offset_ns``.

    :raises EascopeError: a trace is damaged.
    """
    sides = {"a.perfetto-trace": diff.a, "b.perfetto-trace": diff.b}
    starts = [side.window.t0_ns - side.window.offset_ns for side in sides.values()]
    first, second = (
        {"path": path, "machine": {"name": f"{run}: {side.derived.cell.variant}"}}
        for run, (path, side) in zip("AB", sides.items(), strict=True)
    )
    reference = {"file": first["path"], "clock": CLOCK}
    clocks = {"clock": CLOCK, "sync_to": reference, "offset_ns": starts[0] - starts[1]}
    manifest = {
        "version": 1,
        "trace_time": {"clock": CLOCK, "file": first["path"]},
        "files": [first, {**second, "clocks": clocks}],
    }
    members = {"perfetto_manifest.json": json.dumps({"perfetto_manifest": manifest}).encode()}
    members |= {path: perfetto(side.derived, side.platform) for path, side in sides.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # With a fixed date, the same runs give the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def machine(system: TracePacket, cpus: TracePacket, platform: Platform) -> None:
    """The chip's name, by which Wattson knows it, and the CPUs."""
    info = system.system_info
    info.utsname.sysname, info.utsname.machine = "Linux", "aarch64"
    info.machine_name, info.num_cpus = platform.name, len(platform.cpus)
    info.device_tree_compatibles.append(f"eascope {platform.model}")
    if platform.curves and platform.curves.name in SOC_MODELS:
        info.android_soc_model = SOC_MODELS[platform.curves.name]
    for cluster in platform.clusters:
        for cpu in cluster.cpus:
            cpus.cpu_info.cpus.add(
                processor=cluster.core.name,
                capacity=platform.capacities[cpu],
                frequencies=[opp.khz for opp in cluster.opps],
            )


def _events(packets: Trace, derived: Derived, platform: Platform, window: Window) -> None:
    """The kernel's events, counters of others, and instants: window, agent's marks, decisions."""
    cmdline = derived.cell.settings.cmdline
    trace = as_counted(read_trace(derived.run / TRACE), platform, cmdline)
    bundles = [packets.packet.add().ftrace_events for _ in platform.cpus]
    for cpu, bundle in enumerate(bundles):
        bundle.cpu = cpu
    tracks = _Tracks(packets)
    begin, end = (ns - window.offset_ns for ns in (window.t0_ns, window.t1_ns))
    wanted = pl.col("event").is_in([*SAME, *COUNTERS])
    wanted |= (pl.col("event") == FREQUENCY) & ~pl.col("t_ns").is_between(begin, end, closed="left")
    rows = trace.events.filter(wanted).select("t_ns", "cpu", "pid", "event", "detail").rows()
    for name, t_ns, khz in (
        derived.table("frequency").select("cluster_name", "t0_ns", "khz").iter_rows()
    ):
        for cpu in platform.cluster(name).cpus:
            rows.append((t_ns - window.offset_ns, cpu, 0, FREQUENCY, f"state={khz} cpu_id={cpu}"))
    # Perfetto takes the events of a CPU in the order of time.
    for at, cpu, pid, event, detail in sorted(rows, key=lambda row: row[0]):
        fields = dict(_FIELD.findall(detail))
        if event in COUNTERS:
            name, value = COUNTERS[event]
            tracks.count(at, name.format(**fields), _number(fields[value]))
        else:
            known = {
                name: fields[name] if is_text else _number(fields[name])
                for name, is_text in _fields(event)
                if name in fields
            }
            bundles[cpu].event.add(timestamp=at, pid=pid, **{event: known})
    for at, line in trace.table("print").select("t_ns", "buf").iter_rows():
        word, _, told = line.strip().partition("eascope: ")
        if not word and told not in ("", "START", "STOP"):  # which have the window's own times
            tracks.instant(at, "eascope", told, {})
    tracks.instant(begin, "eascope", "START", {})
    tracks.instant(end, "eascope", "STOP", {})
    if recorded(derived.cell):
        for row in decisions(derived).iter_rows(named=True):
            compared = {f"cpu {other.cpu}": other.words for other in candidates(row["candidates"])}
            told = {"from": row["prev_cpu"], "to": row["dst_cpu"], "why": row["reason"], **compared}
            tracks.instant(begin + row["t_ns"], "decisions of EAS", row["thread"], told)


@cache
def _fields(event: str) -> list[tuple[str, bool]]:
    """The fields that Perfetto has of an event, under the kernel's names, and which are texts."""
    message = FtraceEvent.DESCRIPTOR.fields_by_name[event].message_type
    return [(field.name, field.type == field.TYPE_STRING) for field in message.fields]


def _number(text: str) -> int:
    return int(text, 16 if text.startswith("0x") else 10)


class _Tracks:
    """Tracks of counters and instants, each made once."""

    def __init__(self, packets: Trace) -> None:
        self._packets = packets
        self._known: dict[str, int] = {}

    def _packet(self, t_ns: int, name: str, kind: TrackEvent.Type, counter: bool) -> TracePacket:
        if name not in self._known:
            self._known[name] = len(self._known) + 1
            descriptor = self._new().track_descriptor
            descriptor.uuid, descriptor.name = self._known[name], name
            if counter:
                descriptor.counter.SetInParent()
        packet = self._new(timestamp=t_ns)
        packet.track_event.type, packet.track_event.track_uuid = kind, self._known[name]
        return packet

    def _new(self, **fields: int) -> TracePacket:
        return self._packets.packet.add(trusted_packet_sequence_id=SEQUENCE, **fields)

    def count(self, t_ns: int, name: str, value: int) -> None:
        """A counter's value."""
        packet = self._packet(t_ns, name, TrackEvent.TYPE_COUNTER, True)
        packet.track_event.counter_value = value

    def instant(self, t_ns: int, track: str, name: str, told: dict[str, object]) -> None:
        """An instant with what is told of it."""
        event = self._packet(t_ns, track, TrackEvent.TYPE_INSTANT, False).track_event
        event.name = name
        for key, value in told.items():
            event.debug_annotations.add(name=key, string_value=str(value))


def _rails(packets: Trace, derived: Derived, window: Window) -> None:
    """The energy of each cluster since the window's begin, in uJ, as a phone's rails have it."""
    energy = derived.table("energy")
    names = energy["cluster_name"].unique(maintain_order=True).to_list()
    steps = np.unique(np.append(np.arange(window.t0_ns, window.t1_ns, RAIL_NS), window.t1_ns))
    totals = []
    for name in names:
        rows = energy.filter((pl.col("cluster_name") == name) & (pl.col("t1_ns") > pl.col("t0_ns")))
        per_ns = rows["energy_fj"].to_numpy() / (rows["t1_ns"] - rows["t0_ns"]).to_numpy()
        edges = np.concatenate([rows["t0_ns"].to_numpy(), rows["t1_ns"].to_numpy()])
        order = np.argsort(edges, kind="stable")
        power = np.cumsum(np.concatenate([per_ns, -per_ns])[order])
        at = edges[order]
        joined = np.concatenate([[0.0], np.cumsum(power[:-1] * np.diff(at))])
        totals.append(np.interp(steps, at, joined) / 1e9)
    for step, energies in zip(steps.tolist(), np.array(totals).T.tolist(), strict=True):
        t_ns = step - window.offset_ns
        rails = packets.packet.add(timestamp=t_ns).power_rails
        for index, (name, microjoules) in enumerate(zip(names, energies, strict=True)):
            if step == window.t0_ns:
                rails.rail_descriptor.add(
                    index=index, rail_name=f"eascope.{name}", subsys_name=name, sampling_rate=100
                )
            data = rails.energy_data.add(index=index, timestamp_ms=round(t_ns / 1e6))
            data.energy = round(microjoules)
