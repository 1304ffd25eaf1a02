# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of ``trace-cmd report``, of ftrace's ``trace`` file, and systrace's HTML around it."""

from __future__ import annotations

import io
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from eascope.analysis.recordings.tables import BACK_NS, DEAD, Ints, Raw, RecordingError
from eascope.host.lisa import host_trace_cmd

_LINE = (
    r"^\s*(?P<comm>.*)-(?P<common_pid>\d+)\s+(?:\(\s*(?P<tgid>\d+|-+)\)\s+)?\[(?P<cpu>\d+)\]\s+"
    r"(?:(?P<flags>[^\s\d:]\S{3,5})\s+)?(?P<seconds>\d+)\.(?P<parts>\d{6,9}): "
    r"(?P<event>[^\s:]+):\s*(?P<detail>.*)$"
)
#: The same in the latency format, as of ``trace-cmd report -l``.
_LATENCY = _LINE.replace(r"\[(?P<cpu>\d+)\]\s+(?:", r"(?P<cpu>\d+)(?:").replace(
    r"\s+)?(?P<sec", r"\s+)(?P<sec"
)
#: Fields of events in the forms in which kernels and trace-cmd print them.
_SWITCH = (
    r"prev_comm=(?P<prev_comm>.*) prev_pid=(?P<prev_pid>\d+) prev_prio=(?P<prev_prio>-?\d+) "
    r"prev_state=(?P<state>\S+)(?: ==>)? next_comm=(?P<next_comm>.*) next_pid=(?P<next_pid>\d+) "
    r"next_prio=(?P<next_prio>-?\d+)",
    r"^(?P<prev_comm>.*):(?P<prev_pid>\d+) \[(?P<prev_prio>-?\d+)\] (?P<state>\S+) ==> "
    r"(?P<next_comm>.*):(?P<next_pid>\d+) \[(?P<next_prio>-?\d+)\]",
)
_WAKE = (
    r"comm=(?P<comm>.*) pid=(?P<pid>\d+) prio=(?P<prio>-?\d+)(?: success=\d)?"
    r" target_cpu=(?P<target_cpu>\d+)",
    r"^(?P<comm>.*):(?P<pid>\d+) \[(?P<prio>-?\d+)\].* CPU:(?P<target_cpu>\d+)",
)
_POWER = (r"state=(?P<state>\d+) cpu_id=(?P<cpu_id>\d+)",)
_MARK = (r"^(?:ip=\S+ buf=|tracing_mark_write: |0x[0-9a-f]+: )?(?P<buf>.*)$",)
_EVENTS = {
    "sched_switch": _SWITCH,
    **dict.fromkeys(("sched_waking", "sched_wakeup", "sched_wakeup_new"), _WAKE),
    **dict.fromkeys(("cpu_frequency", "cpu_idle"), _POWER),
    **dict.fromkeys(("print", "tracing_mark_write"), _MARK),
}
_TEXTS = ("comm", "prev_comm", "next_comm", "state", "buf")


def reported(path: Path, data: bytes) -> Raw:
    """The events of a trace.dat of which only trace-cmd knows the version.

    :raises RecordingError: trace-cmd cannot read it.
    """
    with tempfile.NamedTemporaryFile(suffix=".dat") as file:
        file.write(data)
        file.flush()
        command = [str(host_trace_cmd()), "report", "-R", "-t", "-N", "--nodate", "-i", file.name]
        done = subprocess.run(command, capture_output=True, check=False)
    raw = read_text(path, done.stdout)
    if done.returncode != 0 or raw is None:
        said = " ".join(done.stderr.decode(errors="replace").split())[:200]
        raise RecordingError(f"{path}: truncated or damaged: trace-cmd says: {said or 'nothing'}")
    return raw


def lines_of(data: bytes) -> pl.DataFrame:
    """A text's lines, as the column ``line``."""
    return pl.read_csv(
        io.BytesIO(data),
        has_header=False,
        separator="\x01",
        quote_char=None,
        new_columns=["line"],
        schema={"line": pl.String},
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    )


def read_text(path: Path, data: bytes) -> Raw | None:
    """The events of a text; None where no line is one.

    :raises RecordingError: lines of a known event that are not understood.
    """
    lines = lines_of(data) if data.strip() else pl.DataFrame(schema={"line": pl.String})
    for pattern in (_LINE, _LATENCY):
        groups = pl.col("line").str.extract_groups(pattern).alias("groups")
        events = lines.select(groups).unnest("groups").filter(pl.col("event").is_not_null())
        if events.height:
            break
    else:
        return None
    raw = Raw()
    raw.lost = sum(
        int(n or 0)
        for n in lines["line"].str.extract(r"\[(?:LOST )?(\d+) EVENTS(?: DROPPED)?\]").drop_nulls()
    )
    for held, written in re.findall(
        rb"entries-in-buffer/entries-written: (\d+)/(\d+)", data[:65536]
    ):
        raw.lost += int(written) - int(held)
    sizes = lines["line"].str.extract(r"^cpus=(\d+)$").drop_nulls()
    raw.cpus = int(sizes[0]) if len(sizes) else 0
    parts = pl.col("parts").str.pad_end(9, "0").cast(pl.Int64)
    events = events.with_columns(
        (pl.col("seconds").cast(pl.Int64) * 1_000_000_000 + parts).alias("t_ns"),
        pl.col("cpu", "common_pid").cast(pl.Int64),
        _flags(),
    )
    raw.steps_back = int((events["t_ns"].diff() < -BACK_NS).sum())
    threads = events.select("common_pid", "comm", "tgid").unique("common_pid", keep="last")
    for pid, comm, tgid in threads.iter_rows():
        if pid and comm.strip() not in ("<...>", f"<{pid}>"):
            raw.names[pid] = comm.strip()
        if tgid and tgid.isdigit():
            raw.tgids[pid] = int(tgid)
    for event, patterns in _EVENTS.items():
        rows = events.filter(pl.col("event") == event)
        if rows.height:
            _add(path, raw, event, patterns, rows)
    for event, count in events.group_by("event").len().iter_rows():
        raw.counts[event] = count
    return raw


def _flags() -> pl.Expr:
    """Interrupt or softirq as `common_flags` has them; -1 without the column of flags."""
    third = pl.col("flags").str.slice(2, 1)
    return (
        pl.when(pl.col("flags").is_null())
        .then(-1)
        .when(third.is_in(["h", "H", "Z", "z"]))
        .then(8)
        .when(third == "s")
        .then(16)
        .otherwise(0)
        .alias("common_flags")
    )


def _add(path: Path, raw: Raw, event: str, patterns: Sequence[str], rows: pl.DataFrame) -> None:
    columns = pl.DataFrame()
    for pattern in patterns:
        columns = rows.select(
            "t_ns",
            "cpu",
            "common_pid",
            "common_flags",
            "detail",
            pl.col("detail").str.extract_groups(pattern).alias("fields"),
        ).unnest("fields")
        last = columns.columns[-1]
        if columns[last].null_count() == 0:
            break
    bad = columns.filter(pl.col(last).is_null())
    if bad.height:
        raise RecordingError(
            f"{path}: {bad.height} lines of {event} are not understood: {bad['detail'][0][:80]!r}"
        )
    if event == "sched_switch":
        state = pl.col("state")
        bits = state.cast(pl.Int64, strict=False)
        letters = (
            pl.when(state.str.contains(r"^R\+?$"))
            .then(0)
            .when(state.str.contains("^[XxZ]"))
            .then(DEAD)
            .otherwise(1)
        )
        columns = columns.with_columns(bits.fill_null(letters).alias("prev_state"))

    def column(name: str) -> Ints | None:
        if name not in columns.columns:
            return None
        return np.asarray(columns[name].cast(pl.Int64, strict=False).fill_null(-1).to_numpy())

    def text(name: str, rows: Ints) -> list[str]:
        return [] if name not in columns.columns else columns[name].gather(rows).to_list()

    raw.add(event, columns["t_ns"].to_numpy(), columns["cpu"].to_numpy(), column, text)
