# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a recording of any form: `read_recording`."""

from __future__ import annotations

import gzip
import lzma
import re
from pathlib import Path

import numpy as np
import polars as pl

from eascope.analysis.recordings import perfetto, text, tracedat
from eascope.analysis.recordings.tables import COLUMNS, WAKES, Raw, Recording, RecordingError

_FIRST_VALUE = re.compile(r"cpu_frequency(?:_devlib)?:\s+state=(\d+) cpu_id=(\d+)")
#: Clocks of ftrace that CPUs do not share.
APART = ("local", "counter")
#: What is added to the pid of an ended thread whose pid another one has later.
REUSED = 10_000_000
#: A pause of all CPUs that is no idling.
LONG_NS = 10_000_000_000


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
    try:
        return _finished(path, *_read(path, data))
    except (LookupError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        said = " ".join(str(error).split())[:80]
        raise RecordingError(f"{path}: damaged: {type(error).__name__}: {said}") from error


def _read(path: Path, data: bytes) -> tuple[str, Raw]:
    if data.startswith(tracedat.MAGIC):
        raw = tracedat.read_trace_dat(path, data)
        return "trace.dat", text.reported(path, data) if raw is None else raw
    if perfetto.is_perfetto(data):
        return "Perfetto", perfetto.read_perfetto(path, data)
    found = text.read_text(path, data)
    if found is None:
        raise RecordingError(
            f"{path}: not a recording ({len(data)} bytes); expected Perfetto's protobuf, "
            "trace.dat, text of trace-cmd report, text or HTML of ftrace or systrace"
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
        raise RecordingError(f"{path}: no sched_switch recorded, only {there}")
    notes = _reused(raw, tables)
    switch = tables["switch"]
    marked = [
        (at, int(found[2]), int(found[1]))
        for at, text in tables["mark"].select("t_ns", "text").iter_rows()
        if (found := _FIRST_VALUE.search(text))
    ]
    timed = [tables[name] for name in ("switch", "wake", "freq", "idle") if tables[name].height]
    begin = min(int(table["t_ns"][0]) for table in timed)
    for more, origin in ((marked, "values of markers"), (raw.polled, "polled")):
        if more:
            rows = pl.DataFrame(more, schema=["t_ns", "cpu", "khz"], orient="row").cast(pl.Int64)
            # A value is no change: without an event before it, it was there from the begin.
            changed = dict(tables["freq"].group_by("cpu").agg(pl.col("t_ns").min()).iter_rows())
            known = pl.col("cpu").replace_strict(changed, default=pl.col("t_ns"))
            first = pl.col("cpu").is_first_distinct() & (pl.col("t_ns") <= known)
            stated = pl.when(first).then(pl.min_horizontal("t_ns", begin)).otherwise("t_ns")
            both = pl.concat([tables["freq"], rows.with_columns(stated.alias("t_ns"))])
            tables["freq"] = both.sort("t_ns", maintain_order=True)
            notes.append(f"{len(more)} frequencies are {origin}")
    tables["freq"] = tables["freq"].filter(pl.col("khz") > 0)  # 0: the CPU was off
    timed = [tables[name] for name in ("switch", "wake", "freq", "idle") if tables[name].height]
    end = max(int(table["t_ns"][-1]) for table in timed)
    numbers = (cpu for table in timed for cpu in table["cpu"].unique())
    cpus = max(raw.cpus, *(cpu + 1 for cpu in numbers))
    by_cpu = switch.with_columns(pl.col("next_pid").shift(1).over("cpu").alias("before"))
    gap = (pl.col("before") != pl.col("prev_pid")) & (pl.col("prev_pid") >= 0)
    broken = by_cpu.filter(gap).height
    tables["wake"] = _with_wakers(tables["wake"], switch)
    notes += _losses(raw, broken, switch.height) + _clock(raw, switch)
    seen = set(switch["cpu"].unique()) | set(tables["idle"]["cpu"].unique())
    silent = [cpu for cpu in range(cpus) if cpu not in seen]
    if silent:
        which = ", ".join(map(str, silent))
        notes.append(
            f"CPU {which}: no switch and no idle event: asleep, off or lost; taken as idle"
        )
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


def _reused(raw: Raw, tables: dict[str, pl.DataFrame]) -> list[str]:
    """Take threads apart that had the same number one after the other."""
    last = dict(tables["switch"].group_by("next_pid").agg(pl.col("t_ns").max()).iter_rows())
    again = [end for end in sorted(raw.ended) if last.get(end[1], 0) > end[0]]
    said = []
    for at, pid, comm in again:
        other = int(pid) + REUSED
        while other in raw.names:
            other += REUSED
        said.append(f"{comm} {other}, then {raw.names.get(pid, '')} {pid}")
        raw.names[other] = comm
        for name, columns in (("switch", ("prev_pid", "next_pid")), ("wake", ("pid", "waker"))):
            earlier = [
                pl.when((pl.col(column) == pid) & (pl.col("t_ns") <= at))
                .then(other)
                .otherwise(column)
                .alias(column)
                for column in columns
            ]
            tables[name] = tables[name].with_columns(earlier)
    listed = "; ".join([*said[:4], *["..."] * (len(said) > 4)])
    notes = [f"{len(said)} pids were used again: taken apart: {listed}"] if said else []
    apart = {pid for _, pid, _ in again}
    renamed = [
        f"{first} {pid}, then {raw.names.get(pid, '')}"
        for pid, first in raw.first_names.items()
        if pid > 0 and pid not in apart and raw.names.get(pid, first) != first
    ]
    if renamed:
        listed = "; ".join([*renamed[:4], *["..."] * (len(renamed) > 4)])
        notes.append(
            f"{len(renamed)} pids change their name without an end: each is taken as one thread: "
            f"{listed}"
        )
    return notes


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
    if raw.clock in APART:
        notes.append(f"the clock is {raw.clock}: each CPU has its own, and they may differ")
    pause = int(np.diff(switch["t_ns"].to_numpy(), append=switch["t_ns"][-1]).max())
    if pause > LONG_NS:
        notes.append(f"the clock jumps by {pause / 1e9:.1f} s between two switches")
    return notes
