# SPDX-License-Identifier: GPL-2.0-or-later
"""Each check of ``python -m tests.support.reliability``, with counts that fit into minutes."""

import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from tests.support.reliability.__main__ import CHECKS
from tests.support.reliability.campaign import finish, tables

pytestmark = [pytest.mark.guest, pytest.mark.long]

COUNTS = Namespace(kills=6, disks=4, jumps=5, flips=1, seed=7, at_once=1)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reliability")
    (folder / "reference").mkdir()
    finish(folder / "reference")
    return folder


@pytest.mark.parametrize("check", CHECKS)
def test_a_campaign_survives(check: str, reference: Path) -> None:
    if check in ("cache", "disks") and not shutil.which("unshare"):
        pytest.skip("no unshare (Debian package util-linux)")
    print(CHECKS[check](reference, tables(reference / "reference"), COUNTS))
