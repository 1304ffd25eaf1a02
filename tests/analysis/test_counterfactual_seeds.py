# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterfactuals over seeds: means, intervals and what could not be forced."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from eascope.analysis.counterfactual import Choice, Counterfactual, Repeated
from eascope.analysis.counterfactual_seeds import percent_of, record, rows, table, text
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.run_side import Side
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.records import STATE
from tests.analysis.test_run_diff import diff, write
from tests.support.synthetic import reseal

SEEDS = 10
LINE = "00000100 00000002 004"


def of_seed(
    folder: Path, platform: Platform, activity: Activity, seed: int, cpus: list[int]
) -> Counterfactual:
    """A stays on CPU 0, B goes to ``cpus``; with its first decision A goes there once."""
    a = write(folder / "a", platform, [0] * 6, seed)
    b = write(folder / "b", platform, cpus, seed)
    own = diff(platform, activity, a, b)
    if own.same:
        return Counterfactual(own, [])
    one, other = own.firsts[0]
    assert one
    assert other
    forced = write(folder / "a1", platform, [0, other.value, 0, 0, 0, 0], seed)
    with (forced / STATE).open("a") as state:
        state.write(f"force: {LINE.replace('00000', '')} forced 0\n")
    reseal(forced)
    again = Side(diff(platform, activity, a, forced).b.derived, platform)
    return Counterfactual(own, [Repeated("A1", [Choice(one, other, LINE)], again)])


@pytest.fixture(scope="module")
def found(
    platform: Platform, activity: Activity, tmp_path_factory: pytest.TempPathFactory
) -> list[Counterfactual]:
    """In every second seed B goes twice to a big, in the last one nothing differs."""
    places = [[0, 4, 4, 0, 0, 0], [0, 4, 0, 0, 0, 0]] * (SEEDS // 2)
    folder = tmp_path_factory.mktemp("seeds")
    return [
        of_seed(folder / str(seed), platform, activity, seed, cpus)
        for seed, cpus in enumerate([*places[:-1], [0] * 6])
    ]


def test_means_over_seeds_have_intervals(found: list[Counterfactual]) -> None:
    a, forced, b = rows(found)
    assert (a.name, forced.name, b.name) == ("A", "A1", "B")
    assert (a.forced_in, forced.forced_in, b.forced_in) == (None, SEEDS - 1, None)
    assert b.less_a_mj.value == pytest.approx(b.mj.value - a.mj.value)
    # One of fourteen decisions of all seeds is forced in each of nine.
    assert forced.percent is not None
    assert forced.percent.value == pytest.approx(100 * 9 / 14, rel=1e-3)
    ends = forced.less_a_mj.interval()
    assert ends is not None
    assert 0 < ends[0] < forced.less_a_mj.value < ends[1]
    assert a.latency_us["p99"].value == pytest.approx(20, rel=0.01)
    written = record(found, "again")
    assert written["runs"][1]["explained_percent"]["mean"] == forced.percent.value
    assert [len(each["forced"]) for each in written["seeds"]] == [1] * 9 + [0]


def test_the_text_names_each_seed(found: list[Counterfactual]) -> None:
    said = text(found, "eascope diff")
    first = said.splitlines()[0]
    assert first.startswith("A1: 64.3 % of the energy difference (+")
    assert first.endswith(" mJ), mean of 10 seeds")
    assert "wake-up 2 of job on CPU 4 instead of 0" in said
    assert "nothing that differs can be forced" in said.partition("seed 9,")[2]
    assert max(map(len, said.splitlines())) <= 90


def test_the_table_has_the_number_of_seeds_in_each_row(found: list[Counterfactual]) -> None:
    lines = table(found).formatted("csv").splitlines()
    assert lines[0] == "run,forced in,energy (mJ),- A (mJ),% of B - A,n"
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["10"] * 3


def test_the_table_of_a_seed_says_how_many_decisions_were_forced(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    """A refused decision explains 0 % because it was not forced."""
    forced = of_seed(tmp_path / "one", platform, activity, 0, [0, 4, 0, 0, 0, 0])
    assert forced.table.csv().splitlines()[2].startswith("A1,1 of 1,")
    state = forced.repeated[0].side.derived.run / STATE
    state.write_text(state.read_text().replace("forced 0", "refused 0"))
    reseal(state.parent)
    told = [line.split(",")[:2] for line in forced.table.csv().splitlines()]
    assert told == [["run", "forced"], ["A", ""], ["A1", "0 of 1"], ["B", ""]]
    assert max(map(len, forced.table.text().splitlines())) <= 90


def test_a_mean_of_no_difference_has_no_share(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    run = write(tmp_path / "a", platform, [0, 0])
    own: RunDiff = diff(platform, activity, run, run)
    assert [row.percent for row in rows([Counterfactual(own, [])])] == [None, None]


def test_differences_that_cancel_have_no_share(platform: Platform) -> None:
    """In mJ they sum to 3e-17."""

    def side(fj: int) -> Side:
        tables = {
            "energy": pl.DataFrame({"energy_fj": [fj]}),
            "latency": pl.DataFrame(schema={"task": pl.String, "latency_ns": pl.Int64}),
        }
        return Side(SimpleNamespace(table=tables.__getitem__), platform)  # type: ignore[arg-type]

    a = 10**12
    found = [
        Counterfactual(RunDiff(platform, side(a), side(a + fj)), [])
        for fj in (10**11, 2 * 10**11, -3 * 10**11)
    ]
    assert [row.percent for row in rows(found)] == [None, None]


@pytest.mark.parametrize(
    ("less", "whole", "percent", "sure"),
    [
        # One seed differs: without it nothing does.
        ([10**9, 0], [2 * 10**9, 0], 50.0, False),
        ([10**9, *[0] * 9], [2 * 10**9, *[0] * 9], 50.0, False),
        ([1, 1], [1, -1], None, False),
        ([-1, 0], [-(10**12), 10**12 + 1], -100.0, False),
        ([5, 6] * 5, [10, 11] * 5, 100 * 55 / 105, True),
    ],
)
def test_a_share_is_of_whole_sums_and_its_interval_of_a_sure_difference(
    less: list[int], whole: list[int], percent: float | None, sure: bool
) -> None:
    found = percent_of(less, whole)
    assert (None if found is None else found.value) == percent
    ends = found.interval() if found else None
    assert (ends is not None) == sure
    if ends and percent is not None:
        assert ends[0] < percent < ends[1]
