# SPDX-License-Identifier: GPL-2.0-or-later
"""A toy's series: it applies or fails with the hunk; what its ``series`` may say; its digest."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.host.cache import sha256_bytes
from eascope.kernels.patch_series import (
    added_files,
    folders_of_series,
    is_ported,
    patch_label,
    series_digest,
    series_patches,
    write_patch,
)
from eascope.kernels.patching import PatchFailed
from eascope.kernels.source import Source
from tests.support.patch_series import apply_series
from tests.support.refusals import refusal
from tests.support.toy_linux import LINES

Toy = Callable[[str], tuple[Path, Path]]
TOY = Source("6.12.0", "6.12.0-1", "0" * 64)


@pytest.mark.parametrize("before", ["", "new\n" * 20], ids=["in place", "offset"])
def test_a_patch_applies(toy: Toy, before: str) -> None:
    tree, series = toy(before + LINES)
    apply_series(tree, series, TOY)
    assert (tree / "file.c").read_text() == before + LINES.replace("line 5", "line five")


@pytest.mark.parametrize(
    "text",
    [LINES.replace("line 2", "line two"), LINES.replace("line 5", "line five"), None],
    ids=["fuzz", "there already", "no file"],
)
def test_a_patch_that_does_not_apply_is_refused(toy: Toy, text: str | None) -> None:
    tree, series = toy(text or "")
    if text is None:
        (tree / "file.c").unlink()
    with pytest.raises(PatchFailed, match=r"toy/0001-change\.patch does not apply"):
        apply_series(tree, series, TOY)


def test_failure_shows_patch_source_file_and_hunk(toy: Toy) -> None:
    tree, series = toy(LINES.replace("line 5", "line V"))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, series, TOY)
    first, _, hunk = str(error.value).partition("\n")
    assert first.startswith("toy/0001-change.patch does not apply to Linux 6.12.0 ")
    assert first.endswith(": file.c: hunk 1 at line 2:")
    assert "  -line 5" in hunk
    assert "  +line five" in hunk


def test_failure_says_what_else_of_the_series_does_not_apply(toy: Toy) -> None:
    """A newer source has the first patch already, and has changed what the third one changes."""
    tree, series = toy(LINES.replace("line 5", "line five"))
    first = (series / "0001-change.patch").read_text()
    # Of a line that is as it was; of one that never was.
    second = first.replace("@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n", "@@ -5,5 +5,5 @@\n")
    second = second.replace("-line 5\n+line five\n line 6\n", " line five\n-line 6\n+line six\n")
    (series / "0002-change.patch").write_text(second + " line 9\n")
    (series / "0003-change.patch").write_text(first.replace("-line 5", "-line V"))
    (series / "series").write_text("".join(f"000{n}-change.patch\n" for n in (1, 2, 3)))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, series, TOY)
    last = str(error.value).splitlines()[-1]
    assert last.startswith("0001-change.patch is in that source already; 0 of 3 patches of toy")
    assert last.endswith("of the 2 after it these do not apply either: 0003-change.patch")


def test_failure_names_the_patches_that_fail_by_themselves(toy: Toy) -> None:
    """1 fails; 2 needs 1; 3 applies, 4 needs 3; 5 fails in a file of its own."""
    tree, series = toy(LINES.replace("line 5", "line V"))
    (tree / "other.c").write_text(LINES)
    first = (series / "0001-change.patch").read_text()

    def change(number: int, old: str, new: str, file: str = "file.c") -> None:
        text = first.replace("file.c", file).replace("-line 5\n+line five", f"-{old}\n+{new}")
        (series / f"000{number}-change.patch").write_text(text)

    change(2, "line five", "five")
    change(3, "line 5", "line five", "other.c")
    change(4, "line five", "five", "other.c")
    change(5, "line 5", "five", "gone.c")
    (series / "series").write_text("".join(f"000{n}-change.patch\n" for n in range(1, 6)))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, series, TOY)
    last = str(error.value).splitlines()[-1]
    assert "of the 4 after it these do not apply either: 0005-change.patch; 1 of those" in last
    assert last.endswith("1 of those after it only fail where a failed one has left a gap")


#: What ``series`` of the toy's series, which has one patch, may not say, and what is said of it.
WRONG_SERIES: list[tuple[bytes, str]] = [
    (
        b"0001-change.patch\n# later\n0002-gone.patch",
        "line 3 = '0002-gone.patch'; expected a patch of that folder, and it is not there",
    ),
    (b"0001-chagne.patch", "it is not there (did you mean 0001-change.patch?)"),
    (b"# 0001-change.patch\n\n", "names no patch"),
    (
        b"../toy/0001-change.patch",
        "line 1 = '../toy/0001-change.patch'; expected the name of a patch in the same folder",
    ),
    (
        b"../other/0001-change.patch",
        "line 1 = '../other/0001-change.patch'; expected a patch of that folder, and it is not",
    ),
    (
        b"../../toy/0001-change.patch",
        "expected the name of a patch in the same folder, or of another series: ../SERIES/NAME",
    ),
    (b"0001-change.patch\n" * 2, "line 2 = '0001-change.patch'; expected each patch once"),
    (b"0001-change\xff.patch", "byte 11 is not UTF-8; expected names of patches"),
]


@pytest.mark.parametrize(("content", "words"), WRONG_SERIES)
def test_a_series_that_cannot_be_meant_is_one_line(toy: Toy, content: bytes, words: str) -> None:
    tree, series = toy(LINES)
    (series / "series").write_bytes(content)
    wrong = refusal(apply_series, tree, series, TOY)
    assert wrong.startswith(f"{series / 'series'}: ")
    assert words in wrong


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1 = '0001-change.patch'; expected a patch that changes something"),
        ("Subject: [PATCH]\n\nText.\n", "a patch that changes something, and it has no hunk"),
    ],
)
def test_a_patch_without_a_change_is_one_line(toy: Toy, content: str, words: str) -> None:
    _, series = toy(LINES)
    (series / "0001-change.patch").write_text(content)
    assert words in refusal(series_patches, series)


def test_a_forgotten_patch_and_a_missing_series_are_one_line(toy: Toy) -> None:
    _, series = toy(LINES)
    shutil.copy(series / "0001-change.patch", series / "0002-more.patch")
    assert refusal(series_patches, series).endswith(
        "does not name 0002-more.patch; add it in its place, or '# 0002-more.patch' if it is left "
        "out on purpose"
    )
    (series / "series").unlink()
    words = "No such file or directory; expected names of patches, one on a line"
    assert words in refusal(series_patches, series)


def test_a_patch_may_be_left_out_on_purpose(toy: Toy) -> None:
    _, series = toy(LINES)
    shutil.copy(series / "0001-change.patch", series / "0002-more.patch")
    (series / "series").write_text("0001-change.patch\n# 0002-more.patch: not yet\n")
    assert [patch.name for patch in series_patches(series)] == ["0001-change.patch"]


def test_a_series_may_have_patches_of_another_one(toy: Toy) -> None:
    tree, series = toy(LINES)
    other = series.parent / "other"
    other.mkdir()
    (other / "series").write_text("../toy/0001-change.patch\n")
    assert series_patches(other) == [series / "0001-change.patch"]
    apply_series(tree, other, TOY)
    assert "line five" in (tree / "file.c").read_text()
    before = series_digest([other])
    patch = series / "0001-change.patch"
    patch.write_text(patch.read_text().replace("line five", "line fife"))
    assert series_digest([other]) != before


def ported(series: Path, lines: str) -> Path:
    """The toy's series, with an order for Linux 7.3 and a patch of that release."""
    (series / "7.3").mkdir()
    shutil.copy(series / "0001-change.patch", series / "7.3/0001-change.patch")
    (series / "series-7.3").write_text(lines)
    return series


def test_a_release_has_patches_of_its_own(toy: Toy) -> None:
    tree, series = toy(LINES.replace("line 2", "line two"))
    shutil.copy(series / "0001-change.patch", series / "0002-same.patch")
    (series / "series").write_text("0001-change.patch\n0002-same.patch\n")
    ported(series, "7.3/0001-change.patch\n# 0002-same.patch: mainline has it\n")
    own = series / "7.3/0001-change.patch"
    own.write_text(own.read_text().replace(" line 2\n", " line two\n"))
    assert [path.name for path in series_patches(series)] == [
        "0001-change.patch",
        "0002-same.patch",
    ]
    assert series_patches(series, "7.3") == [own]
    assert series_digest([series]) != series_digest([series], "7.3")
    apply_series(tree, series, Source("7.3.9", "7.3.9-1", "0" * 64))
    assert "line five" in (tree / "file.c").read_text()
    with pytest.raises(
        PatchFailed, match=r"^toy/7\.3/0001-change\.patch does not apply to Linux 7"
    ):
        apply_series(tree, series, Source("7.3.9", "7.3.9-1", "0" * 64))


def in_context(series: Path) -> tuple[Path, bytes]:
    """The place and the bytes of a patch of 7.3 that differs from the toy's in context alone."""
    own = ported(series, "7.3/0001-change.patch\n") / "7.3/0001-change.patch"
    whole = own.read_bytes().replace(b"@@ -2,7 +2,7 @@\n line 2", b"@@ -1,7 +1,7 @@ f()\n line two")
    own.write_bytes(whole)
    return own, whole


def test_a_patch_of_which_few_lines_differ_lies_as_these(toy: Toy) -> None:
    tree, series = toy(LINES.replace("line 2", "line two").replace("line 1\n", ""))
    own, whole = in_context(series)
    before = series_digest([series], "7.3")
    write_patch(own, whole)
    assert not own.exists()
    lines = f"sha256:{sha256_bytes(whole)}\n8:@@ -1,7 +1,7 @@ f()\n9: line two\n"
    assert own.with_suffix(".lines").read_text() == lines
    [patch] = series_patches(series, "7.3")
    assert patch.read_bytes() == whole
    assert patch_label(patch) == "toy/7.3/0001-change.patch"
    assert series_digest([series], "7.3") == before
    apply_series(tree, series, Source("7.3.9", "7.3.9-1", "0" * 64))
    assert "line five" in (tree / "file.c").read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [(" line 8\n", ""), ("line", "row")],
    ids=["number of lines", "most lines"],
)
def test_a_patch_that_differs_in_many_lines_is_whole(toy: Toy, old: str, new: str) -> None:
    own, whole = in_context(toy(LINES)[1])
    write_patch(own, whole)
    other = whole.decode().replace(old, new).encode()
    write_patch(own, other)
    assert own.read_bytes() == other != whole
    assert not own.with_suffix(".lines").exists()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("0001-change.patch", "line five", "line fife"),
        ("0001-change.patch", "@@ -2", "\n@@ -2"),
        ("7.3/0001-change.lines", "line two", "line 2"),
        ("7.3/0001-change.lines", "sha256:", "sha512:"),
        ("7.3/0001-change.lines", "9:", "nine:"),
    ],
)
def test_another_result_of_a_context_is_one_line(toy: Toy, file: str, old: str, new: str) -> None:
    _, series = toy(LINES)
    own, whole = in_context(series)
    write_patch(own, whole)
    (series / file).write_text((series / file).read_text().replace(old, new))
    wrong = refusal(series_patches, series, "7.3")
    assert wrong.startswith(f"{own.with_suffix('.lines')}: sha256 = '")
    assert f"{series / '0001-change.patch'} with these lines; restore both files, or" in wrong


def test_a_context_without_its_patch_is_one_line(toy: Toy) -> None:
    _, series = toy(LINES)
    own, whole = in_context(series)
    write_patch(own, whole)
    (series / "0001-change.patch").unlink()
    assert "restore both files" in refusal(series_patches, series, "7.3")


def test_a_series_without_an_order_for_a_release_has_the_usual(toy: Toy) -> None:
    _, series = toy(LINES)
    assert not is_ported(series, "7.3")
    assert series_patches(series, "7.3") == series_patches(series)


def test_a_series_for_one_release_alone_has_none_for_others(toy: Toy) -> None:
    _, series = toy(LINES)
    (series / "series").rename(series / "series-7.3")
    assert folders_of_series(series.parent) == [series]
    assert [patch.name for patch in series_patches(series, "7.3")] == ["0001-change.patch"]
    assert (
        refusal(series_patches, series)
        == f"{series}: no patches for Linux 6.12, only for Linux 7.3"
    )


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("7.3/0001-change.patch\n7.4/0001-change.patch\n", "same folder, or in 7.3/"),
        ("../toy/0001-change.patch\n", "same folder, or in 7.3/"),
        ("7.3/0001-chagne.patch\n", "it is not there (did you mean 0001-change.patch?)"),
        ("0001-change.patch\n0002-more.patch\n", "does not name 7.3/0001-change.patch; add it"),
        ("7.3/0001-change.patch\n", "does not name 0002-more.patch; add it"),
    ],
)
@pytest.mark.parametrize("context", [False, True])
def test_a_wrong_order_for_a_release_is_one_line(
    toy: Toy, lines: str, words: str, context: bool
) -> None:
    _, series = toy(LINES)
    shutil.copy(series / "0001-change.patch", series / "0002-more.patch")
    own = ported(series, lines) / "7.3/0001-change.patch"
    if context:
        write_patch(own, own.read_bytes())
    wrong = refusal(series_patches, series, "7.3")
    assert wrong.startswith(f"{series / 'series-7.3'}: ")
    assert words in wrong


def test_digest_follows_content_and_order(toy: Toy) -> None:
    _, series = toy(LINES)
    before = series_digest([series])
    assert before == series_digest([series])
    patch = series / "0001-change.patch"
    patch.write_text(patch.read_text().replace("line five", "line fife"))
    assert series_digest([series]) != before
    assert series_digest([series, series]) != series_digest([series])


def test_a_series_adds_its_files_before_its_patches(toy: Toy) -> None:
    """One that a patch names is there by then; the digest follows their content."""
    tree, series = toy(LINES)
    before = series_digest([series])
    (series / "files/sub").mkdir(parents=True)
    (series / "files/sub/one.c").write_text("int one;\n")
    (series / "files/two.c").write_text("int two;\n\n\tint three;\n")
    (series / "0002-more.patch").write_text(
        "--- a/sub/one.c\n+++ b/sub/one.c\n@@ -1 +1 @@\n-int one;\n+int four;\n"
    )
    (series / "series").write_text("0001-change.patch\n0002-more.patch\n")
    with_files = series_digest([series])
    assert with_files != before
    first = series_patches(series)[0]
    assert patch_label(first) == "toy/files"
    assert added_files(first) == ["sub/one.c", "two.c"]
    apply_series(tree, series, TOY)
    assert (tree / "two.c").read_text() == "int two;\n\n\tint three;\n"
    assert (tree / "sub/one.c").read_text() == "int four;\n"
    (series / "files/two.c").write_text("int two;\n")
    assert series_digest([series]) != with_files


@pytest.mark.parametrize("content", [b"", b"int one;", b"\xff\n"])
def test_a_file_that_is_no_text_is_one_line(toy: Toy, content: bytes) -> None:
    _, series = toy(LINES)
    (series / "files").mkdir()
    (series / "files/one.c").write_bytes(content)
    words = f"{series / 'files/one.c'}: not text whose lines end with a newline"
    assert refusal(series_patches, series) == words
