# SPDX-License-Identifier: GPL-2.0-or-later
"""`eascope diff`: known answers from hand-made runs, and sums that are exact."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eascope.analysis import run_side
from eascope.analysis.derive import derive
from eascope.analysis.diff_kinds import kind_of, kinds_of, kinds_record, kinds_table
from eascope.analysis.records.cell import CELL
from eascope.analysis.run_diff import RunDiff, edges
from eascope.analysis.run_side import Energy
from eascope.analysis.stream import WAKE, Decision, Stream, Streams
from eascope.analysis.trace import DECISION_EVENT
from eascope.analysis.window import Window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.records import TRACE
from eascope.experiments.cli.main import main
from tests.support import synthetic
from tests.support.synthetic import MS, Burst, Schedule, reseal, write_run
from tests.support.tracefile import TraceEvent

KHZ = {0: [(0, 450_000)], 1: [(0, 600_000)]}


def write(
    folder: Path,
    platform: Platform,
    cpus: list[int],
    seed: int = 0,
    decided: str = "",
    events: Sequence[TraceEvent] = (),
    ms: int = 200,
) -> Path:
    """A run in which a task wakes up every 20 ms on these CPUs, and works 2 ms.

    :param decided: what EAS compared at each of its wake-ups, if that is recorded.
    :param events: what else is in its trace.
    :param ms: its window.
    """
    bursts = [Burst("job", (10 + 20 * n) * MS, cpu, 2 * MS) for n, cpu in enumerate(cpus)]
    chosen = [
        TraceEvent(each.wake_ns + 1, each.cpu, 0, "sched_wakeup", ("job", 100, 120, each.cpu))
        for each in bursts
    ]
    # Idle CPUs are in WFI but for the bursts.
    idle = [
        TraceEvent(t_ns, each.cpu, 0, "cpu_idle", (state, each.cpu))
        for each in bursts
        for t_ns, state in (
            (each.wake_ns + 20_000, 0xFFFF_FFFF),
            (each.wake_ns + 20_000 + each.run_ns, 0),
        )
    ]
    asleep = [TraceEvent(0, cpu, 0, "cpu_idle", (0, cpu)) for cpu in platform.cpus]
    compared = [
        TraceEvent(
            each.wake_ns + 1, each.cpu, 0, DECISION_EVENT, ("job", 100, 0, each.cpu, 1, 0, decided)
        )
        for each in bursts
        if decided
    ]
    more = [*asleep, *compared, *chosen, *idle, *events]
    lowest = {each.index: [(0, each.opps[0].khz)] for each in platform.clusters}
    khz = KHZ if platform.name == "juno-r2" else lowest
    cell = write_run(folder, platform, Schedule(ms * MS, bursts, khz, more=more), seed=seed)
    if decided:
        recorded = ("sched:sched_switch", f"eascope:{DECISION_EVENT}")
        replace(cell, controls=replace(cell.controls, trace_events=recorded)).write(folder / CELL)
        reseal(folder)
    return folder


def diff(platform: Platform, activity: Activity, a: Path, b: Path) -> RunDiff:
    return RunDiff.of(platform, *(derive(run, platform, activity) for run in (a, b)))


def test_a_planted_decision_is_the_first_and_its_cost_the_whole_difference(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    a = write(tmp_path / "a", platform, [0] * 9)
    b = write(tmp_path / "b", platform, [0, 0, 4, 0, 0, 0, 0, 0, 0])
    found = diff(platform, activity, a, b)
    one, other = found.firsts[0]
    assert one is not None
    assert other is not None
    assert (one.about, one.kind, one.number, one.value, other.value) == ("job", WAKE, 3, 0, 4)
    assert len(found.firsts) == 1
    assert found.first_of_tasks == found.firsts[0]
    # B works on a big in place of a little; nothing else differs.
    before, behind, again = found.spans
    assert (before.decision, behind.decision, again.decision) == (None, (one, other), None)
    assert (before.t0_ns, behind.t0_ns, again.t0_ns) == ((0, 0), (50 * MS,) * 2, (70 * MS,) * 2)
    assert behind.fj == found.total_fj > 0
    assert before.fj == again.fj == 0
    cost = found.cost(found.firsts[0])
    assert cost.activation_ns == 2 * MS + 20_000
    # Within a row energy is rounded down to 1 fJ.
    assert cost.activation_fj == pytest.approx(found.total_fj, abs=40)
    assert cost.horizon_fj == pytest.approx(found.total_fj, abs=40)


def test_candidates_of_the_first_difference_are_printed_where_they_are_recorded(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a", platform, [0, 0, 0], decided="0:1:30:0:100 4:1:50:2:200")
    b = write(tmp_path / "b", platform, [0, 4, 0], decided="0:1:30:0:300 4:-1:50:2:200")
    assert main(["diff", str(a), str(b)]) == 0
    lines = capsys.readouterr().out.partition("candidates\n")[2].splitlines()
    assert [line.split() for line in lines[1:5]] == [
        *(["A", "0", "1", "0", "100", "*"], ["A", "4", "1", "2", "200"]),
        *(["B", "0", "1", "0", "300"], ["B", "4", "-1", "2", "200", "*"]),
    ]
    plain = [write(tmp_path / name, platform, cpus) for name, cpus in (("c", [0]), ("d", [4]))]
    assert main(["diff", *map(str, plain)]) == 0
    assert "candidates\n" not in capsys.readouterr().out


def test_two_equal_runs_have_no_difference(
    platform: Platform,
    activity: Activity,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [write(tmp_path / name, platform, [0, 4, 1]) for name in "ab"]
    found = diff(platform, activity, runs[0], runs[1])
    assert found.same
    assert found.total_fj == 0
    assert main(["diff", *map(str, runs)]) == 0
    printed = capsys.readouterr().out
    assert "no difference" in printed
    # The digests are kept: traces are read no more.
    monkeypatch.setattr(run_side, "read_trace", None)
    assert main(["diff", *map(str, runs)]) == 0
    assert capsys.readouterr().out == printed


def test_the_states_of_cpus_are_kept_with_the_run(
    platform: Platform,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [write(tmp_path / str(n), platform, cpus) for n, cpus in enumerate(([0, 0], [0, 4]))]
    assert main(["diff", *map(str, runs)]) == 0
    printed = capsys.readouterr().out
    monkeypatch.setattr(run_side, "stretches", None)
    assert main(["diff", *map(str, runs)]) == 0
    assert capsys.readouterr().out == printed


def test_the_command_prints_tables_and_exact_sums(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a", platform, [0] * 9)
    b = write(tmp_path / "b", platform, [0, 4, 4, 0, 0, 1, 0, 0])
    assert main(["diff", str(a), str(b)]) == 0
    out = capsys.readouterr().out
    assert "first difference: wake-up 2 of job: CPU 0 in A (30.000 ms), CPU 4 in B" in out
    assert "2 re-converged spans" in out
    assert main(["diff", str(a), str(b), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert sum(span["difference_fj"] for span in record["spans"]) == record["difference_fj"] != 0
    assert not record["same"]


def test_the_table_of_spans_is_printed_in_other_forms(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [write(tmp_path / str(n), platform, cpus) for n, cpus in enumerate(([0, 0], [0, 4]))]
    words = ["diff", *map(str, runs), "--format"]
    assert main([*words, "csv"]) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert rows[0]["starting with"] == "wake-up 2 of job"
    assert float(rows[0]["B - A (mJ)"]) == float(rows[-1]["B - A (mJ)"]) > 0
    assert main([*words, "md"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("First difference: wake-up 2 of job: CPU 0 in A")
    assert lines[2].startswith("| at (ms) |")
    assert main([*words, "latex"]) == 0
    assert capsys.readouterr().out.startswith("\\begin{tabular}")
    assert main([*words, "json"]) == 0
    assert "spans" in json.loads(capsys.readouterr().out)
    assert main([*words, "csv", "--json"]) == 2
    assert "--json with --format csv: one of the two" in capsys.readouterr().err


def test_runs_that_cannot_be_compared_are_refused_in_a_line(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [write(tmp_path / str(seed), platform, [0, 4], seed) for seed in (0, 1)]
    words = ["diff", *map(str, runs)]
    assert main(words) == 2
    assert "cannot be compared: seed is 0 in A and 1 in B" in capsys.readouterr().err
    assert main([*words, "--any"]) == 0
    assert "also differs: seed: 0 in A, 1 in B" in capsys.readouterr().out
    (runs[0] / "done").unlink()
    assert main(words) == 2
    assert "only finished runs are compared" in capsys.readouterr().err


def test_two_platforms_are_compared_by_name_of_what_differs(
    platform: Platform,
    activity: Activity,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(synthetic, "load_activity", lambda _: activity)
    little, big = platform.clusters
    slow = replace(big, opps=(replace(big.opps[0], khz=500_000), *big.opps[1:]))
    other = replace(platform, name="juno-x", clusters=(little, slow))
    places = ((platform, [0, 4]), (other, [0, 0]))
    runs = [write(tmp_path / each.name, each, cpus) for each, cpus in places]
    words = ["diff", *map(str, runs)]
    assert main(words) == 2
    assert "platform is juno-r2 in A and juno-x in B" in capsys.readouterr().err
    assert main([*words, "--any"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "also differs: platform: juno-r2 in A, juno-x in B"
    # An OPP of one platform alone has no share in the other.
    shares = {tuple(line.split()[:2]): line.split()[3:] for line in lines if " MHz " in line}
    assert shares["big", "600"] == ["100.0", "0.0", "-100.0"]
    assert shares["big", "500"] == ["0.0", "100.0", "+100.0"]
    assert main([*words, "--any", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differs"]["platform"] == ["juno-r2", "juno-x"]
    assert sum(span["difference_fj"] for span in found["spans"]) == found["difference_fj"]
    assert main([*words, "--any", "--html", str(tmp_path / "page.html")]) == 2
    assert "--html: of runs on one platform" in capsys.readouterr().err
    assert main([*words, "--any", "--counterfactual"]) == 2
    told = capsys.readouterr().err
    assert "--counterfactual: of runs on one platform, not on juno-r2 and juno-x" in told
    assert told.count("\n") == 1


def test_platforms_with_other_clusters_are_one_line(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    eight = load_platform("exynos5422")
    runs = [write(tmp_path / p.name, p, [0, 4]) for p in (platform, eight)]
    assert main(["diff", *map(str, runs), "--any"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "clusters of CPUs: juno-r2 has 4 + 2, exynos5422 has 4 + 4" in told


@pytest.mark.parametrize("derived", [True, False])
def test_a_truncated_trace_is_one_line(
    derived: bool,
    platform: Platform,
    activity: Activity,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where its tables are there."""
    runs = [write(tmp_path / name, platform, [0, 4]) for name in "ab"]
    if derived:
        diff(platform, activity, *runs)
    trace = runs[1] / TRACE
    trace.write_bytes(trace.read_bytes()[:9000])
    assert main(["diff", *map(str, runs)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "trace.dat" in told


PLATFORM = load_platform("juno-r2")
ENDS = 1000
#: No event shows a CPU's state.
NO_STATES = pl.DataFrame(schema=dict.fromkeys(("cpu", "t0_ns", "t1_ns", "state"), pl.Int64))


@settings(deadline=None)  # host speed
@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 10**9)), min_size=1), st.data())
def test_energies_of_adjacent_spans_sum_to_the_whole(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    table, at = [], 0
    for ns, fj in rows:
        table.append((0, 0, "active", at, at + ns, fj))
        at += ns
    schema = ["cluster", "cpu", "component", "t0_ns", "t1_ns", "energy_fj"]
    spent = pl.DataFrame(table, schema=schema, orient="row")
    energy = Energy(spent, NO_STATES, PLATFORM, Window(0, at))
    moments = sorted(data.draw(st.lists(st.integers(0, at))))
    values = energy.until([0, *moments, at])
    assert values[0] == 0
    assert values == sorted(values)
    assert values[-1] == sum(fj for _, fj in rows)


TAKEN = st.lists(st.tuples(st.integers(1, ENDS), st.integers(0, 1), st.booleans()), max_size=30)


def streams(taken: list[tuple[int, int, bool]]) -> Streams:
    """Decisions about two threads and a policy, some of which another run has not."""
    by_source: dict[str, list[Decision]] = {}
    for number, (t_ns, value, policy) in enumerate(sorted(taken)):
        about = "policy0" if policy else f"t{number % 2}"
        own = by_source.setdefault(about, [])
        kind = "request" if policy else WAKE
        own.append(Decision(about, kind, len(own) + 1, 0, value, 0, t_ns))
    return Streams({about: Stream(own) for about, own in by_source.items()})


@settings(deadline=None)  # host speed
@given(TAKEN, TAKEN)
def test_spans_go_forward_in_both_runs(
    mine: list[tuple[int, int, bool]], others: list[tuple[int, int, bool]]
) -> None:
    found = [at for at, _ in edges(streams(mine), streams(others), [{"policy0": 0}] * 2)]
    for moments in zip(*found, strict=True):
        assert list(moments) == sorted(moments)
    same = streams(mine)
    assert not list(edges(same, same, [{"policy0": 0}] * 2))


class Played(SimpleNamespace):
    """A run of random decisions, which took its energy at any moments."""

    def __init__(self, taken: list[tuple[int, int, bool]], rows: list[int]) -> None:
        ns = 4 * ENDS // 3
        length = ns // len(rows) + 1
        parts = [(0, 0, "active", n * length, (n + 1) * length, fj) for n, fj in enumerate(rows)]
        schema = ["cluster", "cpu", "component", "t0_ns", "t1_ns", "energy_fj"]
        table = pl.DataFrame(parts, schema=schema, orient="row")
        super().__init__(
            window=Window(0, length * len(rows)),
            streams=streams(taken),
            energy=Energy(table, NO_STATES, PLATFORM, Window(0, length * len(rows))),
            derived=SimpleNamespace(table=lambda _: table, cell=SimpleNamespace(tasks=())),
            clocks=lambda: {"policy0": 0},
        )
        self.digests = self.streams.digests


ENERGIES = st.lists(st.integers(0, 10**9), min_size=1, max_size=9)


@settings(deadline=None)  # host speed
@given(st.lists(st.tuples(TAKEN, TAKEN, ENERGIES, ENERGIES), min_size=1, max_size=3))
def test_spans_and_kinds_sum_to_the_difference(pairs: list[Any]) -> None:
    """Whatever the runs decided, and however long they are."""
    diffs = [
        RunDiff(PLATFORM, Played(one, rows), Played(other, more))  # type: ignore[arg-type]
        for one, other, rows, more in pairs
    ]
    kinds = kinds_of(diffs)
    for seed, each in enumerate(diffs):
        assert sum(span.fj for span in each.spans) == each.total_fj
        assert sum(row.mj[seed] for row in kinds) == pytest.approx(each.total_fj / 1e12)
        assert each.same == (each.a.streams.digests == each.b.streams.digests) == (not each.firsts)


def test_kinds_sum_to_the_difference(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    """Of three seeds: in two the second wake-up goes to a big, in one nothing differs."""
    places = ([0, 4, 0], [0, 5, 0], [0, 0, 0])
    diffs = [
        diff(
            platform,
            activity,
            write(tmp_path / f"a{seed}", platform, [0, 0, 0], seed),
            write(tmp_path / f"b{seed}", platform, cpus, seed),
        )
        for seed, cpus in enumerate(places)
    ]
    rows = kinds_of(diffs)
    first = rows[0]
    assert first.kind == ("job", WAKE, "little", "big")
    assert (first.spans, first.seeds, first.firsts) == (2, 2, 2)
    for seed, each in enumerate(diffs):
        assert sum(row.mj[seed] for row in rows) == pytest.approx(each.total_fj / 1e12)
    assert all(row.mj[2] == 0 for row in rows)
    text = kinds_table(diffs).text()
    assert re.search(r"^job wake-up +little +big +2 +2 +1 ", text, re.MULTILINE)
    assert text.splitlines()[-1].startswith("all ")
    written = kinds_record(diffs)
    assert sum(kind["mj"][0] for kind in written["kinds"]) == pytest.approx(written["total_mj"][0])


@pytest.mark.parametrize(
    ("thread", "kind"),
    [
        *(("kworker/4:1", "kworker"), ("kworker/u12:3", "kworker"), ("bg7-8", "bg")),
        *(("sugov:4", "sugov"), ("migration/0", "migration"), ("kworker/1:0H", "kworker")),
        *(("rcu_preempt", "rcu_preempt"), ("same#2", "same")),
    ],
)
def test_threads_that_are_alike_are_one_kind(
    thread: str, kind: str, tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    run = write(tmp_path / "a", platform, [0])
    own = diff(platform, activity, run, run)
    one, other = (Decision(thread, WAKE, 1, 0, cpu, -1, 0, 1) for cpu in (0, 4))
    assert kind_of((one, other), own) == (kind, WAKE, "little", "big")
    assert kind_of((one, replace(other, value=1)), own)[3] == "another little"
    assert kind_of((None, other), own)[2:] == ("-", "big")
