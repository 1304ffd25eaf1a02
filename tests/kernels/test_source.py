# SPDX-License-Identifier: GPL-2.0-or-later
"""Which source is taken, and what KERNEL_SRC may be."""

from pathlib import Path

import pytest

from eascope.host.debian import apt
from eascope.host.errors import EascopeError, RequestError
from eascope.kernels import source as module
from eascope.kernels.releases import RELEASES, release_of
from eascope.kernels.source import Source, _compare, directory_source, find_source, upstream
from eascope.kernels.variants import SERIES
from tests.support.refusals import refusal

MAKEFILE = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = {}\n"


def sources(*versions: str) -> list[Source]:
    """Sources of these package versions, as `offered` returns them."""
    return [Source(upstream(version), version, "0" * 64) for version in versions]


@pytest.fixture(autouse=True)
def _no_kernel_src(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNEL_SRC", raising=False)


def test_newest_tested_version_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        module, "offered", lambda _: sources("6.12.999-1", "6.12.107-1", "6.12.95-1")
    )
    assert find_source().package_version == "6.12.107-1"
    assert capsys.readouterr().err == ""


def test_untested_version_warns_and_is_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "offered", lambda _: sources("6.12.999-2", "6.12.998-1"))
    source = find_source()
    assert source.package_version == "6.12.999-2"
    warning = capsys.readouterr().err
    assert "6.12.999-2) is untested: tested are " + ", ".join(RELEASES["6.12"].tested) in warning
    assert source.provenance().source_tested is False


def test_upstream_version_of_a_package() -> None:
    assert upstream("6.12.117-1~deb12u1") == "6.12.117"
    assert upstream("6.12.95-1~bpo12+1") == "6.12.95"
    assert upstream("1:6.12.8-3") == "6.12.8"


def test_versions_are_ordered_as_debian_does() -> None:
    assert _compare("6.12.117-1", "6.12.117-1~deb12u1") == 1
    assert _compare("6.12.95-1~bpo12+1", "6.12.107-1") == -1
    assert _compare("6.12.95-1", "6.12.95-1") == 0


@pytest.mark.parametrize(
    ("version", "release"),
    [
        *(("6.12.117", "6.12"), ("7.3.4", "7.3"), ("7.3.0", "7.3"), ("7.4.0", "7.3")),
        *(("7.2.12", "7.3"), ("6.18.1", "6.12"), ("6.1.176", "6.12"), ("8.0.0", "7.3")),
    ],
)
def test_a_version_has_the_series_of_the_nearest_release(version: str, release: str) -> None:
    assert release_of(version).name == release


def test_each_release_has_a_package_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = []

    def resolve(package: str, suite: str) -> dict[str, str]:
        packages.append(package)
        return {"version": "7.3.4-1~bpo13+1", "sha256": "0" * 64}

    monkeypatch.setattr(apt("arm64"), "resolve", resolve)
    source = find_source((), "7.3")
    assert set(packages) == {"linux-source-7.3"}
    assert source.label == "Linux 7.3.4 (linux-source-7.3 7.3.4-1~bpo13+1)"
    assert source.tested
    assert source.provenance().source == "linux-source-7.3"


def test_a_release_that_is_not_offered_says_which_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(package: str, suite: str) -> dict[str, str]:
        raise EascopeError(f"package {package} is in none of: trixie")

    monkeypatch.setattr(apt("arm64"), "resolve", resolve)
    names = ["linux-source-6.12", "linux-source-7.10", "linux-source-7.4", "linux-source-x"]
    monkeypatch.setattr(apt("arm64"), "names", lambda prefix: names)
    with pytest.raises(EascopeError) as caught:
        find_source((), "7.3")
    assert str(caught.value) == (
        "package linux-source-7.3 is in none of: trixie; offered are: 6.12, 7.4, 7.10"
    )


def test_kernel_src_of_another_release_than_the_one_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = kernel_tree(tmp_path / "mine")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    assert find_source((), "6.12").directory == tree
    assert refusal(find_source, (), "7.3") == (
        f"KERNEL_SRC = {str(tree)!r} is Linux 6.12.117; "
        "use a tree of Linux 7.3, or names without @7.3"
    )


def kernel_tree(folder: Path, sublevel: int = 117) -> Path:
    """A folder that looks like a kernel tree."""
    (folder / "kernel").mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE.format(sublevel))
    (folder / "kernel" / "fork.c").write_text("int fork;\n")
    (folder / "sound").mkdir()
    (folder / "sound" / "card.c").write_text("int card;\n")
    (folder / "sound" / "Kconfig").write_text("# sound\n")
    (folder / "include" / "sound").mkdir(parents=True)
    (folder / "include" / "sound" / "core.h").write_text("\n")
    return folder


def test_kernel_src_is_copied_without_what_no_build_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = kernel_tree(tmp_path / "my kernel")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    source = find_source()
    assert (source.version, source.package_version) == ("6.12.117", "my kernel")
    assert source.provenance().source == "KERNEL_SRC"
    source.unpack(tmp_path / "copy")
    copied = {str(p.relative_to(tmp_path / "copy")) for p in (tmp_path / "copy").rglob("*.*")}
    assert copied == {"kernel/fork.c", "include/sound/core.h"}
    assert (tmp_path / "copy" / "sound" / "Kconfig").is_file()


def test_kernel_src_is_identified_by_its_bytes(tmp_path: Path) -> None:
    first, copy = kernel_tree(tmp_path / "one"), kernel_tree(tmp_path / "two")
    assert directory_source(first).sha256 == directory_source(copy).sha256
    (tmp_path / "three").mkdir()
    edited = kernel_tree(tmp_path / "three" / "x")
    (edited / "kernel" / "fork.c").write_text("int fork2;\n")
    assert directory_source(edited).sha256 != directory_source(first).sha256


def test_kernel_src_that_is_no_clean_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNEL_SRC", str(tmp_path))
    assert "no Makefile; expected a Linux" in refusal(find_source)
    (tmp_path / "Makefile").write_text("all:\n")
    assert "no kernel version in its Makefile" in refusal(find_source)
    tree = kernel_tree(tmp_path / "built")
    (tree / ".config").write_text("")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    assert "the tree has been built in; run make mrproper" in refusal(find_source)


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """A series whose second patch adds a file."""
    folder = tmp_path / "queue"
    folder.mkdir()
    (folder / "series").write_text("0001-change.patch\n0002-add.patch\n")
    (folder / "0001-change.patch").write_text(
        "--- a/kernel/fork.c\n+++ b/kernel/fork.c\n@@ -1 +1 @@\n"
    )
    (folder / "0002-add.patch").write_text(
        "--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1 @@\n+new\n"
    )
    return folder


def test_a_tree_that_has_the_series_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, series: Path
) -> None:
    """To read and copy a whole tree takes minutes; that it is the wrong one shows at once."""
    tree = kernel_tree(tmp_path / "patched")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    assert find_source([series]).directory == tree
    (tree / "kernel" / "new.c").write_text("new\n")
    monkeypatch.setattr(module, "_tree_sha256", lambda _: pytest.fail("the tree was read"))
    assert refusal(find_source, [series]) == (
        f"KERNEL_SRC = {str(tree)!r} already contains queue/0002-add.patch (kernel/new.c); use a "
        "tree without the series queue, which is applied to a copy"
    )


def test_our_base_series_is_known_by_the_files_that_it_adds(tmp_path: Path) -> None:
    tree = kernel_tree(tmp_path / "patched")
    module.check_directory(tree, [SERIES / "base"])
    (tree / "kernel" / "sched").mkdir()
    (tree / "kernel" / "sched" / "eascope.c").write_text("\n")
    with pytest.raises(
        RequestError, match=r"already contains base/files \(kernel/sched/eascope\.c\)"
    ):
        module.check_directory(tree, [SERIES / "base"])
