"""The copy of rt-app for gem5: its busy loop stands still for the time that it would take.

In this copy the busy function (see `rootfs.elide`) consists of slices: so many turns, for whose
cycles the CPU stands still by gem5's operation quiesce_cycle. The scheduler sees a running task;
ticks, preemption, migration and OPP changes act as on a loop that is executed. The body is
``elide_gem5.S``; what it does and why:

**Length of a slice.** About `SLICE_NS`, in turns, from how long the slice before took: a change
of frequency leaves the slice in which it falls at its old length, so slices bound that error.

**What an interrupt cuts off is taken back.** An interrupt ends a slice early. gem5 could be asked
how long the CPU stood still, but WFE, which the out-of-order CPUs need behind the operation, counts
as standing still, too; and clocks hold the time of whoever ran in between. So an interrupted slice
is credited with the lesser of the time that has passed and of the CPU time that the kernel says
this thread got, at the rate of the last whole slice. That costs two system calls at each
interruption and none otherwise.

**Whether there was one** is told by the exclusive monitor, which every return from an exception
clears: a load-exclusive before the slice, a store-exclusive after it. A CPU whose monitor never
holds would only make every slice a short one.

**Which CPU it is** is asked (getcpu) with the same system calls, since a thread cannot be moved
without an interruption; the core types differ in the cycles of a turn. `turn_table` holds them for
each CPU; the guest agent writes it into the program before a run (its verb ``bytes``), so the image
is the same for all platforms. A CPU that has none ends the program (SIGTRAP).
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

from configs.host.errors import RequestError
from configs.host.proc import need, run
from rootfs.elide import FUNCTION_BYTES, FUNCTION_OFFSET, with_function

SOURCE = Path(__file__).parent / "elide_gem5.S"
COMPILER = "aarch64-linux-gnu-gcc"
COMPILER_PACKAGE = "gcc-aarch64-linux-gnu"

#: What a slice aims at, in ns, and turns of the first one after an interruption.
SLICE_NS = 48_000
PROBE_TURNS = 8
#: Cycles of a slice's own instructions, at one per cycle: they are part of what it stands for.
OWN_CYCLES = 24

#: The table's entries: one per CPU (GICv2 has no more), cycles of a turn in sixteenths.
TABLE_CPUS = 8
TABLE_BYTES = 2 * TABLE_CPUS
TABLE_OFFSET = FUNCTION_OFFSET + FUNCTION_BYTES - TABLE_BYTES
SIXTEENTHS = 16
#: Below, a single turn would be shorter than a slice's own instructions.
LEAST_CYCLES = 2 * OWN_CYCLES
MOST_CYCLES = 0xFFFF / SIXTEENTHS


def elide_gem5(program: bytes) -> bytes:
    """gem5's copy of rt-app, its table still empty; see `rootfs.elide.with_function`."""
    return with_function(program, quiesce_function())


def quiesce_function() -> bytes:
    """``elide_gem5.S``, assembled; it fits the original's place to the byte.

    :raises EascopeError: when the cross compiler is missing.
    """
    compiler = need(COMPILER, COMPILER_PACKAGE)
    values = {"SLICE_NS": SLICE_NS, "PROBE_TURNS": PROBE_TURNS, "OWN_CYCLES": OWN_CYCLES}
    with tempfile.TemporaryDirectory(prefix="eascope-") as scratch:
        made, flat = Path(scratch) / "made.o", Path(scratch) / "flat"
        defines = [f"-D{name}={value}" for name, value in values.items()]
        run([compiler, *defines, "-c", "-o", made, SOURCE], label="eliding function")
        run(["aarch64-linux-gnu-objcopy", "-O", "binary", made, flat], label="eliding function")
        return flat.read_bytes()


def turn_table(cycles: Sequence[float]) -> bytes:
    """The table's bytes; they go to `TABLE_OFFSET` of the program.

    :param cycles: clock cycles of a turn on each CPU, by CPU number.
    :raises RequestError: more CPUs than there is room for, or a figure that does not fit.
    """
    if len(cycles) > TABLE_CPUS:
        raise RequestError(f"{len(cycles)} CPUs: allowed on gem5: up to {TABLE_CPUS}")
    for cpu, figure in enumerate(cycles):
        if not LEAST_CYCLES <= figure <= MOST_CYCLES:
            raise RequestError(
                f"busy loop on CPU {cpu}: {figure:.1f} cycles per turn: allowed where it is "
                f"elided: {LEAST_CYCLES} to {MOST_CYCLES:.0f}"
            )
    entries = [round(figure * SIXTEENTHS) for figure in cycles]
    return struct.pack(f"<{TABLE_CPUS}H", *entries, *[0] * (TABLE_CPUS - len(entries)))
