# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of runs and cache that can go. Finished runs and files of live processes always stay."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from eascope.analysis.derive import analysis_version
from eascope.analysis.derived_folder import DERIVED, KEY
from eascope.experiments.runs.cell import trace_was_full
from eascope.experiments.runs.store import LOCKS, all_runs, lock_of
from eascope.host.cache import MANIFEST, cache_root, entries, lock_of_entry, runs_root
from eascope.host.claims import MARK as CLAIM
from eascope.host.claims import left_over_everywhere
from eascope.host.errors import EascopeError
from eascope.host.record import load_json
from eascope.host.scratch import MARK

#: Kinds in the order in which they are listed, and what they are.
KINDS = {
    "temporary": "folders of processes that were killed",
    "locks": "lock files that no process holds",
    "failed": "runs that failed or are broken; the same command tries them again",
    "derived": "tables that other code made; they are derived again from their runs when asked for",
    "comparisons": "figures and reports; the same command draws them again",
    "cache": "built or fetched artefacts; whatever needs one makes it again",
}
DAY_S = 86_400.0
#: A temporary folder outside of runs and cache has no lock; no process needs one for so long.
UNHELD_DAYS = 7.0


@dataclass(frozen=True)
class Leftover:
    """Something that may be removed.

    :param why: in words, for a person.
    :param size: bytes of its files.
    :param free: a context that says whether no live process uses it, and keeps it so meanwhile.
    """

    kind: str
    path: Path
    why: str
    size: int
    free: Callable[[], AbstractContextManager[bool]] = field(compare=False)


def leftovers(kinds: tuple[str, ...], days: float) -> list[Leftover]:
    """All leftovers of ``kinds``, in their order, without those that a live process uses.

    :param days: for derived tables, comparisons and the cache, the least time without use.
    """
    entries = []
    for kind in KINDS:
        if kind in kinds:
            for entry in _FINDERS[kind](days):
                with entry.free() as free:
                    if free:
                        entries.append(entry)
    return entries


def remove(entry: Leftover) -> bool:
    """Remove it, unless a process has begun to use it; returns whether it is gone."""
    with entry.free() as free:
        if not free:
            return False
        if entry.path.is_dir() and not entry.path.is_symlink():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.path.unlink()
    return not entry.path.exists()


def _temporary(days: float) -> Iterator[Leftover]:
    roots = [runs_root(), *runs_root().glob(f"*/{DERIVED}"), runs_root() / "comparisons"]
    roots += [*cache_root().glob("*/"), *cache_root().glob(f"{DERIVED}/*/")]
    for root in roots:
        for path in sorted(root.glob(f".*{MARK}*")):
            name = path.name[1:].partition(MARK)[0]
            lock = lock_of(name) if root == runs_root() else lock_of_entry(root / name)
            yield _entry("temporary", path, "its process is gone", _unheld(path, lock))
    for path in sorted(Path(tempfile.gettempdir()).glob("eascope-*")):
        if (age := _age_days(path)) > UNHELD_DAYS:
            yield _entry("temporary", path, f"{age:.0f} days old")


def _locks(days: float) -> Iterator[Leftover]:
    paths = [*(runs_root() / LOCKS).glob("*"), *cache_root().glob("*/.*.lock")]
    for path in sorted(paths):
        if path.is_file() and CLAIM not in path.name:  # a claim goes with its lock
            yield _entry("locks", path, "no process holds it", _unheld(path))


def _failed(days: float) -> Iterator[Leftover]:
    for run in all_runs():
        # Where a trace did not fit, that is how the next command knows the size that it takes.
        if run.state != "done" and not trace_was_full(run.path.name):
            yield _entry("failed", run.path, run.state, _unheld(lock_of(run.path.name)))


def _derived(days: float) -> Iterator[Leftover]:
    version = analysis_version()
    for root in (runs_root(), cache_root() / DERIVED):
        pattern = f"*/{DERIVED}/[!.]*" if root == runs_root() else "*/[!.]*"
        for path in sorted(root.glob(pattern)):
            age = _age_days(path)
            if age >= days and _version_of(path) != version:
                yield _entry("derived", path, f"of another version, {age:.0f} days old")


def _version_of(folder: Path) -> str:
    """The version of the analysis that derived the tables in ``folder``; empty: not known."""
    try:
        fields = load_json(folder / KEY)
    except EascopeError:
        return ""
    return str(fields.get("analysis", "")) if isinstance(fields, dict) else ""


def _comparisons(days: float) -> Iterator[Leftover]:
    for root in (runs_root() / "comparisons", cache_root() / "comparisons"):
        for path in sorted(root.glob("[!.]*")):
            if (age := _age_days(path)) >= days:
                yield _entry("comparisons", path, f"drawn {age:.0f} days ago")


def _cache(days: float) -> Iterator[Leftover]:
    for path in entries():
        age = _age_days(path)
        lock = _unheld(lock_of_entry(path))
        if not (path / MANIFEST).is_file():
            yield _entry("cache", path, f"without {MANIFEST}", lock)
        elif age >= days:
            yield _entry("cache", path, f"not used for {age:.0f} days", lock)


_FINDERS: dict[str, Callable[[float], Iterator[Leftover]]] = {
    "temporary": _temporary,
    "locks": _locks,
    "failed": _failed,
    "derived": _derived,
    "comparisons": _comparisons,
    "cache": _cache,
}


def _entry(
    kind: str,
    path: Path,
    why: str,
    free: Callable[[], AbstractContextManager[bool]] = lambda: nullcontext(True),
) -> Leftover:
    return Leftover(kind, path, why, _size(path), free)


def _unheld(*paths: Path) -> Callable[[], AbstractContextManager[bool]]:
    """Hold ``paths`` (folders or lock files, as far as they exist), if no process holds any."""

    @contextmanager
    def free() -> Iterator[bool]:
        with ExitStack() as stack:
            yield all(
                stack.enter_context(left_over_everywhere(path)) for path in paths if path.exists()
            )

    return free


def _age_days(path: Path) -> float:
    """Days since ``path`` was written or, for an entry of the cache, used."""
    try:
        return max(0.0, (time.time() - path.stat().st_mtime) / DAY_S)
    except OSError:  # removed meanwhile
        return 0.0


def _size(path: Path) -> int:
    """Bytes of the files at and below ``path``."""
    total = 0
    for part in (path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else ())):
        with suppress(OSError):
            total += 0 if part.is_dir() else part.lstat().st_size
    return total
