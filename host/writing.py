# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of writing as one line that names the folder, for every library that writes."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eascope.host.errors import EascopeError

#: What a library written in Rust appends to the system's message.
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Name ``folder`` where something below it cannot be written.

    matplotlib's errors name no file, and those of polars are not errors of the system.

    :raises EascopeError: one line: the folder, the cause, what to do.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EascopeError(_line(error.filename or folder, error.errno)) from error
    except EascopeError:
        raise
    except Exception as error:
        number = _OS_ERROR.search(str(error))
        if number is None or int(number[1]) not in _FULL:
            raise
        raise EascopeError(_line(folder, int(number[1]))) from error


def can_write(folder: Path) -> bool:
    """True if ``folder`` is one that can be written into, or could be made."""
    existing = _nearest(folder)
    return existing.is_dir() and os.access(existing, os.W_OK)


def _nearest(path: Path) -> Path:
    """``path``, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())


def _line(where: Path | str, number: int | None) -> str:
    if number not in _FULL:
        return f"{where}: {'cannot be written' if number is None else os.strerror(number)}"
    free = shutil.disk_usage(_nearest(Path(str(where)))).free
    return (
        f"{where}: {os.strerror(number)} ({free} bytes are free): free space there (eascope gc "
        "lists some), then the same command continues"
    )
