# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of hackbench, sysbench, stress-ng, perf, schbench, pgbench: a few lines each."""

from __future__ import annotations

import re
from pathlib import Path

from eascope.analysis.programs.lines import NUMBER, POSITIVE, Lines, Output
from eascope.analysis.tables.latency import percentiles

PIPE = ("ops_per_s", "time_s")
MESSAGING = HACKBENCH = ("time_s",)
SYSBENCH = (
    *("events", "events_per_s", "time_s"),
    *("latency_min_us", "latency_avg_us", "latency_max_us", "latency_p95_us"),
)
STRESS_NG = ("bogo_ops", "bogo_ops_per_s", "<name>_bogo_ops", "<name>_bogo_ops_per_s")
_TAIL = ("p50", "p90", "p95", "p99", "p99.9", "max")
SCHBENCH = (
    *("requests", "requests_per_s"),
    *(f"{kind}_{part.replace('.', '')}_us" for kind in ("wakeup", "request") for part in _TAIL),
)
PGBENCH = (
    *("transactions", "failed", "tps", "latency_mean_us", "latency_sd_us"),
    *("lag_mean_us", "lag_max_us"),
    *(f"{part}_us" for part in ("p50", "p90", "p95", "p99", "max")),
)
_POLICY = ("moved_to_default", "stayed_in_root", "useful_percent", "cgroup_percent")
_SPREAD = ("mean_us", "min_us", "p50_us", "max_us")
BROWSER = (
    *(*_POLICY, "boosts", "missed", "watched_tids", "watched_after_us", "retargets"),
    *("daemon_cpu_ms", "daemon_moves", "refused"),
    *(f"{name}_{part}" for name in ("response", "boost", "migration") for part in _SPREAD),
)
MIGRATE = (
    *(*_POLICY, "migrations"),
    *(f"{name}_{part}" for name in ("up", "down", "<name>_<N>mhz") for part in _SPREAD),
)


def ping_pong(lines: Lines, _more: Path) -> Output:
    """Our ping-pong: ``N round trips in M ns``."""
    match = lines.beginning("", r"(\d+) round trips in ([1-9]\d*) ns")
    count = int(match[1])
    return Output(operations=count, rate=count * 1e9 / int(match[2]))


def perf_pipe(lines: Lines, _more: Path) -> Output:
    """``perf bench sched pipe``, of processes or of threads (``-T``)."""
    pattern = r"# Executed (\d+) pipe operations between two (?:threads|processes)"
    count = int(lines.beginning("# Executed", pattern)[1])
    time_s = lines.number("Total time:", rf"Total time: {NUMBER} \[sec\]")
    times = [
        lines.match(number, rf"{POSITIVE} usecs/op")
        for number, line in enumerate(lines.lines)
        if line.endswith("usecs/op")
    ]
    if not times:
        raise lines.error("no line ends with 'usecs/op'")
    rate = 1e6 / float(times[0][1])
    return Output({"ops_per_s": rate, "time_s": time_s}, count, rate)


def perf_messaging(lines: Lines, _more: Path) -> Output:
    """``perf bench sched messaging``."""
    return Output({"time_s": lines.number("Total time:", rf"Total time: {NUMBER} \[sec\]")})


def hackbench(lines: Lines, _more: Path) -> Output:
    """``Time: SECONDS``."""
    return Output({"time_s": lines.number("Time:", rf"Time: {NUMBER}")})


def sysbench_cpu(lines: Lines, _more: Path) -> Output:
    """``sysbench cpu run``."""
    per_s = lines.number("events per second:", rf"events per second:\s+{NUMBER}")
    time_s = lines.number("total time:", rf"total time:\s+{NUMBER}s")
    events = lines.number("total number of events:", r"total number of events:\s+(\d+)")
    measures = {"events": events, "events_per_s": per_s, "time_s": time_s}
    for start, name in (("min", "min"), ("avg", "avg"), ("max", "max"), ("95th percentile", "p95")):
        ms = lines.number(f"{start}:", rf"{start}:\s+{NUMBER}")
        measures[f"latency_{name}_us"] = 1000 * ms
    return Output(measures, events, per_s)


def stress_ng(lines: Lines, _more: Path) -> Output:
    """``stress-ng --metrics``: a line for each kind of stressor, in bogus operations."""
    row = rf"stress-ng: metrc: \[\d+\] ([\w-]+)\s+(\d+)\s+{NUMBER}(?:\s+[\d.]+){{3,}}"
    measures: dict[str, float] = {}
    total = rate = 0.0
    for number, line in enumerate(lines.lines):
        if not re.match(r"stress-ng: metrc: \[\d+\] [a-z]", line) or "bogo ops" in line:
            continue
        match = lines.match(number, row)
        name, operations, seconds = match[1].replace("-", "_"), float(match[2]), float(match[3])
        per_s = operations / seconds if seconds else 0.0
        measures |= {f"{name}_bogo_ops": operations, f"{name}_bogo_ops_per_s": per_s}
        total, rate = total + operations, rate + per_s
    if not measures:
        raise lines.error("no line has the bogus operations of a stressor")
    return Output({"bogo_ops": total, "bogo_ops_per_s": rate, **measures}, total, rate)


def schbench(lines: Lines, _more: Path) -> Output:
    """Our stand-in for schbench: percentiles of wake-ups and requests, and the requests."""
    measures: dict[str, float] = {}
    tail = "".join(rf" {re.escape(part)} {NUMBER}" for part in _TAIL)
    for kind in ("wakeup", "request"):
        match = lines.beginning(f"{kind} latency", rf"{kind} latency, us: samples \d+{tail}")
        for part, value in zip(_TAIL, match.groups(), strict=True):
            measures[f"{kind}_{part.replace('.', '')}_us"] = float(value)
    last = next(
        (number for number, line in enumerate(lines.lines) if " requests in " in line), None
    )
    if last is None:
        raise lines.error("no line has the requests")
    done = lines.match(last, r"(\d+) requests in ([1-9]\d*) ns")
    requests = int(done[1])
    rate = requests * 1e9 / int(done[2])
    return Output({"requests": requests, "requests_per_s": rate, **measures}, requests, rate)


def policy(lines: Lines, _more: Path) -> Output:
    """Our user-space policies: a measure a line; the boosts or the migrations are operations."""
    shown = [number for number, line in enumerate(lines.lines) if not line.startswith("#")]
    matches = [lines.match(number, rf"([a-z0-9_]+) {NUMBER}") for number in shown]
    measures = {match[1]: float(match[2]) for match in matches}
    for name, last in (("boosts", "boost_max_us"), ("migrations", "useful_percent")):
        if name in measures and last in measures:
            return Output(measures, operations=measures[name])
    raise lines.error("no lines have all of its boosts or migrations")


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
