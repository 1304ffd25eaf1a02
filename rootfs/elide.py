# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's busy loop: where its function lies, what it executes, and how a copy gets another one.

rt-app burns time in one function: ``x0`` iterations of a loop whose result nobody reads. An engine
that elides the loop has a copy of rt-app with another body of this function (`ElidingCopy`). How
many instructions the original executes for ``n`` iterations, by counting (single steps of the
function, which has no data-dependent path: every iteration starts alike)::

    CALL_INSTRUCTIONS + n * ITERATION_INSTRUCTIONS        18 + 223 n
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eascope.host.errors import EascopeError

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
ITERATION_INSTRUCTIONS = 223
#: Instructions executed per call besides the iterations: entry 11, last comparison 4, return 3.
CALL_INSTRUCTIONS = 18
#: Where it opens its I/O device, and the same instruction with O_DSYNC: then a write to it ends
#: when the device has answered, and not in the page cache.
OPENS_DEVICE = 0x765C
OPENED_SYNCHRONOUSLY = bytes.fromhex("21088252")


@dataclass(frozen=True)
class ElidingCopy:
    """An engine's copy of rt-app, whose busy loop is elided.

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


def with_function(program: bytes, function: bytes) -> bytes:
    """rt-app with another body of its busy function.

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
