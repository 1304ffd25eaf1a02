# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers and names that C, assembler and Python share: the headers in ``rootfs/include``, read.

The header is the one place of each. C and assembler include it; Python asks here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

#: For the compiler's ``-I``.
INCLUDE = Path(__file__).resolve().parent / "include"
#: What the guest says to the machine; gem5's operations.
MESSAGES, M5OPS = INCLUDE / "messages.h", INCLUDE / "m5ops.h"

_NUMBER = re.compile(r"^#define (\w+)\s+(0x[0-9a-f]+|\d+)(?:\s+/\*.*\*/)?$", re.MULTILINE)


_TEXT = re.compile(r'^#define (\w+)\s+"([^"\\]*)"$', re.MULTILINE)


@cache
def numbers(header: Path) -> dict[str, int]:
    """The numbers that a header defines, by name."""
    return {name: int(value, 0) for name, value in _NUMBER.findall(header.read_text())}


@cache
def texts(header: Path) -> dict[str, str]:
    """The texts that a header defines, by name."""
    return dict(_TEXT.findall(header.read_text()))
