# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the folders that a command will write, before it starts anything.

Permissions are not enough: root may write everywhere, and yet nobody can make a folder in ``/proc``
or on a read-only file system. So a folder is made there, and removed at once.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from eascope.host.cache import runs_root
from eascope.host.errors import RequestError

ALLOWED = "expected a writable directory"


def check_runs() -> None:
    """Refuse a place for runs where none can be written.

    :raises RequestError: one line.
    """
    check_writable("EASCOPE_RUNS", runs_root())


def check_runs_folder() -> None:
    """Refuse runs that are no folder, or lie below a file; they need not be there.

    :raises RequestError: one line.
    """
    root = runs_root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    if not existing.is_dir():
        raise RequestError(f"EASCOPE_RUNS {root}: {existing} is not a directory")


def check_runs_place() -> None:
    """`check_runs`, unless runs exist there: existing runs can be read in any case.

    :raises RequestError: one line.
    """
    if not runs_root().is_dir():
        check_runs()


def check_writable(setting: str, folder: Path) -> None:
    """Make a folder in ``folder``, or in the nearest existing one above it, and remove it.

    :param setting: what names the folder, for messages.
    :raises RequestError: one line: setting, value, cause, what is allowed.
    """
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        Path(tempfile.mkdtemp(dir=existing, prefix=".eascope-")).rmdir()
    except OSError as error:
        where = "" if existing == folder else f"{existing}: "
        raise RequestError(f"{setting} {folder}: {where}{error.strerror}; {ALLOWED}") from error
