# SPDX-License-Identifier: GPL-2.0-or-later
"""Pushes of a window, from counters that are read at its ends."""

from __future__ import annotations

from eascope.analysis.records.result import Pushes
from eascope.analysis.tables.kernel_counters import pushes
from tests.support.synthetic import counters_text

READY = counters_text(push_check=5, push_moved=3)
START = counters_text(push_check=100, tick_check=20, push_moved=10, tick_moved=5)
STOP = counters_text(push_check=180, tick_check=40, push_moved=12, tick_moved=8)
END = counters_text(push_check=999, tick_moved=999)


def test_pushes_are_those_between_start_and_stop() -> None:
    assert pushes(READY + START + STOP + END, 10.0) == Pushes(checked=10.0, moved=0.5)


def test_a_kernel_that_cannot_push_has_none() -> None:
    plain = "/sys/kernel/debug/sched/eascope/stats: counter cpu0\nselect_wakeup 3\n"
    assert pushes(4 * plain, 10.0) is None


def test_without_the_windows_counters_nothing_is_known() -> None:
    assert pushes(READY + END, 10.0) is None
    assert pushes("", 10.0) is None
