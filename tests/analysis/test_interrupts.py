# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of interrupts, by readings of the kernel's file whose numbers are known."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from eascope.analysis.measures.interrupts import check_interrupts, interrupt_share, interrupts
from eascope.analysis.records.cell import InterruptRecord
from eascope.analysis.records.result import Interrupts
from eascope.analysis.tables.slices import outside
from eascope.analysis.window import Window
from eascope.host.errors import EascopeError
from eascope.kernels.switches import INTERRUPTS

NIC = InterruptRecord("nic", (4, 5), period_us=1000, work_us=200)


def reading(*counts: tuple[int, int, int]) -> str:
    lines = (f"{NIC.line(cpu)} {a} {b} {c}\n" for cpu, (a, b, c) in enumerate(counts, 4))
    return f"{INTERRUPTS}: {''.join(lines)}/proc/version: 6 1 2 3 4 5 6 7\n"


def run(*readings: str, ms: int = 100) -> Any:
    cell = SimpleNamespace(interrupts=(NIC,))
    window = Window(0, ms * 1_000_000)
    return SimpleNamespace(run=Path("run"), cell=cell, window=window, state="".join(readings))


def test_a_load_is_counted_between_start_and_stop() -> None:
    """On CPU 4, 100 of 100 periods of 200 us; on CPU 5, 60 of 100 of 250 us."""
    before = reading((7, 9_000, 1), (5, 0, 0))
    data = run(before, reading((107, 20_009_000, 1), (65, 15_000_000, 40)))
    check_interrupts(data)
    assert interrupts.function(data) == {"nic": Interrupts(160, 40)}
    assert interrupt_share.function(data) == {"nic": pytest.approx(35_000_000 / 200_000_000)}


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ([], "came 0 times on CPU 4"),
        ([reading((1, 0, 0), (1, 0, 0))], "came 0 times on CPU 4"),
        ([reading((0, 0, 0)), reading((99, 0, 0))], "came 0 times on CPU 5"),
        (
            [reading((9, 0, 0), (9, 0, 0)), reading((109, 0, 0), (100, 0, 6))],
            "came 91 times on CPU 5",
        ),
    ],
)
def test_a_load_that_does_not_come_fails_the_run(readings: list[str], words: str) -> None:
    with pytest.raises(EascopeError, match=f"interrupt nic {words} .* 100 in all"):
        check_interrupts(run(*readings))
    check_interrupts(run(reading((0, 0, 0), (0, 0, 0)), reading((98, 0, 1), (99, 0, 0))))


def test_interrupts_are_cut_out_of_whom_they_interrupt() -> None:
    """Two in a stretch, one at its begin, one in idle, one on another CPU."""
    table = pl.DataFrame(
        {"pid": [1, 2, 3], "cpu": [0, 0, 1], "t0_ns": [0, 200, 0], "t1_ns": [100, 300, 50]}
    )
    gone = pl.DataFrame(
        {"cpu": [0, 0, 0, 0], "t0_ns": [10, 50, 120, 200], "t1_ns": [20, 70, 140, 210]}
    )
    assert outside(table, gone).rows() == [
        *((1, 0, 0, 10), (1, 0, 20, 50), (1, 0, 70, 100)),
        *((2, 0, 210, 300), (3, 1, 0, 50)),
    ]
    assert outside(table, gone.clear()).rows() == table.rows()
