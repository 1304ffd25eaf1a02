# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of comparisons: a name for each, and contents that are complete or absent."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eascope.host.cache import cache_root, runs_root
from eascope.host.errors import EascopeError
from eascope.host.proc import say
from eascope.host.record import Record
from eascope.host.scratch import scratch
from eascope.host.writing import can_write, writing_into

#: Of a folder's name: the words at most, so that it fits into 255 bytes; the digest's digits.
WORDS_LENGTH = 180
DIGITS = 8
#: Which files a comparison has put into its folder.
FILES = "files.json"
REPORT = "report.html"


@dataclass(frozen=True)
class Published(Record):
    """``files.json``: names of the files that a comparison put into its folder."""

    files: tuple[str, ...]


def comparison_folder(words: Iterable[str], digest: str) -> Path:
    """``runs/comparisons/WORDS_DIGEST``, or in the cache if ``runs`` cannot be written.

    :param words: words by which a person finds the folder.
    :param digest: of all that distinguishes the comparison from others of the same words.
    """
    name = "_".join(word.replace("/", "-") for word in words)[:WORDS_LENGTH]
    own, cached = (
        root / "comparisons" / f"{name}_{digest[:DIGITS]}" for root in (runs_root(), cache_root())
    )
    if can_write(own):
        return own
    say(f"{runs_root()} cannot be written: figures and report go to {cached}")
    return cached


def publish(folder: Path, draw: Callable[[Path], None]) -> None:
    """Let ``draw`` fill an empty folder, then move its files into ``folder``, the report last.

    Until then the old files stay, whatever happens. Files of an earlier comparison that this one
    did not make are removed. Other files are left alone.

    :raises EascopeError: when the disk is full: one line that names it.
    """
    with writing_into(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch(folder.parent, folder.name) as work:
            draw(work)
            names = sorted((path.name for path in work.iterdir()), key=lambda name: name == REPORT)
            (work / FILES).write_bytes(Published(tuple(names)).to_bytes())
            folder.mkdir(exist_ok=True)
            with _held(folder):
                stale = _files_of(folder) - {*names}
                for name in (FILES, *names):
                    os.replace(work / name, folder / name)
                for name in stale:
                    (folder / name).unlink(missing_ok=True)


def _files_of(folder: Path) -> set[str]:
    """Names of the files that an earlier comparison put into ``folder``."""
    try:
        return set(Published.read(folder / FILES).files)
    except EascopeError:  # not there or damaged: then no file is known to be an old one
        return set()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold ``folder``, so that only one process at a time writes files into it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
