# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel tree of each release, kept so that a changed patch compiles only the files it touches.

The tree is in the cache, unpacked once for each source. For another kernel, patches are reverted
down to the last patch that both kernels have. Then the other kernel's patches are applied. A note
names the content of the tree, and is removed while the tree changes. A tree without a note is
unpacked again.

Each kernel has its own objects. If a source file has the content of this kernel's last build, it
gets its time stamp of then, whatever it held in between. So make compiles only the files that
differ from this kernel's last build, not from another kernel's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eascope.host.cache import cache_root, sha256_file, write_atomic
from eascope.host.dry import refuse
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import CommandFailed, Step, say
from eascope.host.record import load_json
from eascope.host.scratch import locked
from eascope.kernels.patch_series import changed_files, series_patches
from eascope.kernels.patching import apply_patch, take_back
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source
from eascope.kernels.trees import TreeSource

FOLDER = "kernel-tree"
#: Below the tree: kbuild then names its sources by relative paths, so that neither the folder nor
#: ccache, which makes paths relative in its own way, shows in what is built.
OUT = "build-eascope"
#: Raised whenever a tree that an older version left cannot serve.
LAYOUT = 3
#: Kernels whose objects are kept in addition to those in `OUT`; 90 MB each.
KEPT_OBJECTS = 4
#: In `OUT`: digest and time stamp of each patched file, as of the last build there.
STAMPS = "eascope-stamps.json"
UNPACK_S = 30.0


@contextmanager
def patched(
    source: Source, all_series: Sequence[Path], home: Path | None = None
) -> Iterator[_Kept]:
    """The tree of ``source`` with ``all_series`` applied, held exclusively.

    :param home: its folder; None: that of the kept tree.
    :raises PatchFailed: the tree then has the patches before the one that does not apply.
    :raises RequestError: nothing can be built there.
    """
    if wrong := unfit_place():
        raise RequestError(wrong)
    home = home or home_of(source)
    release = source.release.name
    # When this process is killed, its make goes on: it keeps the lock until it has ended.
    words = "  waiting for another process, which builds a kernel in the same tree"
    with locked(home / ".lock", partial(say, words), shared=True):
        kept = _Kept(home)
        lists = [series_patches(series, release) for series in all_series]
        digests = [sha256_file(patch) for patches in lists for patch in patches]
        kept.begin(source)
        kept.take_back_to(digests, source)
        place = 0
        for patches in lists:
            for number, patch in enumerate(patches):
                if place >= len(kept.applied):
                    # It is tried before: nothing is changed when it does not apply.
                    kept.remember(patch)
                    apply_patch(kept.tree, patches, number, source, before=kept.forget)
                    kept.add(patch, source)
                place += 1
        yield kept


def try_to_apply(source: Source, all_series: Sequence[Path]) -> None:
    """Apply ``all_series`` to a copy of the files that patches change, not to the kept tree.

    Where that tree is not of ``source``, or another process is changing it, to the tree itself.

    :raises PatchFailed: naming patch, source and hunk.
    :raises NotBuilt: within `host.dry.nothing_built`, when there is no tree to copy from.
    """
    release = source.release.name
    patches = [patch for series in all_series for patch in series_patches(series, release)]
    names = {name for patch in patches for name in changed_files(patch)}
    with TemporaryDirectory(prefix="eascope-") as folder:
        copied = _Kept(home_of(source)).copy(source, names, Path(folder))
        if not copied:
            refuse(f"the tree of {source.label}")
        with patched(source, all_series, Path(folder) if copied else None):
            pass


@contextmanager
def worktree(source: Source, all_series: list[Path], more: Sequence[str] = ()) -> Iterator[Path]:
    """The tree of ``source`` with ``all_series`` applied, held exclusively.

    The objects for the same series, or else for the last ones, are below `OUT`, without the
    leftovers of a killed build.

    :param more: further fragments in addition to a kernel's own; they give other objects.
    :raises PatchFailed: the tree then has the patches before the one that does not apply.
    """
    with patched(source, all_series) as kept:
        if kept.busy.exists():
            shutil.rmtree(kept.tree / OUT, ignore_errors=True)
        kept.busy.touch()
        kept.take_objects(_whose(source, all_series, more), source)
        kept.set_stamps()
        try:
            yield kept.tree
        except EascopeError:  # make ended by itself: what it left is whole
            kept.busy.unlink()
            raise
        kept.busy.unlink()


def unfit_place() -> str:
    """Why no kernel can be built below the cache, in one line; empty: one can."""
    if re.search(r"[\s:]", str(cache_root())):
        return (
            f"cache {str(cache_root())!r}: kernels are built there, and kbuild supports no spaces "
            "or colons in paths; set EASCOPE_CACHE to a path without them"
        )
    return ""


def home_of(source: Source) -> Path:
    """The folder of the tree of ``source``: one for each release, and one for people's trees."""
    if isinstance(source, TreeSource):
        return cache_root() / f"{FOLDER}-git"
    release = source.release.name
    return cache_root() / (FOLDER if release == DEFAULT else f"{FOLDER}-{release}")


def has_objects(out: Path) -> bool:
    """True if a build in ``out`` starts from earlier objects."""
    return (out / "vmlinux").is_file()


class Objects(Enum):
    """The origin of the objects from which a build starts."""

    NONE = "none"
    OWN = "the kernel's own"
    COPIED = "another kernel's"


def kept_objects(source: Source, all_series: Sequence[Path], more: Sequence[str] = ()) -> Objects:
    """The objects from which a build of ``source`` with ``all_series`` starts, in the kept tree."""
    kept, whose = _Kept(home_of(source)), _whose(source, all_series, more)
    if not kept.is_of(source):
        return Objects.NONE
    # What a killed build left is removed before the next one.
    last = has_objects(kept.tree / OUT) and not kept.busy.exists()
    own = last if kept.noted().get("whose") == whose else has_objects(kept.objects / whose)
    if own:
        return Objects.OWN
    return Objects.COPIED if last else Objects.NONE


def _whose(source: Source, all_series: Sequence[Path], more: Sequence[str]) -> str:
    """The name by which the objects of a kernel are kept; what follows ``+`` is ``more``."""
    name = "-".join([*source.owner, *(series.name for series in all_series)])
    return "+".join([name, *more])


class _Kept:
    """The tree, copies of the patches that it has, and the note of which those are.

    ``pristine`` has, for every file that a patch has ever changed, its state before: digest and
    time stamp (ns), or None when it was not there. ``whose`` is whose objects lie in `OUT`.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tree = home / "linux"
        self.copies = home / "applied"
        self.note = home / "tree.json"
        self.busy = home / "busy"
        self.objects = home / "objects"
        self.applied: list[str] = []
        self.pristine: dict[str, list[Any] | None] = {}
        self.whose = ""

    def noted(self) -> dict[str, Any]:
        """The contents of ``tree.json``; nothing if it is missing."""
        noted: dict[str, Any] = load_json(self.note) if self.note.is_file() else {}
        return noted

    def is_of(self, source: Source) -> bool:
        """True if the tree is one of ``source`` and has a note."""
        noted = self.noted()
        return (noted.get("layout"), noted.get("source")) == (LAYOUT, source.sha256)

    def copy(self, source: Source, names: Iterable[str], home: Path) -> bool:
        """Put ``names``, and all that patches ever changed, into a tree of its own at ``home``.

        :returns: False if this tree is of another source, or was changed meanwhile.
        """
        try:
            note = self.note.read_bytes() if self.is_of(source) else b""
            for name in {*names, *self.noted().get("pristine", ())}:
                if note and (file := self.tree / name).is_file():
                    (home / "linux" / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, home / "linux" / name)
            shutil.copytree(self.copies, home / "applied")
            (home / "tree.json").write_bytes(note)
            return note != b"" and self.note.read_bytes() == note
        except OSError:
            return False

    def begin(self, source: Source) -> None:
        """Begin with the noted state, or with a newly unpacked tree."""
        if self.is_of(source):
            noted = self.noted()
            self.applied = list(noted["applied"])
            self.pristine, self.whose = dict(noted["pristine"]), str(noted["whose"])
            return
        if isinstance(source, TreeSource) and self._move(source):
            return
        self.forget()
        self.applied, self.pristine, self.whose = [], {}, ""
        for folder in (self.tree, self.copies, self.objects):
            shutil.rmtree(folder, ignore_errors=True)
        self.copies.mkdir(parents=True)
        with Step(f"unpacking {source.label}", UNPACK_S):
            source.unpack(self.tree)
        self._write(source)

    def _move(self, source: TreeSource) -> bool:
        """Make the tree, which is another one of the same repository, that of ``source``."""
        noted = self.noted()
        old = noted.get("git", {})
        if noted.get("layout") != LAYOUT or old.get("repository") != source.store.repository:
            return False
        try:
            names = source.differing(str(old["tree"]))
            self.applied = list(noted["applied"])
            self.pristine, self.whose = dict(noted["pristine"]), str(noted["whose"])
            self.forget()
            while self.applied:
                take_back(self.tree, self._copy(len(self.applied) - 1))
                self.applied.pop()
        except CommandFailed:  # the old tree is gone, or somebody has been in this one
            return False
        self._remember(names)
        with Step(f"changing {len(names)} files to {source.label}", UNPACK_S):
            source.put(self.tree, names)
        self._write(source)
        return True

    def forget(self) -> None:
        """Remove the note, until `add` or `begin` writes a new one."""
        self.note.unlink(missing_ok=True)

    def remember(self, patch: Path) -> None:
        """Remember the files that ``patch`` is the first to change, before it is applied."""
        self._remember(changed_files(patch))

    def _remember(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.pristine:
                self.pristine[name] = _stamp(self.tree / name)

    def add(self, patch: Path, source: Source) -> None:
        """Note that ``patch`` is applied."""
        shutil.copyfile(patch, self._copy(len(self.applied)))
        self.applied.append(sha256_file(patch))
        self._write(source)

    def take_back_to(self, digests: list[str], source: Source) -> None:
        """Revert patches until the applied ones are the beginning of ``digests``."""
        while self.applied != digests[: len(self.applied)]:
            self.forget()
            try:
                take_back(self.tree, self._copy(len(self.applied) - 1))
            except CommandFailed:  # somebody has been in the tree
                self.begin(source)
                return
            self.applied.pop()
            self._write(source)

    def take_objects(self, whose: str, source: Source) -> None:
        """Put the objects of ``whose`` into `OUT`, or else a copy of another kernel's.

        Preferred are the last ones with the same further fragments: others differ in every file.
        """
        out = self.tree / OUT
        if self.whose == whose:
            return
        if self.whose and out.exists():
            parked = self.objects / self.whose
            shutil.rmtree(parked, ignore_errors=True)
            self.objects.mkdir(exist_ok=True)
            out.rename(parked)
            os.utime(parked)
        else:
            shutil.rmtree(out, ignore_errors=True)
        wanted = self.objects / whose
        if wanted.exists():
            wanted.rename(out)
        kept = sorted(self.objects.glob("*"), key=lambda folder: -folder.stat().st_mtime)
        if kept and not out.exists():
            more = whose.partition("+")[2]
            alike = [folder for folder in kept if folder.name.partition("+")[2] == more]
            shutil.copytree((alike or kept)[0], out, symlinks=True)
        for old in kept[KEPT_OBJECTS:]:
            shutil.rmtree(old, ignore_errors=True)
        self.whose = whose
        self._write(source)

    def set_stamps(self) -> None:
        """Give each file that was ever patched the time at which `OUT` has seen its content."""
        note = self.tree / OUT / STAMPS
        seen: dict[str, list[Any] | None] = {}
        if note.is_file():
            seen = load_json(note)
        now = time.time_ns()
        for name, before in self.pristine.items():
            stamp, then = _stamp(self.tree / name), seen.get(name, before)
            if stamp is not None:
                same = then is not None and then[0] == stamp[0]
                stamp[1] = then[1] if same and then else now
                os.utime(self.tree / name, ns=(now, stamp[1]))
            seen[name] = stamp
        note.parent.mkdir(exist_ok=True)
        write_atomic(note, json.dumps(seen, indent=1).encode() + b"\n")

    def _copy(self, number: int) -> Path:
        return self.copies / f"{number:04}.patch"

    def _write(self, source: Source) -> None:
        content: dict[str, Any] = {
            **{"layout": LAYOUT, "source": source.sha256, "applied": self.applied},
            **{"pristine": self.pristine, "whose": self.whose},
        }
        if isinstance(source, TreeSource):
            content["git"] = {"repository": source.store.repository, "tree": source.tree}
        write_atomic(self.note, json.dumps(content, indent=1).encode() + b"\n")


def _stamp(path: Path) -> list[Any] | None:
    """Digest and time stamp in ns of a file, None when it is not there."""
    if not path.is_file():
        return None
    return [sha256_file(path), path.stat().st_mtime_ns]
