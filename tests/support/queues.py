# SPDX-License-Identifier: GPL-2.0-or-later
"""The queues of patches, and the kernel's files that they touch."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from host.cache import artefact, sha256_bytes
from kernels.queues import is_ported, series_patches
from kernels.source import Source, find_source, offered_releases
from kernels.variants import SERIES

#: What checkpatch reads besides the patch.
CHECKPATCH = ("scripts/checkpatch.pl", "scripts/spelling.txt", "scripts/const_structs.checkpatch")


@cache
def source_of(release: str) -> Source:
    """The source that kernels of ``release`` are built from; skips where no suite has it."""
    if release not in offered_releases():
        pytest.skip(f"no suite offers the source of Linux {release} (any more)")
    return find_source((), release)


def queues() -> list[Path]:
    """The folders of all queues."""
    return sorted(path.parent for path in SERIES.glob("*/series"))


def touched_files(release: str) -> list[str]:
    """Existing files that the queues for ``release`` change (not those that they add)."""
    changed: set[str] = set()
    added: set[str] = set()
    for queue in queues():
        for patch in series_patches(queue, release) if is_ported(queue, release) else ():
            for part in re.split(r"^diff --git ", patch.read_text(), flags=re.MULTILINE)[1:]:
                name = part.split(" b/", 1)[1].splitlines()[0]
                (added if "\nnew file mode " in part else changed).add(name)
    return sorted(changed - added)


def source_files(source: Source) -> Path:
    """A folder with the files of ``source`` that the queues touch, and checkpatch; cached."""
    names = [*touched_files(source.release.name), *CHECKPATCH]

    def build(folder: Path) -> None:
        source.tar(
            folder, ["--strip-components=1", *(f"{source.package}/{name}" for name in names)]
        )

    key = {"source": source.sha256, "files": sha256_bytes("\n".join(names).encode())}
    return artefact("kernel-files", key, build, label=f"files of {source.label}", large=True)
