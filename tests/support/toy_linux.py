# SPDX-License-Identifier: GPL-2.0-or-later
"""A git repository that looks like a kernel's."""

import subprocess
from pathlib import Path

MAKEFILE = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = {}\n"
LINES = "".join(f"line {number}\n" for number in range(1, 10))


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=me", "-c", "user.email=me@localhost"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def toy_linux(folder: Path) -> Path:
    """A repository with two commits; the second is tagged v7.3.4, the first is on `old`."""
    for name in ("a.c", "kernel/b.c", "sound/card.c", "sound/Kconfig"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(LINES)
    (folder / "Makefile").write_text(MAKEFILE.format(3))
    git(folder.parent, "init", "--quiet", "--initial-branch=main", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=one")
    git(folder, "branch", "old")
    (folder / "Makefile").write_text(MAKEFILE.format(4))
    (folder / "a.c").write_text(LINES.replace("line 9", "line nine"))
    (folder / "new.c").write_text("new\n")
    git(folder, "rm", "--quiet", "kernel/b.c")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=two")
    git(folder, "tag", "v7.3.4")
    return folder
