# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's copies for tasks that wait for memory: one for each mixture of a run.

All threads of a process run one program. So the tasks of one mixture have their own rt-app, with an
eliding busy function for that mixture. The agent makes the copy in the guest before the workload,
so the image is the same for all runs.
"""

from __future__ import annotations

#: Mixtures of one run.
MOST_MIXTURES = 7
#: As long as `rootfs.image.RT_APP`: the kernel's work to start either is the same.
PROGRAM = "/mem{number}/rt-app"


def mixture_program(number: int) -> str:
    """Path in the guest of the copy for mixture ``number``, which counts from 1."""
    return PROGRAM.format(number=number)
