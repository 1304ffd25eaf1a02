# SPDX-License-Identifier: GPL-2.0-or-later
"""A person's git tree as a source: what it is, what is wrong with it, and changing to another."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.host.dry import nothing_built
from eascope.host.errors import RequestError
from eascope.kernels.patch_series import added_files, series_patches
from eascope.kernels.releases import RELEASES
from eascope.kernels.source import Source
from eascope.kernels.trees import Tree, TreeSource, read_tree, series_to_apply, tree_source
from eascope.kernels.variants import SERIES
from eascope.kernels.worktree import FOLDER, OUT, home_of, worktree
from tests.support.refusals import refusal
from tests.support.toy_linux import LINES, git


def files(folder: Path) -> dict[str, str]:
    """Contents by name, without what eascope and builds keep there."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != OUT
    }


def test_a_commit_is_read_without_what_no_build_reads(linux: Path, tmp_path: Path) -> None:
    source = tree_source(read_tree(f"mine={linux}@old"))
    assert (source.version, source.release.name) == ("7.3.3", "7.3")
    assert source.package_version == git(linux, "rev-parse", "--short=12", "old")
    assert source.label == f"Linux 7.3.3 (mine: {source.package_version})"
    source.unpack(tmp_path / "copy")
    assert set(files(tmp_path / "copy")) == {"Makefile", "a.c", "kernel/b.c", "sound/Kconfig"}
    record = source.provenance()
    assert (record.source, record.source_tested) == ("git", False)
    assert str(linux) not in str(record)


def test_changes_that_are_not_committed_are_another_source(linux: Path, tmp_path: Path) -> None:
    head = tree_source(read_tree(f"mine={linux}"))
    assert head.tree == git(linux, "rev-parse", "HEAD^{tree}")
    assert head.sha256 == tree_source(read_tree(f"mine={linux}@v7.3.4")).sha256
    (linux / "a.c").write_text("edited\n")
    (linux / "stray.txt").write_text("not known to git\n")
    before = git(linux, "status", "--porcelain"), set((linux / ".git").rglob("*"))
    tree_source.cache_clear()
    edited = tree_source(read_tree(f"mine={linux}"))
    assert edited.sha256 != head.sha256
    assert edited.package_version == f"{head.package_version} with changes"
    edited.unpack(tmp_path / "copy")
    assert files(tmp_path / "copy")["a.c"] == "edited\n"
    assert "stray.txt" not in files(tmp_path / "copy")
    # The repository is as it was.
    assert (git(linux, "status", "--porcelain"), set((linux / ".git").rglob("*"))) == before


def test_a_folder_with_an_at_sign_is_a_folder(linux: Path) -> None:
    place = linux.rename(linux.with_name("li@nux"))
    assert read_tree(f"mine={place}") == Tree("mine", place)
    assert read_tree(f"mine={place}@HEAD@{{0}}") == Tree("mine", place, "HEAD@{0}")
    assert tree_source(read_tree(f"mine={place}@HEAD@{{0}}")).version == "7.3.4"


WRONG: dict[str, tuple[Callable[[Path], str], str]] = {
    "no name": (str, "expected NAME=TREE or NAME=TREE@REF"),
    "no tree": (lambda _: "mine=", "expected NAME=TREE or NAME=TREE@REF"),
    "no folder": (lambda linux: f"mine={linux}x", "no such directory; expected a git repository"),
    "no repository": (lambda linux: f"mine={linux.parent}", "expected a git repository of Linux"),
    "no commit": (lambda linux: f"mine={linux}@nex", "unknown to git; expected a commit, br"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_tree_is_one_line(linux: Path, case: str) -> None:
    text, words = WRONG[case]
    wrong = refusal(lambda: tree_source(read_tree(text(linux))))
    assert words in wrong
    assert wrong.startswith("--kernel ")


def test_a_repository_of_something_else_is_one_line(linux: Path) -> None:
    (linux / "Makefile").write_text("all:\n")
    with pytest.raises(RequestError, match="no kernel version in its Makefile; expected a tree of"):
        tree_source(read_tree(f"mine={linux}"))


def test_changes_are_not_kept_where_nothing_is_built(linux: Path, tmp_path: Path) -> None:
    (linux / "a.c").write_text("int changed;\n")
    with nothing_built():
        dry = tree_source(read_tree(f"mine={linux}"))
        assert dry.has(["a.c"]) == ["a.c"]
    assert not (tmp_path / "cache").exists()
    tree_source.cache_clear()
    assert tree_source(read_tree(f"mine={linux}")).sha256 == dry.sha256
    assert (tmp_path / "cache" / "git-objects").is_dir()


def test_a_tree_that_has_base_is_known_by_the_files_it_adds(linux: Path) -> None:
    """At once: git is asked for a few names, and nothing is copied."""
    base, feec = SERIES / "base", SERIES / "feec"
    assert series_to_apply(read_tree(f"mine={linux}"), [base]) == ["base"]
    adds = {name for patch in series_patches(base, "7.3") for name in added_files(patch)}
    assert "kernel/sched/eascope.c" in adds
    for name in sorted(adds):
        (linux / name).parent.mkdir(parents=True, exist_ok=True)
        (linux / name).write_text("x\n")
    git(linux, "add", ".")
    tree_source.cache_clear()
    assert series_to_apply(read_tree(f"mine={linux}"), [base, feec]) == ["feec"]
    git(linux, "rm", "--quiet", "--force", "kernel/sched/eascope.c")
    tree_source.cache_clear()
    with pytest.raises(RequestError) as caught:
        series_to_apply(read_tree(f"mine={linux}"), [base])
    assert "not kernel/sched/eascope.c; use a tree with all of it, or none" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """A series that changes line 5 of a.c."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "series").write_text("0001-change.patch\n")
    (folder / "0001-change.patch").write_text(
        "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
        "@@ -4,3 +4,3 @@\n line 4\n-line 5\n+line five\n line 6\n"
    )
    return folder


def build(source: Source, series: Path) -> set[str]:
    """Do as make: what was built anew, by the files' time stamps. It also checks the objects."""
    built = set()
    with worktree(source, [series]) as tree:
        for name, text in files(tree).items():
            object_file, file = tree / OUT / f"{name}.o", tree / name
            if not object_file.exists() or object_file.stat().st_mtime_ns < file.stat().st_mtime_ns:
                object_file.parent.mkdir(parents=True, exist_ok=True)
                object_file.write_text(text)
                built.add(name)
            assert object_file.read_text() == text
    return built


def test_another_commit_costs_what_it_changes(
    linux: Path, series: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    new, old = read_tree(f"mine={linux}"), read_tree(f"theirs={linux}@old")
    unpacked = []
    unpack = TreeSource.unpack

    def counted(source: TreeSource, folder: Path) -> None:
        unpacked.append(source.name)
        unpack(source, folder)

    monkeypatch.setattr(TreeSource, "unpack", counted)
    assert build(tree_source(old), series) == {"Makefile", "a.c", "kernel/b.c", "sound/Kconfig"}
    assert build(tree_source(new), series) == {"Makefile", "a.c", "new.c"}
    linux_tree = tmp_path / "cache" / f"{FOLDER}-git" / "linux"
    assert "kernel/b.c" not in files(linux_tree)
    assert "line five" in (linux_tree / "a.c").read_text()
    assert "line nine" in (linux_tree / "a.c").read_text()
    # Each has objects of its own: going back and forth costs nothing.
    assert build(tree_source(old), series) == set()
    assert build(tree_source(new), series) == set()
    (linux / "new.c").write_text("newer\n")
    tree_source.cache_clear()
    assert build(tree_source(new), series) == {"new.c"}
    assert build(tree_source(old), series) == set()
    assert unpacked == ["theirs"]


def test_a_tree_of_another_repository_is_unpacked(
    linux: Path, series: Path, tmp_path: Path
) -> None:
    build(tree_source(read_tree(f"mine={linux}")), series)
    git(tmp_path, "clone", "--quiet", str(linux), str(tmp_path / "clone"))
    (tmp_path / "clone/a.c").write_text(LINES)
    clone = tree_source(read_tree(f"mine={tmp_path / 'clone'}"))
    assert "a.c" in build(clone, series)


def test_releases_keep_trees_of_their_own() -> None:
    homes = {home_of(Source(f"{name}.1", f"{name}.1-1", "0" * 64)).name for name in RELEASES}
    assert homes == {FOLDER, f"{FOLDER}-7.3"}
