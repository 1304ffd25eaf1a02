# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors as a person sees them: one line that says what is wrong and what is allowed.

Exit codes: 1 the work failed, 2 the request is wrong, 130 interrupted.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

#: Characters of a wrong value, or of the key at which it stands, that a message shows.
MOST_SHOWN = 80
#: Names that a message lists. Of more, it shows the nearest, and how to see all.
MOST_LISTED = 12
NEAREST = 3
#: A second name is shown when it is this much less like the wrong one than the first, at most.
AS_NEAR = 0.1


class EascopeError(Exception):
    """The work failed. ``str(error)`` is for a person and is printed without a traceback."""

    exit_code = 1


class Again(EascopeError):
    """The work failed, and what was learned from that lets the same command do it otherwise."""


class RequestError(EascopeError):
    """The request is wrong (a name, a file, a value); nothing was started or written."""

    exit_code = 2


def one_line(text: str) -> str:
    r"""``text`` with control characters and line breaks as Python escapes: ``a\nb``."""
    if text.isprintable():
        return text
    return "".join(
        ascii(char)[1:-1] if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in text
    )


def shortened(text: str) -> str:
    """``text`` on one line, and its beginning alone where it is longer than `MOST_SHOWN`."""
    text = one_line(text)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def shown(value: object) -> str:
    """``value`` as every message shows it: as Python writes it, shortened."""
    return shortened(repr(value))


def bad_input(file: Path | str, key: str, value: object, allowed: str) -> RequestError:
    """One line: file, key, value, what is allowed.

    :param key: dotted path of the key, e.g. ``cluster[1].opp[0].khz``.
    """
    return RequestError(f"{file}: {shortened(key)} = {shown(value)}: allowed: {allowed}")


def no_such_key(file: Path | str, key: str, value: object, known: Sequence[str]) -> RequestError:
    """One line: file, key, value, that there is no such key, the nearest one and all keys.

    :param key: dotted path of the key; ``known`` are the last parts of paths.
    """
    line = str(bad_input(file, key, value, "")).removesuffix(": allowed: ")
    close = nearest(key.rpartition(".")[2], known)
    return RequestError(f"{line}: no such key{close}; keys here: {', '.join(known)}")


def missing_key(file: Path | str, key: str, allowed: str) -> RequestError:
    """One line for a missing key."""
    return RequestError(f"{file}: {shortened(key)} is missing: allowed: {allowed}")


def nearest(name: str, known: Iterable[str], most: int = 1) -> str:
    """`` (did you mean X?)`` when known names are close to ``name``, else an empty string.

    :param most: names that are shown, the nearest first.
    """
    close = difflib.get_close_matches(name, list(known), n=most, cutoff=0.5)
    if not close:
        return ""
    likeness = [difflib.SequenceMatcher(None, candidate, name).ratio() for candidate in close]
    *before, last = [
        candidate
        for candidate, ratio in zip(close, likeness, strict=True)
        if ratio > likeness[0] - AS_NEAR
    ]
    return f" (did you mean {', '.join(before)}{' or ' if before else ''}{last}?)"


def unknown(kind: str, name: str, known: Iterable[str], listing: str = "") -> RequestError:
    """One line for an unknown name: the nearest name, and all that exist.

    :param listing: a command that lists them; of many names the message then has only the nearest.
    """
    return RequestError(f"unknown {kind} {shown(name)}{names_allowed(name, known, listing)}")


def check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Check that all ``names`` are known.

    :raises RequestError: one line for the first that is not.
    """
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def names_allowed(name: str, known: Iterable[str], listing: str = "") -> str:
    """The text after an unknown ``name``: the names near it, and the allowed names.

    :param listing: as for `unknown`.
    """
    names = sorted(known)
    if listing and len(names) > MOST_LISTED:
        return f"{nearest(name, names, NEAREST)}: all are listed by: {listing}"
    return f"{nearest(name, names)}: allowed: {', '.join(names) or '(none)'}"
