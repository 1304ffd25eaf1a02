# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of a kernel's symbols, which readers of a trace want to resolve."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from host.errors import EascopeError
from host.proc import run
from host.toolchain import arm64_tool

#: What LISA and trace-cmd look for in a marker: who wrote it into the ring buffer.
TRACE_SYMBOLS = ("tracing_mark_write",)


@cache
def trace_symbols(vmlinux: Path) -> tuple[tuple[str, str], ...]:
    """(address, name) of `TRACE_SYMBOLS` in ``vmlinux``; addresses as in ``/proc/kallsyms``.

    They hold in a guest, too, since its kernel is not relocated (``nokaslr``).

    :raises EascopeError: when ``vmlinux`` is not readable, or lacks one.
    """
    listing = run([arm64_tool("nm"), vmlinux], label="symbols of the kernel").decode()
    lines = (line.split() for line in listing.splitlines())
    known = {words[2]: words[0] for words in lines if len(words) == 3}
    missing = [name for name in TRACE_SYMBOLS if name not in known]
    if missing:
        raise EascopeError(f"{vmlinux}: has no symbol {missing[0]}")
    return tuple((known[name], name) for name in TRACE_SYMBOLS)
