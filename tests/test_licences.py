# SPDX-License-Identifier: GPL-2.0-or-later
"""The licence: its text, and one line in every source file of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINE = "SPDX-License-Identifier: GPL-2.0-or-later"
SUFFIXES = {".py", ".sh", ".c", ".h", ".S", ".rs", ".lds", ".yaml"}
NAMES = {"Makefile", ".ci/run", "experiments/sweeps/Snakefile"}


def is_source(name: str) -> bool:
    """What a queue adds to Linux has Linux's licence, as its patches do."""
    inside = name.startswith("kernels/series/")
    return not inside and (name in NAMES or Path(name).suffix in SUFFIXES)


def has_line(text: str) -> bool:
    """Among the first two lines: a script starts with its interpreter. An empty file needs none."""
    return not text or any(LINE in line for line in text.splitlines()[:2])


def sources() -> list[str]:
    """Every source file of ours that git knows, or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    return [name for name in sorted(set(listed.split("\0"))) if is_source(name)]


def test_every_source_file_names_its_licence() -> None:
    names = [name for name in sources() if (ROOT / name).is_file()]
    assert len(names) > 300
    without = [name for name in names if not has_line((ROOT / name).read_text())]
    assert without == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        (f"// {LINE}\nint a;\n", True),
        (f"#!/bin/sh\n# {LINE}\n", True),
        ("// SPDX-License-Identifier: GPL-2.0-only\n", False),
        (f"int a;\nint b;\n// {LINE}\n", False),
    ],
)
def test_the_licence_line_must_be_at_the_top(text: str, expected: bool) -> None:
    assert has_line(text) == expected


def test_the_licence_is_the_gpl() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert text.split()[:6] == ["GNU", "GENERAL", "PUBLIC", "LICENSE", "Version", "2,"]
    assert "END OF TERMS AND CONDITIONS" in text
