# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of a kernel's symbols, for readers of a trace."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

from host.errors import EascopeError
from host.proc import run
from host.toolchain import arm64_tool

#: What LISA and trace-cmd look for in a marker: who wrote it into the ring buffer.
MARKER_WRITER = "tracing_mark_write"


@cache
def trace_symbols(vmlinux: Path) -> tuple[tuple[str, str], ...]:
    """(address, name) of `MARKER_WRITER` and of the symbol after it, as in ``/proc/kallsyms``.

    The second one marks the end of the first one. The addresses hold in a guest, too, since
    its kernel is not relocated (``nokaslr``).

    :raises EascopeError: when ``vmlinux`` is not readable, or lacks the symbol.
    """
    listing = run([arm64_tool("nm"), vmlinux], label="symbols of the kernel").decode()
    lines = (line.split() for line in listing.splitlines())
    symbols = sorted((words[0], words[2]) for words in lines if len(words) == 3)
    for symbol, after in pairwise(symbols):
        if symbol[1] == MARKER_WRITER:
            return symbol, after
    raise EascopeError(f"{vmlinux}: has no symbol {MARKER_WRITER}")
