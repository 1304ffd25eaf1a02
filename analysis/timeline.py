# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of two runs in a report: the data that ``timeline.js`` draws, and its HTML.

The data is an island of JSON: what there is to draw, and one string of base64 with all columns,
deflated. Times are whole ns since START of each run. A column is stored plane by plane (the first
byte of every number, then the second ..), which deflates better.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.run_diff import RunDiff, Span
from eascope.analysis.run_diff_text import words
from eascope.analysis.run_side import Side
from eascope.analysis.stream import REQUEST, Decision
from eascope.configs.platform import Platform

_SCRIPT = Path(__file__).with_name("timeline.js")
#: Bytes of the island, at most: figures and tables of a report have the rest of its 5 MB.
MOST = 3_500_000
#: Steps of the power track, and the shortest one in ns.
STEPS, STEP_NS = 20_000, 10_000
#: Half of a window that is kept around a difference, at first and at least, in ns.
WIDEST_NS, NARROWEST_NS = 1 << 29, 1 << 16
#: No lane.
NONE = 0xFFFF
Whole = npt.NDArray[np.int64]
#: Ranges of time in ns since START.
Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Track:
    """A run as it is drawn; times in ns since START.

    :param slices: task, thread, cpu, t0_ns, t1_ns, and of one that a wake-up began ``by`` (the CPU
        that woke the thread, from 1; else 0) and ``wait`` (ns since then).
    :param clocks: cluster, khz, t0_ns, t1_ns.
    :param nj: energy of each step of ``step_ns``, the last of which may be shorter.
    """

    name: str
    ns: int
    slices: pl.DataFrame
    clocks: pl.DataFrame
    nj: Whole
    step_ns: int

    @classmethod
    def of(cls, side: Side, name: str) -> Track:
        """The derived tables of a run."""
        derived, start, ns = side.derived, side.window.t0_ns, side.window.ns
        since = [pl.col("t0_ns") - start, pl.col("t1_ns") - start]
        step_ns = max(1, -(-ns // STEPS // STEP_NS)) * STEP_NS
        spent = side.energy.until([*range(0, ns, step_ns), ns])
        return cls(
            name,
            ns,
            _woken(side).select("task", "thread", "cpu", *since, "by", "wait"),
            derived.table("frequency").select("cluster", "khz", *since),
            np.diff((np.array(spent) + 500_000) // 1_000_000),
            step_ns,
        )


def _woken(side: Side) -> pl.DataFrame:
    """``slices`` with what woke each of them."""
    began, woken = ["pid", "cpu", "t0_ns"], ["pid", "woken_ns"]
    latency = side.derived.table("latency").select("pid", "cpu", "woken_ns", t0_ns="t_ns")
    slices = side.derived.table("slices").join(latency.unique(began), on=began, how="left")
    return slices.join(side.wakers.unique(woken), on=woken, how="left").with_columns(
        by=pl.col("by").fill_null(-1) + 1,
        wait=pl.when(pl.col("by") >= 0).then(pl.col("t0_ns") - pl.col("woken_ns")).otherwise(0),
    )


@dataclass(frozen=True)
class Mark:
    """A decision that differs: when, in which lanes (`NONE`: the run has not taken it), in words.

    The lane of a CPU is its number; those of the clusters' clocks follow.
    """

    t_ns: tuple[int, int]
    lanes: tuple[int, int]
    words: str


def marks(diff: RunDiff) -> list[Mark]:
    """Every decision that differs, in the order of both runs."""
    return [
        Mark(
            span.t0_ns,
            (_lane(span.decision[0], diff.platform), _lane(span.decision[1], diff.platform)),
            words(span.decision),
        )
        for span in diff.spans
        if span.decision
    ]


def _lane(decision: Decision | None, platform: Platform) -> int:
    if decision is None:
        return NONE
    if decision.kind != REQUEST:
        return decision.value
    return len(platform.cpus) + platform.cluster_of(int(decision.about[len("policy") :])).index


def notable(diff: RunDiff) -> list[Span]:
    """The first difference and the largest ones, in the order of time."""
    spans = [span for span in diff.spans if span.decision]
    largest = diff.largest
    return [span for span in spans if span in largest or span is spans[0]]


def island(
    platform: Platform,
    tracks: Sequence[Track],
    marked: Sequence[Mark],
    around: Ranges,
    most: int = MOST,
) -> str:
    """The JSON text; above ``most`` bytes it has slices and marks near ``around`` alone."""
    text, margin = _island(platform, tracks, marked, None), WIDEST_NS
    while len(text) > most and margin >= NARROWEST_NS:
        kept = _joined(around, margin)
        meets = [(pl.col("t0_ns") < b) & (pl.col("t1_ns") > a) for a, b in kept]
        cut = [
            replace(each, slices=each.slices.filter(pl.any_horizontal(meets))) for each in tracks
        ]
        near = [mark for mark in marked if any(a <= mark.t_ns[0] <= b for a, b in kept)]
        text, margin = _island(platform, cut, near, kept), margin // 2
    return text


def _joined(ranges: Ranges, margin: int) -> list[tuple[int, int]]:
    """The ranges, wider by ``margin`` on both sides; those that then touch are one."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted((max(0, begin - margin), end + margin) for begin, end in ranges):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def _island(
    platform: Platform, tracks: Sequence[Track], marked: Sequence[Mark], kept: Ranges | None
) -> str:
    seen = pl.concat([track.slices.select("task", "thread") for track in tracks])
    own = seen.unique("thread").sort(pl.col("task").is_null(), "task", "thread")
    lanes = range(len(platform.cpus) + len(platform.clusters))
    columns: dict[str, Whole] = {}
    runs = []
    for place, track in enumerate(tracks):
        drawn = _drawn(track, own["thread"], len(platform.cpus))
        counts = [int((drawn["lane"] == lane).sum()) for lane in lanes]
        runs.append({"name": track.name, "ns": track.ns, "step": track.step_ns, "counts": counts})
        own_columns = {
            **{name: drawn[name].to_numpy() for name in ("gap", "ns", "what", "by", "wait")},
            "nj": track.nj,
            "mark": np.array([mark.t_ns[place] for mark in marked], dtype=np.int64),
            "lane": np.array([mark.lanes[place] for mark in marked], dtype=np.int64),
        }
        columns |= {f"{'ab'[place]}_{name}": column for name, column in own_columns.items()}
    said = "\n".join(mark.words for mark in marked).encode()
    columns["words"] = np.frombuffer(said, np.uint8).astype(np.int64)
    packed = [(name, *_planes(column)) for name, column in columns.items()]
    head = {
        "runs": runs,
        "clusters": [
            {"name": cluster.name, "cpus": cluster.cpus, "max_khz": cluster.max_khz}
            for cluster in platform.clusters
        ],
        "threads": own["thread"].to_list(),
        "tasks": int(own["task"].is_not_null().sum()),
        "kept": kept,
        "columns": [[name, kind, len(columns[name])] for name, kind, _ in packed],
        "data": base64.b64encode(zlib.compress(b"".join(p for *_, p in packed), 6)).decode(),
    }
    return json.dumps(head, separators=(",", ":")).replace("<", "\\u003c")


def _drawn(track: Track, threads: pl.Series, cpus: int) -> pl.DataFrame:
    """All lanes, one after the other: lane, gap (since the interval before), ns, what, by, wait.

    ``what`` is the place of the thread, or the clock in kHz.
    """
    thread = pl.col("thread").cast(pl.Enum(threads)).to_physical().cast(pl.Int64)
    khz, cluster = (pl.col(name).cast(pl.Int64) for name in ("khz", "cluster"))
    both = (
        track.slices.select(
            *("t0_ns", "t1_ns", "by", "wait"), lane=pl.col("cpu").cast(pl.Int64), what=thread
        ),
        track.clocks.select("t0_ns", "t1_ns", lane=cluster + cpus, what=khz),
    )
    before = pl.col("t1_ns").shift(1, fill_value=0).over("lane")
    rows = pl.concat(both, how="diagonal").sort("lane", "t0_ns")
    woken = pl.col("by", "wait").fill_null(0)
    ns = pl.col("t1_ns") - pl.col("t0_ns")
    return rows.select("lane", "what", woken, gap=pl.col("t0_ns") - before, ns=ns)


def _planes(column: Whole) -> tuple[str, bytes]:
    """The narrowest kind of typed array that holds the column, and its bytes plane by plane."""
    largest = int(column.max(initial=0))
    kind = next((f"u{size}" for size in (1, 2, 4) if largest < 1 << 8 * size), "f8")
    size = int(kind[1])
    return kind, column.astype(f"<{kind}").view(np.uint8).reshape(-1, size).T.tobytes()


_BUTTONS = {
    "a": "&#9664;",
    "d": "&#9654;",
    "w": "zoom in",
    "s": "zoom out",
    "Home": "whole window",
    "n": "next difference",
}
_HELP = (
    "With the focus on it, <kbd>w</kbd> <kbd>s</kbd> or the wheel zoom, <kbd>a</kbd> <kbd>d</kbd> "
    "pan, arrows go from interval to interval (with <kbd>Shift</kbd> they select), and a line "
    "leads there from the CPU that woke the thread, <kbd>n</kbd> "
    "<kbd>p</kbd> go to the next and previous difference, <kbd>Home</kbd> shows everything, "
    "<kbd>Esc</kbd> ends a selection. Drag to select a range. The address has the view, so a link "
    "to it can be mailed."
)


def section(diff: RunDiff) -> str:
    """The HTML of the timeline of both runs, named by their variants; the same runs, the same."""
    told, names = notable(diff), [side.derived.cell.variant for side in (diff.a, diff.b)]
    tracks = [Track.of(side, name) for side, name in zip((diff.a, diff.b), names, strict=True)]
    data = island(diff.platform, tracks, marks(diff), [_range(span) for span in told])
    return html(names, data, _table(told))


def html(names: Sequence[str], data: str, table: str) -> str:
    """The note, the canvas with what belongs to it, ``table``, the island and the script."""
    buttons = "".join(
        f'<button type="button" data-key="{key}">{text}</button>' for key, text in _BUTTONS.items()
    )
    return (
        f'<p class="note">A: <b>{escape(names[0])}</b>, B: <b>{escape(names[1])}</b>; time since '
        "each run's START. A triangle is a decision that differs. Grey threads are of no task. "
        f"Power is that of the whole machine. {_HELP}</p>\n"
        f'<p class="tools">{buttons}</p>\n'
        '<canvas id="timeline-view" tabindex="0" role="application" aria-label="Timeline of two '
        'runs" aria-describedby="timeline-told"></canvas>\n'
        '<p id="timeline-told" role="status" aria-live="polite">The timeline needs JavaScript and '
        "DecompressionStream.</p>"
        '\n<p id="timeline-legend" class="note"></p>\n<div id="timeline-sums" class="wide"></div>\n'
        f'{table}\n<script type="application/json" id="timeline-data">{data}</script>\n'
        f"<script>\n{_SCRIPT.read_text()}</script>\n"
    )


def _range(span: Span) -> tuple[int, int]:
    return min(span.t0_ns), max(span.t0_ns)


def _table(told: Sequence[Span]) -> str:
    """The notable differences; each row jumps to its own."""
    if not told:
        return "<p>No decision differs between the two runs.</p>"
    heads = "".join(f"<th>{head}</th>" for head in ("at in A (ms)", "in B (ms)", "B - A (mJ)"))
    rows = ""
    for span in told:
        assert span.decision
        a, b = span.t0_ns
        rows += (
            f'<tr><td><button type="button" data-at="{_range(span)[0]}">{a / 1e6:.3f}</button>'
            f"</td><td>{b / 1e6:.3f}</td><td>{span.fj / 1e12:+.3f}</td>"
            f'<td class="left">{escape(words(span.decision))}</td></tr>'
        )
    return (
        '<div class="wide"><table><caption class="note">The first difference and those after '
        "which the energies of A and B diverge most until the next difference (ranked, not causal)"
        f'</caption><thead><tr>{heads}<th class="left">decision</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
