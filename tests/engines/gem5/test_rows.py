# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows from snapshots, against cases computed by hand; no gem5."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.engines.gem5.files import Rows
from eascope.engines.gem5.inside.columns import (
    ABSENT,
    FIXED,
    FORMULAS,
    L2,
    Term,
    cpu_events,
    event_columns,
)
from eascope.engines.gem5.inside.operations import ALL
from eascope.engines.gem5.inside.probes import Probes, UnknownStatistic, unread
from eascope.engines.gem5.inside.request import MachineSettings, RowNumbers, RowsFacts
from eascope.engines.gem5.inside.rows import CPU_HEAD, Recorder, cluster_layout, reading, write_rows
from eascope.engines.gem5.settings import machine_settings
from eascope.engines.records import MEMORY_PART, NO_CLUSTER
from eascope.host.proc import run
from eascope.power.mcpat import load_derived
from eascope.power.model import SHARED_PART

SLOW, FAST = 2000, 1000  # periods in ps
PARTS: RowNumbers = {
    "shared_part": SHARED_PART,
    "memory_part": MEMORY_PART,
    "no_cluster": NO_CLUSTER,
}
CLUSTER: Any = {
    "index": 0,
    "name": "only",
    "cpus": [0],
    "clocks_hz": [1_000_000_000, 500_000_000],
    "volts": [1.0, 0.8],
}


def _recorder(*snapshots: Mapping[str, float], **columns: tuple[Term, ...]) -> Recorder:
    layout = cluster_layout(CLUSTER, reading(columns), reading({}))
    recorder = Recorder([layout], list(columns), PARTS)
    for shot in snapshots:
        names = [*CPU_HEAD, *(".".join([stat, *parts]) for stat, parts in layout.cpu.names)]
        recorder.append(0, [shot["t"], shot["period"], *(shot.get(name, 0.0) for name in names)])
    return recorder


def _table(recorder: Recorder) -> list[dict[str, float]]:
    rows, _ = recorder.rows()
    return [dict(zip(recorder.columns, row, strict=True)) for row in rows]


def _own(recorder: Recorder) -> list[dict[str, float]]:
    """Rows of the CPU."""
    return [row for row in _table(recorder) if row["cpu"] == 0]


def test_a_change_in_the_middle_is_billed_with_the_opp_that_was_in_force() -> None:
    """The snapshot at 1 us has the fast clock, which was in force until then."""
    recorder = _recorder(
        {"t": 0, "period": FAST, "cycles": 100, "instructions": 10, "ON": 0},
        {"t": 1e6, "period": FAST, "cycles": 1100, "instructions": 810, "ON": 1e6},
        {"t": 3e6, "period": SLOW, "cycles": 2100, "instructions": 1410, "ON": 1.5e6}
        | {"CLK_GATED": 1e6, "OFF": 0.5e6},
    )
    names = [*("t0_ns", "t1_ns", "khz", "uv", "cycles", "instructions")]
    names += ["on_ns", "gated_ns", "off_ns"]
    assert [[row[name] for name in names] for row in _own(recorder)] == [
        [0, 1000, 1_000_000, 1_000_000, 1000, 800, 1000, 0, 0],
        [1000, 3000, 500_000, 800_000, 1000, 600, 500, 1000, 500],
    ]
    assert recorder.rows()[1] == {"only": 1}


def test_a_mark_breaks_no_row_when_rows_are_joined() -> None:
    recorder = _recorder(
        {"t": 0, "period": FAST},
        {"t": 1e6, "period": FAST, "cycles": 1000},
        {"t": 2e6, "period": FAST, "cycles": 2000},
    )
    (row,) = _own(recorder)
    assert (row["t0_ns"], row["t1_ns"], row["cycles"]) == (0, 2000, 2000)
    assert recorder.rows()[1] == {"only": 0}
    apart = [row for row in recorder.rows(join=False)[0] if row[1] == 0]
    assert [row[FIXED.index("cycles")] for row in apart] == [1000, 1000]


def test_a_change_at_the_very_edge_makes_no_empty_row() -> None:
    first, last = {"t": 0, "period": FAST}, {"t": 1e6, "period": SLOW, "cycles": 500}
    (row,) = _own(_recorder(first, first, last, last))
    assert (row["t0_ns"], row["t1_ns"], row["khz"]) == (0, 1000, 500_000)


def test_cycles_of_simple_models_follow_from_the_time_on() -> None:
    recorder = _recorder(
        {"t": 0, "period": SLOW, "cycles": -1},
        {"t": 4e6, "period": SLOW, "cycles": -1, "ON": 1e6, "CLK_GATED": 3e6},
    )
    (row,) = _own(recorder)
    assert row["cycles"] == 500  # 1 us at 500 MHz


def test_columns_are_weighted_sums_of_parts() -> None:
    recorder = _recorder(
        {"t": 0, "period": FAST, "mix.x.y": 11, "mix.y": 10, "other": 100},
        {"t": 1e6, "period": FAST, "mix.x.y": 34, "mix.y": 30, "other": 500},
        a=(Term("mix", ("x", "y")), Term("other", (), 2.0)),
        b=(Term("mix", ("y",), 0.5),),
    )
    (row,) = _own(recorder)
    assert (row["a"], row["b"]) == (3 + 20 + 2 * 400, 0.5 * 20)


def test_a_formula_of_a_cache_is_the_sum_of_its_vectors() -> None:
    first: dict[str, float] = {"t": 0, "period": FAST}
    first |= {"dcache.ReadReq.hits": 5, "dcache.ReadReq.misses": 1}
    last = first | {"t": 1e6, "dcache.ReadReq.hits": 15, "dcache.ReadReq.misses": 4}
    (row,) = _own(_recorder(first, last, a=(Term("dcache.ReadReq.accesses", (), 2.0),)))
    assert row["a"] == 2 * (10 + 3)


def test_an_unknown_clock_is_an_error() -> None:
    recorder = _recorder({"t": 0, "period": FAST}, {"t": 1e6, "period": 1234})
    with pytest.raises(ValueError, match="no OPP has a period of 1234 ps"):
        recorder.rows()


def test_two_opps_of_one_period_are_an_error() -> None:
    wanted = CLUSTER | {"clocks_hz": [1_000_000_000, 999_999_999]}
    with pytest.raises(ValueError, match="two OPPs have one period"):
        cluster_layout(wanted, reading({}), reading({}))


def test_memory_has_a_row_of_the_whole_window() -> None:
    recorder = _recorder({"t": 5e6, "period": FAST}, {"t": 9e6, "period": FAST})
    row = dict(zip(recorder.columns, recorder.memory_row(1234.0), strict=True))
    assert (row["cluster"], row["cpu"], row["dram_pj"]) == (NO_CLUSTER, MEMORY_PART, 1234)
    assert (row["t0_ns"], row["t1_ns"]) == (5000, 9000)


def test_rows_are_written_as_they_are(tmp_path: Path) -> None:
    rows = [[1.0, 2.5], [3.0, 1e15 + 1]]
    facts: RowsFacts = {"marks": [(2, 7)], "transitions": {"big": (None, 3)}, "instructions": 5}
    write_rows(tmp_path, ["a", "b"], rows, facts)
    record = json.loads((tmp_path / "rows.json").read_text())
    assert record == {
        "schema": 1,
        "columns": ["a", "b"],
        "rows": 2,
        "marks": [[2, 7]],
        "transitions": {"big": [None, 3]},
        "instructions": 5,
    }
    assert Rows.read(tmp_path / "rows.json").encode() == record
    data = array("d")
    data.frombytes((tmp_path / "rows.bin").read_bytes())
    assert list(data) == [1.0, 2.5, 3.0, 1e15 + 1]


@pytest.mark.parametrize(
    ("model", "core"), [("ArmMinorCPU", "cortex-a53"), ("ArmO3CPU", "cortex-a57")]
)
def test_events_are_mcpats_and_their_parts_are_gem5s(model: str, core: str) -> None:
    events = cpu_events(model)
    known = load_derived(core).energy_pj
    assert set(events) <= set(known)
    assert set(L2) <= set(known)
    for terms in events.values():
        for term in terms:
            assert set(term.parts) <= set(ALL)


def test_gem5s_python_imports_few_modules() -> None:
    """gem5's Python may be older than ours, and reads no TOML."""
    modules = ["columns", "operations", "probes", "request", "rows", "sampling"]
    modules += ["session"]
    code = "import sys\n" + "".join(
        f"import eascope.engines.gem5.inside.{name}\n" for name in modules
    )
    code += "print(*sorted(name for name in sys.modules if name.startswith('eascope')))"
    loaded = run([sys.executable, "-c", code]).decode().split()
    inside = "eascope.engines.gem5.inside"
    assert loaded == [
        "eascope",
        "eascope.engines",
        "eascope.engines.gem5",
        inside,
        *(f"{inside}.{name}" for name in modules),
    ]


def test_simple_models_have_no_events() -> None:
    assert event_columns(["ArmAtomicSimpleCPU", "ArmTimingSimpleCPU"]) == []
    columns = event_columns(["ArmMinorCPU", "ArmO3CPU"])
    assert len(columns) == len(set(columns))
    assert set(columns) >= set(L2)
    assert not set(columns) & set(FIXED)


class _Stat:
    """A statistic as gem5's Python shows it."""

    def __init__(self, value: Any, subnames: list[str] | None = None) -> None:
        self.value = value
        if subnames is not None:
            self.subnames = subnames

    @property
    def total(self) -> float:
        return float(sum(self.value))


class _Group:
    """A gem5 object: statistics by name, and the parts that probes reach for."""

    def __init__(self, path: str, stats: dict[str, _Stat]) -> None:
        self._path, self.stats = path, stats
        self.settled = 0
        self.power_state = self
        self.groups: dict[str, _Group] = {}
        self.plain: Any = None

    def path(self) -> str:
        return self._path

    def getCCObject(self) -> _Group:
        return self

    def getStatGroups(self) -> dict[str, _Group]:
        return {"fetchStats0": self.plain}

    def addStatGroup(self, name: str, group: _Group) -> None:
        self.groups[name] = group

    def preDumpStats(self) -> None:
        self.settled += 1
        for group in self.groups.values():
            group.preDumpStats()

    def resolveStat(self, name: str) -> _Stat:
        return self.stats[name]


RESIDENCIES = ["UNDEFINED", "ON", "CLK_GATED", "SRAM_RETENTION", "OFF"]


def _fake_cpu(number: int) -> _Group:
    cpu = _Group(
        f"system.cpus{number}",
        {
            "commitStats0.numInsts": _Stat(100 + number),
            "power_state.pwrStateResidencyTicks": _Stat([0, 7, 8, 0, 9], RESIDENCIES),
        },
    )
    cpu.plain = _Group(f"system.cpus{number}.fetchStats0", {})
    return cpu


def _fake_clusters(settings: MachineSettings) -> list[Any]:
    clusters: list[Any] = []
    for wanted in settings["clusters"]:
        cluster: Any = _Group("system.cluster", {})
        cluster.clk_domain = _Group("clk", {"clock": _Stat(round(1e12 / wanted["clocks_hz"][0]))})
        cluster.cpus = [_fake_cpu(number) for number in wanted["cpus"]]
        clusters.append(cluster)
    return clusters


def _probes(juno: Platform) -> tuple[list[Any], Probes, Recorder]:
    settings = machine_settings(juno, "elided")
    clusters = _fake_clusters(settings)
    probes = Probes(settings, clusters)
    probes.begin()
    return clusters, probes, Recorder(probes.layouts, [], settings["rows"])


def test_probes_fill_a_snapshot_of_the_right_width(juno: Platform) -> None:
    clusters, probes, recorder = _probes(juno)
    probes.snapshot(recorder, 0)
    assert [recorder.count(number) for number in (0, 1)] == [1, 1]
    probes.snapshot(recorder, 1_000_000)
    rows = _table(recorder)
    assert [row["cpu"] for row in rows] == [0, 1, 2, 3, SHARED_PART, 4, 5, SHARED_PART]
    assert all(cpu.settled == 2 for cluster in clusters for cpu in cluster.cpus)


def test_a_change_is_read_of_its_cluster_alone(juno: Platform) -> None:
    clusters, probes, recorder = _probes(juno)
    probes.snapshot(recorder, 0)
    big = clusters[1].clk_domain.stats["clock"]
    fast, big.value = big.value, round(1e6 / 600)
    probes.changed(recorder, 500_000)
    assert [recorder.count(number) for number in (0, 1)] == [1, 2]
    assert recorder.numbers(1)[-recorder.clusters[1].width + 1] == fast
    probes.changed(recorder, 500_000)
    assert recorder.count(1) == 2, "the clock is the same as at the last call"
    probes.snapshot(recorder, 1_000_000)
    rows = [(row["cpu"], row["t1_ns"], row["khz"]) for row in _table(recorder)]
    assert [row for row in rows if row[0] in (0, 4)] == [
        (0, 1000, 950_000),
        (4, 500, 1_200_000),
        (4, 1000, 600_000),
    ]
    assert recorder.rows()[1] == {"little": 0, "big": 1}


def test_a_cpu_that_slept_is_not_read_again(juno: Platform) -> None:
    clusters, probes, recorder = _probes(juno)
    probes.snapshot(recorder, 0)
    asleep, awake = clusters[0].cpus[:2]
    for cpu in (asleep, awake):
        cpu.stats["commitStats0.numInsts"].value += 50
    awake.stats["power_state.pwrStateResidencyTicks"].value = [0, 70, 8, 0, 9]
    probes.snapshot(recorder, 1_000_000)
    counted = {row["cpu"]: row["instructions"] for row in _table(recorder)}
    assert (counted[0], counted[1]) == (0, 50)


def test_busy_ticks_are_brought_up_to_date(juno: Platform) -> None:
    settings = machine_settings(juno, "elided")
    clusters = _fake_clusters(settings)
    probes = Probes(settings, clusters)
    assert probes.busy_ticks() == [7] * 6
    assert all(cpu.settled == 1 for cluster in clusters for cpu in cluster.cpus)


def test_a_command_that_no_row_reads_is_named() -> None:
    counts = {
        f"l2.{command}.{kind}": _Stat([0, 0], ["cpu0", "cpu1"])
        for command in ABSENT["l2"]
        for kind in ("hits", "misses")
    }
    cluster = _Group("system.cluster_big", counts)
    assert unread(cluster, "l2") == ""
    counts["l2.SoftPFReq.misses"].value = [0, 3]
    assert unread(cluster, "l2") == "system.cluster_big.l2 has counted 3 SoftPFReq.misses"


def test_formulas_read_no_command_that_a_cache_lacks() -> None:
    read = {stat for formula in FORMULAS.values() for stat in formula}
    for cache, commands in ABSENT.items():
        for command in commands:
            assert f"{cache}.{command}.hits" not in read, command
            assert f"{cache}.{command}.misses" not in read, command


def test_a_statistic_that_gem5_has_not_is_named(juno: Platform) -> None:
    settings = machine_settings(juno, "detailed")
    with pytest.raises(UnknownStatistic, match=r"no statistic system\.cpus0\.numCycles"):
        Probes(settings, _fake_clusters(settings))
