# SPDX-License-Identifier: GPL-2.0-or-later
"""McPAT itself: its own examples, and one core derived again (cargo, g++, an x86-64 host)."""

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.core import CORES
from eascope.host.cache import cache_root
from eascope.power.mcpat import DERIVED, POWER_MODELS

MISSING = [tool for tool in ("cargo", "g++", "make", "patch") if shutil.which(tool) is None]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=f"McPAT not run again: no {', '.join(MISSING)} here"),
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="McPAT not run again: its build is for x86-64 only"
    ),
]

#: One core whose layout is small: about 25 s of CPU time.
CORE = "cortex-a53"


def cargo(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cargo in ``power-models``; its builds are shared between checkouts."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(cache_root() / "cargo" / "power-models")}
    return subprocess.run(
        ["cargo", *arguments],
        cwd=POWER_MODELS,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def close(ours: Any, committed: Any, where: str = "") -> None:
    """Equal but for the last digits, which differ between compilers."""
    if isinstance(committed, dict):
        assert isinstance(ours, dict), where
        assert list(ours) == list(committed), where
        for key in committed:
            close(ours[key], committed[key], f"{where}.{key}")
    elif isinstance(committed, float | int) and not isinstance(committed, bool):
        assert ours == pytest.approx(committed, rel=1e-4, abs=1e-9), where
    else:
        assert ours == committed, where


def test_mcpats_examples_and_the_programs_own_tests() -> None:
    done = cargo("test", "--release", "--locked", "--quiet", "--", "--test-threads=1")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_one_core_derived_again(tmp_path: Path) -> None:
    done = cargo(
        *("run", "--release", "--locked", "--quiet", "--"),
        "derive",
        str(CORES),
        str(POWER_MODELS / "anchors.toml"),
        str(tmp_path),
        CORE,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    ours = json.loads((tmp_path / f"{CORE}.json").read_text())
    committed = json.loads((DERIVED / f"{CORE}.json").read_text())
    for record in (ours, committed):
        # How far the sum is from linear is rounding itself.
        for unit in ("core", "l2"):
            record["linearity"][unit].pop("error")
    close(ours, committed)
