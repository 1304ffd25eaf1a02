# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of writing as one line that names the folder, whichever library writes."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from host.errors import EascopeError

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


def _line(where: object, number: int | None) -> str:
    cause = os.strerror(number) if number is not None else "cannot be written"
    remedy = ": free space there, then the same command continues" if number in _FULL else ""
    return f"{where}: {cause}{remedy}"
