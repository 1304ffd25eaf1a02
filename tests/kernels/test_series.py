# SPDX-License-Identifier: GPL-2.0-or-later
"""The queues: they apply to every source without fuzz, are clean, and fail with the hunk."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.host.debian import apt
from eascope.host.proc import need
from eascope.kernels.drift import touched_files
from eascope.kernels.kconfig import configure, fragment_text, make
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.patching import PatchFailed
from eascope.kernels.queues import (
    added_files,
    folders_of_queues,
    is_ported,
    own_files,
    patch_label,
    series_digest,
    series_patches,
)
from eascope.kernels.releases import DEFAULT, RELEASES
from eascope.kernels.source import ARCHITECTURE, Source, offered
from eascope.kernels.tree import OURS
from eascope.kernels.variants import SERIES
from tests.support.queues import apply_series, queues, source_files, source_of
from tests.support.refusals import refusal
from tests.support.toy_linux import LINES

Toy = Callable[[str], tuple[Path, Path]]
TOY = Source("6.12.0", "6.12.0-1", "0" * 64)


def applied(source: Source, folder: Path, kernel: str) -> Path:
    """A copy of the touched files of ``source`` with the queues of ``kernel`` applied in order."""
    shutil.copytree(source_files(source), folder)
    for series in kernel_named(kernel).series:
        apply_series(folder, SERIES / series, source)
    return folder


@pytest.mark.parametrize("kernel", kernel_names())
def test_applies_to_every_source_that_is_here(tmp_path: Path, kernel: str) -> None:
    """The one that the kernel is built from, and the others that were downloaded before."""
    archives = apt(ARCHITECTURE).archives
    release = kernel_named(kernel).release or DEFAULT
    built_from = source_of(release)
    downloaded = [
        source
        for source in offered(release)
        if source != built_from
        and list(archives.glob(f"{source.package}_{source.package_version}_*.deb"))
    ]
    for item in (built_from, *downloaded):
        tree = applied(item, tmp_path / item.package_version, kernel)
        assert (tree / "kernel/sched/eascope.c").is_file()
        assert "eascope_count(feec_called)" in (tree / "kernel/sched/fair.c").read_text()
        assert not list(tree.rglob("*.rej"))
        assert not list(tree.rglob("*.orig"))


#: Headers outside kernel/sched that queues after base may change: few files include them.
FEW_INCLUDE = {"include/uapi/linux/sched/types.h", "include/linux/sched/latnice.h"}


@pytest.mark.parametrize("kernel", kernel_names())
def test_kernels_after_base_change_nothing_that_all_files_read(kernel: str) -> None:
    """Neither a header nor an option: so they compile kernel/sched and what they touch besides."""
    spec, release = kernel_named(kernel), kernel_named(kernel).release or DEFAULT
    files = touched_files(spec.folders(SERIES)[1:], release)
    assert {file for file in files if file.startswith("include/")} <= FEW_INCLUDE, files
    assert not [file for file in files if "Kconfig" in file]
    assert spec.fragments == kernel_named("base").fragments


#: What the scheduler, the drivers and Kconfig read of a source.
READ = [
    *("Kbuild", "Kconfig", "Makefile", "*/Kbuild*", "*/Kconfig*", "*/Makefile*", "arch/arm64/*"),
    *("arch/x86/entry/syscalls/*", "io_uring/*.h"),
    *("drivers/cpu*", "include/*", "init/*", "kernel/*", "lib/*", "scripts/*", "tools/include/*"),
]
#: gcc's checks without its code, but for objects from which kbuild makes headers.
CHECK = "$(CC) $(c_flags) $(if $(filter arch/% scripts/%,$@),-c -o $@,-fsyntax-only) $<"


@pytest.mark.parametrize("release", [name for name in RELEASES if name != DEFAULT])
def test_what_queues_of_a_later_release_change_compiles(tmp_path: Path, release: str) -> None:
    """`make test` builds no kernel of these: each queue that no other one of a kernel follows."""
    source, tree, out = source_of(release), tmp_path / "linux", tmp_path / "out"
    tree.mkdir()
    patterns = [f"{source.package}/{pattern}" for pattern in READ]
    source.tar(tree, ["--strip-components=1", "--wildcards", "--exclude=*.dts*", *patterns])
    kernels = [kernel_named(name) for name in kernel_names() if name.endswith(f"@{release}")]
    below = {kernel.series[:-1] for kernel in kernels}
    for kernel in kernels:
        if kernel.series in below:
            continue
        files = touched_files(kernel.folders(SERIES), release)
        shutil.copytree(
            applied(source, tmp_path / kernel.name, kernel.name), tree, dirs_exist_ok=True
        )
        makefile = (tree / "kernel/sched/Makefile").read_text()
        listed = " ".join(re.findall(r"^obj-.*", makefile, re.MULTILINE)).split()
        objects = [f"kernel/sched/{name}" for name in listed if name.endswith(".o")]
        objects += [f"{file[:-1]}o" for file in files if re.match(r"(drivers|init)/.*\.c", file)]
        assert len(objects) > 7, objects
        configure(tree, out, fragment_text(kernel, release), tmp_path / "log")
        make(tree, out, objects, tmp_path / "log", cmd_cc_o_c=CHECK, KCFLAGS="-Werror")
        for file in files:
            (tree / file).unlink()


@pytest.mark.parametrize("release", RELEASES)
def test_a_series_may_add_its_file_where_all_do(tmp_path: Path, release: str) -> None:
    """At the end of the scheduler's Makefile, where base has nothing."""
    source = source_of(release)
    tree = applied(source, tmp_path / "linux", f"base@{release}")
    (tmp_path / "field").mkdir()
    (tmp_path / "field/series").write_text("0001-file.patch\n")
    (tmp_path / "field/0001-file.patch").write_text(
        "--- a/kernel/sched/Makefile\n+++ b/kernel/sched/Makefile\n@@ -32,3 +32,4 @@\n"
        " obj-y += fair.o\n obj-y += build_policy.o\n obj-y += build_utility.o\n+obj-y += field.o\n"
    )
    apply_series(tree, tmp_path / "field", source)
    lines = (tree / "kernel/sched/Makefile").read_text().splitlines()
    assert lines[-1] == "obj-y += field.o"
    assert "obj-$(CONFIG_EASCOPE) += eascope.o" in lines


def test_every_patch_says_who_and_why() -> None:
    for queue in queues():
        for patch in sorted(queue.rglob("*.patch")):
            head, _, body = patch.read_text().partition("\n\n")
            message = body.partition("\n---\n")[0]
            assert message.endswith(f"\nSigned-off-by: {OURS}"), patch.name
            author = re.search(r"^From: (.+ <.+@.+>)$", head, re.MULTILINE)
            assert author, patch.name
            subject = re.search(r"^Subject: \[PATCH\] (.*(?:\n .*)*)", head, re.MULTILINE)
            assert subject, patch.name
            text = subject[1].replace("\n", "")
            assert re.match(r"[\w/-]+: (EM: )?[A-Z]", text), patch.name
            assert len(text) <= 72, f"{patch.name}: {len(text)} characters"
            words = message.partition("Signed-off-by:")[0].split()
            if author[1] != OURS:
                assert re.match(r"commit [0-9a-f]{40} upstream\.\n", message), patch.name
                assert f"\nSigned-off-by: {author[1]}\n" in message, patch.name
            else:
                assert len(words) > 40, f"{patch.name}: {len(words)} words are no reason"


@pytest.mark.parametrize("queue", ["sum", "feec"])
def test_the_first_patch_names_the_thread_that_a_queue_is_based_on(queue: str) -> None:
    for release in RELEASES:
        first = series_patches(SERIES / queue, release)[0].read_text().partition("\n---\n")[0]
        assert re.search(r"^Link: https://lore\.kernel\.org/all/\S+/$", first, re.MULTILINE)


def checkpatch(source: Source, path: Path) -> str:
    """What the source's own checkpatch says about ``path``, but for long lines."""
    tool = source_files(source) / "scripts/checkpatch.pl"
    command = [need("perl", "perl"), str(tool), "--no-tree", "--terse", "--no-summary"]
    ignored = "LONG_LINE,LONG_LINE_COMMENT,LONG_LINE_STRING"
    ignored += ",UNKNOWN_COMMIT_ID"  # there is no repository of Linux to look it up in
    if path.suffix != ".patch":  # a file is for all releases, and 6.12 has no kzalloc_obj()
        ignored += ",ALLOC_WITH_SIZEOF"
        command.append("--file")
    elif " upstream.\n" in path.read_text():  # others have written the message of a backport
        ignored += ",GIT_COMMIT_ID,COMMIT_LOG_LONG_LINE"
    command += ["--ignore", ignored, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("release", RELEASES)
def test_checkpatch_finds_nothing_but_long_lines(release: str) -> None:
    source = source_of(release)
    for queue in queues():
        files = own_files(queue)
        for patch in series_patches(queue, release) if is_ported(queue, release) else ():
            if files.keys() != {*added_files(patch)}:
                assert checkpatch(source, patch) == ""
        for file in files.values():
            assert checkpatch(source, file) == ""


def test_checkpatch_would_find_something(source: Source, tmp_path: Path) -> None:
    patch = series_patches(SERIES / "feec")[0]
    bad = tmp_path / patch.name
    bad.write_text(re.sub(r"^\+(\t)", "+        ", patch.read_text(), flags=re.MULTILINE))
    assert "code indent should use tabs" in checkpatch(source, bad)


@pytest.mark.parametrize("before", ["", "new\n" * 20], ids=["in place", "offset"])
def test_a_patch_applies(toy: Toy, before: str) -> None:
    tree, queue = toy(before + LINES)
    apply_series(tree, queue, TOY)
    assert (tree / "file.c").read_text() == before + LINES.replace("line 5", "line five")


@pytest.mark.parametrize(
    "text",
    [LINES.replace("line 2", "line two"), LINES.replace("line 5", "line five"), None],
    ids=["fuzz", "there already", "no file"],
)
def test_a_patch_that_does_not_apply_is_refused(toy: Toy, text: str | None) -> None:
    tree, queue = toy(text or "")
    if text is None:
        (tree / "file.c").unlink()
    with pytest.raises(PatchFailed, match=r"toy/0001-change\.patch does not apply"):
        apply_series(tree, queue, TOY)


def test_failure_shows_patch_source_file_and_hunk(toy: Toy) -> None:
    tree, queue = toy(LINES.replace("line 5", "line V"))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, queue, TOY)
    first, _, hunk = str(error.value).partition("\n")
    assert first.startswith("toy/0001-change.patch does not apply to Linux 6.12.0 ")
    assert first.endswith(": file.c: hunk 1 at line 2:")
    assert "  -line 5" in hunk
    assert "  +line five" in hunk


def test_failure_says_what_else_of_the_queue_does_not_apply(toy: Toy) -> None:
    """A newer source has the first patch already, and has changed what the third one changes."""
    tree, queue = toy(LINES.replace("line 5", "line five"))
    first = (queue / "0001-change.patch").read_text()
    # Of a line that is as it was; of one that never was.
    second = first.replace("@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n", "@@ -5,5 +5,5 @@\n")
    second = second.replace("-line 5\n+line five\n line 6\n", " line five\n-line 6\n+line six\n")
    (queue / "0002-change.patch").write_text(second + " line 9\n")
    (queue / "0003-change.patch").write_text(first.replace("-line 5", "-line V"))
    (queue / "series").write_text("".join(f"000{n}-change.patch\n" for n in (1, 2, 3)))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, queue, TOY)
    last = str(error.value).splitlines()[-1]
    assert last.startswith("0001-change.patch is in that source already; 0 of 3 patches of toy")
    assert last.endswith("of the 2 after it these do not apply either: 0003-change.patch")


def test_failure_names_the_patches_that_fail_by_themselves(toy: Toy) -> None:
    """1 fails; 2 needs 1; 3 applies, 4 needs 3; 5 fails in a file of its own."""
    tree, queue = toy(LINES.replace("line 5", "line V"))
    (tree / "other.c").write_text(LINES)
    first = (queue / "0001-change.patch").read_text()

    def change(number: int, old: str, new: str, file: str = "file.c") -> None:
        text = first.replace("file.c", file).replace("-line 5\n+line five", f"-{old}\n+{new}")
        (queue / f"000{number}-change.patch").write_text(text)

    change(2, "line five", "five")
    change(3, "line 5", "line five", "other.c")
    change(4, "line five", "five", "other.c")
    change(5, "line 5", "five", "gone.c")
    (queue / "series").write_text("".join(f"000{n}-change.patch\n" for n in range(1, 6)))
    with pytest.raises(PatchFailed) as error:
        apply_series(tree, queue, TOY)
    last = str(error.value).splitlines()[-1]
    assert "of the 4 after it these do not apply either: 0005-change.patch; 1 of those" in last
    assert last.endswith("1 of those after it only fail where a failed one has left a gap")


#: What is done to the toy's queue, whose ``series`` has one patch, and what is said of it.
WRONG_SERIES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a patch that is not there": (
        lambda queue: (queue / "series").write_text("0001-change.patch\n# later\n0002-gone.patch"),
        "line 3 = '0002-gone.patch': allowed: a patch of that folder, and it is not there",
    ),
    "a slip in a name": (
        lambda queue: (queue / "series").write_text("0001-chagne.patch"),
        "it is not there (did you mean 0001-change.patch?)",
    ),
    "a forgotten patch": (
        lambda queue: shutil.copy(queue / "0001-change.patch", queue / "0002-more.patch"),
        "does not name 0002-more.patch; add it in its place, or '# 0002-more.patch'",
    ),
    "an empty series": (
        lambda queue: (queue / "series").write_text("# 0001-change.patch\n\n"),
        "names no patch",
    ),
    "an empty patch": (
        lambda queue: (queue / "0001-change.patch").write_text(""),
        "line 1 = '0001-change.patch': allowed: a patch that changes something",
    ),
    "a patch that is only a mail": (
        lambda queue: (queue / "0001-change.patch").write_text("Subject: [PATCH]\n\nText.\n"),
        "allowed: a patch that changes something, and it has no hunk",
    ),
    "a patch of another folder": (
        lambda queue: (queue / "series").write_text("../toy/0001-change.patch"),
        "line 1 = '../toy/0001-change.patch': allowed: the name of a patch in the same folder",
    ),
    "a patch that another queue has not": (
        lambda queue: (queue / "series").write_text("../other/0001-change.patch"),
        "line 1 = '../other/0001-change.patch': allowed: a patch of that folder, and it is not",
    ),
    "a patch of no queue": (
        lambda queue: (queue / "series").write_text("../../toy/0001-change.patch"),
        "allowed: the name of a patch in the same folder, or of another queue: ../QUEUE/NAME",
    ),
    "a patch twice": (
        lambda queue: (queue / "series").write_text("0001-change.patch\n" * 2),
        "line 2 = '0001-change.patch': allowed: each patch once",
    ),
    "a series that is not UTF-8": (
        lambda queue: (queue / "series").write_bytes(b"0001-change\xff.patch"),
        "byte 11 is not UTF-8: allowed: names of patches",
    ),
    "no series": (
        lambda queue: (queue / "series").unlink(),
        "No such file or directory: allowed: names of patches, one on a line",
    ),
}


@pytest.mark.parametrize("case", WRONG_SERIES)
def test_a_series_that_cannot_be_meant_is_one_line(toy: Toy, case: str) -> None:
    tree, queue = toy(LINES)
    spoil, words = WRONG_SERIES[case]
    spoil(queue)
    wrong = refusal(apply_series, tree, queue, TOY)
    assert wrong.startswith(f"{queue / 'series'}: ")
    assert words in wrong


def test_a_patch_may_be_left_out_on_purpose(toy: Toy) -> None:
    _, queue = toy(LINES)
    shutil.copy(queue / "0001-change.patch", queue / "0002-more.patch")
    (queue / "series").write_text("0001-change.patch\n# 0002-more.patch: not yet\n")
    assert [patch.name for patch in series_patches(queue)] == ["0001-change.patch"]


def test_a_queue_may_have_patches_of_another_one(toy: Toy) -> None:
    tree, queue = toy(LINES)
    other = queue.parent / "other"
    other.mkdir()
    (other / "series").write_text("../toy/0001-change.patch\n")
    assert series_patches(other) == [queue / "0001-change.patch"]
    apply_series(tree, other, TOY)
    assert "line five" in (tree / "file.c").read_text()
    before = series_digest([other])
    patch = queue / "0001-change.patch"
    patch.write_text(patch.read_text().replace("line five", "line fife"))
    assert series_digest([other]) != before


def ported(queue: Path, lines: str) -> Path:
    """The toy's queue, with an order for Linux 7.3 and a patch of that release."""
    (queue / "7.3").mkdir()
    shutil.copy(queue / "0001-change.patch", queue / "7.3/0001-change.patch")
    (queue / "series-7.3").write_text(lines)
    return queue


def test_a_release_has_patches_of_its_own(toy: Toy) -> None:
    tree, queue = toy(LINES.replace("line 2", "line two"))
    shutil.copy(queue / "0001-change.patch", queue / "0002-same.patch")
    (queue / "series").write_text("0001-change.patch\n0002-same.patch\n")
    ported(queue, "7.3/0001-change.patch\n# 0002-same.patch: mainline has it\n")
    own = queue / "7.3/0001-change.patch"
    own.write_text(own.read_text().replace(" line 2\n", " line two\n"))
    assert [path.name for path in series_patches(queue)] == ["0001-change.patch", "0002-same.patch"]
    assert series_patches(queue, "7.3") == [own]
    assert series_digest([queue]) != series_digest([queue], "7.3")
    apply_series(tree, queue, Source("7.3.9", "7.3.9-1", "0" * 64))
    assert "line five" in (tree / "file.c").read_text()
    with pytest.raises(
        PatchFailed, match=r"^toy/7\.3/0001-change\.patch does not apply to Linux 7"
    ):
        apply_series(tree, queue, Source("7.3.9", "7.3.9-1", "0" * 64))


def test_a_queue_without_an_order_for_a_release_has_the_usual(toy: Toy) -> None:
    _, queue = toy(LINES)
    assert not is_ported(queue, "7.3")
    assert series_patches(queue, "7.3") == series_patches(queue)


def test_a_queue_for_one_release_alone_has_none_for_others(toy: Toy) -> None:
    _, queue = toy(LINES)
    (queue / "series").rename(queue / "series-7.3")
    assert folders_of_queues(queue.parent) == [queue]
    assert [patch.name for patch in series_patches(queue, "7.3")] == ["0001-change.patch"]
    assert (
        refusal(series_patches, queue) == f"{queue}: no patches for Linux 6.12, only for Linux 7.3"
    )


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("7.3/0001-change.patch\n7.4/0001-change.patch\n", "same folder, or in 7.3/"),
        ("../toy/0001-change.patch\n", "same folder, or in 7.3/"),
        ("7.3/0001-chagne.patch\n", "it is not there (did you mean 0001-change.patch?)"),
        (
            "0001-change.patch\n0002-more.patch\n",
            "7.3/0001-change.patch is not in it: allowed: every patch",
        ),
        ("7.3/0001-change.patch\n", "0002-more.patch is not in it: allowed: every patch"),
    ],
)
def test_a_wrong_order_for_a_release_is_one_line(toy: Toy, lines: str, words: str) -> None:
    _, queue = toy(LINES)
    shutil.copy(queue / "0001-change.patch", queue / "0002-more.patch")
    ported(queue, lines)
    wrong = refusal(series_patches, queue, "7.3")
    assert wrong.startswith(f"{queue / 'series-7.3'}: ")
    assert words in wrong


def test_digest_follows_content_and_order(toy: Toy) -> None:
    _, queue = toy(LINES)
    before = series_digest([queue])
    assert before == series_digest([queue])
    patch = queue / "0001-change.patch"
    patch.write_text(patch.read_text().replace("line five", "line fife"))
    assert series_digest([queue]) != before
    assert series_digest([queue, queue]) != series_digest([queue])


def test_a_queue_adds_its_files_before_its_patches(toy: Toy) -> None:
    """One that a patch names is there by then; the digest follows their content."""
    tree, queue = toy(LINES)
    before = series_digest([queue])
    (queue / "files/sub").mkdir(parents=True)
    (queue / "files/sub/one.c").write_text("int one;\n")
    (queue / "files/two.c").write_text("int two;\n\n\tint three;\n")
    (queue / "0002-more.patch").write_text(
        "--- a/sub/one.c\n+++ b/sub/one.c\n@@ -1 +1 @@\n-int one;\n+int four;\n"
    )
    (queue / "series").write_text("0001-change.patch\n0002-more.patch\n")
    with_files = series_digest([queue])
    assert with_files != before
    first = series_patches(queue)[0]
    assert patch_label(first) == "toy/files"
    assert added_files(first) == ["sub/one.c", "two.c"]
    apply_series(tree, queue, TOY)
    assert (tree / "two.c").read_text() == "int two;\n\n\tint three;\n"
    assert (tree / "sub/one.c").read_text() == "int four;\n"
    (queue / "files/two.c").write_text("int two;\n")
    assert series_digest([queue]) != with_files


@pytest.mark.parametrize("content", [b"", b"int one;", b"\xff\n"])
def test_a_file_that_is_no_text_is_one_line(toy: Toy, content: bytes) -> None:
    _, queue = toy(LINES)
    (queue / "files").mkdir()
    (queue / "files/one.c").write_bytes(content)
    wrong = refusal(series_patches, queue)
    wanted = f"{queue / 'files/one.c'}: not text whose lines end with a newline"
    assert wrong == wanted
