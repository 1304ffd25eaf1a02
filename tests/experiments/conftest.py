# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells without kernels, images or engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import cell as cells
from experiments import request as requests
from tests.support.cells import SYMBOL, Artefacts


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Give `experiments.cell` and `experiments.request` what stands for built artefacts."""
    standing = Artefacts(tmp_path)
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cells, "_kernel", standing.kernel)
    monkeypatch.setattr(cells, "guest_image", lambda *asked: standing.initramfs())
    monkeypatch.setattr(cells, "_digest", cells._digest.__wrapped__)
    monkeypatch.setattr(requests, "get_engine", standing.engine)
    monkeypatch.setattr(cells, "trace_symbols", lambda vmlinux: (SYMBOL,))
    return standing
