# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders and locks: a folder that a killed process leaves can be recognised.

A process holds a lock on its scratch folder as long as it lives. The kernel frees the lock when the
process ends, in whatever way. So a scratch folder without a holder is left over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

#: Between a folder's name and its random part.
MARK = ".tmp-"
#: A process may have made a folder, or opened a lock, and not hold it yet; in seconds.
SETTLED_S = 60.0

_shared: ContextVar[tuple[int, ...]] = ContextVar("_shared", default=())


@contextmanager
def scratch(parent: Path, name: str) -> Iterator[Path]:
    """An empty folder ``.NAME.tmp-*`` in ``parent``, which this process holds while it lives.

    It is removed at the end, unless it was renamed.
    """
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=f".{name}{MARK}"))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks; then nothing counts as left over
            fcntl.flock(handle, fcntl.LOCK_EX)
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def shared_locks() -> tuple[int, ...]:
    """Descriptors of the locks that a program which starts now holds, too."""
    return _shared.get()


@contextmanager
def locked(
    path: Path, waiting: Callable[[], None] = lambda: None, *, shared: bool = False
) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path`` (made if absent); freed when we die.

    :param waiting: called when another process holds it, before we wait.
    :param shared: programs that `host.proc.run` starts meanwhile hold it, too. If we are killed, it
        is freed when the last of them ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                waiting()
                fcntl.flock(stream, fcntl.LOCK_EX)
            # Whoever held it may have removed it: then the lock is on a file without a name.
            if _is_same(stream.fileno(), path):
                if not shared:
                    yield
                    return
                token = _shared.set((*_shared.get(), stream.fileno()))
                try:
                    yield
                finally:
                    _shared.reset(token)
                return


@contextmanager
def left_over(path: Path) -> Iterator[bool]:
    """True if no live process holds the folder or lock file ``path``; if so, we do meanwhile."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # gone, or not ours to read
        yield False
        return
    try:
        if time.time() - os.fstat(handle).st_mtime < SETTLED_S:
            yield False
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield _is_same(handle, path)
    finally:
        os.close(handle)


def _is_same(handle: int, path: Path) -> bool:
    """True if ``path`` still names what ``handle`` was opened on."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
