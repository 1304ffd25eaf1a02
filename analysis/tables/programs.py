# SPDX-License-Identifier: GPL-2.0-or-later
"""``throughput``: what a scenario's programs say about themselves, by the guest's own clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from analysis.records.cell import ProgramRecord
from host.errors import EascopeError

_PING_PONG = re.compile(r"^(\d+) round trips in (\d+) ns$", re.MULTILINE)
_PERF_DONE = re.compile(r"^# Executed (\d+) pipe operations", re.MULTILINE)
_PERF_TIME = re.compile(r"^\s*([\d.]+) usecs/op$", re.MULTILINE)


def throughput(run: Path, programs: Sequence[ProgramRecord]) -> dict[str, float]:
    """Operations per second of every program in ``cell.json``, by name.

    :raises EascopeError: one line when a program did not say what it should have.
    """
    rates = {}
    for program in programs:
        path = run / program.log
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise EascopeError(f"{path}: not readable: {error}") from error
        rate = _rate(program.run, text)
        if rate is None or rate[0] != program.count:
            raise EascopeError(f"{path}: does not say how long {program.count} of it took")
        rates[program.name] = rate[1]
    return rates


def _rate(kind: str, text: str) -> tuple[int, float] | None:
    """(count, operations per second) as ``kind`` prints them."""
    if kind == "ping-pong":
        line = _PING_PONG.search(text)
        return None if line is None else (int(line[1]), int(line[1]) * 1e9 / int(line[2]))
    done, each = _PERF_DONE.search(text), _PERF_TIME.search(text)
    return None if done is None or each is None else (int(done[1]), 1e6 / float(each[1]))
