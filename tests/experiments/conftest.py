# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells without kernels, images or engines."""

from pathlib import Path

import pytest

from tests.support.cells import Artefacts, with_artefacts


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Give `runs.cell` and `runs.request` what stands for built artefacts."""
    return with_artefacts(tmp_path, monkeypatch)
