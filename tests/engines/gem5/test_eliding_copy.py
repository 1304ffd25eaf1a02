# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's eliding copy of rt-app, executed one instruction at a time in a machine made for it."""

import struct
from pathlib import Path

import pytest

from eascope.configs.cpunames import MAX_CPUS
from eascope.engines.gem5 import eliding_copy
from eascope.engines.gem5.eliding_copy import AWAY_NS, iteration_table, quiesce_function, with_table
from eascope.engines.gem5.elision import ROOM
from eascope.host.errors import EascopeError, RequestError
from eascope.rootfs import elide
from tests.support.gem5_world import LITTLE, SYSCALL_CYCLES, TABLE, Interrupt, World

START, STOP = elide.FUNCTION_OFFSET, elide.FUNCTION_OFFSET + elide.FUNCTION_BYTES
MODE = "elided"
OWN_CYCLES = eliding_copy.OWN_CYCLES[MODE]


@pytest.fixture(scope="session")
def patched(rt_app: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy with a table, as the agent leaves it."""
    program = bytearray(eliding_copy.elide(rt_app.read_bytes()))
    program[START:STOP] = with_table(MODE, TABLE)
    path = tmp_path_factory.mktemp("gem5") / "rt-app"
    path.write_bytes(program)
    return path


def test_only_the_function_changes(rt_app: Path) -> None:
    original = rt_app.read_bytes()
    copy = eliding_copy.elide(original)
    assert len(copy) == len(original)
    assert copy[:START] == original[:START]
    assert copy[STOP:] == original[STOP:]
    assert copy[START:STOP] != original[START:STOP]
    assert copy[eliding_copy.TABLE_OFFSET : STOP] == bytes(eliding_copy.TABLE_BYTES)


def test_the_runs_table_fits_over_the_one_in_the_image() -> None:
    function = with_table(MODE, TABLE)
    assert len(function) == STOP - START
    assert (
        function[: -eliding_copy.TABLE_BYTES]
        == quiesce_function(OWN_CYCLES)[: -eliding_copy.TABLE_BYTES]
    )
    assert function[-eliding_copy.TABLE_BYTES :] == iteration_table(TABLE)


@pytest.mark.parametrize(
    ("mode", "shortest", "own"),
    [("elided", 48.0, 24), ("elided-detailed", 105.6, 60), ("elided-detailed", 54.1, 50)],
)
def test_a_slice_of_one_turn_stands_still_for_a_while(mode: str, shortest: float, own: int) -> None:
    """pixel6's big CPUs do a turn in 54 cycles at the board's speeds."""
    function = with_table(mode, [223.0, shortest])
    expected = quiesce_function(own)
    assert function[: -eliding_copy.TABLE_BYTES] == expected[: -eliding_copy.TABLE_BYTES]
    assert shortest - own >= eliding_copy.LEAST_STILL


def test_another_rt_app_is_refused(rt_app: Path) -> None:
    with pytest.raises(EascopeError, match=r"rt-app: SHA-256 .*: its busy loop cannot be elided"):
        eliding_copy.elide(rt_app.read_bytes() + b"\0")


@pytest.mark.parametrize("turns", [1, 7, 8, 9, 250, 15_000])
@pytest.mark.parametrize(("cpu", "ghz"), [(0, 0.45), (0, 0.95), (2, 1.2)])
def test_takes_the_loops_time(patched: Path, turns: int, cpu: int, ghz: float) -> None:
    """In all, standing still and own instructions: the turns' cycles, and two system calls."""
    world = World(patched, cpu=cpu, ghz=ghz)
    begin = world.ns
    world.burn(turns)
    cycles = (world.ns - begin) * ghz - 2 * SYSCALL_CYCLES
    assert cycles == pytest.approx(turns * TABLE[cpu], rel=0.002, abs=70)
    assert world.looks == 1


def test_no_turns_return_at_once(patched: Path) -> None:
    assert World(patched).burn(0).total() == 2


def test_slices_are_at_most_50_us(patched: Path) -> None:
    for cpu, ghz in ((0, 0.45), (0, 0.95), (2, 0.6), (2, 1.2)):
        world = World(patched, cpu=cpu, ghz=ghz)
        world.burn(20_000)
        assert max(world.slices) <= 50_000
        assert max(world.slices) >= 0.97 * eliding_copy.SLICE_NS


@pytest.mark.parametrize("fetch_width", [0, 4, eliding_copy.MOST_FETCHED])
@pytest.mark.parametrize("phase_ns", range(0, 50_000, 7_001))
def test_standing_still_and_ticks_add_up_to_the_turns(
    patched: Path, phase_ns: int, fetch_width: int
) -> None:
    """A tick of 2 us every ms: standing still adds up to the turns, but for the ticks' share."""
    ticks = [Interrupt(5e6 + phase_ns + n * 1e6) for n in range(1, 40)]
    world = World(patched, ticks, fetch_width=fetch_width)
    world.burn(100_000)  # 22.3 ms
    met = 39 - len(world.interrupts)
    assert met > 20
    # The 2 us of a handler are credited as if they had been turns, 9 each, unless the time was
    # read before it.
    handlers = 0 if fetch_width else met * 2_000 / LITTLE
    assert world.turns == pytest.approx(100_000 - handlers, abs=met * 3)
    assert world.looks == met + 1
    # Where nobody else ran the kernel is not asked for CPU time, which could bring a switch about.
    assert world.asked == 1
    assert max(world.slices) <= 50_000


def test_a_fetched_group_does_not_reach_the_exclusives() -> None:
    words = [f"{word:08x}" for word in struct.unpack("<65I", with_table(MODE, TABLE))]
    wfe, stxr = words.index("d503205f"), words.index("c8017fff")
    assert stxr - wfe - 1 == eliding_copy.MOST_FETCHED


def test_preempted_time_is_nobodys_turns(patched: Path) -> None:
    """Others run for a little longer than a slice can take with its interrupt, and for ms."""
    cuts = [Interrupt(5e6 + n * 6e6 + 20_000, others_ns=AWAY_NS + n * 200_000) for n in range(20)]
    world = World(patched, cuts)
    world.burn(500_000)
    assert not world.interrupts
    assert world.asked == 21
    # Credited per cut: the handler, and up to where the second system call read the time.
    own = 20 * (2_000 + 2 * SYSCALL_CYCLES) / LITTLE
    own += len(world.slices) * OWN_CYCLES / LITTLE
    assert world.turns == pytest.approx(500_000 - own, abs=20 * 3)


def test_a_short_absence_counts_for_less_than_a_slice(patched: Path) -> None:
    """Kernel threads that run for 10 to 100 us: the slice that they end counts as whole at most."""
    cuts = [Interrupt(5e6 + n * 1e6 + 20_000, others_ns=n * 10_000) for n in range(1, 11)]
    world = World(patched, cuts)
    world.burn(80_000)
    assert not world.interrupts
    assert world.asked == 1
    lost = 80_000 - world.turns
    assert 0 < lost < 10 * eliding_copy.SLICE_NS / LITTLE


@pytest.mark.parametrize("second_ns", [2e6, 20e6])
def test_a_second_of_cpu_time_passes(patched: Path, second_ns: float) -> None:
    """Only the part below a second is read: at its turn one slice counts for nothing."""
    cuts = [Interrupt(5e6 + n * 4e6, others_ns=1e6) for n in range(1, 10)]
    world = World(patched, cuts)
    world.thread_ns = 1e9 - second_ns
    world.burn(200_000)
    assert not world.interrupts
    slice_turns = eliding_copy.SLICE_NS / LITTLE
    own = len(world.slices) * OWN_CYCLES / LITTLE
    assert world.turns == pytest.approx(200_000 - own, abs=slice_turns + 9 * 15)


def test_migration_changes_the_cycles_of_a_turn(patched: Path) -> None:
    """Half on a little CPU, then on a big one: each stands still for its own cycles."""
    move = Interrupt(5e6 + 5e6, kernel_ns=2_000, others_ns=30_000, cpu=3, ghz=1.2)
    world = World(patched, [move], ghz=0.95)
    world.burn(40_000)
    assert world.cpu == 3
    assert world.turns == pytest.approx(40_000, abs=60)


def test_the_elided_loop_ends_without_an_exclusive_monitor(patched: Path) -> None:
    world = World(patched, monitor_works=False)
    world.burn(4_000)
    assert world.turns == pytest.approx(4_000, rel=0.25)


def test_a_cpu_without_an_entry_ends_the_program(patched: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="SIGTRAP"):
        World(patched, cpu=5).burn(10)


def test_more_than_eight_cpus_have_a_longer_table(rt_app: Path, tmp_path: Path) -> None:
    """It lies over what calibrates rt-app, which never runs; the last CPU finds its entry."""
    function = with_table(MODE, [223.0] * 23 + [446.0])
    assert len(function) == 244 + 2 * MAX_CPUS <= ROOM
    program = bytearray(eliding_copy.elide(rt_app.read_bytes()))
    program[START : START + len(function)] = function
    path = tmp_path / "rt-app"
    path.write_bytes(program)
    spent = []
    for cpu in (0, 23):
        world = World(
            path, cpu=cpu, table=((223.0, 0.0),) * 23 + ((446.0, 0.0),), length=len(function)
        )
        begin = world.ns
        world.burn(10_000)
        spent.append(world.ns - begin)
    assert spent[1] / spent[0] == pytest.approx(2, rel=0.01)
    with pytest.raises(ZeroDivisionError, match="SIGTRAP"):
        World(path, cpu=24, length=len(function)).burn(10)


def test_table() -> None:
    assert struct.unpack("<8H", iteration_table((223, 105.625))) == (3568, 1690, 0, 0, 0, 0, 0, 0)
    with pytest.raises(
        RequestError, match=r"CPU 1: 20.0 cycles per iteration: allowed .* 48 to 4096"
    ):
        iteration_table((223.0, 20.0))
