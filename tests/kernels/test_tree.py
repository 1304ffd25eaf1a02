# SPDX-License-Identifier: GPL-2.0-or-later
"""A series becomes commits and the same series again."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eascope.host.errors import RequestError
from eascope.host.proc import run
from eascope.kernels.naming import kernel_named
from eascope.kernels.patch_series import changed_files, own_files, series_patches
from eascope.kernels.patching import PatchFailed
from eascope.kernels.releases import DEFAULT
from eascope.kernels.source import Source
from eascope.kernels.tree import _write, main, open_tree, save_tree
from eascope.kernels.variants import SERIES, load_catalogue
from tests.support.patch_series import source_files, source_of

AS_US = ("-c", "user.name=eascope", "-c", "user.email=eascope@localhost")


@pytest.fixture
def tree(source: Source, tmp_path: Path) -> Path:
    """A git tree of the files that the base series touches."""
    folder = tmp_path / "linux"
    shutil.copytree(source_files(source), folder)
    open_tree(folder, load_catalogue().kernels["base"], source)
    return folder


def test_round_trip_gives_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    saved = save_tree(tree, load_catalogue().kernels["base"], tmp_path / "series" / "base")
    wanted = series_patches(SERIES / "base")[1:]
    assert [path.name for path in saved] == [path.name for path in wanted]
    for path, original in zip(saved, wanted, strict=True):
        assert path.read_text() == original.read_text()
    assert (saved[0].parent / "series").read_text() == (SERIES / "base/series").read_text()
    files, originals = own_files(saved[0].parent), own_files(SERIES / "base")
    assert list(files) == list(originals)
    for name, file in files.items():
        assert file.read_bytes() == originals[name].read_bytes(), name


def test_what_a_commit_changes_in_a_file_of_the_series_is_no_patch(
    tree: Path, tmp_path: Path
) -> None:
    """Nor is what it adds; a part of it that changes Linux is."""
    added, changed = tree / "kernel/sched/eascope_new.h", tree / "kernel/sched/eascope.c"
    added.write_text("/* new */\n")
    changed.write_text(changed.read_text() + "/* changed */\n")
    makefile = tree / "kernel/sched/Makefile"
    makefile.write_text(makefile.read_text() + "# new\n")
    for paths in ((changed,), (added, makefile)):
        run(["git", "-C", tree, "add", *paths])
        run(["git", "-C", tree, *AS_US, "commit", "--quiet", "--message", "sched: Change it"])
    series = tmp_path / "series/base"
    saved = save_tree(tree, load_catalogue().kernels["base"], series)
    assert len(saved) == len(series_patches(SERIES / "base"))
    assert changed_files(saved[-1]) == ["kernel/sched/Makefile"]
    files = own_files(series)
    assert files.keys() - own_files(SERIES / "base").keys() == {"kernel/sched/eascope_new.h"}
    assert files["kernel/sched/eascope.c"].read_text().endswith("/* changed */\n")


#: A kernel, and where the patches of its last series lie.
SHARING = {
    "base@7.3": {"base", "base/7.3"},
    "sum-push@7.3": {"sum-push/7.3", "push/7.3"},
    "sum-feec": {"sum-feec", "feec"},
}


@pytest.mark.parametrize("name", SHARING)
def test_releases_and_series_share_what_is_the_same(tmp_path: Path, name: str) -> None:
    kernel = kernel_named(name)
    source = source_of(kernel.release or DEFAULT)
    folder, series = tmp_path / "linux", tmp_path / "series"
    shutil.copytree(source_files(source), folder)
    open_tree(folder, kernel, source)
    shutil.copytree(SERIES, series)
    saved = save_tree(folder, kernel, series / kernel.series[-1])
    assert {str(path.parent.relative_to(series)) for path in saved} == SHARING[name]
    assert all(path.is_file() for path in saved)
    files = {path.relative_to(series) for path in series.rglob("*") if path.is_file()}
    assert files == {path.relative_to(SERIES) for path in SERIES.rglob("*") if path.is_file()}
    for file in files:
        assert (series / file).read_text() == (SERIES / file).read_text(), file


def test_saving_the_default_leaves_other_releases_alone(tree: Path, tmp_path: Path) -> None:
    series = tmp_path / "series" / "base"
    shutil.copytree(SERIES / "base", series)
    save_tree(tree, load_catalogue().kernels["base"], series)
    assert (series / "series-7.3").read_text() == (SERIES / "base/series-7.3").read_text()
    assert list((series / "7.3").iterdir())


def test_a_changed_default_leaves_the_patches_of_other_releases_alone(tmp_path: Path) -> None:
    """One patch moves, one changes, one goes: 7.3's forms stay the same, the latter two whole."""
    series = shutil.copytree(SERIES / "base", tmp_path / "base")
    before = [patch.read_bytes() for patch in series_patches(series, "7.3")]
    *kept, changed, gone = sorted((series / "7.3").glob("*.lines"))
    moved = kept[0]
    texts = {patch.name: patch.read_text() for patch in series_patches(series)[1:]}
    name = f"{moved.stem}.patch"
    texts[name] = re.sub(r"(?m)^@@ -\d+", "@@ -1", texts[name])
    name = f"{changed.stem}.patch"
    texts[name] = re.sub(r"(?m)^(.+)$", r"\1 ", texts[name])
    del texts[f"{gone.stem}.patch"]
    _write(series, texts, DEFAULT)
    assert [patch.read_bytes() for patch in series_patches(series, "7.3")] == before
    assert sorted((series / "7.3").glob("*.lines")) == kept
    assert {changed.with_suffix(".patch"), gone.with_suffix(".patch")} < {*series.glob("7.3/*")}


def test_one_commit_per_patch(tree: Path) -> None:
    log = subprocess.run(
        ["git", "-C", tree, "log", "--format=%an", "eascope-source..HEAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")[:-1]
    assert len(log) == len(series_patches(SERIES / "base"))
    assert {"eascope developers", "Vincent Guittot"} <= set(log)


def test_a_commit_is_signed_off_once(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By who is named, and not if somebody has; what is no name and address is refused."""
    makefile = tree / "kernel/sched/Makefile"
    for message in ("sched: One", "sched: Two\n\nSigned-off-by: A <a@example.org>"):
        makefile.write_text(makefile.read_text() + "# new\n")
        run(["git", "-C", tree, "add", makefile])
        run(["git", "-C", tree, *AS_US, "commit", "--quiet", "--message", message])
    monkeypatch.setenv("EASCOPE_IDENTITY", "B C <b@example.org>")
    base = load_catalogue().kernels["base"]
    *_, one, two = save_tree(tree, base, tmp_path / "series/base")
    assert "\n\nSigned-off-by: B C <b@example.org>\n---\n" in one.read_text()
    assert two.read_text().count("Signed-off-by: ") == 1
    monkeypatch.setenv("EASCOPE_IDENTITY", "B C")
    with pytest.raises(RequestError, match=r"^EASCOPE_IDENTITY = 'B C': allowed: Name <mail@host>"):
        save_tree(tree, base, tmp_path / "again/base")


def test_uncommitted_changes_are_not_lost(tree: Path, tmp_path: Path) -> None:
    (tree / "kernel/sched/fair.c").write_text("x\n")
    target = tmp_path / "series" / "base"
    with pytest.raises(RequestError, match="not committed"):
        save_tree(tree, load_catalogue().kernels["base"], target)
    assert not target.exists()


def test_save_wants_a_tree_of_open(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path / "other"], check=True)
    with pytest.raises(RequestError, match="no tag eascope-source"):
        save_tree(tmp_path / "other", load_catalogue().kernels["base"], tmp_path / "series")


def test_a_patch_that_does_not_apply(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "linux"
    shutil.copytree(source_files(source), folder)
    fair = folder / "kernel/sched/fair.c"
    fair.write_text(fair.read_text().replace("throttled_lb_pair", "throttled"))
    with pytest.raises(PatchFailed, match=r"base/0002-.* does not apply to Linux 6\.12"):
        open_tree(folder, load_catalogue().kernels["base"], source)


def test_command_line_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", "bass", str(tmp_path / "x")]) == 2
    assert main(["open", "base", str(tmp_path)]) == 2
    messages = capsys.readouterr().err
    assert "did you mean base?" in messages
    assert "already exists" in messages
    assert messages.count("\n") == 2
