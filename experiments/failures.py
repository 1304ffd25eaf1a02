# SPDX-License-Identifier: GPL-2.0-or-later
"""The cause of a failed run in words, with its meaning and a remedy."""

from __future__ import annotations

import re

#: Verbs of the guest agent's script that prove the state of the kernel.
CHECKS = ("expect", "contains", "exists", "absent")
_CHECKED = re.compile(rf"script line (\d+): ((?:{'|'.join(CHECKS)}) .*)", re.DOTALL)
#: What the agent says of a full buffer, and rt-app when it cannot write into one.
#: What the agent says of a program that `member` ran: the end of its output, then member's line.
_MEMBER = re.compile(
    r"script line (\d+): \S+ failed: exit status 1, last output: (.*)"
    r"member: (\S+) \((\S+)\): (.*)",
    re.DOTALL,
)
_FULL = re.compile(r"ring buffer of cpu \d+ was too small|mark_fd")


#: What ends a run whatever its cell is: somebody or the kernel kills it, or a disk is full.
_FROM_OUTSIDE = re.compile(
    r"was killed by signal (9|15) |No space left on device|Disk quota exceeded"
)


def from_outside(cause: str) -> bool:
    """Whether the cause of a failure is outside of its cell, so that the run is tried again.

    :param cause: as ``failed.json`` has it.
    """
    return _FROM_OUTSIDE.search(cause) is not None


def explained(reason: str, variant: str) -> str:
    """An engine's ``reason`` with its meaning, on as many lines.

    :param variant: the variant whose state the guest's script proves.
    """
    if checked := _CHECKED.fullmatch(reason):
        number, check = checked.groups()
        return (
            f"the kernel is not in the state that variant {variant!r} declares: {check} "
            f"(script line {number})"
        )
    if ended := _MEMBER.fullmatch(reason):
        number, output, name, run, what = (part.strip() for part in ended.groups())
        last = f"; last output: {output}" if output else ""
        return f"program {name} ({run}): {what} (script line {number}){last}"
    if _FULL.search(reason):
        return (
            f"{reason}: the trace does not fit into its buffers: take a scenario with a shorter "
            "window or fewer wake-ups, leave out --full, --decisions or --events, or give the "
            "platform more memory_mib"
        )
    return reason
