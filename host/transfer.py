# SPDX-License-Identifier: GPL-2.0-or-later
"""Copying artefacts between caches: each is checked against its digests, and copied as a whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eascope.host.cache import (
    ENTRY,
    MANIFEST,
    canonical_json,
    check_artefact,
    lock_of_entry,
    sha256_bytes,
    write_atomic,
)
from eascope.host.claims import locked_everywhere
from eascope.host.errors import EascopeError
from eascope.host.record import load_json
from eascope.host.scratch import scratch
from eascope.host.toolchain import VERSIONS
from eascope.host.writing import writing_into

#: Files of a cache that are no artefacts, without which a machine would ask a mirror: which
#: packages QEMU is made of, the package lists, and the versions of compilers, which are a part of
#: keys. Those that a cache has stay.
PLAIN = (
    *("qemu/packages-*.json", "apt/*/sources.list", "apt/*/state/lists/*", "apt/*/ready"),
    f"{VERSIONS}/*.json",
)
#: Their SHA-256 by name, in the cache that they were copied into.
DIGESTS = "plain.json"


@dataclass
class Transfer:
    """Artefacts that were copied, were there already, or are damaged: a line each."""

    copied: list[str] = field(default_factory=list)
    bytes: int = 0
    kept: int = 0
    damaged: list[str] = field(default_factory=list)


def kinds_in(cache: Path) -> list[str]:
    """Kinds of the artefacts of a cache."""
    return sorted({path.parent.name for path in _entries(cache)})


def _entries(cache: Path) -> Iterator[Path]:
    for path in sorted(cache.glob("*/*")):
        if ENTRY.fullmatch(path.name) and path.is_dir():
            yield path


def transfer(
    source: Path, target: Path, kinds: Collection[str], say: Callable[[str], None]
) -> Transfer:
    """Copy the artefacts of ``kinds`` that ``target`` lacks.

    A damaged one is not copied and stops no other one.

    :param say: gets a line on each artefact that is copied.
    :raises EascopeError: when ``target`` cannot be written.
    """
    done = Transfer()
    with writing_into(target):
        for entry in _entries(source):
            if entry.parent.name in kinds:
                _copy_entry(entry, target / entry.parent.name / entry.name, done, say)
        _copy_plain(source, target, done)
    return done


def _copy_entry(entry: Path, place: Path, done: Transfer, say: Callable[[str], None]) -> None:
    name = f"{entry.parent.name}/{entry.name}"
    try:
        # The copy of a damaged artefact would only be found out later.
        check_artefact(entry)
        if (place / MANIFEST).is_file():
            check_artefact(place)
            done.kept += 1
            return
    except EascopeError as error:
        done.damaged.append(str(error))
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked_everywhere(lock_of_entry(place)):
        if (place / MANIFEST).is_file():
            done.kept += 1
            return
        say(name)
        with scratch(place.parent, place.name) as work:
            shutil.copytree(entry, work, symlinks=True, dirs_exist_ok=True)
            check_artefact(work)  # as it came to lie there
            size = sum(path.lstat().st_size for path in work.rglob("*") if not path.is_dir())
            os.replace(work, place)
    done.copied.append(name)
    done.bytes += size


def _copy_plain(source: Path, target: Path, done: Transfer) -> None:
    known = _digests(source)
    written = _digests(target)
    for pattern in PLAIN:
        for path in sorted(path for path in source.glob(pattern) if path.is_file()):
            name = path.relative_to(source).as_posix()
            data = path.read_bytes()
            digest = sha256_bytes(data)
            if known.get(name, digest) != digest:
                done.damaged.append(f"{path}: does not match its SHA-256 in {DIGESTS}")
            elif not (target / name).exists():
                write_atomic(target / name, data)
                written[name] = digest
                done.copied.append(name)
                done.bytes += len(data)
    if written:
        write_atomic(target / DIGESTS, canonical_json(written) + b"\n")


def _digests(cache: Path) -> dict[str, str]:
    """What ``plain.json`` of a cache says.

    :raises EascopeError: when it is damaged.
    """
    if not (cache / DIGESTS).is_file():
        return {}
    fields = load_json(cache / DIGESTS)
    if not isinstance(fields, dict):
        raise EascopeError(f"{cache / DIGESTS}: not readable: remove that file and push again")
    return {str(name): str(digest) for name, digest in fields.items()}
