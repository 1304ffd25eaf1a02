# SPDX-License-Identifier: GPL-2.0-or-later
"""No test's verdict depends on how fast the host is: one file alone looks at the host's clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
#: Functions whose value says how long something took on the host.
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}
#: Who may read one: the wait that ends a hanging test, and the speed figures, which are no tests.
READERS = {"support/waiting.py", "bench"}


def clock_reads(source: str) -> Iterator[int]:
    """The lines of a source that call a clock of the host."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else None
            if name in CLOCKS or (isinstance(function, ast.Name) and function.id in CLOCKS):
                yield node.lineno


def test_only_the_wait_for_an_event_reads_the_hosts_clock() -> None:
    wrong = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if not {path.relative_to(TESTS).as_posix(), path.relative_to(TESTS).parts[0]} & READERS
        for line in clock_reads(path.read_text())
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "source", ["import time\nend = time.monotonic() + 3", "from time import monotonic\nmonotonic()"]
)
def test_a_clock_that_is_read_is_found(source: str) -> None:
    assert list(clock_reads(source)) == [2]


def test_a_clock_that_is_replaced_is_not_read() -> None:
    assert not list(clock_reads("process.time.monotonic = fake"))
