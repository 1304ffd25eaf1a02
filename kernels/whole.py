# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree of Linux that is checked as it stands, against the newest tag below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.host.errors import RequestError
from eascope.host.proc import CommandFailed
from eascope.kernels.kconfig import fragment_text, lost_options
from eascope.kernels.mails import git
from eascope.kernels.releases import release_of
from eascope.kernels.source import makefile_version
from eascope.kernels.variants import load_catalogue

CONFIG = ".config"
#: Tags of Linux, release candidates among them, and none of a person.
_RELEASES = ("--match=v[0-9]*.[0-9]*", "--exclude=*-[!r]*")


@dataclass(frozen=True)
class WholeTree:
    """A tree.

    :param tag: of its newest commit that has one.
    :param patches: one, of all that the tree changes since, committed or not.
    :param otherwise: options of its ``.config`` that our builds set otherwise: what they set, and
        what it has.
    """

    path: Path
    tag: str
    patches: Mapping[str, bytes]
    otherwise: tuple[str, ...]


def whole_tree(what: str) -> WholeTree | None:
    """The tree of Linux that ``what`` is; None: it is no folder with such a Makefile.

    :raises RequestError: git knows no tag below it, or nothing has changed since.
    """
    path = Path(what).expanduser().absolute()
    makefile = path / "Makefile"
    text = makefile.read_text(errors="replace") if makefile.is_file() else ""
    version = makefile_version(text)
    if version is None:
        return None
    at = ("-C", str(path))
    try:
        git(*at, "rev-parse", "--verify", "HEAD")
    except CommandFailed as error:
        raise RequestError(f"{what}: expected a git tree of Linux, with a commit") from error
    try:
        found = git(*at, "describe", "--tags", "--abbrev=0", *_RELEASES)
        tag = found.decode().strip()
        patch = git(*at, "diff", "--no-ext-diff", "--no-color", "--no-renames", tag, "--")
    except CommandFailed as error:
        wanted = "give A.., where A is the commit that it is based on"
        raise RequestError(
            f"{what}: no tag v* of Linux below its commit: git fetch --tags, or {wanted}"
        ) from error
    if not patch:
        raise RequestError(f"{what}: no file differs from {tag}; expected a tree with changes")
    config = path / CONFIG
    ours = fragment_text(load_catalogue().kernels["base"], release_of(version).name)
    has = config.read_text(errors="replace") if config.is_file() else ours
    return WholeTree(path, tag, {f"since {tag}": patch}, tuple(lost_options(ours, has)))
