# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped series: they apply to every source without fuzz, compile, and are clean."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eascope.host.debian import apt
from eascope.host.proc import need
from eascope.kernels.drift import touched_files
from eascope.kernels.kconfig import configure, fragment_text, make
from eascope.kernels.naming import kernel_named, kernel_names
from eascope.kernels.patch_series import (
    added_files,
    is_ported,
    own_files,
    patch_file,
    patches_in,
    series_patches,
)
from eascope.kernels.releases import DEFAULT, RELEASES
from eascope.kernels.source import ARCHITECTURE, Source, offered
from eascope.kernels.tree import OURS
from eascope.kernels.variants import SERIES
from tests.support.patch_series import all_series, apply_series, source_files, source_of


def applied(source: Source, folder: Path, kernel: str) -> Path:
    """A copy of the touched files of ``source`` with the series of ``kernel`` applied in order."""
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


#: Headers outside kernel/sched that series after base may change: few files include them.
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
def test_what_series_of_a_later_release_change_compiles(tmp_path: Path, release: str) -> None:
    """`make test` builds no kernel of these: each series that no other one of a kernel follows."""
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
    for series in all_series():
        for patch in map(patch_file, [*patches_in(series), *patches_in(series / "7.3")]):
            head, _, body = patch.read_text().partition("\n\n")
            message = body.partition("\n---\n")[0]
            assert message.endswith(f"\nSigned-off-by: {OURS}"), patch.name
            author = re.search(r"^From: (.+ <.+@.+>)$", head, re.MULTILINE)
            assert author, patch.name
            subject = re.search(r"^Subject: \[PATCH\] (.*(?:\n .*)*)", head, re.MULTILINE)
            assert subject, patch.name
            text = subject[1].replace("\n", "")
            assert re.match(r"([\w/-]+: )+[A-Z]", text), patch.name
            assert len(text) <= 72, f"{patch.name}: {len(text)} characters"
            words = message.partition("Signed-off-by:")[0].split()
            if author[1] != OURS:
                assert re.match(r"commit [0-9a-f]{40} upstream\.\n", message), patch.name
                assert f"\nSigned-off-by: {author[1]}\n" in message, patch.name
            else:
                assert len(words) > 40, f"{patch.name}: {len(words)} words are no reason"


@pytest.mark.parametrize("series", ["sum", "feec"])
def test_the_first_patch_names_the_thread_that_a_series_is_based_on(series: str) -> None:
    for release in RELEASES:
        first = series_patches(SERIES / series, release)[0].read_text().partition("\n---\n")[0]
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
    for series in all_series():
        files = own_files(series)
        for patch in series_patches(series, release) if is_ported(series, release) else ():
            if files.keys() != {*added_files(patch)}:
                assert checkpatch(source, patch) == ""
        for file in files.values():
            assert checkpatch(source, file) == ""


def test_checkpatch_would_find_something(source: Source, tmp_path: Path) -> None:
    patch = series_patches(SERIES / "feec")[0]
    bad = tmp_path / patch.name
    bad.write_text(re.sub(r"^\+(\t)", "+        ", patch.read_text(), flags=re.MULTILINE))
    assert "code indent should use tabs" in checkpatch(source, bad)
