# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's copy of rt-app for tasks that wait for memory: it stands still twice in a slice.

It is ``eliding_copy.S`` with MEMORY. The CPU stands still first for the cycles of the iterations,
at its present clock, then for their ns of memory, which no clock changes. The body is longer than
rt-app's busy function. It covers rt-app's calibration, which follows that function and never runs,
because our inputs state the calibration.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

from eascope.engines.gem5.eliding_copy import (
    LEAST_STILL,
    MOST_CYCLES,
    OWN_CYCLES,
    SIXTEENTHS,
    assembled,
    table_cpus,
)
from eascope.host.errors import RequestError
from eascope.rootfs.elide import FUNCTION_ADDRESS

#: Bytes of the function before its table; up to `ROOM` nothing else of rt-app is executed.
CODE_BYTES = 320
ROOM = 0x402A1C - FUNCTION_ADDRESS
#: Bytes of the table for each CPU: cycles of an iteration and its ns of memory, in sixteenths.
ENTRY_BYTES = 4
#: A slice's own instructions take so many times what the plain function's take.
LONGER = 1.5
#: A slice of a single turn has its own instructions, and stands still.
LEAST_CYCLES = 4 * LEAST_STILL
MOST_NS = MOST_CYCLES


@cache
def memory_function(own_cycles: int, cpus: int = 1) -> bytes:
    """``eliding_copy.S`` with MEMORY, assembled for a machine of ``cpus``.

    :raises EascopeError: when the cross compiler is missing.
    """
    entries = table_cpus(cpus)
    return assembled(MEMORY=1, CODE_BYTES=CODE_BYTES, OWN_CYCLES=own_cycles, TABLE_CPUS=entries)


def with_memory(mode: str, turns: Sequence[tuple[float, float]]) -> bytes:
    """The function with its table: what a run writes to the busy function's place.

    :param mode: gem5's, one that elides.
    :param turns: cycles of an iteration and its ns of memory on each CPU, by CPU number.
    :raises RequestError: a figure that does not fit.
    """
    for cpu, (cycles, ns) in enumerate(turns):
        if not (LEAST_CYCLES <= cycles <= MOST_CYCLES and 0 < ns <= MOST_NS):
            raise RequestError(
                f"an iteration with memory on CPU {cpu}: {cycles:.1f} cycles and {ns:.1f} ns; "
                f"eliding supports {LEAST_CYCLES} to {MOST_CYCLES:.0f} cycles, and up to "
                f"{MOST_NS:.0f} ns"
            )
    own = min(round(LONGER * OWN_CYCLES[mode]), int(min(turns)[0]) - LEAST_STILL)
    entries = [max(1, round(SIXTEENTHS * figure)) for turn in turns for figure in turn]
    size = ENTRY_BYTES * table_cpus(len(turns))
    table = struct.pack(f"<{len(entries)}H", *entries).ljust(size, b"\0")
    return memory_function(own, len(turns))[:-size] + table
