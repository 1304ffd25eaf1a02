# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkpoint's key has `LAYOUT` for the scripts that build the machine: both change."""

from __future__ import annotations

from eascope.engines.gem5.checkpoint import LAYOUT
from eascope.host.imports import closure, code_digest
from tests.support.repo import REPO

#: The digest of the files that build the machine, and the layout that they had then.
SEEN = ("0318b47cc696f1bcb60f62c96d6164cf31ab286e3a4843b1f1f017da82152093", 1)


def test_another_machine_has_another_layout() -> None:
    files = sorted(closure([REPO / "engines/gem5/inside/machine.py"], REPO))
    names = {path.relative_to(REPO).as_posix() for path in files}
    assert {f"engines/gem5/inside/{name}.py" for name in ("machine", "cores", "caches")} <= names
    digest = code_digest(files)
    assert (digest, LAYOUT) == SEEN, (
        "files that build gem5's machine changed: does a checkpoint of the old ones still restore "
        "to the same machine? If not, raise LAYOUT in engines/gem5/checkpoint.py. Then set SEEN to "
        f"{(digest, LAYOUT)}"
    )
