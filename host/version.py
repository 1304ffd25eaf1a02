# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of eascope: the package's version and, in a checkout, the commit."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from eascope.host.errors import EascopeError
from eascope.host.proc import run

REPO = Path(__file__).resolve().parent.parent
#: Follows the commit where a tracked file differs from it.
CHANGED = ", changed"
#: What is written with records, so that the first one does not make the others look changed.
_WRITTEN = (
    *(":(exclude,glob)research/*/record.json", ":(exclude)analysis/known/data"),
    ":(exclude)docs",
)


def from_changed_checkout(words: str) -> bool:
    """True if `eascope_version` says that tracked files differed from the commit."""
    return words.endswith(f"{CHANGED})")


def eascope_version(folder: Path = REPO) -> str:
    """``0.1.0 (bff5449c1d2e)``, ``0.1.0 (v0.1-3-gbff5449c1d2e, changed)``, ``0.1.0`` without git.

    The commit is what ``git describe`` makes of it. ``changed``: a file that git tracks differs
    from it, records of results and pages aside.
    """
    number = version("eascope")
    if not (folder / ".git").exists():
        return number
    try:
        commit = _git(folder, "describe", "--tags", "--always", "--abbrev=12")
        changed = _git(folder, "diff", "--name-only", "HEAD", "--", ".", *_WRITTEN)
    except EascopeError:  # no git, a checkout of another user, no commit yet
        return number
    return f"{number} ({commit}{CHANGED if changed else ''})"


def _git(folder: Path, *arguments: str) -> str:
    # A hook's GIT_DIR names another repository than the folder's.
    unset = [f"--unset={name}" for name in os.environ if name.startswith("GIT_")]
    return run(["env", *unset, "git", "-C", folder, *arguments], label="git").decode().strip()
