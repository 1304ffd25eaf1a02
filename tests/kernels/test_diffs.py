# SPDX-License-Identifier: GPL-2.0-or-later
"""However a diff was made, patch(1) makes the same tree of it as of git's."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.host.errors import RequestError
from eascope.kernels.diffs import as_git
from eascope.kernels.mails import read_patches
from eascope.kernels.patch_series import changed_files

BEFORE = {
    "kernel/sched/fair.c": "".join(f"line {n}\n" for n in range(1, 20)),
    "kernel/sched/gone.c": "gone\n",
    "lib/notes.lua": "-- old comment\na\nb\nc\nd\n",
    "Makefile": "all:\n",
}
AFTER = {
    "kernel/sched/fair.c": BEFORE["kernel/sched/fair.c"].replace("line 9\n", 'x("diff --git ");\n'),
    "kernel/sched/new.c": "new\n",
    "lib/notes.lua": "-- new comment\na\nb\nc\nD\n",
    "Makefile": "all: x\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Both trees, as ``linux.orig`` and ``linux``."""
    for name, files in (("linux.orig", BEFORE), ("linux", AFTER)):
        for file, text in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return tmp_path


def output(place: Path, *command: str) -> bytes:
    """What a command that compares prints."""
    return subprocess.run(command, cwd=place, capture_output=True, check=False).stdout


def by_git(*how: str) -> Callable[[Path], bytes]:
    """Of commits, as somebody has set git."""

    def made(place: Path) -> bytes:
        tree = place / "tree"
        shutil.copytree(place / "linux.orig", tree)
        me = ("-c", "user.name=me", "-c", "user.email=me@localhost")
        for command in (("init", "-q"), ("add", "."), (*me, "commit", "-qm", "start")):
            subprocess.run(["git", *command], cwd=tree, check=True)
        for path in (place / "linux.orig").rglob("*.c"):
            (tree / path.relative_to(place / "linux.orig")).unlink()
        shutil.copytree(place / "linux", tree, dirs_exist_ok=True)
        subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
        return output(tree, "git", *how, "diff", "--cached", "-U1")

    return made


def by_diff(*how: str) -> Callable[[Path], bytes]:
    return lambda place: output(place, "diff", *how, "linux.orig", "linux")


def by_quilt(strip: str) -> Callable[[Path], bytes]:
    """One file after the other, with quilt's lines between them."""

    def made(place: Path) -> bytes:
        parts = []
        for name in sorted({*BEFORE, *AFTER}):
            old = f"{name}.orig" if strip == "-p0" else f"linux.orig/{name}"
            new = name if strip == "-p0" else f"linux/{name}"
            names = (["--label", "/dev/null"] if name not in BEFORE else ["--label", old]) + (
                ["--label", "/dev/null"] if name not in AFTER else ["--label", new]
            )
            sides = [place / side / name for side in ("linux.orig", "linux")]
            files = [str(path) if path.is_file() else "/dev/null" for path in sides]
            text = output(place, "diff", "-u", *names, *files)
            parts.append(f"Index: {new}\n{'=' * 67}\n".encode() + text)
        return b"".join(parts)

    return made


def of_both(place: Path) -> bytes:
    """Files by git, then one by diff."""
    name = "lib/notes.lua"
    own = output(place, "diff", "-u", f"linux.orig/{name}", f"linux/{name}")
    return by_git()(place).partition(b"diff --git a/lib")[0] + own


MADE: dict[str, Callable[[Path], bytes]] = {
    "git": by_git(),
    "git noprefix": by_git("-c", "diff.noprefix=true"),
    "git mnemonic": by_git("-c", "diff.mnemonicPrefix=true"),
    "diff -ruN": by_diff("-ruN"),
    "diff without context": by_diff("-rN", "-U0"),
    "quilt": by_quilt("-p1"),
    "quilt -p0": by_quilt("-p0"),
    "both kinds": lambda place: (
        by_git()(place).partition(b"diff --git a/lib")[0]
        + b"".join(
            output(place, "diff", "-u", f"linux.orig/{name}", f"linux/{name}")
            for name in ("lib/notes.lua",)
        )
    ),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_the_tree_is_the_same(place: Path, kind: str, ends: bytes) -> None:
    file = place / "made.patch"
    file.write_bytes(b"Why: it is so.\n\n" + MADE[kind](place).replace(b"\n", ends))
    [patch] = read_patches(str(file)).values()
    (place / "read.patch").write_bytes(patch)
    assert {*changed_files(place / "read.patch")} == {*BEFORE, *AFTER}
    tree = place / "result"
    shutil.copytree(place / "linux.orig", tree)
    command = ["patch", "-p1", "--fuzz=0", "--batch", "-s", "-d", str(tree)]
    subprocess.run(command, input=patch, check=True)
    found = {str(p.relative_to(tree)): p.read_text() for p in tree.rglob("*") if p.is_file()}
    assert found == AFTER
    assert as_git(patch) == patch


@pytest.mark.parametrize("name", ["/home/me/linux/kernel/fork.c", "../kernel/fork.c"])
def test_a_name_outside_the_tree_is_refused(name: str) -> None:
    with pytest.raises(RequestError, match="expected a file below the top of Linux"):
        as_git(f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n".encode(), 0)
