# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of derived tables; every use checks their digests.

They are in the run's folder ``derived/``, or in the cache if the run cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from eascope.host.cache import cache_root, digest_of
from eascope.host.errors import EascopeError
from eascope.host.proc import say
from eascope.host.record import json_bytes
from eascope.host.scratch import scratch
from eascope.host.sealed import damage, seal
from eascope.host.writing import can_write, writing_into

#: The folder of a run, and of the cache, that holds derived tables by key.
DERIVED = "derived"
#: What the tables of a folder depend on.
KEY = "key.json"
#: How often another process may put an unusable folder where ours is to lie.
ATTEMPTS = 3


def roots_of(run: Path) -> tuple[Path, Path]:
    """The folders for tables of ``run``: its own; or one in the cache, if its own is read-only."""
    return run / DERIVED, cache_root() / DERIVED / run.resolve().name


def derived_key(fields: Mapping[str, object]) -> str:
    """The name of the folder of tables that depend on ``fields``."""
    return digest_of(fields)[:32]


def derived_folder(run: Path, fields: Mapping[str, object], make: Callable[[Path], None]) -> Path:
    """The folder of tables of ``run``, made by ``make`` unless it is there and whole.

    Damaged tables are made again from the run's raw files, whose digests are compared first.

    :param fields: all inputs of the tables; the folder's name is their digest.
    :param make: fills an empty folder.
    :raises EascopeError: one line when a file of the run has changed since it was written.
    """
    key = derived_key(fields)
    for root in roots_of(run):
        folder = root / key
        if folder.is_dir():
            if not (wrong := damage(folder)):
                return folder
            say(f"  derived again, because {wrong[0]}")
    if wrong := damage(run):
        raise EascopeError(f"{wrong[0]}: remove {run} and run its cell again")
    own, cached = roots_of(run)
    root = own if can_write(own) else cached
    root.mkdir(parents=True, exist_ok=True)
    with writing_into(root), scratch(root, key) as work:
        make(work)
        (work / KEY).write_bytes(json_bytes(fields))
        seal(work)
        _publish(work, root / key)
    return root / key


def _publish(work: Path, folder: Path) -> None:
    """Give ``work`` the name ``folder``; a damaged folder there is removed.

    Another process that derives the same tables makes the same bytes, so its folder stays.
    """
    for attempt in range(ATTEMPTS):
        try:
            os.replace(work, folder)
            return
        except OSError:
            if folder.is_dir() and not damage(folder):
                return
            if attempt == ATTEMPTS - 1 or not folder.exists():
                raise
            with scratch(folder.parent, folder.name) as aside:
                os.replace(folder, aside)
