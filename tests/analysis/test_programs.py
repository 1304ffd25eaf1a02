# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs printed in the guest, as measures; and one line when they printed something else.

The outputs in ``fixtures/programs`` were recorded in the guest, on juno-r2;
those of policies on tc2-like.
"""

import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.programs import (
    MEASURES,
    OPERATIONS,
    PARSERS,
    Output,
    OutputError,
    is_measure,
    outputs,
)
from eascope.analysis.records.cell import ProgramRecord
from eascope.analysis.rows import unit_of

RECORDED = Path(__file__).parent / "fixtures" / "programs"
PING_PONG = "8000 round trips in 160000000 ns\n"
#: What was recorded, by the kind of program.
KNOWN = (
    *("cyclictest", "hackbench", "perf-bench-messaging", "perf-bench-pipe", "sysbench-cpu"),
    *("stress-ng", "schbench", "policy-browser", "policy-migrate", "pgbench"),
)


def output_of(folder: Path, run: str, text: str, count: int = 8000, more: str = "") -> Output:
    (folder / "program-p.log").write_text(text)
    (folder / "transactions.log").write_text(more)
    record = ProgramRecord("p", run, count, "program-p.log", transactions="transactions.log")
    return outputs(folder, [record])["p"]


def log_of(run: str) -> str:
    return (RECORDED / f"{run}.log").read_text()


def recorded(folder: Path, run: str) -> Output:
    log = RECORDED / f"{run}.transactions"
    return output_of(folder, run, log_of(run), more=log.read_text() if log.is_file() else "")


@pytest.mark.parametrize("run", KNOWN)
def test_measures_of_what_was_recorded(
    tmp_path: Path, run: str, snapshot: SnapshotAssertion
) -> None:
    measures = recorded(tmp_path, run).measures
    assert {name: f"{value:.9g}" for name, value in measures.items()} == snapshot
    assert [name for name in measures if not is_measure(run, name)] == []


def test_a_histogram_of_each_thread(tmp_path: Path) -> None:
    """As read off the file: the sums below the table, and percentiles by counting its rows."""
    text = (RECORDED / "cyclictest-histogram.log").read_text()
    seen = output_of(tmp_path, "cyclictest", text).measures
    rows = [line.split() for line in text.splitlines() if line[:1].isdigit()]
    of_first = [int(row[0]) for row in rows for _ in range(int(row[1]))]
    every = sorted(int(row[0]) for row in rows for cell in row[1:] for _ in range(int(cell)))
    assert seen["cycles"] == len(every)
    assert seen["thread0_cycles"] == len(of_first)
    assert (seen["thread0_min_us"], seen["thread0_max_us"]) == (min(of_first), max(of_first))
    assert seen["p50_us"] == every[(len(every) + 1) // 2 - 1]
    assert seen["thread0_p99_us"] == of_first[-(-99 * len(of_first) // 100) - 1]
    assert (seen["min_us"], seen["max_us"]) == (every[0], every[-1])
    assert seen["overflows"] == 0


def test_what_lies_beyond_the_histogram_counts_as_the_largest(tmp_path: Path) -> None:
    text = """\
# Histogram
000001 000002
000002 000001
# Total: 000000004
# Min Latencies: 00001
# Avg Latencies: 00100
# Max Latencies: 00397
# Histogram Overflows: 00001
"""
    seen = output_of(tmp_path, "cyclictest", text).measures
    assert seen["overflows"] == 1
    assert [seen[name] for name in ("p50_us", "p90_us", "max_us")] == [1, 397, 397]


def test_a_histogram_without_its_totals(tmp_path: Path) -> None:
    """As rt-tests 2.8 prints one: rows that have a value, and no line of totals."""
    text = """\
# Histogram
000002 000003\t000000
000007 000000\t000002
# Min Latencies: 00002 00007
# Avg Latencies: 00100 00007
# Max Latencies: 00397 00007
# Histogram Overflows: 00001 00000
"""
    seen = output_of(tmp_path, "cyclictest", text).measures
    assert [seen[f"thread{number}_cycles"] for number in (0, 1)] == [4, 2]
    assert [seen[name] for name in ("cycles", "p50_us", "p99_us", "overflows")] == [6, 2, 397, 1]
    recorded_ = (RECORDED / "cyclictest-histogram.log").read_text()
    without = "".join(line for line in recorded_.splitlines(True) if "# Total:" not in line)
    assert without != recorded_
    first, second = (output_of(tmp_path, "cyclictest", item) for item in (recorded_, without))
    assert first == second


def test_percentiles_of_transactions(tmp_path: Path) -> None:
    text = (RECORDED / "pgbench.log").read_text().replace("processed: 2334", "processed: 4")
    log = "".join(f"0 {number} {us} 0 5 7\n" for number, us in enumerate((40, 10, 30, 20)))
    seen = output_of(tmp_path, "pgbench", text, more=log).measures
    assert [seen[name] for name in ("p50_us", "p90_us", "max_us")] == [20, 40, 40]
    lag = "rate limit schedule lag: avg 0.250 (max 1.500) ms\n"
    seen = output_of(tmp_path, "pgbench", text + lag, more=log.replace(" 7\n", " 7 250\n")).measures
    assert (seen["lag_mean_us"], seen["lag_max_us"]) == (250, 1500)


def test_rates_and_counts(tmp_path: Path) -> None:
    assert output_of(tmp_path, "ping-pong", PING_PONG).rate == 50_000
    perf = (RECORDED / "perf-bench-pipe.log").read_text()
    for run in ("perf-sched-pipe", "perf-bench-pipe"):
        seen = output_of(tmp_path, run, perf)
        assert seen.rate == pytest.approx(6818.3, abs=0.1)
        assert seen.operations == 8000
    stopped = (RECORDED / "stress-ng-stopped.log").read_text()
    assert output_of(tmp_path, "stress-ng", stopped).operations == 133


@pytest.mark.parametrize("run", KNOWN)
def test_no_output_and_half_an_output_are_one_line(tmp_path: Path, run: str) -> None:
    with pytest.raises(OutputError, match=r"program-p\.log: .*: it is empty$"):
        output_of(tmp_path, run, "")
    half = log_of(run)[: len(log_of(run)) // 3]
    with pytest.raises(OutputError, match=r"program-p\.log: .*line( \d+)? is '.*\Z"):
        output_of(tmp_path, run, half)


OTHER = [
    ("hackbench", "Time: 0.043", "Time: soon"),
    ("hackbench", "Time: 0.043", "Time: 0.0.43"),
    ("sysbench-cpu", "1400.28", "nan"),
    ("sysbench-cpu", "1400.28", "."),
    ("sysbench-cpu", "1408", "1" * 5000),
    ("stress-ng", " 310 ", " many "),
    ("stress-ng", " 1.00 ", " 1.0.0 "),
    ("schbench", "p99.9", "p99.8"),
    ("schbench", "p99.9 1226.608", "p99.9 1226."),
    ("schbench", "in 1001298240", "in 0"),
    ("cyclictest", "C:     71", "C:      x"),
    ("policy-browser", "missed 0", "missed no"),
    ("policy-migrate", "migrations 90", "# none"),
    ("pgbench", "tps = ", "tps: "),
    ("pgbench", "tps = 2395.283324", "tps = ."),
    ("pgbench", "processed: 2334", "processed: 0"),
    ("perf-bench-pipe", "146.663375", "0.000"),
    ("perf-bench-pipe", "8000 pipe", "8001 pipe"),
]


def test_another_output_is_one_line_that_shows_it(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lines = []
    for run, old, new in OTHER:
        assert old in log_of(run)
        with pytest.raises(OutputError) as caught:
            output_of(tmp_path, run, log_of(run).replace(old, new))
        lines.append(str(caught.value).replace(str(tmp_path), ""))
    assert lines == snapshot


def test_transactions_that_do_not_fit_the_summary(tmp_path: Path) -> None:
    text = (RECORDED / "pgbench.log").read_text()
    with pytest.raises(
        OutputError, match=r"transactions\.log: expected 2334 .* it has 1: the last line is"
    ):
        output_of(tmp_path, "pgbench", text, more="0 1 5 0 5 7\n")
    with pytest.raises(OutputError, match=r"transactions\.log: expected a line like .* '0 1 x'"):
        output_of(tmp_path, "pgbench", text, more="0 1 x\n")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("", 8000), ("# Executed\n", 8000), (PING_PONG, 8001)),
        ("8000 round trips in 0 ns\n", 8000),
    ],
)
def test_a_program_of_the_minimal_image_that_says_something_else(
    tmp_path: Path, text: str, count: int
) -> None:
    with pytest.raises(OutputError, match=r"program-p\.log: "):
        output_of(tmp_path, "ping-pong", text, count)


def test_a_log_that_is_missing(tmp_path: Path) -> None:
    program = ProgramRecord("p", "ping-pong", 1, "program-p.log")
    with pytest.raises(OutputError, match=r"program-p\.log: not readable: .*No such file"):
        outputs(tmp_path, [program])


def test_loads_and_servers_print_no_measures(tmp_path: Path) -> None:
    shutil.copy(RECORDED / "stress-ng.log", tmp_path / "program-p.log")
    load = ProgramRecord("p", "stress-ng", 0, "program-p.log", role="load")
    server = ProgramRecord("db", "postgres", 0, "program-db.log", role="server")
    assert outputs(tmp_path, [load, server]) == {}


def test_a_measure_has_its_unit_at_its_end() -> None:
    assert {*MEASURES} <= {*PARSERS}
    units = {unit_of(name) for names in MEASURES.values() for name in names}
    assert units == {"", "us", "ms", "s", "1/s"}
    assert unit_of("tps") == "1/s"
    assert unit_of("thread0_p99_us") == "us"
    assert is_measure("cyclictest", "thread17_p99_us")
    assert is_measure("stress-ng", "vm_bogo_ops_per_s")
    assert is_measure("hackbench", OPERATIONS)
    assert not is_measure("cyclictest", "threadx_p99_us")
    assert not is_measure("hackbench", "p99_us")
