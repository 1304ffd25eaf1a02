# SPDX-License-Identifier: GPL-2.0-or-later
"""The content-addressed cache of downloads and builds.

An artefact is a folder ``<cache>/<kind>/<key>``. Its key is the SHA-256 of its inputs. It is built
under a temporary name and renamed when complete, so a reader never sees half of one. Its
``manifest.json`` holds the digest of every file, which every use of the artefact checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from eascope.host.dry import CHEAP, refuse, work_folder
from eascope.host.errors import EascopeError
from eascope.host.proc import Step, about
from eascope.host.record import RecordError, load_json
from eascope.host.scratch import locked, scratch

MANIFEST = "manifest.json"
#: How the folder of an artefact is called: the beginning of its key.
ENTRY = re.compile(r"[0-9a-f]{32}")
#: Longer than what any file system takes for two points in time.
CLOCK_TICK_S = 3.0

_digests: dict[tuple[int, ...], str] = {}


def cache_root() -> Path:
    """``$EASCOPE_CACHE``, by default ``${XDG_CACHE_HOME:-~/.cache}/eascope``."""
    given = os.environ.get("EASCOPE_CACHE")
    if given:
        return Path(given).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "eascope"


def runs_root() -> Path:
    """``$EASCOPE_RUNS``, by default ``./runs``."""
    return Path(os.environ.get("EASCOPE_RUNS") or "runs").absolute()


def sha256_bytes(data: bytes) -> str:
    """Hex SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes.

    A process reads a file once, as long as the file system says that it has not changed since: a
    comparison asks for the same kernel and the same QEMU for every cell.
    """
    with path.open("rb") as stream:
        stat = os.fstat(stream.fileno())
        state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        known = _digests.get(state)
        if known is None:
            known = hashlib.file_digest(stream, "sha256").hexdigest()
            # Two changes within a tick of the file system's clock look like one.
            if time.time() - max(stat.st_mtime, stat.st_ctime) > CLOCK_TICK_S:
                _digests[state] = known
        return known


def canonical_json(value: Any) -> bytes:
    """The one JSON spelling of ``value``: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(fields: Mapping[str, Any]) -> str:
    """Hex SHA-256 over the canonical JSON of ``fields``."""
    return sha256_bytes(canonical_json(fields))


def tree_digest(folder: Path, pattern: str = "**/*") -> str:
    """Hex SHA-256 over the relative names and bytes of the files below ``folder``."""
    fields = {
        str(path.relative_to(folder)): sha256_file(path)
        for path in sorted(folder.glob(pattern))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return digest_of(fields)


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that a reader sees the old bytes or all of the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def artefact(
    kind: str,
    key_fields: Mapping[str, Any],
    build: Callable[[Path], None],
    *,
    label: str = "",
    estimate_s: float | None = None,
    estimate: str = "",
    large: bool = False,
) -> Path:
    """The cached folder for ``key_fields``, built by ``build(folder)`` when it is not there.

    :param kind: first folder level, e.g. ``kernel``.
    :param key_fields: all inputs of the result (digests, versions, options).
    :param build: fills the given empty folder; if it raises, nothing remains.
    :param label: shown on the terminal while it is built.
    :param estimate_s: expected seconds on two cores.
    :param estimate: the same in words, where it is no number.
    :param large: check file sizes only on use (source trees), not every digest.
    :raises EascopeError: when the stored artefact does not match its manifest.
    :raises NotBuilt: within `host.dry.nothing_built`, when it is not there.
    """
    folder = cache_root() / kind / digest_of(key_fields)[:32]
    if (folder / MANIFEST).is_file():
        check_artefact(folder, large=large)
        if work_folder() is None:
            with suppress(OSError):  # a cache that is read-only
                os.utime(folder)  # the sign of its last use
        return folder
    if (work := work_folder()) is not None:
        if kind not in CHEAP:
            refuse(label or kind, about(estimate_s, estimate))
        folder = work / kind / folder.name
        if not folder.exists():
            folder.mkdir(parents=True)
            build(folder)
        return folder
    with locked(lock_of_entry(folder)):
        if (folder / MANIFEST).is_file():
            check_artefact(folder, large=large)
            return folder
        if folder.exists():
            raise EascopeError(
                f"cache entry {folder} is corrupt: {MANIFEST} is missing: "
                "remove that folder and run again"
            )
        for stale in folder.parent.glob(f".{folder.name}.tmp-*"):
            shutil.rmtree(stale, ignore_errors=True)
        with scratch(folder.parent, folder.name) as work:
            with Step(label or kind, estimate_s, estimate):
                build(work)
            _write_manifest(work, key_fields)
            os.replace(work, folder)
    return folder


def lock_of_entry(folder: Path) -> Path:
    """The file that is locked by the process that builds the artefact ``folder``."""
    return folder.parent / f".{folder.name}.lock"


def _write_manifest(folder: Path, key_fields: Mapping[str, Any]) -> None:
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            files[str(path.relative_to(folder))] = {
                "bytes": path.stat().st_size,
                "sha256": sha256_file(path),
            }
    manifest = {"key": dict(key_fields), "files": files}
    write_atomic(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())


def check_artefact(folder: Path, *, large: bool = False) -> None:
    """Compare an artefact with its manifest.

    :raises EascopeError: one line naming the first file that differs.
    """
    for name, (size, digest) in _manifest(folder):
        path = folder / name
        actual = path.stat().st_size if path.is_file() else None
        same = actual == size
        if same and not large:
            same = sha256_file(path) == digest
        if not same:
            what = "is missing" if actual is None else "does not match its recorded SHA-256"
            raise EascopeError(
                f"cache entry {folder} is corrupt: {name} {what}: remove that folder and run again"
            )


def _manifest(folder: Path) -> list[tuple[str, tuple[int, str]]]:
    """Name, length and digest of every file of an artefact, by name.

    :raises EascopeError: one line when the manifest is missing or is none.
    """
    try:
        manifest = load_json(folder / MANIFEST)
        files = manifest["files"]
        # A copy that is under way has another name.
        if ENTRY.fullmatch(folder.name) and digest_of(manifest["key"])[:32] != folder.name:
            raise RecordError("has another key than its folder")
        return sorted((name, (file["bytes"], file["sha256"])) for name, file in files.items())
    except RecordError as error:
        why = str(error).removeprefix(f"{folder / MANIFEST}: ")
    except (KeyError, TypeError, AttributeError) as error:
        why = f"not readable ({error})"
    raise EascopeError(
        f"cache entry {folder} is corrupt: {MANIFEST} {why}: remove that folder and run again"
    )


def entries(kind: str = "*") -> list[Path]:
    """Folders of the artefacts of ``kind`` (default: all) that are in the cache, whole or not."""
    folders = cache_root().glob(f"{kind}/*")
    return sorted(path for path in folders if ENTRY.fullmatch(path.name) and path.is_dir())
