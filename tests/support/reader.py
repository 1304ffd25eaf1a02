# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes to whom read-only folders are read-only, even where the tests run as root."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Root may write everywhere by these capabilities alone; setpriv is part of util-linux.
_DROP = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")


def as_reader(command: list[str]) -> list[str]:
    """``command`` so that it has no more rights than the permissions of files say."""
    return [*_DROP, *command] if os.geteuid() == 0 else command


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Nothing at or below ``root`` can be written, until the end."""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
