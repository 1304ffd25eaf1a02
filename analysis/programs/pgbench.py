# SPDX-License-Identifier: GPL-2.0-or-later
"""pgbench's results: its summary, and percentiles of its log of transactions (``-l``)."""

from __future__ import annotations

from pathlib import Path

from eascope.analysis.programs.lines import NUMBER, Lines, Output
from eascope.analysis.tables.latency import percentiles

MEASURES = (
    *("transactions", "failed", "tps", "latency_mean_us", "latency_sd_us"),
    *("lag_mean_us", "lag_max_us"),
    *(f"{part}_us" for part in ("p50", "p90", "p95", "p99", "max")),
)


def pgbench(lines: Lines, more: Path) -> Output:
    """The output of pgbench, and its log of transactions.

    :param more: its log of transactions: client, number, us, script, second, us of the second, and
        with a rate (``-R``) how late it began.
    :raises OutputError: another output.
    """
    start = "number of transactions actually processed:"
    count = lines.number(start, rf"{start} ([1-9]\d*)(?:/\d+)?")
    failed = lines.number(
        "number of failed transactions:", r"number of failed transactions: (\d+) \([\d.]+%\)"
    )
    tps = lines.number("tps =", rf"tps = {NUMBER} \(without initial connection time\)")
    mean = lines.number("latency average =", rf"latency average = {NUMBER} ms")
    measures = {
        "transactions": count,
        "failed": failed,
        "tps": tps,
        "latency_mean_us": 1000 * mean,
    }
    if any(line.startswith("latency stddev") for line in lines.lines):
        sd = lines.number("latency stddev =", rf"latency stddev = {NUMBER} ms")
        measures["latency_sd_us"] = 1000 * sd
    lag = "rate limit schedule lag:"
    if any(line.startswith(lag) for line in lines.lines):
        lags = lines.beginning(lag, rf"{lag} avg {NUMBER} \(max {NUMBER}\) ms")
        measures |= {"lag_mean_us": 1000 * float(lags[1]), "lag_max_us": 1000 * float(lags[2])}
    measures |= _transactions(Lines.read(more), int(count))
    return Output(measures, count, tps)


def _transactions(log: Lines, count: int) -> dict[str, float]:
    """Percentiles of the transactions' latencies, from when each was due."""
    row = r"\d+ \d+ (\d+) \d+ \d+ \d+(?: (\d+))?"
    times = [float(log.match(number, row)[1]) for number in range(len(log.lines))]
    if len(times) != count:
        raise log.error(f"expected {count} transactions, it has {len(times)}")
    shares = percentiles(times)
    return {f"{part}_us": getattr(shares, part) for part in ("p50", "p90", "p95", "p99", "max")}
