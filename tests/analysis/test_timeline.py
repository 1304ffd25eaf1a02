# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline's data: what its columns decode to are the tables, and so are its sums."""

import base64
import json
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eascope.analysis.derive import Derived
from eascope.analysis.report import diff_page
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.timeline import NONE, Mark, Track, island, marks, section
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.cli.main import main
from eascope.host.proc import run
from tests.support.repo import REPO
from tests.support.synthetic import MS, Burst, Schedule
from tests.support.tracefile import TraceEvent

JUNO = load_platform("juno-r2")
STEP_NS = 10_000
Column = npt.NDArray[np.int64]


def columns(text: str) -> dict[str, Column]:
    """What timeline.js makes of an island."""
    packed = json.loads(text)
    planes = zlib.decompress(base64.b64decode(packed["data"]))
    found, at = {}, 0
    for name, kind, length in packed["columns"]:
        size = int(kind[1])
        part = np.frombuffer(planes[at : at + size * length], np.uint8).reshape(size, length)
        found[name] = np.ascontiguousarray(part.T).view(f"<{kind}").ravel().astype(np.int64)
        at += size * length
    assert at == len(planes)
    return found


def intervals(text: str, place: int) -> list[list[tuple[Any, ...]]]:
    """By lane: begin, end, and the thread or kHz, of a run."""
    packed, found, letter = json.loads(text), columns(text), "ab"[place]
    cpus, lanes, at = sum(len(each["cpus"]) for each in packed["clusters"]), [], 0
    for lane, count in enumerate(packed["runs"][place]["counts"]):
        t, own = 0, []
        for i in range(at, at + count):
            begin = t + int(found[f"{letter}_gap"][i])
            t = begin + int(found[f"{letter}_ns"][i])
            what = int(found[f"{letter}_what"][i])
            own.append((begin, t, packed["threads"][what] if lane < cpus else what))
        lanes.append(own)
        at += count
    assert len(lanes) == cpus + len(packed["clusters"])
    return lanes


def rows(track: Track, platform: Platform) -> list[list[tuple[Any, ...]]]:
    """The same, of the tables."""
    times = ("t0_ns", "t1_ns")
    own = [
        track.slices.filter(pl.col("cpu") == cpu).sort("t0_ns").select(*times, "thread").rows()
        for cpu in platform.cpus
    ]
    for index in range(len(platform.clusters)):
        clocks = track.clocks.filter(pl.col("cluster") == index).sort("t0_ns")
        own.append(clocks.select(*times, "khz").rows())
    return own


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    """Any run, also one whose gaps need more than 32 bits."""
    ns = draw(st.sampled_from((50_000, 3_000_001, 20 * 10**9)))
    moments = st.lists(st.integers(0, ns), max_size=40, unique=True)
    slices: list[tuple[str | None, str, int, int, int, int, int]] = []
    for cpu in JUNO.cpus:
        edges = sorted(draw(moments))
        for begin, end in zip(edges[::2], edges[1::2], strict=False):
            task = draw(st.sampled_from((None, "a", "b")))
            woken = draw(st.sampled_from(((0, 0), (1 + cpu, 7), (1, 10**9))))
            thread = f"{task}-{draw(st.integers(0, 2))} </script>"
            slices.append((task, thread, cpu, begin, end, *woken))
    clocks = []
    for cluster in JUNO.clusters:
        edges = sorted({0, ns, *draw(moments)})
        khz = [draw(st.sampled_from(cluster.opps)).khz for _ in edges[1:]]
        clocks += [(cluster.index, *row) for row in zip(khz, edges[:-1], edges[1:], strict=True)]
    step_ns = STEP_NS if ns < 10**9 else ns // 7
    steps = -(-ns // step_ns)
    return Track(
        *("a run", ns),
        pl.DataFrame(
            slices,
            schema={
                **{"task": pl.String, "thread": pl.String},
                **dict.fromkeys(("cpu", "t0_ns", "t1_ns", "by", "wait"), pl.Int64),
            },
            orient="row",
        ),
        pl.DataFrame(clocks, schema=("cluster", "khz", "t0_ns", "t1_ns"), orient="row"),
        np.array(draw(st.lists(st.integers(0, 2**33), min_size=steps, max_size=steps))),
        step_ns,
    )


@settings(max_examples=40, deadline=None)
@given(st.tuples(tracks(), tracks()))
def test_columns_decode_to_the_tables(pair: tuple[Track, Track]) -> None:
    mark = Mark((7, 5_000_000_000), (NONE, 4), "wake-up 1 of é")
    text = island(JUNO, pair, [mark], [])
    assert "</" not in text
    found = columns(text)
    for place, track in enumerate(pair):
        assert intervals(text, place) == rows(track, JUNO)
        none = [0] * track.clocks.height
        for name in ("by", "wait"):
            woken = track.slices.sort("cpu", "t0_ns")[name].to_list()
            assert found[f"{'ab'[place]}_{name}"].tolist() == woken + none
        assert found[f"{'ab'[place]}_nj"].tolist() == track.nj.tolist()
        assert found[f"{'ab'[place]}_mark"].tolist() == [mark.t_ns[place]]
        assert found[f"{'ab'[place]}_lane"].tolist() == [mark.lanes[place]]
    assert bytes(found["words"].astype(np.uint8)).decode() == mark.words
    assert json.loads(text)["kept"] is None
    assert island(JUNO, pair, [mark], []) == text


def overlap(table: pl.DataFrame, begin: int, end: int) -> int:
    within = pl.min_horizontal("t1_ns", end) - pl.max_horizontal("t0_ns", begin)
    return int(table.select(within.clip(lower_bound=0).sum()).item())


def energy(track: Track, begin: int, end: int) -> float:
    """In nJ; within a step power is constant."""
    edges = [min(step * track.step_ns, track.ns) for step in range(len(track.nj) + 1)]
    before = np.concatenate(([0], np.cumsum(track.nj)))
    return float(np.interp(end, edges, before) - np.interp(begin, edges, before))


READ = """
const { unpack, runOf, sums, wakerOf } = require(process.argv[1]);
(async () => {
  const { island, ranges } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const columns = await unpack(island), runs = [0, 1].map((place) => runOf(island, columns, place));
  const answer = ranges.map(([from, to]) => runs.map((run) => {
    const drawn = run.cpus.map((lane) => {
      const found = [0, 0, 0];
      lane.pieces(from, to, (to - from) / 40, (begin, end, rate) => {
        found[0]++;
        found[1] += rate * (end - begin);
        found[2] += Number(begin < found.last);
        found.last = end;
      });
      return found;
    });
    return [sums(island, run, from, to), drawn];
  }));
  const wakers = runs.map((run) => run.cpus.map((lane) => [wakerOf(run, lane, 0), lane.t0[0]]));
  console.log(JSON.stringify([answer, wakers]));
})();
"""


def test_sums_of_a_range_are_those_of_the_tables() -> None:
    """And a frame draws at most a piece per pixel and lane, which have all of a lane's time.

    Each thread was woken on the next CPU, that of the last one by nobody.
    """
    if not shutil.which("node"):
        pytest.skip("no node")
    draws = np.random.default_rng(1)
    ns, pair = 10**8, []
    for many in (30, 5000):
        parts = []
        for cpu in JUNO.cpus:
            edges = np.sort(draws.choice(ns, 2 * many, replace=False)).astype(np.int64)
            names = {"task": ["t"] * many, "thread": ["t-0"] * many, "cpu": [cpu] * many}
            woken = {"by": [cpu + 2 if cpu < 5 else 0] * many, "wait": [5] * many}
            names |= woken
            parts.append(pl.DataFrame({**names, "t0_ns": edges[::2], "t1_ns": edges[1::2]}))
        clocks = {"cluster": [0, 1], "khz": [450_000, 600_000], "t0_ns": [0, 0], "t1_ns": [ns] * 2}
        nj = draws.integers(0, 50_000, size=ns // STEP_NS)
        pair.append(Track("x", ns, pl.concat(parts), pl.DataFrame(clocks), nj, STEP_NS))
    ranges = [(0, ns), (0, 1), (12_345, 67_890_123)]
    ranges += [tuple(sorted(draws.choice(ns, 2).tolist())) for _ in range(30)]
    asked = json.dumps({"island": json.loads(island(JUNO, pair, [], [])), "ranges": ranges})
    script = REPO / "analysis" / "timeline.js"
    answer, wakers = json.loads(run(["node", "-e", READ, script], stdin=asked.encode()))
    for track, found in zip(pair, wakers, strict=True):
        for cpu, (waker, t0_ns) in zip(JUNO.cpus, found, strict=True):
            if cpu == JUNO.cpus[-1]:
                assert waker is None
                continue
            t_ns = t0_ns - 5
            ran = track.slices.filter(pl.col("cpu") == cpu + 1, pl.col("t0_ns") <= t_ns)
            busy = ran.filter(pl.col("t1_ns") > t_ns).height
            at = ran.height - 1 if busy else -1
            assert waker == {"cpu": cpu + 1, "t": t_ns, "at": at}
    for (begin, end), both in zip(ranges, answer, strict=True):
        for track, (found, drawn) in zip(pair, both, strict=True):
            own = [
                overlap(track.slices.filter(pl.col("cpu").is_in(cluster.cpus)), begin, end)
                for cluster in JUNO.clusters
            ]
            assert found["busy"] == pytest.approx(own, abs=1e-3)
            assert found["mj"] * 1e6 == pytest.approx(energy(track, begin, end), abs=1e-3)
            assert all(pieces <= 40 + 1 and not overlaps for pieces, _, overlaps in drawn)
    whole = answer[0]
    for track, (_, drawn) in zip(pair, whole, strict=True):
        for cpu, (_, covered, _) in zip(JUNO.cpus, drawn, strict=True):
            ran = track.slices.filter(pl.col("cpu") == cpu)
            assert covered == pytest.approx(overlap(ran, 0, ns))


def test_too_large_a_page_keeps_what_is_around_the_differences() -> None:
    draws = np.random.default_rng(2)
    ns, many = 10**10, 20_000
    edges = np.sort(draws.choice(ns, 2 * many, replace=False)).astype(np.int64)
    names = {"task": ["t"] * many, "thread": ["t-0"] * many, "cpu": [0] * many}
    names |= {"by": [1] * many, "wait": [9] * many}
    slices = pl.DataFrame({**names, "t0_ns": edges[::2], "t1_ns": edges[1::2]})
    clocks = {"cluster": [0, 1], "khz": [450_000, 600_000], "t0_ns": [0, 0], "t1_ns": [ns] * 2}
    track = Track("x", ns, slices, pl.DataFrame(clocks), np.full(1000, 9), ns // 1000)
    marked = [Mark((at, at + 5), (0, 1), f"at {at}") for at in range(0, ns, ns // 50)]
    around = [(10**9, 10**9 + 5), (6 * 10**9, 6 * 10**9 + 5)]
    text = island(JUNO, [track, track], marked, around, most=50_000)
    assert len(text) <= 50_000
    kept = json.loads(text)["kept"]
    assert len(kept) == 2
    assert all(a < at < b for (a, b), (at, _) in zip(kept, around, strict=True))
    first, *_, little, big = intervals(text, 0)
    inside = [
        row for row in rows(track, JUNO)[0] if any(row[0] < b and row[1] > a for a, b in kept)
    ]
    assert first == inside
    assert 0 < len(inside) < many
    assert [little, big] == rows(track, JUNO)[-2:]
    within = [mark.t_ns[0] for mark in marked if any(a <= mark.t_ns[0] <= b for a, b in kept)]
    assert columns(text)["a_mark"].tolist() == within


def schedule(cpus: Sequence[int], asked: int = 600_000) -> Schedule:
    """A task wakes up every 20 ms on these CPUs; the governor of the bigs asks for a clock."""
    bursts = [Burst("job", (10 + 20 * n) * MS, cpu, 2 * MS) for n, cpu in enumerate(cpus)]
    more = [
        TraceEvent(each.wake_ns + 1, each.cpu, 0, "sched_wakeup", ("job", 100, 120, each.cpu))
        for each in bursts
    ]
    more.append(TraceEvent(5 * MS, 4, 0, "cpu_frequency", (asked, 4)))
    return Schedule(100 * MS, bursts, {0: [(0, 450_000)], 1: [(0, 600_000)]}, more=more)


def test_a_runs_columns_and_marks(
    derived: Callable[[Schedule], Derived], platform: Platform
) -> None:
    runs = derived(schedule([0, 0, 0])), derived(schedule([0, 4, 0], 1_200_000))
    diff = RunDiff.of(platform, *runs)
    both = [Track.of(side, "x") for side in (diff.a, diff.b)]
    for track, side in zip(both, (diff.a, diff.b), strict=True):
        whole = int(side.derived.table("energy")["energy_fj"].sum())
        assert int(track.nj.sum()) == round(whole / 1e6)
        assert len(track.nj) == -(-track.ns // track.step_ns)
        ran = side.derived.table("slices")
        assert (track.slices["by"] == track.slices["cpu"] + 1).all()
        assert set(track.slices["wait"]) == {20_000}
        assert overlap(track.slices, 0, track.ns) == int((ran["t1_ns"] - ran["t0_ns"]).sum())
    clock, wake = marks(diff)
    assert (clock.lanes, clock.t_ns) == ((NONE, 7), (5 * MS, 5 * MS))
    assert (wake.lanes, wake.t_ns) == ((0, 4), (30 * MS, 30 * MS))
    text = section(diff)
    assert section(diff) == text
    assert wake.words in text


def test_diff_writes_a_page(
    derived: Callable[[Schedule], Derived],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    snapshot: object,
) -> None:
    a, b = (str(derived(schedule(cpus)).run) for cpus in ([0, 0], [0, 4]))
    out = tmp_path / "page" / "x.html"
    out.parent.mkdir()
    assert main(["diff", a, b, "--html", str(out)]) == 0
    page, printed = out.read_text(), capsys.readouterr().out
    assert printed.splitlines()[0] in page
    assert re.findall(r"<script[^>]*src|<link|<img|https?://", page) == []
    assert "default-src 'none'" in page
    assert main(["diff", a, b, "--html", str(out), "--seeds", "2"]) == 2
    assert capsys.readouterr().err == snapshot


def test_equal_runs_have_no_row_to_jump_to(
    derived: Callable[[Schedule], Derived], platform: Platform
) -> None:
    diff = RunDiff.of(platform, derived(schedule([0, 1])), derived(schedule([0, 1])))
    page = diff_page(diff, "eascope diff a b")
    assert "No decision differs between the two runs." in page
    assert "data-at" not in page
