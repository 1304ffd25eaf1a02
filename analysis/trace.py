# SPDX-License-Identifier: GPL-2.0-or-later
"""``trace.dat`` to typed tables, from its pages.

Of a file with fields that are no numbers or texts, and of one of a newer version, ``trace-cmd
report`` prints the raw fields, and polars splits the lines. Times are those of the guest's
CLOCK_MONOTONIC (the trace clock of every eascope run), in ns.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.recordings.tables import Ints, RecordingError
from eascope.analysis.recordings.text import lines_of
from eascope.analysis.recordings.tracedat import MAGIC, EventTable, read_trace_dat
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from eascope.host.lisa import host_trace_cmd
from eascope.kernels.switches import ONLINE_CPU, has_idle_driver

#: A decision of EAS with its candidates and the energy that each would take, where it is asked for.
DECISION_EVENT = "sched_feec_decision"
#: The choice of a CPU, with the number of the activation as the kernel counts it.
CHOICE_EVENT = "sched_decision"

#: Fields of the events that analysis reads, in the order of their format: ``int`` or ``str``.
FIELDS: dict[str, dict[str, type]] = {
    "sched_switch": {
        "prev_comm": str,
        "prev_pid": int,
        "prev_state": int,
        "next_comm": str,
        "next_pid": int,
    },
    "sched_waking": {"comm": str, "pid": int, "target_cpu": int},
    "sched_migrate_task": {"comm": str, "pid": int, "orig_cpu": int, "dest_cpu": int},
    "cpu_frequency": {"state": int, "cpu_id": int},
    "cpu_idle": {"state": int, "cpu_id": int},
    "lisa__sched_overutilized": {"overutilized": int},
    DECISION_EVENT: {
        **{"comm": str, "pid": int, "prev_cpu": int, "dst_cpu": int, "mode": int, "path": int},
        **{"candidates": str},
    },
    CHOICE_EVENT: {"comm": str, "pid": int, "activation": int, "prev_cpu": int, "chosen": int},
    "irq_handler_entry": {"irq": int, "name": str},
    "irq_handler_exit": {"irq": int},
    "print": {"buf": str},
}

#: ``state`` of a ``cpu_idle`` event that ends an idle state (u32 of -1).
ENDS = 0xFFFF_FFFF
#: The agent's marker of a CPU that has gone offline.
_OFFLINE = rf"eascope: {ONLINE_CPU.pattern} = 0\s*$"

_LINE = (
    r"^\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:[^\s\d]\S*\s+|\S{4,6}\s+)?"
    r"(?P<seconds>\d+)\.(?P<nanos>\d{9}): (?P<event>[^\s:]+):\s*(?P<detail>.*)$"
)


class TraceError(EascopeError):
    """A trace that cannot be used; the message is one line."""


@dataclass
class Trace:
    """The events of one trace.

    :param events: ``t_ns`` (CLOCK_MONOTONIC), ``cpu``, ``pid`` and ``comm`` of the running task,
        ``event``, ``detail`` (the raw fields as text), in the order of time.
    """

    path: Path
    events: pl.DataFrame
    _tables: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    def names(self) -> set[str]:
        """Names of the events that occur."""
        return set(self.events["event"].unique())

    def table(self, event: str) -> pl.DataFrame:
        """Typed table of one event: ``t_ns``, ``cpu``, and the columns of :data:`FIELDS`.

        An event that did not occur gives an empty table with the same columns.

        :raises TraceError: when a line of this event has other fields than expected.
        """
        if event not in self._tables:
            self._tables[event] = self._parse(event)
        return self._tables[event]

    def offline(self) -> Iterator[tuple[int, int, int | None]]:
        """CPUs that were offline: the number, from when, until when (None: to the end).

        The kernel traces nothing on a CPU that is offline, and the agent's marker comes later.
        """
        marks = self.events.filter(
            (pl.col("event") == "print") & pl.col("detail").str.contains(_OFFLINE)
        ).select("t_ns", pl.col("detail").str.extract(_OFFLINE).cast(pl.Int64))
        for t_ns, cpu in marks.iter_rows():
            times = self.events.filter(pl.col("cpu") == cpu)["t_ns"]
            since, until = times.filter(times < t_ns).max(), times.filter(times > t_ns).min()
            yield cpu, t_ns if since is None else since, until  # type: ignore[misc]

    def _parse(self, event: str) -> pl.DataFrame:
        fields = FIELDS[event]
        rows = self.events.filter(pl.col("event") == event)
        groups = rows.select("t_ns", "cpu", "detail").with_columns(
            pl.col("detail").str.extract_groups(_fields_pattern(fields)).alias("groups")
        )
        flat = groups.unnest("groups")
        casts = [pl.col(name).cast(pl.Int64) for name, kind in fields.items() if kind is int]
        table = flat.with_columns(casts)
        bad = table.filter(pl.col(next(reversed(fields))).is_null())
        if bad.height:
            line = bad["detail"][0]
            raise TraceError(
                f"{self.path}: event {event} cannot be parsed: {line!r}: "
                f"expected the fields {', '.join(fields)}"
            )
        return table.drop("detail")


def _fields_pattern(fields: dict[str, type]) -> str:
    # A text value ends where the next field begins for the last time: a comm may hold ' pid=9'.
    names = list(fields)
    pattern = r"(?:^|.*? )"
    for position, name in enumerate(names):
        last = position == len(names) - 1
        if fields[name] is int:
            pattern += rf"{name}=(?P<{name}>-?\d+)" + ("" if last else r"(?: .*?)? ")
        elif last:
            pattern += rf"{name}=(?P<{name}>.*)$"
        else:
            pattern += rf"{name}=(?P<{name}>.*) "
    return pattern


def read_trace(path: Path) -> Trace:
    """Read a ``trace.dat``.

    :raises TraceError: when the file is missing, truncated or no trace, has lost events, or holds
        lines that are not understood; always one line.
    """
    if not path.is_file():
        raise TraceError(f"{path}: there is no trace (trace.dat is missing)")
    return _direct(path) or _reported(path)


def as_counted(trace: Trace, platform: Platform, cmdline: str) -> Trace:
    """``trace`` with idle states as the engine counts them, on a kernel with these arguments."""
    if not has_idle_driver(cmdline):
        trace = _wfi_alone(trace, platform)
    return _offline_as_idle(trace, platform)


def _wfi_alone(trace: Trace, platform: Platform) -> Trace:
    """``trace`` of a kernel without a cpuidle driver, which traces its WFI as state 1.

    A CPU that slept when tracing began, or all the time, was in WFI, too.
    """
    first = trace.events.head(1)["t_ns"].to_list()
    ran = {*trace.events.filter(pl.col("pid") != 0)["cpu"]}
    states = trace.table("cpu_idle").group_by("cpu_id").agg(pl.col("state").first())
    began = dict.fromkeys({*platform.cpus} - ran, ENDS) | dict(states.iter_rows())
    asleep = [cpu for cpu in platform.cpus if first and began.get(cpu) == ENDS]
    rows = [(first[0], cpu, 0, "<idle>", "cpu_idle", f"state=0 cpu_id={cpu}") for cpu in asleep]
    detail = pl.col("detail")
    own = pl.when(pl.col("event") == "cpu_idle").then(detail.str.replace(r"\bstate=1\b", "state=0"))
    added = pl.DataFrame(rows, schema=trace.events.schema, orient="row")
    events = trace.events.with_columns(detail=own.otherwise(detail))
    return Trace(trace.path, pl.concat([added, events]))


def _offline_as_idle(trace: Trace, platform: Platform) -> Trace:
    """``trace`` with the events of which a CPU that is offline has none.

    Its last thread leaves, and it is in its deepest idle state, in which the engine counts it.
    """
    rows = []
    for cpu, since, until in trace.offline():
        switches = trace.table("sched_switch").filter(
            (pl.col("cpu") == cpu) & (pl.col("t_ns") <= since)
        )
        for comm, pid in switches.select("next_comm", "next_pid").tail(1).iter_rows():
            left = (
                f"prev_comm={comm} prev_pid={pid} prev_state=1 next_comm=swapper/{cpu} next_pid=0"
            )
            rows.append((since, cpu, pid, comm, "sched_switch", left))
        state = len(platform.cluster_of(cpu).idle_states) - 1
        for at, number in ((since, state), (until, ENDS)):
            if at is not None:
                detail = f"state={number} cpu_id={cpu}"
                rows.append((at - (number == ENDS), cpu, 0, "<idle>", "cpu_idle", detail))
    if not rows:
        return trace
    added = pl.DataFrame(rows, schema=trace.events.schema, orient="row")
    return Trace(trace.path, pl.concat([trace.events, added]).sort("t_ns", maintain_order=True))


def _direct(path: Path) -> Trace | None:
    """The trace from its pages; None where only trace-cmd reads all of it."""
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        return None
    parts: list[pl.DataFrame] = []
    tables: dict[str, pl.DataFrame] = {}
    strange: list[str] = []

    def keep(
        name: str, places: Ints, t_ns: Ints, cpu: npt.NDArray[np.int32], table: EventTable
    ) -> None:
        fields = table.whole()
        if fields is None:
            strange.append(name)
            return
        own = pl.DataFrame(fields)
        detail = own.select(pl.format(" ".join(f"{field}={{}}" for field in fields), *fields))
        pids = table.column("common_pid")
        at = {"place": places, "t_ns": t_ns, "cpu": cpu, "pid": pids, "event": name}
        parts.append(pl.DataFrame({**at, "detail": detail.to_series()}))
        wanted = FIELDS.get(name, {})
        if wanted and all(field in fields for field in wanted):
            when = pl.DataFrame({"t_ns": t_ns, "cpu": cpu})
            tables[name] = when.hstack(own.select(*wanted))

    try:
        raw = read_trace_dat(path, data, keep)
    except RecordingError as error:
        raise TraceError(str(error)) from error
    except (LookupError, ValueError) as error:
        raise TraceError(f"{path}: damaged: {type(error).__name__}: {error}") from error
    if raw is None or strange:
        return None
    if raw.lost or raw.lost_before:
        raise TraceError(f"{path}: events were lost: {raw.lost} and before {raw.lost_before} pages")
    columns = ["t_ns", "cpu", "pid", "comm", "event", "detail"]
    if not parts:
        kinds = (pl.Int64, pl.Int32, pl.Int64, pl.String, pl.String, pl.String)
        return Trace(path, pl.DataFrame(schema=dict(zip(columns, kinds, strict=True))))
    names = {0: "<idle>", **raw.names}
    comm = pl.col("pid").replace_strict(names, default="<...>", return_dtype=pl.String)
    events = pl.concat(parts).sort("place").with_columns(comm.alias("comm"))
    return Trace(path, events.select(columns), tables)


def _reported(path: Path) -> Trace:
    lines = lines_of(_report(path))
    lost = lines.filter(pl.col("line").str.contains(r"EVENTS DROPPED|\[LOST "))
    if lost.height:
        raise TraceError(f"{path}: events were lost: {lost['line'][0].strip()}")
    lines = lines.filter(
        ~pl.col("line").str.starts_with("cpus=")
        & ~pl.col("line").str.contains(r"^CPU \d+ is empty$")
        & ~pl.col("line").str.contains(r"^\s*version = \d+$")
    )
    parsed = lines.with_columns(pl.col("line").str.extract_groups(_LINE).alias("groups"))
    events = parsed.unnest("groups")
    # A marker's text may hold line breaks: what follows its first line has no event of its own.
    before = pl.col("event").forward_fill().fill_null("")
    strange = events.filter(pl.col("event").is_null() & (before != "print"))
    if strange.height:
        raise TraceError(f"{path}: line cannot be parsed: {strange['line'][0]!r}")
    events = events.filter(pl.col("event").is_not_null()).select(
        (pl.col("seconds").cast(pl.Int64) * 1_000_000_000 + pl.col("nanos").cast(pl.Int64)).alias(
            "t_ns"
        ),
        pl.col("cpu").cast(pl.Int32),
        pl.col("pid").cast(pl.Int64),
        "comm",
        "event",
        "detail",
    )
    return Trace(path, events.sort("t_ns", maintain_order=True))


def _report(path: Path) -> bytes:
    command = [str(host_trace_cmd()), "report", "-R", "-t", "-N", "--nodate", "-i", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0 or not re.search(rb"^cpus=\d+$", done.stdout, re.MULTILINE):
        size = path.stat().st_size
        output = (done.stderr + done.stdout[-500:]).decode(errors="replace")
        complaint = " ".join(output.replace(str(path), "the file").split())[:200]
        cut = re.search(r"Need at least (\d+)", complaint)
        if cut:
            raise TraceError(f"{path}: truncated: {size} of {cut.group(1)} bytes are there")
        raise TraceError(
            f"{path}: truncated or not a trace.dat ({size} bytes): {complaint or 'no header'}"
        )
    return done.stdout
