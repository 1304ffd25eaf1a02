# SPDX-License-Identifier: GPL-2.0-or-later
"""cyclictest's results: latencies of each thread, and its histogram (``-h``) as percentiles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from eascope.analysis.programs.lines import Lines, Output

#: Shares of all cycles.
PERCENTILES = {"p50_us": 0.5, "p90_us": 0.9, "p95_us": 0.95, "p99_us": 0.99, "p999_us": 0.999}
MEASURES = (
    *("cycles", "min_us", "avg_us", "max_us", "overflows", *PERCENTILES),
    *(f"thread<N>_{name}" for name in ("cycles", "min_us", "avg_us", "max_us", *PERCENTILES)),
)
_THREAD = (
    r"T:\s*(\d+) \(\s*\d+\) P:\s*\d+ I:\d+ C:\s*(\d+) "
    r"Min:\s*(\d+) Act:\s*\d+ Avg:\s*(\d+) Max:\s*(\d+)"
)
_TOTAL = "# Total:"
_LATER = ("Avg", "Max")
_NAMES = ("cycles", "min_us", "avg_us", "max_us")


def cyclictest(lines: Lines, _more: Path) -> Output:
    """The last output of ``cyclictest -q``, with or without ``-h``.

    :raises OutputError: another output.
    """
    threads = [number for number, line in enumerate(lines.lines) if line.lstrip().startswith("T:")]
    if threads:
        rows = [lines.match(number, _THREAD).groups()[1:] for number in threads]
        return _output([dict(zip(_NAMES, map(float, row), strict=True)) for row in rows], [])
    return _histogram(lines)


def _histogram(lines: Lines) -> Output:
    """The columns of the histogram's table, and the lines that sum them up."""
    least = _columns(lines, "# Min Latencies:")
    parts = [least, *(_columns(lines, f"# {name} Latencies:", len(least)) for name in _LATER)]
    over = _columns(lines, "# Histogram Overflows:", len(least))
    counts: list[Counter[int]] = [Counter() for _ in least]
    for number, line in enumerate(lines.lines):
        if re.match(r"\s*\d", line):
            row = lines.match(number, r"(\d+)((?:\s+\d+)+)")
            cells = [int(cell) for cell in row[2].split()]
            if len(cells) != len(counts):
                raise lines.error(f"expected {len(counts)} columns", number)
            for count, cell in zip(counts, cells, strict=True):
                count[int(row[1])] += cell
    # rt-tests 2.6 prints the totals, 2.8 does not.
    if any(line.startswith(_TOTAL) for line in lines.lines):
        totals = _columns(lines, _TOTAL, len(least))
    else:
        totals = [count.total() + more for count, more in zip(counts, over, strict=True)]
    by_thread = [
        dict(zip(_NAMES, map(float, counts), strict=True))
        for counts in zip(totals, *parts, strict=True)
    ]
    return _output(by_thread, counts, sum(over))


def _columns(lines: Lines, start: str, wanted: int | None = None) -> list[int]:
    """The numbers after ``start``, one for each thread."""
    cells = lines.beginning(start, re.escape(start) + r"((?:\s+\d+)+)")[1].split()
    if wanted is not None and len(cells) != wanted:
        raise lines.error(f"expected {wanted} columns after {start!r}")
    return [int(cell) for cell in cells]


def _output(
    threads: list[dict[str, float]], counts: list[Counter[int]], overflows: int = 0
) -> Output:
    cycles = sum(thread["cycles"] for thread in threads)
    weighted = sum(thread["avg_us"] * thread["cycles"] for thread in threads)
    measures = {
        "cycles": cycles,
        "min_us": min(thread["min_us"] for thread in threads),
        "avg_us": weighted / cycles if cycles else 0.0,
        "max_us": max(thread["max_us"] for thread in threads),
    }
    for number, thread in enumerate(threads):
        measures |= {f"thread{number}_{name}": value for name, value in thread.items()}
    if counts:
        measures["overflows"] = overflows
        measures |= _percentiles(sum(counts, Counter()), cycles, measures["max_us"])
        for number, count in enumerate(counts):
            thread = threads[number]
            own = _percentiles(count, thread["cycles"], thread["max_us"])
            measures |= {f"thread{number}_{name}": value for name, value in own.items()}
    return Output(measures, operations=cycles)


def _percentiles(count: Mapping[int, int], cycles: float, most: float) -> dict[str, float]:
    """Percentiles by nearest rank; values beyond the histogram count as the largest of all."""
    shown: dict[str, float] = {}
    for name, share in PERCENTILES.items():
        rank, seen = share * cycles, 0
        shown[name] = most
        for us in sorted(count):
            seen += count[us]
            if seen >= rank:
                shown[name] = us
                break
    return shown
