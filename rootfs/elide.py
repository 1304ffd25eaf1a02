# SPDX-License-Identifier: GPL-2.0-or-later
"""The copy of rt-app whose busy loop the fast engine executes in its stead.

rt-app burns time in one function: ``x0`` iterations of a loop whose result nobody reads. In the
copy for the fast engine that function only counts its iterations down, and executes a hint at each
step. At the hint, the engine adds the iterations' instructions to the CPU's local time (see
``engines/qemu``). On any other machine a hint is a NOP, and the copy would burn no time at all. So
the image has both programs. gem5 has a copy of its own, made by `engines.gem5.eliding_copy`.

How many instructions the original executes for ``n`` iterations, by counting (single steps of the
function, which has no data-dependent path: every iteration starts alike)::

    CALL_INSTRUCTIONS + n * TURN_INSTRUCTIONS        18 + 223 n

and the copy, without what the engine adds (its own padding makes the constant part the same)::

    18 + 4 * (n // 4) + 3 * (n % 4)

so an engine that adds 888 instructions at each ``hint #0x61`` and 220 at each ``hint #0x62``
(`skipped_instructions`) has advanced by exactly what the original would have executed. A test
counts both.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from host.errors import EascopeError

#: LISA 3.1.0's arm64 rt-app: static, stripped.
RT_APP_SHA256 = "704820a5b42ffac4b3d72e92babd1c9124981f2cf29db263201abc390a38a56d"
#: The busy loop's function: where it lies in the file and in memory, and how long it is (bytes).
FUNCTION_OFFSET = 0x2660
FUNCTION_ADDRESS = 0x402660
FUNCTION_BYTES = 260
FUNCTION_SHA256 = "655d8fa59d2e6597bc6ea5eedb707057cc49aa06a18bead49dfb8154fb209b89"
#: The function's first instructions, by which the fast engine knows the program.
FUNCTION_BEGINS = (0xA9BC7BFD, 0x910003FD, 0xF9000FE0, 0xB203E7E0)
#: musl's ldexp, which each turn calls 12 times (address range; for counting tests).
LDEXP_RANGE = (0x41FEA4, 0x41FF30)

#: Instructions executed per iteration of the original loop, its twelve calls included.
TURN_INSTRUCTIONS = 223
#: Instructions executed per call besides the iterations: entry 11, last comparison 4, return 3.
CALL_INSTRUCTIONS = 18
#: Iterations that one ``hint #0x61`` stands for; ``hint #0x62`` stands for one.
BULK_TURNS = 4
#: Instructions that the copy itself executes at a hint, by the iterations that it stands for.
STEP_INSTRUCTIONS = {BULK_TURNS: 4, 1: 3}

HINT_BULK = 0x61
HINT_SINGLE = 0x62

_NOP = 0xD503201F
_RET = 0xD65F03C0


@dataclass(frozen=True)
class ElidingCopy:
    """An engine's copy of rt-app, whose busy loop is elided.

    :param name: in records.
    :param path: in the guest; as long as `rootfs.image.RT_APP`.
    :param make: the copy, from the executed rt-app.
    :param sources: files that decide its bytes, besides this one.
    :param link: a name for people, without the first slash; empty: none.
    """

    name: str
    path: str
    make: Callable[[bytes], bytes]
    sources: tuple[Path, ...]
    link: str = ""


def skipped_instructions(turns: int, turn_instructions: int = TURN_INSTRUCTIONS) -> int:
    """Instructions that an engine adds at a hint that stands for ``turns``.

    :param turns: one of `STEP_INSTRUCTIONS`.
    """
    return turns * turn_instructions - STEP_INSTRUCTIONS[turns]


def elide_hint(program: bytes) -> bytes:
    """The fast engine's copy of rt-app; see `with_function`."""
    return with_function(program, hint_function())


def with_function(program: bytes, function: bytes) -> bytes:
    """rt-app with another body of its busy function.

    :param program: the executed rt-app.
    :param function: as long as the original's.
    :raises EascopeError: one line, when it is not the rt-app whose function we know.
    """
    digest = hashlib.sha256(program).hexdigest()
    if digest != RT_APP_SHA256:
        raise EascopeError(
            f"rt-app: SHA-256 {digest[:16]}..: allowed: {RT_APP_SHA256[:16]}.. (LISA 3.1.0, "
            "arm64): its busy loop cannot be elided"
        )
    end = FUNCTION_OFFSET + FUNCTION_BYTES
    if hashlib.sha256(program[FUNCTION_OFFSET:end]).hexdigest() != FUNCTION_SHA256:
        raise EascopeError(
            f"rt-app: the function at {FUNCTION_OFFSET:#x} is not the busy loop that is known: "
            "it cannot be elided"
        )
    if len(function) != FUNCTION_BYTES:
        raise ValueError(f"{len(function)} bytes for a function of {FUNCTION_BYTES}")
    return program[:FUNCTION_OFFSET] + function + program[end:]


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
