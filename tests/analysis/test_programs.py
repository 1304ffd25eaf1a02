# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput: what programs print, and one line when they did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.records.cell import ProgramRecord
from analysis.tables.programs import throughput
from host.errors import EascopeError

PING_PONG = "8000 round trips in 160000000 ns\n"
PERF = """\
# Running 'sched/pipe' benchmark:
# Executed 8000 pipe operations between two threads

     Total time: 0.160 [sec]

      20.000000 usecs/op
          50000 ops/sec
"""


def rate_of(tmp_path: Path, run: str, text: str, count: int = 8000) -> float:
    (tmp_path / "program-p.log").write_text(text)
    program = ProgramRecord("p", run, count, "program-p.log")
    return throughput(tmp_path, [program])["p"]


def test_rates(tmp_path: Path) -> None:
    assert rate_of(tmp_path, "ping-pong", PING_PONG) == 50_000
    assert rate_of(tmp_path, "perf-sched-pipe", PERF) == 50_000


@pytest.mark.parametrize(
    ("run", "text", "count"),
    [
        ("ping-pong", "", 8000),
        ("ping-pong", PERF, 8000),
        ("ping-pong", PING_PONG, 8001),
        ("perf-sched-pipe", PERF.replace("usecs/op", "us"), 8000),
    ],
)
def test_a_program_that_says_something_else(
    tmp_path: Path, run: str, text: str, count: int
) -> None:
    with pytest.raises(EascopeError, match=rf"program-p\.log: does not say how long {count}"):
        rate_of(tmp_path, run, text, count)


def test_a_log_that_is_missing(tmp_path: Path) -> None:
    program = ProgramRecord("p", "ping-pong", 1, "program-p.log")
    with pytest.raises(EascopeError, match=r"program-p\.log: not readable: .*No such file"):
        throughput(tmp_path, [program])
