# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands for a reader's own patches and trees, typed in where the reader has them.

The reader's patch changes comments of the scheduler, so a kernel with it is built from another
one's objects. The reader's tree of Linux is Debian's source as a git repository, with the patch on
a branch. What the commands write into the checkout is written into a copy of it.
"""

import re
from pathlib import Path

import pytest

from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import best, offered
from tests.support.printed import EASCOPE, Command, commands
from tests.support.reader import Reader, reader_in
from tests.support.repo import REPO
from tests.support.toy_linux import git

pytestmark = [pytest.mark.long, pytest.mark.guest]

OWN = re.compile(r"my-idea|my-branch|KERNEL_SRC=")
LATER = "7.3"
#: A comment of fair.c that both releases have, and what the reader makes of it.
OLD, NEW = "Completely Fair Scheduling (CFS) Class", "Completely Fair Scheduling (CFS) class"
TREE_FILE = "kernel/sched/fair.c"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of git trees of Linux by release, without what no build reads."""
    return tmp_path_factory.mktemp("trees")


def linux(trees: Path, release: str) -> Path:
    """The tree of a release: the commit `vRELEASE`, and the reader's `my-branch`, checked out."""
    folder = trees / release
    if not folder.exists():
        best(offered(release)).unpack(folder)
        git(trees, "init", "--quiet", "--initial-branch=main", str(folder))
        # What Debian packs, its .gitignore may leave out.
        git(folder, "add", "--force", ".")
        git(folder, "commit", "--quiet", f"--message=Linux {release}")
        git(folder, "tag", f"v{release}")
        git(folder, "checkout", "--quiet", "-b", "my-branch")
        text = (folder / TREE_FILE).read_text()
        assert OLD in text
        (folder / TREE_FILE).write_text(text.replace(OLD, NEW, 1))
        git(folder, "commit", "--quiet", "--all", "--message=sched/fair: Write class as others do")
    return folder


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A copy of the checkout, and an empty home."""
    return reader_in(tmp_path)


def equip(reader: Reader, tree: Path, release: str) -> None:
    """Give the reader the tree, and the patch in every form that pages name."""
    (reader.home / "linux").symlink_to(tree)
    (reader.home / "src").mkdir()
    (reader.home / "src" / "linux").symlink_to(tree)
    commits = f"v{release}..my-branch"
    patch = git(tree, "format-patch", "--stdout", commits) + "\n"
    git(tree, "format-patch", "--quiet", "-o", str(reader.home / "my-idea"), commits)
    for name in ("v2.mbx", "v8.mbx"):
        version = f"--reroll-count={name[1]}"
        mails = git(tree, "format-patch", "--stdout", "--cover-letter", version, commits) + "\n"
        (reader.checkout / name).write_text(mails)
    (reader.checkout / "my-idea.patch").write_text(patch)


def release_of(command: Command) -> str:
    """The release that a command is about."""
    return LATER if re.search(r"@v?7\.3|--release 7\.3|KERNEL_SRC=", command.text) else DEFAULT


def printed(name: str, release: str, wanted: str = "") -> list[Command]:
    """The commands of a page that are about the reader's own on a release, in their order."""
    return [
        command
        for command in commands(REPO / name, (REPO / name).read_text())
        if command.words[:1] in ([EASCOPE], ["git"])
        and OWN.search(command.text)
        and re.search(wanted, command.text)
        and release_of(command) == release
    ]


SERIES = "docs/recipes/your-patch.md"


@pytest.mark.parametrize(
    ("page", "release", "wanted", "count"),
    [
        ("README.md", DEFAULT, "", 3),
        (SERIES, DEFAULT, "my-idea --platform|--name|bisect", 7),
        (SERIES, LATER, "--onto|push-v8", 2),
        (SERIES, DEFAULT, "--patch", 1),
        (SERIES, LATER, "--kernel", 1),
        (SERIES, LATER, "KERNEL_SRC=", 1),
    ],
)
def test_a_page_can_be_typed_in_with_a_patch_or_a_tree(
    page: str, release: str, wanted: str, count: int, reader: Reader, trees: Path
) -> None:
    equip(reader, linux(trees, release), release)
    typed = printed(page, release, wanted)
    assert len(typed) == count
    for command in typed:
        done = reader.type(command.text)
        assert done.returncode == 0, f"{command.text}: {done.stderr}"
    # The head of the last comparison names what was compared.
    (variant,) = [
        word for word in typed[-1].words if re.fullmatch("(my-idea(@.*)?|mine|cas)", word)
    ]
    assert variant in done.stdout


@pytest.mark.parametrize("source", ["v2.mbx", "~/my-idea", "~/linux@v6.12..my-branch"])
def test_a_series_is_imported_from_what_the_page_names(
    source: str, reader: Reader, trees: Path
) -> None:
    """Each is the same patch, which applies and compiles, after our base series and before it."""
    assert f"| `{source}`" in (REPO / SERIES).read_text()
    equip(reader, linux(trees, DEFAULT), DEFAULT)
    for onto in ("base", "plain"):
        name = f"mine-onto-{onto}"
        text = f"{EASCOPE} series import {source} --name {name} --onto {onto}"
        done = reader.type(text)
        assert done.returncode == 0, f"{text}: {done.stderr}"
        assert f"{name} applies and kernel/sched/ compiles: Linux 6.12" in done.stdout
        folder = reader.checkout / "kernels" / "series" / name
        (patch,) = (folder / "series").read_text().split()
        assert f"+ * {NEW}" in (folder / patch).read_text()
        own = (reader.checkout / "kernels" / "own" / f"{name}.toml").read_text()
        assert f'series = "{name}"' in own
        assert ("first = true" in own) is (onto == "plain")
