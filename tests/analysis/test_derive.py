# SPDX-License-Identifier: GPL-2.0-or-later
"""A run to its result: content, determinism, reuse, and broken runs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.derive import TABLES, Derived, derive, derive_each
from eascope.analysis.records.cell import CELL, CellRecord
from eascope.analysis.trace import Trace, read_trace
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.runs.finished import BilledBy
from eascope.host.errors import EascopeError
from tests.support.records import task_record
from tests.support.synthetic import MS, Burst, Schedule, make_run, reseal

LOW = {0: [(0, 450_000)], 1: [(0, 600_000)]}
Of = Callable[[Path], Derived]
#: Keys that every result has.
KEYS = {
    *("energy_j", "window_s", "latency_us", "missed_deadlines", "opp_transitions_per_s"),
    "opp_requests_per_s",
    *("residency", "cpu_busy", "migrations", "overutilized_share", "eas", "expect", "engine"),
}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def cas(tmp_path: Path, platform: Platform) -> Path:
    """A run of ``cas``."""
    return make_run(tmp_path, platform, "cas", 0)


@pytest.fixture
def derived_of(platform: Platform, activity: Activity) -> Of:
    return lambda run: derive(run, platform, activity)


def test_result_has_every_key(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    result = derive(make_run(tmp_path, platform, "mainline", 0), platform, activity).result.encode()
    assert set(result) >= KEYS
    assert result["engine"] == "qemu"
    assert result["eas"] is True
    assert result["window_s"] == 1.0
    assert len(result["cpu_busy"]) == 6
    assert result["wakeups"] == {"audio-2": 60, "decode-0": 30, "render-1": 60}
    assert set(result["latency_us"]["decode-0"]) == {"p50", "p90", "p95", "p99", "max"}
    for shares in result["residency"].values():
        assert sum(shares.values()) == pytest.approx(1.0)
    assert sum(result["work_share"].values()) == pytest.approx(1.0)
    in_clusters = result["energy_j"]["cluster"]
    assert result["power_w"] == {name: joules / 1.0 for name, joules in in_clusters.items()}


def test_cas_is_placed_on_the_bigs(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    shares = {
        variant: derive(
            make_run(tmp_path, platform, variant, 0), platform, activity
        ).result.work_share["little"]
        for variant in ("mainline", "cas")
    }
    assert shares["mainline"] == 1.0
    assert shares["cas"] < 0.25


def test_work_shares_of_a_long_interval(derived: Callable[[Schedule], Derived]) -> None:
    """Twenty seconds without a frequency change: instructions times ns do not fit 64 bits."""
    ms = 20_000
    bursts = [Burst("a", 0, 0, ms * MS), Burst("b", 0, 4, ms * MS)]
    share = derived(Schedule(ms * MS, bursts, LOW)).result.work_share
    assert share["little"] == pytest.approx(450 / (450 + 2 * 600), rel=1e-6)
    assert share["big"] == pytest.approx(1 - share["little"], rel=1e-9)


def test_the_same_run_gives_the_same_bytes(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    first = derive(make_run(tmp_path / "a", platform, "cas", 3), platform, activity)
    second = derive(make_run(tmp_path / "b", platform, "cas", 3), platform, activity)
    assert first.path.name == second.path.name
    assert files(first.path) == files(second.path)
    assert set(files(first.path)) == {
        *("result.json", "done", "key.json"),
        *(f"{name}.parquet" for name in TABLES),
    }


def test_a_derived_run_is_not_derived_again(cas: Path, derived_of: Of) -> None:
    first = derived_of(cas)
    (cas / "trace.dat").unlink()  # deriving again would fail
    assert derived_of(cas).result == first.result


def test_several_powers_at_once_give_the_same_bytes(
    tmp_path: Path, platform: Platform, activity: Activity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one by one; what no power changes is read and computed once."""
    ways = BilledBy(), BilledBy("derived"), BilledBy(transition_percent=100), BilledBy("published")
    models = [way.model(platform, activity) for way in ways]
    read: list[Path] = []

    def seen(path: Path) -> Trace:
        read.append(path.parent.parent)
        return read_trace(path)

    monkeypatch.setattr("eascope.analysis.derive.read_trace", seen)
    singly, at_once = tmp_path / "singly", tmp_path / "at once"
    run = make_run(singly, platform, "cas", 0)
    folders = [[derive(run, platform, activity, model).path for model in models]]
    run = make_run(at_once, platform, "cas", 0)
    folders.append([of.path for of in derive_each(run, platform, activity, models)])
    assert read == [*4 * [singly], at_once]
    for first, second in zip(*folders, strict=True):
        assert first.name == second.name
        assert files(first) == files(second)
    assert len({folder.name for folder in folders[0]}) == len(models)


def test_measures_that_a_run_cannot_give_are_absent(derived: Callable[[Schedule], Derived]) -> None:
    bursts = [Burst("a", 0, 0, 400 * MS)]
    result = derived(Schedule(1_000 * MS, bursts, LOW, eas=None)).result.encode()
    assert "missed_deadlines" not in result
    assert "overutilized_share" not in result
    assert "eas" not in result
    result = derived(Schedule(1_000 * MS, [Burst("a", 999 * MS, 0, MS // 2)], LOW)).result.encode()
    assert result["latency_us"] != {}


def test_a_task_that_never_woke_has_no_latency(cas: Path, derived_of: Of) -> None:
    cell = CellRecord.read(cas / CELL)
    silent = task_record("silent", period_us=16_667)
    replace(cell, tasks=(*cell.tasks, silent)).write(cas / CELL)
    reseal(cas)
    result = derived_of(cas).result.encode()
    assert "silent" not in result["latency_us"]
    assert result["deadlines"]["silent"] == {"jobs": 59, "missed": 59, "unfinished": 59}
    assert result["turns"]["silent"] == 0
    assert result["wakeups"]["silent"] == 0


def break_counters(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    def apply(run: Path) -> None:
        path = run / "counters.parquet"
        change(pl.read_parquet(path)).write_parquet(path)

    return apply


def cut(name: str, size: int) -> Callable[[Path], None]:
    def apply(run: Path) -> None:
        (run / name).write_bytes((run / name).read_bytes()[:size])

    return apply


def more_active(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("active_ns") + 1)


#: What an engine or a guest may have left.
BROKEN: dict[str, Callable[[Path], None]] = {
    "half a trace": cut("trace.dat", 5_000),
    "no trace": lambda run: (run / "trace.dat").unlink(),
    "half of the counters": cut("counters.parquet", 100),
    "no counters": lambda run: (run / "counters.parquet").unlink(),
    "no clocks": break_counters(lambda table: table.drop("khz")),
    "a ns too many": break_counters(more_active),
    "a CPU is missing": break_counters(lambda t: t.filter(pl.col("cpu") != 3)),
    "a shared part is missing": break_counters(lambda t: t.filter(pl.col("cpu") >= 0)),
    "a part of the window": break_counters(
        lambda t: t.filter((pl.col("cpu") != 4) | (pl.col("khz") > 600_000))
    ),
    "other clusters": break_counters(lambda t: t.with_columns(pl.col("cluster") + 1)),
    "half of the marks": cut("marks.json", 30),
    "half of the cell": cut("cell.json", 30),
    "no cell": lambda run: (run / "cell.json").unlink(),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_run_is_one_line_and_leaves_nothing(
    cas: Path, derived_of: Of, case: str, snapshot: SnapshotAssertion
) -> None:
    BROKEN[case](cas)
    reseal(cas)
    with pytest.raises(EascopeError) as caught:
        derived_of(cas)
    line = str(caught.value).replace(str(cas), "RUN").partition(": parquet:")[0]
    assert line == snapshot
    assert not [path for path in cas.glob("derived/*")]


def edit_total(folder: Path) -> None:
    path = folder / "result.json"
    result = json.loads(path.read_text())
    result["energy_j"]["total"] *= 2
    path.write_text(json.dumps(result))


def edit_table(folder: Path) -> None:
    path = folder / "energy.parquet"
    pl.read_parquet(path).with_columns(pl.col("energy_fj") * 2).write_parquet(path)


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (edit_total, "result.json: does not match"),
        (edit_table, "energy.parquet: does not match"),
        (lambda folder: (folder / "result.json").unlink(), "result.json: is missing"),
        (lambda folder: (folder / "energy.parquet").unlink(), "energy.parquet: is missing"),
        (lambda folder: (folder / "tasks.parquet").write_bytes(b""), "tasks.parquet: does not"),
        (lambda folder: (folder / "done").unlink(), "done: is missing"),
        (lambda folder: (folder / "done").write_text("[]"), "done: "),
        (empty, "done: is missing"),
    ],
)
def test_damaged_tables_are_derived_again(
    cas: Path,
    derived_of: Of,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], object],
    word: str,
) -> None:
    """They are never trusted; what is in their place is made anew, and a line says why."""
    first = derived_of(cas)
    whole = files(first.path)
    spoil(first.path)
    capsys.readouterr()
    again = derived_of(cas)
    assert files(again.path) == whole
    assert again.result == first.result
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"  derived again, because {first.path}/")
    assert word in line
    assert [path.name for path in (cas / "derived").iterdir()] == [first.path.name]


@pytest.mark.parametrize("name", ["trace.dat", "counters.parquet", "marks.json", "state.txt"])
def test_nothing_is_derived_from_a_raw_file_with_another_digest(
    cas: Path, derived_of: Of, name: str
) -> None:
    """Not even from one that could be read."""
    (cas / name).write_bytes((cas / name).read_bytes() + b"\n")
    with pytest.raises(EascopeError, match=f"{name}: does not match its recorded SHA-256: remove"):
        derived_of(cas)
    assert not [path for path in cas.glob("derived/*")]


def test_a_full_disk_is_one_line_that_names_the_folder(
    cas: Path, derived_of: Of, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for polars alone, as /dev/full says."""
    write = pl.DataFrame.write_parquet
    rows = pl.DataFrame({"a": list(range(100_000))})
    monkeypatch.setattr(pl.DataFrame, "write_parquet", lambda *_, **__: write(rows, "/dev/full"))
    with pytest.raises(EascopeError) as caught:
        derived_of(cas)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{cas}/derived: No space left on device")
    assert "the same command continues" in line
    assert not [path for path in cas.glob("derived/*")]
