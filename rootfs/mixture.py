# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's copies for tasks that wait for memory: one for each mixture of a run.

All threads of a process run one program. So tasks of one mixture have an rt-app of their own, whose
busy function is an eliding one for that mixture. The agent makes the copy in the guest before the
workload, so the image is the same for all runs.

The fast engine knows a copy by the function's first instruction: a hint that is a NOP elsewhere,
with the mixture's number.
"""

from __future__ import annotations

import struct

from rootfs.elide import hint, hint_function

#: Mixtures of one run.
MOST_MIXTURES = 7
#: The first instruction of a mixture's copy is the hint with this number plus the mixture's.
MARK_HINT = 0x68
#: As long as `rootfs.image.RT_APP`: the kernel's work to start either is the same.
PROGRAM = "/mem{number}/rt-app"


def mixture_program(number: int) -> str:
    """Path in the guest of the copy for mixture ``number``, which counts from 1."""
    return PROGRAM.format(number=number)


def marked_function(number: int) -> bytes:
    """The fast engine's busy function with the mark of mixture ``number``."""
    return struct.pack("<I", hint(MARK_HINT + number)) + hint_function()[4:]
