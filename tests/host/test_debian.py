# SPDX-License-Identifier: GPL-2.0-or-later
"""The private apt state in a cache that cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eascope.host import debian
from eascope.host.debian import PrivateApt


@pytest.mark.parametrize(("ready", "writable", "locks"), [(1, 0, 0), (1, 1, 1), (0, 0, 1)])
def test_nothing_is_locked_where_nobody_could_write(
    ready: int, writable: int, locks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere but on a file system that is mounted read-only."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    apt = PrivateApt("arm64")
    apt.root.mkdir(parents=True)
    if ready:
        (apt.root / "ready").write_text(debian._WANTED)
    monkeypatch.setattr(os, "access", lambda *_: bool(writable))
    with apt._alone():
        assert (apt.root / "lock").exists() is bool(locks)
