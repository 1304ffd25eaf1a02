# SPDX-License-Identifier: GPL-2.0-or-later
"""The cause of a failed run in words, with its meaning and a remedy."""

from __future__ import annotations

import re
import signal

from eascope.experiments.scenario.groups import ROOT
from eascope.kernels.state import BOOT_PROOF

#: Verbs of the guest agent's script that prove the state of the kernel.
CHECKS = ("expect", "contains", "exists", "absent")
_CHECKED = re.compile(rf"script line (\d+): ((?:{'|'.join(CHECKS)}) .*)", re.DOTALL)
_BOOT = re.compile(
    rf"script line (\d+): {BOOT_PROOF} failed: exit status 1, last output: (.*)", re.DOTALL
)
#: What the agent says of a command of `member`, with the end of its output.
_MEMBER = re.compile(r"script line (\d+): \S+ failed: exit status 1, last output: (.*)", re.DOTALL)
#: Before each of `member`'s lines, which stand last.
_LINE = re.compile(r"(?:^|\s+)member: ")
#: How a program ended.
_ENDED = re.compile(r"(\S+) \((\S+)\): (.*)", re.DOTALL)
#: A program for which others waited in vain.
_AWAITED = re.compile(r"(\S+) (is not ready after .*|has ended (before .*))", re.DOTALL)
_SIGNAL = re.compile(r"died of signal (\d+) \((.*?)\)")
#: What the agent says of a full buffer, and rt-app when it cannot write into one.
_FULL = re.compile(r"ring buffer of cpu \d+ was too small|mark_fd")


#: What ends a run whatever its cell is: somebody or the kernel kills it, or a disk is full.
_FROM_OUTSIDE = re.compile(
    r"was killed by signal (9|15) |No space left on device|Disk quota exceeded"
)
#: What ends a run from within: its script, or a program of it. The guest's /tmp may be full, too.
_OF_GUEST = re.compile(r"(?:^|: )(?:program \S+ |script line \d+: )")


def from_outside(cause: str) -> bool:
    """True if the cause of a failure is outside of its cell, so that the run is tried again.

    :param cause: as ``failed.json`` or the ledger has it, which names the cell first.
    """
    return _FROM_OUTSIDE.search(cause) is not None and _OF_GUEST.search(cause) is None


def trace_full(cause: str) -> bool:
    """True if a run failed because its trace did not fit into its buffers."""
    return _FULL.search(cause) is not None


def explained(reason: str, variant: str, *, larger: bool = False) -> str:
    """An engine's ``reason`` with its meaning, on as many lines.

    :param variant: the variant whose state the guest's script proves.
    :param larger: whether the trace may have larger buffers.
    """
    if checked := _CHECKED.fullmatch(reason):
        number, check = checked.groups()
        if check.startswith(f"expect {ROOT}/"):
            what = check.removeprefix(f"expect {ROOT}/")
            return f"the kernel did not take a group's value: {what} (script line {number})"
        return (
            f"the kernel is not in the state that variant {variant!r} declares: {check} "
            f"(script line {number})"
        )
    if refused := _BOOT.fullmatch(reason):
        return (
            "the kernel did not take these boot arguments of the variant "
            f"{variant!r}, or nothing shows that it did: {refused[2]} (script line {refused[1]})"
        )
    if (member := _MEMBER.fullmatch(reason)) and (words := _of_programs(member[2])):
        what, output = words
        return f"{what} (script line {member[1]})" + (f"; last output: {output}" if output else "")
    if trace_full(reason):
        full = f"{reason}: the trace does not fit into its buffers"
        if larger:
            return f"{full}, and the next run has larger ones"
        return (
            f"{full}: take a scenario with a shorter "
            "window or fewer wake-ups, leave out --full, --decisions or --events, or give the "
            "platform more memory_mib"
        )
    return _with_signals(reason)


def _of_programs(text: str) -> tuple[str, str] | None:
    """How programs ended, the first one first, and the last output; None if it says neither."""
    output, *lines = _LINE.split(text)
    ends: dict[str, str] = {}
    for line in lines:
        if ended := _ENDED.fullmatch(line):
            name, run, what = ended.groups()
            ends[name] = f"program {name} ({run}): {what.strip()}"
        elif awaited := _AWAITED.fullmatch(line):
            name, what, before = awaited.groups()
            ends[name] = f"{ends[name]}, {before}" if name in ends else f"program {name} {what}"
        else:
            output += f" member: {line}"
    if not ends:
        return None
    return _with_signals("; then ".join(ends.values())), output.strip()


def _with_signals(text: str) -> str:
    """``text`` with the names of signals, ``SIGSEGV``, in place of their numbers."""

    def named(match: re.Match[str]) -> str:
        number, meaning = match.groups()
        known = int(number) in {*signal.Signals}
        name = signal.Signals(int(number)).name if known else f"signal {number}"
        return f"died of {name} ({meaning})"

    return _SIGNAL.sub(named, text)
