# SPDX-License-Identifier: GPL-2.0-or-later
"""A person's git tree as the source of kernels: a commit, or the files with uncommitted changes.

The repository is only read. Uncommitted changes become git objects in the cache.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from eascope.host.cache import cache_root, digest_of
from eascope.host.dry import work_folder
from eascope.host.errors import RequestError
from eascope.host.proc import CommandFailed, need, run
from eascope.kernels.patch_series import added_files, patch_label, series_patches
from eascope.kernels.provenance import GIT, SourceProvenance
from eascope.kernels.source import LEFT_OUT, Source, makefile_version, quoted
from eascope.kernels.switches import FAIR_SERVER, FEATURES, Switches

#: Names on one command line.
BATCH = 500
SHOWN_DIGITS = 12
#: Where Linux has the features of its scheduler, and its fair servers.
_FEATURES, _DEADLINE = "kernel/sched/features.h", "kernel/sched/deadline.c"


@dataclass(frozen=True)
class Tree:
    """A tree that a command names.

    :param ref: a commit, as git names it; empty: the files with uncommitted changes.
    """

    name: str
    path: Path
    ref: str = ""

    @property
    def words(self) -> str:
        """As the command has it, for messages."""
        return f"--kernel {self.name}={self.path}{'@' if self.ref else ''}{self.ref}"


@dataclass(frozen=True)
class Store:
    """The place where git finds a tree.

    :param repository: git's folder of the person's repository.
    :param objects: the objects there, which are only read.
    """

    repository: str
    objects: str

    @property
    def env(self) -> dict[str, str]:
        """Environment in which git reads the repository and writes into the cache."""
        own = (work_folder() or cache_root()) / "git-objects"
        own.mkdir(parents=True, exist_ok=True)
        return {
            "GIT_OBJECT_DIRECTORY": str(own),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": self.objects,
        }

    def git(self, *arguments: str) -> str:
        """The output of git.

        :raises CommandFailed: when it fails.
        """
        return run([*self.command, *arguments], env=self.env, label="git").decode()

    @property
    def command(self) -> list[str]:
        """The beginning of git's command line."""
        return [need("git", "git"), "--git-dir", self.repository]


NO_STORE = Store("", "")


@dataclass(frozen=True)
class TreeSource(Source):
    """The present state of a `Tree` as a source.

    :param tree: git's name of its files.
    :param store: where git finds them.
    """

    name: str = ""
    tree: str = ""
    store: Store = NO_STORE

    @property
    def label(self) -> str:
        """``Linux 7.3.4 (mine: v7.3.4, 0123456789ab)`` for messages."""
        return f"Linux {self.version} ({self.name}: {self.package_version})"

    @property
    def owner(self) -> tuple[str, ...]:
        """The owner of the objects, in addition to their series."""
        return (self.name,)

    @property
    def tested(self) -> bool:
        """Always true: a person's tree needs no warning."""
        return True

    def provenance(self) -> SourceProvenance:
        """What goes into records."""
        return replace(super().provenance(), source=GIT, source_tested=False)

    def unpack(self, folder: Path) -> None:
        """Put the tree, without what no build reads, into the empty ``folder``.

        :raises EascopeError: when git fails.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._extract(folder, [".", *(f":(exclude){pattern}" for pattern in LEFT_OUT)])

    def differing(self, tree: str) -> list[str]:
        """Files that builds read and that differ in ``tree``, of the same repository.

        :raises EascopeError: when git does not have that tree any more.
        """
        how = ("-r", "--no-renames", "--name-only", "-z")
        names = self.store.git("diff-tree", *how, tree, self.tree).split("\0")[:-1]
        return [name for name in names if not any(fnmatch(name, left) for left in LEFT_OUT)]

    def put(self, folder: Path, names: Sequence[str]) -> None:
        """Give the files ``names`` below ``folder`` their content in this tree."""
        for start in range(0, len(names), BATCH):
            some = names[start : start + BATCH]
            for name in some:
                (folder / name).unlink(missing_ok=True)
            if held := self.has(some):
                self._extract(folder, [f":(literal){name}" for name in held])

    def has(self, names: Sequence[str]) -> list[str]:
        """Which of the files ``names`` the tree has, sorted."""
        how = ("-r", "-z", "--name-only", self.tree, "--")
        return sorted(self.store.git("ls-tree", *how, *names).split("\0")[:-1])

    def lacking(self, switches: Switches) -> str:
        """The first of ``switches`` that a tree of Linux without it would refuse; empty for none.

        Of the features of the scheduler, and of fair servers: these came and went.
        """
        for path, value in switches:
            if path == FEATURES:
                lacks, where, word = value, _FEATURES, f"SCHED_FEAT({value.removeprefix('NO_')},"
            elif path.startswith(FAIR_SERVER):
                lacks, where, word = path, _DEADLINE, "fair_server"
            else:
                continue
            if self.has([where]) and word not in self._text(where):
                return lacks
        return ""

    def _text(self, name: str) -> str:
        return self.store.git("cat-file", "blob", f"{self.tree}:{name}")

    def _extract(self, folder: Path, specs: Sequence[str]) -> None:
        archive = [*self.store.command, "archive", "--format=tar", self.tree, "--", *specs]
        script = f"{' '.join(map(quoted, archive))} | tar -C {quoted(folder)} -xf -"
        run(["bash", "-o", "pipefail", "-c", script], env=self.store.env, label="copy of the tree")


def read_tree(text: str) -> Tree:
    """The tree that ``NAME=TREE`` or ``NAME=TREE@REF`` names.

    :raises RequestError: it is not of that form, or there is no such folder.
    """
    name, equals, place = text.partition("=")
    if not (name and equals and place):
        raise RequestError(f"--kernel {text!r}: expected NAME=TREE or NAME=TREE@REF")
    parts = place.split("@")
    for count in range(len(parts), 0, -1):
        path = Path("@".join(parts[:count])).expanduser()
        if path.is_dir():
            return Tree(name, path.absolute(), "@".join(parts[count:]))
    raise RequestError(f"--kernel {text!r}: no such directory; expected a git repository of Linux")


@cache
def tree_source(tree: Tree) -> TreeSource:
    """The present state of ``tree``.

    :raises RequestError: no git repository, no such commit, or not a tree of Linux.
    """
    repository = _ask(tree, "rev-parse", "--absolute-git-dir", allowed="a git repository of Linux")
    objects = _ask(tree, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    store = Store(repository, objects)
    commit = tree.ref or "HEAD"
    wanted = (f"{commit}^{{commit}}", "a commit, branch or tag of that repository")
    at = _ask(tree, "rev-parse", "--verify", "--quiet", wanted[0], allowed=wanted[1])
    files = _ask(tree, "rev-parse", f"{at}^{{tree}}")
    words = at[:SHOWN_DIGITS]
    if not tree.ref and (now := _files_now(tree, store)) != files:
        files, words = now, f"{words} with changes"
    try:
        makefile = store.git("cat-file", "blob", f"{files}:Makefile")
    except CommandFailed:
        makefile = ""
    version = makefile_version(makefile)
    if version is None:
        raise RequestError(
            f"{tree.words}: no kernel version in its Makefile; expected a tree of Linux"
        )
    return TreeSource(
        version,
        words,
        digest_of({"git": files}),
        name=tree.name,
        tree=files,
        store=store,
    )


def _ask(tree: Tree, *arguments: str, allowed: str = "a git repository that can be read") -> str:
    try:
        return run([need("git", "git"), "-C", tree.path, *arguments]).decode().strip()
    except CommandFailed as error:
        lines = error.log_text.strip().splitlines()
        why = re.sub(r"^fatal: ", "", lines[0]) if lines else "unknown to git"
        raise RequestError(f"{tree.words}: {why}; expected {allowed}") from error


def _files_now(tree: Tree, store: Store) -> str:
    """The files that git knows of, with their changes, as a tree in the cache's store."""
    if _ask(tree, "rev-parse", "--is-bare-repository") == "true":
        return _ask(tree, "rev-parse", "HEAD^{tree}")
    index = Path(_ask(tree, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    git: list[str | Path] = [need("git", "git"), "-C", tree.path]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "index"
        if index.is_file():
            copy.write_bytes(index.read_bytes())
        env = {**store.env, "GIT_INDEX_FILE": str(copy)}
        run([*git, "add", "--update", "."], env=env, label="git")
        return run([*git, "write-tree"], env=env, label="git").decode().strip()


def series_to_apply(tree: Tree, all_series: Sequence[Path]) -> list[str]:
    """Names of those of ``all_series`` that ``tree`` does not have already, by the files they add.

    :raises RequestError: it has a part of one.
    """
    source = tree_source(tree)
    left = []
    for series in all_series:
        adds = {
            name: patch
            for patch in series_patches(series, source.release.name)
            for name in added_files(patch)
        }
        added = source.has(sorted(adds)) if adds else []
        if added and len(added) < len(adds):
            missing = sorted(set(adds) - set(added))[0]
            raise RequestError(
                f"{tree.words} contains a part of {series.name}: {added[0]} of "
                f"{patch_label(adds[added[0]])}, but not {missing}; use a tree with all of it, or "
                "none"
            )
        if not added:
            left.append(series.name)
    return left
