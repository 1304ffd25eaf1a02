# SPDX-License-Identifier: GPL-2.0-or-later
"""Elision of rt-app's busy loop on gem5: the cycles of an iteration on each CPU.

The copies for tasks that wait for memory stand still twice in a slice. They are ``eliding_copy.S``
with MEMORY. The CPU stands still first for the cycles of the iterations, at its present clock, then
for their ns of memory, which no clock changes. The body is longer than rt-app's busy function. It
covers rt-app's calibration, which follows that function and never runs, because our inputs state
the calibration.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Elision
from eascope.engines.gem5.eliding_copy import (
    COPY,
    LEAST_STILL,
    MOST_CYCLES,
    MOST_FETCHED,
    OWN_CYCLES,
    SIXTEENTHS,
    assembled,
    table_cpus,
    with_table,
)
from eascope.engines.gem5.settings import has_pipelines
from eascope.engines.timing.mixture import mixture
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path
from eascope.rootfs.elide import FUNCTION_ADDRESS
from eascope.rootfs.mixture import mixture_program

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


def elision(mode: str, platform: Platform, activity: Activity) -> Elision:
    """The copy of rt-app, and its busy function for ``platform``.

    :param mode: one that elides.
    :raises RequestError: a core on which the function would not notice interrupts.
    """
    _check_fetch(mode, platform)
    cycles = [
        activity.iteration_instructions / activity.ipc(platform.cluster_of(cpu))
        for cpu in platform.cpus
    ]
    return Elision(COPY.path, with_table(mode, cycles))


def mixtures(
    mode: str, platform: Platform, activity: Activity, memory: Sequence[float]
) -> tuple[Elision, ...]:
    """The copies for tasks that wait for memory, by their shares.

    :param mode: one that elides.
    :raises RequestError: as `elision`, or a share that is not possible here.
    """
    if memory:
        _check_fetch(mode, platform)
    copies = []
    for number, share in enumerate(memory, 1):
        turn = mixture(platform, activity, share)
        clusters = [platform.cluster_of(cpu).index for cpu in platform.cpus]
        function = with_memory(mode, [(turn.cycles[i], turn.memory_ns[i]) for i in clusters])
        copies.append(Elision(mixture_program(number), function, COPY.path))
    return tuple(copies)


def _check_fetch(mode: str, platform: Platform) -> None:
    """Refuse a core on which the function would not notice interrupts."""
    # CPUs with pipelines fetch more than they execute.
    for core in (cluster.core for cluster in platform.clusters):
        width = core.structure["fetch_width"].value
        if has_pipelines(mode) and core.pipeline != "in-order" and width > MOST_FETCHED:
            raise RequestError(
                f"{shown_path(core.path)}: structure.fetch_width = {width}: eliding busy loops "
                f"supports 1 to {MOST_FETCHED}; use mode elided, or --no-elide"
            )


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
