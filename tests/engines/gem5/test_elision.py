# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's copy of rt-app for tasks that wait for memory: its longer function."""

import struct
from collections import Counter
from pathlib import Path

import pytest

from eascope.configs.cpunames import MAX_CPUS
from eascope.engines.gem5 import eliding_copy
from eascope.engines.gem5.elision import CODE_BYTES, ENTRY_BYTES, ROOM, memory_function, with_memory
from eascope.host.errors import RequestError
from eascope.rootfs import elide
from tests.support.gem5_world import SYSCALL_CYCLES, Interrupt, World

MODE = "elided"
#: Up to eight CPUs.
LENGTH = CODE_BYTES + 8 * ENTRY_BYTES
#: Cycles of a turn and its ns of memory, on a little and on a big CPU.
LITTLE, BIG = (141.9375, 26.3125), (73.9375, 26.375)
TURNS = (LITTLE, LITTLE, BIG, BIG)


def test_the_longer_function_has_room() -> None:
    """Behind the busy function lies what calibrates rt-app, up to the next function."""
    assert len(memory_function(36)) == LENGTH <= ROOM
    assert len(memory_function(36, 24)) == CODE_BYTES + ENTRY_BYTES * MAX_CPUS <= ROOM
    assert LENGTH > elide.FUNCTION_BYTES


def test_what_lies_behind_is_what_calibrates(rt_app: Path) -> None:
    """It begins with its prologue, calls the busy function, and ends before the next prologue."""
    program = rt_app.read_bytes()
    behind = struct.unpack_from(
        f"<{(ROOM - elide.FUNCTION_BYTES) // 4}I",
        program,
        elide.FUNCTION_OFFSET + elide.FUNCTION_BYTES,
    )
    assert behind[0] == 0xA9B97BFD  # stp x29, x30, [sp, #-112]!
    assert behind[-1] == 0xD65F03C0  # ret
    assert behind.count(0xD65F03C0) == 1
    calls = [
        number
        for number, word in enumerate(behind)
        if word >> 26 == 0b100101
        and number + (word & 0x3FFFFFF) - (1 << 26) == -elide.FUNCTION_BYTES // 4
    ]
    assert len(calls) == 1


@pytest.fixture(scope="session")
def patched(rt_app: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy with a table, as the agent leaves it."""
    program = bytearray(eliding_copy.elide(rt_app.read_bytes()))
    start = elide.FUNCTION_OFFSET
    program[start : start + LENGTH] = with_memory(MODE, TURNS)
    path = tmp_path_factory.mktemp("gem5") / "rt-app"
    path.write_bytes(program)
    return path


def world(program: Path, interrupts: list[Interrupt] | None = None, **settings: float) -> World:
    return World(program, interrupts or [], table=TURNS, length=LENGTH, **settings)  # type: ignore[arg-type]


def iteration_ns(cpu: int, ghz: float) -> float:
    cycles, ns = TURNS[cpu]
    return cycles / ghz + ns


@pytest.mark.parametrize("turns", [1, 7, 8, 250, 15_000])
@pytest.mark.parametrize(("cpu", "ghz"), [(0, 0.45), (0, 0.95), (2, 0.6), (2, 1.2)])
def test_takes_the_turns_time_at_every_clock(
    patched: Path, turns: int, cpu: int, ghz: float
) -> None:
    """Cycles by the clock and the same ns of memory, in all with the function's own time."""
    present = world(patched, cpu=cpu, ghz=ghz)
    begin = present.ns
    present.burn(turns)
    took = present.ns - begin - 2 * SYSCALL_CYCLES / ghz
    assert took == pytest.approx(turns * iteration_ns(cpu, ghz), rel=0.002, abs=70 / ghz)


@pytest.mark.parametrize("phase_ns", range(0, 50_000, 7_001))
def test_ticks_cost_no_turns(patched: Path, phase_ns: int) -> None:
    """A tick of 2 us every ms, in either part of a slice: the time is the turns' and the ticks'."""
    ticks = [Interrupt(5e6 + phase_ns + n * 1e6) for n in range(1, 40)]
    present = world(patched, ticks, ghz=0.45)
    begin = present.ns
    present.burn(60_000)  # 20.5 ms
    met = 39 - len(present.interrupts)
    assert met > 15
    wanted = 60_000 * iteration_ns(0, 0.45)
    # The handler's time is credited as the loop's; each look around costs a system call.
    assert present.ns - begin == pytest.approx(wanted, abs=met * 3_000)
    assert max(present.slices) <= 50_000


def test_preempted_time_is_nobodys_turns(patched: Path) -> None:
    cuts = [Interrupt(5e6 + n * 6e6 + 20_000, others_ns=3e6) for n in range(10)]
    present = world(patched, cuts, ghz=0.95)
    begin = present.ns
    present.burn(200_000)
    assert not present.interrupts
    wanted = 200_000 * iteration_ns(0, 0.95)
    assert present.ns - begin - 10 * 3e6 == pytest.approx(wanted, rel=0.005)


def test_a_change_of_the_clock_keeps_the_memory_time(patched: Path) -> None:
    """From 0.45 to 0.95 GHz half-way, by an interrupt: each part by its own clock."""
    switch = Interrupt(5e6 + 5e6, kernel_ns=2_000, ghz=0.95)
    present = world(patched, [switch], ghz=0.45)
    begin = present.ns
    present.burn(40_000)
    turns = 5e6 / iteration_ns(0, 0.45) + (present.ns - begin - 5e6) / iteration_ns(0, 0.95)
    assert turns == pytest.approx(40_000, rel=0.005)


def test_the_table_is_that_of_the_cpus() -> None:
    function = with_memory(MODE, TURNS)
    figures = struct.unpack("<16H", function[CODE_BYTES:])
    assert figures[:8] == (2271, 421, 2271, 421, 1183, 422, 1183, 422)
    assert Counter(figures[8:]) == {0: 8}


def test_more_than_eight_cpus_have_a_longer_table() -> None:
    function = with_memory(MODE, [LITTLE] * 23 + [BIG])
    figures = struct.unpack(f"<{2 * MAX_CPUS}H", function[CODE_BYTES:])
    assert figures[44:48] == (2271, 421, 1183, 422)
    assert Counter(figures[48:]) == {0: 16}


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([(100.0, 20.0), (5.0, 20.0)], "CPU 1: 5.0 cycles and 20.0 ns"),
        ([(100.0, 5000.0)], "CPU 0: 100.0 cycles and 5000.0 ns"),
    ],
)
def test_a_figure_that_does_not_fit_is_one_line(
    turns: list[tuple[float, float]], words: str
) -> None:
    with pytest.raises(RequestError, match=words):
        with_memory(MODE, turns)
