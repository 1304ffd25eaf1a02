# SPDX-License-Identifier: GPL-2.0-or-later
"""The copy of rt-app for the fast engine: hints stand for the iterations of its busy loop.

In this copy the busy function (see `rootfs.elide`) only counts its iterations down, and executes a
hint at each step. At the hint, the engine adds the iterations' instructions to the CPU's local time
(see ``engines/qemu/plugin``). On any other machine a hint is a NOP, and the copy would take no time
at all. So the image has the executed program, too.

The original executes ``18 + 223 n`` instructions for ``n`` iterations, and the copy, without what
the engine adds (its own padding makes the constant part the same)::

    18 + 4 * (n // 4) + 3 * (n % 4)

An engine adds 888 instructions at each ``hint #0x61`` and 220 at each ``hint #0x62``
(`skipped_instructions`). So it advances by exactly the instructions of the original. A test counts
both.

The copy for a mixture also has a mark: the function's first instruction is a hint, a NOP elsewhere,
with the mixture's number.
"""

from __future__ import annotations

import struct
from pathlib import Path

from eascope.rootfs.elide import (
    CALL_INSTRUCTIONS,
    FUNCTION_BYTES,
    ITERATION_INSTRUCTIONS,
    ElidingCopy,
    with_function,
)
from eascope.rootfs.headers import MESSAGES, numbers

#: Iterations that one ``hint #0x61`` stands for; ``hint #0x62`` stands for one.
BULK_TURNS = 4
#: Instructions that the copy itself executes at a hint, by the iterations that it stands for.
STEP_INSTRUCTIONS = {BULK_TURNS: 4, 1: 3}

HINT_BULK = numbers(MESSAGES)["HINT_4_ITERATIONS"]
HINT_SINGLE = numbers(MESSAGES)["HINT_1_ITERATION"]

_NOP = 0xD503201F
_RET = 0xD65F03C0
#: The first instruction of a mixture's copy is the hint with this number plus the mixture's.
MARK_HINT = 0x68


def skipped_instructions(turns: int, iteration_instructions: int = ITERATION_INSTRUCTIONS) -> int:
    """Instructions that an engine adds at a hint for ``turns`` iterations.

    :param turns: one of `STEP_INSTRUCTIONS`.
    """
    return turns * iteration_instructions - STEP_INSTRUCTIONS[turns]


def elide_hint(program: bytes) -> bytes:
    """The fast engine's copy of rt-app; see `with_function`."""
    return with_function(program, hint_function())


def hint_function() -> bytes:
    """The function's new body, padded to the length of the old one.

    In assembly, turns in ``x0``::

            nop * PADDING           the constant part costs what the original's does
            cmp     x0, #4
            b.lo    singles
        bulk:
            sub     x0, x0, #4
            hint    #0x61
            cmp     x0, #4
            b.hs    bulk
        singles:
            cbz     x0, done
        single:
            hint    #0x62
            subs    x0, x0, #1
            b.ne    single
        done:
            ret
    """
    body = [
        _compare(BULK_TURNS),
        _branch_if("lo", +5),
        _subtract(BULK_TURNS),
        hint(HINT_BULK),
        _compare(BULK_TURNS),
        _branch_if("hs", -3),
        _branch_if_zero(+4),
        hint(HINT_SINGLE),
        _subtract(1, flags=True),
        _branch_if("ne", -2),
        _RET,
    ]
    executed_once = 4  # cmp, b.lo, cbz, ret
    padding = CALL_INSTRUCTIONS - executed_once
    words = [_NOP] * padding + body
    words += [_RET] * (FUNCTION_BYTES // 4 - len(words))
    return struct.pack(f"<{len(words)}I", *words)


def _subtract(value: int, *, flags: bool = False) -> int:
    """``sub x0, x0, #value`` or, with flags, ``subs``."""
    return (0xF1000000 if flags else 0xD1000000) | value << 10


def _compare(value: int) -> int:
    """``cmp x0, #value``: ``subs xzr, x0, #value``."""
    return 0xF1000000 | value << 10 | 31


def _branch_if(condition: str, words: int) -> int:
    """``b.condition`` to the instruction that lies ``words`` further."""
    number = {"ne": 1, "hs": 2, "lo": 3}[condition]
    return 0x54000000 | (words & 0x7FFFF) << 5 | number


def _branch_if_zero(words: int) -> int:
    """``cbz x0`` to the instruction that lies ``words`` further."""
    return 0xB4000000 | (words & 0x7FFFF) << 5


def hint(number: int) -> int:
    """``hint #number``."""
    return 0xD503201F | number << 5


def marked_function(number: int) -> bytes:
    """The busy function with the mark of mixture ``number``, which counts from 1."""
    return struct.pack("<I", hint(MARK_HINT + number)) + hint_function()[4:]


#: The copy in the guest image.
COPY = ElidingCopy(
    "rt-app-elided-hint",
    "/hint/rt-app",
    elide_hint,
    (Path(__file__).resolve(), MESSAGES),
    link="bin/rt-app-elided-hint",
)
