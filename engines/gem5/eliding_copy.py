# SPDX-License-Identifier: GPL-2.0-or-later
"""The copy of rt-app for gem5: its busy loop stands still for the time that it would take.

In this copy the busy function (see `rootfs.elide`) consists of slices. A slice stands for a number
of iterations: gem5's operation quiesce_cycle stops the CPU for their cycles. The scheduler sees a
running task. Ticks, preemption, migration and OPP changes act as on an executed loop. The body is
``eliding_copy.S``. This text says what it does and why.

**Length of a slice.** A slice is `SLICE_NS` long. Its number of iterations follows from the time of
the slice before. A change of frequency does not change the slice in which it happens, so slices
bound that error. The iterations of the next slice are still counted at the old frequency. If the
old frequency was higher, the slice is longer by the ratio of the two.

**Interrupts.** An interrupt ends a slice early. gem5 could report the time for which the CPU stood
still. But the out-of-order CPUs need a WFE after the operation, and WFE counts as standing still,
too. So the slice is credited with the time that has passed, at the rate of the last whole slice,
and with the whole slice at most.

**Preemption.** If other threads ran for `AWAY_NS` or more, the slice is credited with the CPU time
that the kernel reports for this thread. If they ran for less, as kernel threads do, their time
counts as the loop's own, up to a slice. After shorter interruptions the kernel is not asked,
because the question updates the running task's account. The scheduler may then see right after a
wake-up that this task must make way. With an executed loop it sees that at the next tick.

**Detection of an interruption.** Every return from an exception clears the exclusive monitor. A
load-exclusive comes before the slice, a store-exclusive after it. An O3CPU that an interrupt wakes
up fetches one more group of instructions before it takes the interrupt. If the exclusives were in
that group, the slice would count as whole, and the next one would be too long. So `MOST_FETCHED`
other instructions precede them. On a CPU whose monitor never holds, every slice would be short,
with no other effect.

**Number of the CPU.** The copy asks for it (getcpu) at every interruption, because a thread cannot
move without one, and the core types differ in the cycles of an iteration. `iteration_table` holds
the cycles for each CPU. A CPU without an entry ends the program (SIGTRAP).

The guest image holds the body with an empty table. Before a run the guest agent overwrites it with
the body of the run's mode and the platform's table (its verb ``bytes``). So the image is the same
for all platforms.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from eascope.configs.cpunames import MAX_CPUS
from eascope.engines.gem5.layout import GICV2
from eascope.host.errors import RequestError
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.elide import FUNCTION_BYTES, FUNCTION_OFFSET, ElidingCopy, with_function
from eascope.rootfs.headers import INCLUDE, M5OPS

SOURCE = Path(__file__).resolve().parent / "eliding_copy.S"
#: Files that decide the bytes of the copy in the image.
MAKERS = (Path(__file__).resolve(), SOURCE, M5OPS, SOURCE.with_name("layout.py"))

#: What a slice aims at, in ns, and turns of the first one after an interruption.
SLICE_NS = 49_152
PROBE_TURNS = 8
#: An interrupted slice that took this long or longer was interrupted by others that ran.
AWAY_SHIFT = 17
AWAY_NS = 1 << AWAY_SHIFT
#: Cycles that a slice's own instructions take, by gem5's mode: they are part of what it stands for.
#: Counted on ArmAtomicSimpleCPU; on the others the mean of what an Exec trace showed: 44 on
#: MinorCPU, and on O3CPU 52 at 1200 MHz and 81 at 600. Fewer where a turn takes no more.
OWN_CYCLES = {"elided": 24, "elided-detailed": 60}

#: Instructions that an O3CPU may fetch at once, so that the exclusives are not among them.
MOST_FETCHED = 6

#: The table's entries: one per CPU, cycles of an iteration in sixteenths. The image's copy has as
#: many as a GICv2 has CPUs, and fits the original's place; more CPUs make the function longer,
#: over what `engines.gem5.elision.ROOM` says.
TABLE_BYTES = 2 * GICV2.max_cpus
TABLE_OFFSET = FUNCTION_OFFSET + FUNCTION_BYTES - TABLE_BYTES
SIXTEENTHS = 16
#: A slice of a single turn stands still for this many cycles at least.
LEAST_STILL = 4
LEAST_CYCLES = 2 * OWN_CYCLES["elided"]
MOST_CYCLES = 0xFFFF / SIXTEENTHS


def elide(program: bytes) -> bytes:
    """gem5's copy of rt-app as it is in the image, its table empty; see `with_function`."""
    return with_function(program, quiesce_function(OWN_CYCLES["elided"]))


#: The copy in the guest image.
COPY = ElidingCopy("rt-app-elided-gem5", "/gem5/rt-app", elide, MAKERS)


def table_cpus(cpus: int) -> int:
    """Entries of the table on a machine of ``cpus``."""
    return GICV2.max_cpus if cpus <= GICV2.max_cpus else MAX_CPUS


@cache
def quiesce_function(own_cycles: int, cpus: int = 1) -> bytes:
    """``eliding_copy.S``, assembled; up to eight CPUs it fits the original's place to the byte.

    :raises EascopeError: when the cross compiler is missing.
    """
    return assembled(OWN_CYCLES=own_cycles, TABLE_CPUS=table_cpus(cpus))


def assembled(**more: int) -> bytes:
    """``eliding_copy.S``, assembled.

    :param more: further values for the assembler; it always gets the lengths of slices.
    :raises EascopeError: when the cross compiler is missing.
    """
    values = {
        "AWAY_SHIFT": AWAY_SHIFT,
        "PROBE_TURNS": PROBE_TURNS,
        **more,
    }
    with tempfile.TemporaryDirectory(prefix="eascope-") as scratch:
        object_file, flat = Path(scratch) / "made.o", Path(scratch) / "flat"
        given = [f"-I{INCLUDE}", *(f"-D{name}={value}" for name, value in values.items())]
        run([arm64_tool("gcc"), *given, "-c", "-o", object_file, SOURCE], label="eliding function")
        run([arm64_tool("objcopy"), "-O", "binary", object_file, flat], label="eliding function")
        return flat.read_bytes()


def with_table(mode: str, cycles: Sequence[float]) -> bytes:
    """The function with its table: what a run writes to `FUNCTION_OFFSET` of the program.

    :param mode: gem5's, one that elides.
    :param cycles: as for `iteration_table`.
    """
    table = iteration_table(cycles)
    own = min(OWN_CYCLES[mode], int(min(cycles)) - LEAST_STILL)
    return quiesce_function(own, len(cycles))[: -len(table)] + table


def iteration_table(cycles: Sequence[float]) -> bytes:
    """The table's bytes, at `TABLE_OFFSET` of the program.

    :param cycles: clock cycles of an iteration on each CPU, by CPU number.
    :raises RequestError: a figure that does not fit.
    """
    for cpu, figure in enumerate(cycles):
        if not LEAST_CYCLES <= figure <= MOST_CYCLES:
            raise RequestError(
                f"busy loop on CPU {cpu}: {figure:.1f} cycles per iteration: allowed where it is "
                f"elided: {LEAST_CYCLES} to {MOST_CYCLES:.0f}"
            )
    entries = [round(figure * SIXTEENTHS) for figure in cycles]
    return struct.pack(f"<{len(entries)}H", *entries).ljust(2 * table_cpus(len(cycles)), b"\0")
