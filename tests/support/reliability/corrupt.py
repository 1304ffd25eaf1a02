# SPDX-License-Identifier: GPL-2.0-or-later
"""Corrupted bytes in files of every kind: found by ``verify``, and never used."""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from eascope.analysis.derived_folder import DERIVED
from eascope.experiments.runs.finished import derived_by
from eascope.experiments.runs.store import OUTSIDE, Run, check
from eascope.experiments.sweeps.ledger import ledger_folder, problems_of, read_ledger
from eascope.host.cache import cache_root, check_artefact, entries
from eascope.host.errors import EascopeError
from eascope.host.sealed import DONE, files_of


@dataclass
class Corrupted:
    """Files by kind in which a byte was changed, and those that nobody noticed."""

    tried: Counter[str] = field(default_factory=Counter)
    unnoticed: list[str] = field(default_factory=list)


def flipped(path: Path, draws: random.Random) -> bytes:
    """Change a bit of ``path``; the bytes before."""
    before = path.read_bytes()
    at = draws.randrange(len(before))
    path.chmod(0o644)
    path.write_bytes(before[:at] + bytes([before[at] ^ 1 << draws.randrange(8)]) + before[at + 1 :])
    return before


def a_run(folder: Path, of: Path, item: int, seed: int) -> Corrupted:
    """Change a bit in every file of a finished run, ``each`` times one after another.

    Raw files: ``verify`` finds it, and nothing is derived from them. Derived tables: ``verify``
    finds it, and they are derived anew, with the bytes that they had.
    """
    done, draws = Corrupted(), random.Random(seed)
    run = Run(folder / of.name)
    shutil.copytree(of, run.path)
    raw = files_of(run.path, OUTSIDE)
    for name, path in raw.items():
        for _ in range(item if path.stat().st_size else 0):
            before = flipped(path, draws)
            shutil.rmtree(run.path / DERIVED, ignore_errors=True)
            _judge(done, name, check(run) != [], lambda: derived_by(run))
            path.write_bytes(before)
    derived = derived_by(run).path
    right = {name: path.read_bytes() for name, path in files_of(derived).items()}
    for name, path in files_of(derived).items():
        for _ in range(item):
            flipped(path, draws)
            noticed = check(run) != []
            anew = {n: p.read_bytes() for n, p in files_of(derived_by(run).path).items()}
            kind = f"{DERIVED}/{name}"
            done.tried[kind] += 1
            if not noticed or anew != right:
                done.unnoticed.append(kind)
    return done


def _judge(done: Corrupted, kind: str, noticed: bool, use: Callable[[], object]) -> None:
    done.tried[kind] += 1
    try:
        use()
    except EascopeError:
        used = False
    else:
        used = kind != DONE  # its own bytes are not what a figure is made of
    if not noticed or used:
        done.unnoticed.append(kind)


def the_cache(folder: Path, item: int, seed: int) -> Corrupted:
    """Change a bit in files of an artefact of each kind, copied; checked as every use checks."""
    done, draws = Corrupted(), random.Random(seed)
    kinds = {entry.parent.name: entry for entry in entries()}
    for kind, entry in sorted(kinds.items()):
        copy = folder / entry.relative_to(cache_root())
        shutil.copytree(entry, copy, symlinks=True)
        files = [p for p in files_of(copy).values() if p.stat().st_size and not p.is_symlink()]
        for path in draws.sample(files, min(item, len(files))):
            before = flipped(path, draws)
            done.tried[kind] += 1
            try:
                check_artefact(copy)
            except EascopeError:
                pass
            else:
                done.unnoticed.append(f"{kind}/{path.name}")
            path.write_bytes(before)
        shutil.rmtree(copy)
    return done


def the_ledger(name: str) -> Corrupted:
    """Change each bit of each file of a campaign's ledger, one after another."""
    done = Corrupted()
    for path in sorted(ledger_folder(name).iterdir()):
        item = every_bit(path, name)
        done.tried += item.tried
        done.unnoticed += item.unnoticed
    return done


def every_bit(path: Path, name: str) -> Corrupted:
    """Change each bit of a file of the ledger of ``name``.

    ``verify`` finds it, and every line that is still read is one that was written.
    """
    done, before, right = Corrupted(), path.read_bytes(), read_ledger(name)
    assert right, "a ledger without a line would show nothing"
    assert problems_of(name) == []
    for at in range(len(before)):
        for bit in range(8):
            path.write_bytes(before[:at] + bytes([before[at] ^ 1 << bit]) + before[at + 1 :])
            done.tried["ledger"] += 1
            used = read_ledger(name)
            if not problems_of(name) or not used.items() <= right.items():
                done.unnoticed.append(f"bit {bit} of byte {at} of {path.name}")
    path.write_bytes(before)
    return done
