# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of this machine, as /proc tells of them."""

import os
import signal
from pathlib import Path


def process_fields(pid: int | str) -> list[str] | None:
    """Name, state, parent of a process; None when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    head, _, fields = text.rpartition(") ")
    return [head.partition("(")[2], *fields.split()[:2]]


def has_ended(pid: int) -> bool:
    """Gone, or waiting for a parent that has not asked."""
    fields = process_fields(pid)
    return fields is None or fields[1] == "Z"


def qemus(parent: int | None = None) -> list[int]:
    """The process ids of the QEMUs that ``parent`` (this process) runs; they have their own linker.

    Ended ones are not among them.
    """
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        name, state, its_parent = process_fields(folder.name) or ("", "", "")
        if (
            its_parent == str(parent or os.getpid())
            and name.startswith("ld-linux")
            and state != "Z"
        ):
            pids.append(int(folder.name))
    return pids


def qemu_child(parent: int | None = None) -> int:
    """The process id of the QEMU that ``parent`` (this process) runs.

    :raises AssertionError: when it runs none.
    """
    running = qemus(parent)
    assert running, "no QEMU is running"
    return running[0]


def stop(pid: int) -> bool:
    """Stop a process, so that it does not end by itself; False when it already has."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    return not has_ended(pid)
