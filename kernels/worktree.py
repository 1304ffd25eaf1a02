"""One kernel tree that is kept, so that a changed patch costs the files that it touches.

It lies in the cache beside the kernels, unpacked once for each source. To make it the tree of
another kernel, patches are taken back down to the last one that both have, and the other's are
applied: what both share keeps its time stamps and its objects. What a tree holds is written down
before it is changed, so one that was left half changed is unpacked anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from configs.host.cache import cache_root, locked, sha256_file, write_atomic
from configs.host.errors import EascopeError
from configs.host.proc import CommandFailed, Step
from kernels.source import Source, apply_patch, series_patches, take_back

FOLDER = "kernel-tree"
#: Below the tree: kbuild then names its sources by relative paths, so that neither the folder nor
#: ccache, which makes paths relative in its own way, shows in what is built.
OUT = "build-eascope"
#: Raised whenever a tree that an older version left cannot serve.
LAYOUT = 1
UNPACK_S = 30.0


@contextmanager
def worktree(source: Source, queues: list[Path]) -> Iterator[Path]:
    """The tree of ``source`` with ``queues`` applied, for as long as nobody else may have it.

    What was built in it before lies below `OUT`, but for what a build left that was killed.

    :raises PatchFailed: the tree then has the patches before the one that does not apply.
    """
    home = cache_root() / FOLDER
    with locked(home / ".lock"):
        kept = _Kept(home)
        digests = [sha256_file(patch) for queue in queues for patch in series_patches(queue)]
        kept.begin(source)
        kept.take_back_to(digests, source)
        place = 0
        for patches in map(series_patches, queues):
            for number, patch in enumerate(patches):
                if place >= len(kept.applied):
                    # It is tried before: nothing is changed when it does not apply.
                    apply_patch(kept.tree, patches, number, source, before=kept.forget)
                    kept.add(patch, source)
                place += 1
        if kept.busy.exists():
            shutil.rmtree(kept.tree / OUT, ignore_errors=True)
        kept.busy.touch()
        try:
            yield kept.tree
        except EascopeError:  # make ended by itself: what it left is whole
            kept.busy.unlink()
            raise
        kept.busy.unlink()


class _Kept:
    """The tree, copies of the patches that it has, and the note of which those are."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tree = home / "linux"
        self.copies = home / "applied"
        self.note = home / "tree.json"
        self.busy = home / "busy"
        self.applied: list[str] = []

    def begin(self, source: Source) -> None:
        """What is noted, or a tree that was just unpacked."""
        noted: dict[str, Any] = {}
        if self.note.is_file():
            noted = json.loads(self.note.read_bytes())
        if (noted.get("layout"), noted.get("source")) == (LAYOUT, source.sha256):
            self.applied = list(noted["applied"])
            return
        self.forget()
        self.applied = []
        for folder in (self.tree, self.copies):
            shutil.rmtree(folder, ignore_errors=True)
        self.copies.mkdir(parents=True)
        with Step(f"unpacking {source.label}", UNPACK_S):
            source.unpack(self.tree)
        self._write(source)

    def forget(self) -> None:
        """From here on the tree is what nobody has noted, until `add` or `begin`."""
        self.note.unlink(missing_ok=True)

    def add(self, patch: Path, source: Source) -> None:
        """``patch`` is applied."""
        shutil.copyfile(patch, self._copy(len(self.applied)))
        self.applied.append(sha256_file(patch))
        self._write(source)

    def take_back_to(self, digests: list[str], source: Source) -> None:
        """Take patches back until what is applied is the beginning of ``digests``."""
        while self.applied != digests[: len(self.applied)]:
            self.forget()
            try:
                take_back(self.tree, self._copy(len(self.applied) - 1))
            except CommandFailed:  # somebody has been in the tree
                self.begin(source)
                return
            self.applied.pop()
            self._write(source)

    def _copy(self, number: int) -> Path:
        return self.copies / f"{number:04}.patch"

    def _write(self, source: Source) -> None:
        content = {"layout": LAYOUT, "source": source.sha256, "applied": self.applied}
        write_atomic(self.note, json.dumps(content, indent=1).encode() + b"\n")
