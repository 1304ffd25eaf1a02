# SPDX-License-Identifier: GPL-2.0-or-later
"""No test's verdict depends on how fast the host is.

Few files look at the host's clock, and no test waits for a number of seconds of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
#: Functions whose value says how long something took on the host.
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}
#: Who may read one: the wait that ends a hanging test, the speed figures, which are no tests, and
#: the check that kills processes at random times.
READERS = {
    *("support/waiting.py", "bench", "support/measuring.py"),
    "support/reliability/checks.py",
}


def clock_reads(source: str) -> Iterator[int]:
    """The lines of a source that call a clock of the host."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else None
            if name in CLOCKS or (isinstance(function, ast.Name) and function.id in CLOCKS):
                yield node.lineno


#: Calls whose first argument or ``timeout`` ends a wait.
WAITS = {"wait", "join", "communicate", "acquire", "result"}
#: A shorter one is a pause, in which something wrong may happen. It fails no test that is right.
PAUSE_S = 1


def limits(source: str) -> Iterator[int]:
    """The lines of a source that end a wait after so many seconds, in digits."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        given = [word.value for word in node.keywords if word.arg == "timeout"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in WAITS:
            given += node.args[:1]
        for value in given:
            seconds = value.value if isinstance(value, ast.Constant) else None
            if isinstance(seconds, int | float) and seconds is not True and seconds >= PAUSE_S:
                yield node.lineno


def sleeping_loops(source: str) -> Iterator[int]:
    """The lines of a source on which a loop over a range begins that sleeps."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.For)
            and "range(" in ast.unparse(node.iter)
            and "sleep(" in ast.unparse(node)
        ):
            yield node.lineno


def places(find: Callable[[str], Iterator[int]]) -> list[str]:
    """Where ``find`` finds something in the tests."""
    return [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if not {path.relative_to(TESTS).as_posix(), path.relative_to(TESTS).parts[0]} & READERS
        for line in find(path.read_text())
    ]


def test_only_the_wait_for_an_event_reads_the_hosts_clock() -> None:
    assert places(clock_reads) == []


def test_no_wait_ends_after_seconds_of_its_own() -> None:
    assert places(limits) == []
    assert places(sleeping_loops) == []


@pytest.mark.parametrize(
    "source", ["\nevent.wait(60)", "\nthread.join(timeout=2.5)", "\nrun(line, timeout=20)"]
)
def test_a_limit_in_digits_is_found(source: str) -> None:
    assert list(limits(source)) == [2]


def test_a_loop_that_sleeps_is_found() -> None:
    assert list(sleeping_loops("\nfor _ in range(9):\n    time.sleep(1)")) == [2]


@pytest.mark.parametrize("source", ["event.wait(HANG_S)", "event.wait()", "thread.join(0.1)"])
def test_a_named_limit_and_a_pause_are_no_limits(source: str) -> None:
    assert not list(limits(source))


@pytest.mark.parametrize(
    "source", ["import time\nend = time.monotonic() + 3", "from time import monotonic\nmonotonic()"]
)
def test_a_clock_that_is_read_is_found(source: str) -> None:
    assert list(clock_reads(source)) == [2]


def test_a_clock_that_is_replaced_is_not_read() -> None:
    assert not list(clock_reads("process.time.monotonic = fake"))
