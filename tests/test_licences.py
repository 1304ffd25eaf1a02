# SPDX-License-Identifier: GPL-2.0-or-later
"""The licence: one line at the top of every source file of ours."""

import subprocess
from pathlib import Path

from tests.support.repo import REPO

LINE = "SPDX-License-Identifier: GPL-2.0-or-later"
SUFFIXES = {".py", ".sh", ".c", ".h", ".S", ".rs", ".lds", ".yaml"}
NAMES = {"Makefile", ".ci/run", "experiments/sweeps/Snakefile"}


def test_every_source_file_names_its_licence() -> None:
    """Among its first two lines: a script starts with its interpreter. An empty file needs none."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPO, check=True, capture_output=True).stdout.decode()
    without = [
        name
        for name in sorted({*listed.split("\0")} - {""})
        if "/files/" not in name or not name.startswith("kernels/series/")  # Linux's own licence
        if (name in NAMES or Path(name).suffix in SUFFIXES) and (REPO / name).is_file()
        if (text := (REPO / name).read_text()) and LINE not in "".join(text.splitlines()[:2])
    ]
    assert not without
