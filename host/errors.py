# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors as a person meets them: one line that says what is wrong and what would be right.

Exit codes: 1 the work failed, 2 the request is wrong, 130 interrupted.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from pathlib import Path

#: Characters of a wrong value that a message shows.
MOST_SHOWN = 80


class EascopeError(Exception):
    """The work failed. ``str(error)`` is for a person and is printed without a traceback."""

    exit_code = 1


class RequestError(EascopeError):
    """The request is wrong (a name, a file, a value); nothing was started or written."""

    exit_code = 2


def one_line(text: str) -> str:
    r"""``text`` with control characters and line breaks as Python escapes: ``a\nb``."""
    return "".join(
        ascii(char)[1:-1] if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in text
    )


def bad_input(file: Path | str, key: str, value: object, allowed: str) -> RequestError:
    """One line: file, key, value, what is allowed.

    :param file: the file in which the value stands.
    :param key: dotted path of the key, e.g. ``cluster[1].opp[0].khz``.
    :param value: what stands there; shown with ``repr`` and shortened.
    :param allowed: what would be accepted, e.g. ``a positive integer``.
    """
    shown = repr(value)
    if len(shown) > MOST_SHOWN:
        shown = shown[: MOST_SHOWN - 3] + "..."
    return RequestError(f"{file}: {one_line(key)} = {shown}: allowed: {allowed}")


def missing_key(file: Path | str, key: str, allowed: str) -> RequestError:
    """One line for a key that must be there and is not."""
    return RequestError(f"{file}: {one_line(key)} is missing: allowed: {allowed}")


def nearest(name: str, known: Iterable[str]) -> str:
    """`` (did you mean X?)`` when a known name is close to ``name``, else an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]}?)" if close else ""


def unknown(kind: str, name: str, known: Iterable[str]) -> RequestError:
    """One line for a name that nothing carries: the nearest name, and all that exist."""
    names = sorted(known)
    return RequestError(
        f"unknown {kind} {name!r}{nearest(name, names)}: allowed: {', '.join(names) or '(none)'}"
    )
