# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler's errors in the log of a failed build; make's last lines do not have them.

Several jobs run at once. If one fails, the others end first, and then every make on the way up
reports its failure. So the end of the log seldom has the error.
"""

from __future__ import annotations

import re

from eascope.host.proc import TAIL_LINES

#: A line of a compiler, an assembler, a linker or kbuild itself that says what is wrong.
_ERROR = re.compile(
    r"""^\S+?:\d+(:\d+)?:\s(fatal\s)?[eE]rror:\s  # a.c:3:5: error: ...
    |^\S+?:\d+:\s\*\*\*\s                         # Makefile:7: *** ...
    |:\sundefined\sreference\sto\s
    |^\S*ld:\s                                    # aarch64-linux-gnu-ld: ...
    |^ERROR:\s                                    # of modpost
    |^\S+:\d+:\s(syntax\serror|warning:\sinvalid)  # of kconfig
    """,
    re.VERBOSE,
)
#: The lines of the source that gcc shows below an error.
_EXCERPT = re.compile(r"\s+\d*\s*\|")
_OF_MAKE = re.compile(r"make(\[\d+\])?: ")


def compile_errors(log: str) -> str:
    """The first errors of a build's log, with the lines of source below them.

    :returns: at most as many lines as a failure shows; without a known error, all lines but make's.
    """
    kept: list[str] = []
    below = False
    for line in log.splitlines():
        if _ERROR.search(line):
            kept.append(line.removeprefix("../"))
            below = True
        elif below and _EXCERPT.match(line):
            kept.append(line)
        else:
            below = False
    if kept:
        return "\n".join(kept[:TAIL_LINES])
    return "\n".join(line for line in log.splitlines() if not _OF_MAKE.match(line))
