# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkpoint's key has `LAYOUT` for the scripts that build the machine: both change."""

from __future__ import annotations

from engines.gem5.checkpoint import LAYOUT
from host.cache import digest_of, sha256_file
from host.imports import closure
from tests.support.markdown import ROOT

#: The digest of the files that build the machine, and the layout that they had then.
SEEN = ("7fdaaa290b8b5c955a374082009768942ac4adcbddff2ab443a2775fa656b999", 1)


def test_another_machine_has_another_layout() -> None:
    files = sorted(closure([ROOT / "engines/gem5/inside/machine.py"], ROOT))
    names = {path.relative_to(ROOT).as_posix() for path in files}
    assert {f"engines/gem5/inside/{name}.py" for name in ("machine", "cores", "caches")} <= names
    digest = digest_of({path.relative_to(ROOT).as_posix(): sha256_file(path) for path in files})
    assert (digest, LAYOUT) == SEEN, (
        "files that build gem5's machine changed: does a checkpoint of the old ones still restore "
        "to the same machine? If not, raise LAYOUT in engines/gem5/checkpoint.py. Then set SEEN to "
        f"{(digest, LAYOUT)}"
    )
