# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel's source comes from: Debian's linux-source-6.12, or the tree in KERNEL_SRC.

The version moves with every security update, so which one is used is chosen (the newest that the
series were tested on), recorded, and warned about when it is not among the tested ones.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from host.cache import digest_of, sha256_file
from host.debian import SUITES, apt
from host.errors import EascopeError, RequestError, nearest
from host.proc import CommandFailed, need, run, say
from host.strict import shown_path

PACKAGE = "linux-source-6.12"
#: Upstream versions on which the series apply, build and boot; `tests/kernels` holds them to it.
TESTED = ("6.12.95", "6.12.107", "6.12.117")
#: Whose private apt state: the package is for all architectures, and the guest's is there anyway.
ARCHITECTURE = "arm64"

#: Two thirds of the tree that our builds never read, left out to save time and disk. Makefiles and
#: Kconfig files stay, since the configuration reads all of them.
LEFT_OUT = (
    "arch/arm/boot/dts/*",
    "arch/arm64/boot/dts/*",
    "tools/testing/*",
    "tools/perf/*",
    *(
        f"{folder}/*.{suffix}"
        for folder in (
            "drivers/accel",
            "drivers/gpu",
            "drivers/infiniband",
            "drivers/media",
            "drivers/net",
            "drivers/scsi",
            "drivers/staging",
            "sound",
        )
        for suffix in "ch"
    ),
)


@dataclass(frozen=True)
class Source:
    """A kernel source that has been found, not yet unpacked.

    :param version: upstream version, ``6.12.117``.
    :param package_version: Debian's, or the directory's name for KERNEL_SRC.
    :param sha256: of the package file, or over the directory's files.
    :param directory: the tree of KERNEL_SRC; None for the Debian package.
    """

    version: str
    package_version: str
    sha256: str
    directory: Path | None = None

    @property
    def label(self) -> str:
        """``Linux 6.12.117 (linux-source-6.12 6.12.117-1)`` for messages."""
        origin = str(self.directory) if self.directory else f"{PACKAGE} {self.package_version}"
        return f"Linux {self.version} ({origin})"

    @property
    def tested(self) -> bool:
        """Whether the series were tested on this version."""
        return self.version in TESTED

    def provenance(self) -> dict[str, str | bool]:
        """What goes into records."""
        return {
            "source": "KERNEL_SRC" if self.directory else PACKAGE,
            "package_version": self.package_version,
            "source_sha256": self.sha256,
            "source_tested": self.tested,
        }

    def unpack(self, folder: Path) -> None:
        """Put the tree, without what no build reads, into the empty ``folder``.

        :raises EascopeError: when the package cannot be downloaded or read.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if self.directory:
            skip = ["--anchored", "--exclude=./.git"]
            skip += [f"--exclude=./{pattern}" for pattern in LEFT_OUT]
            pack = f"tar -C {_quoted(self.directory)} {' '.join(map(_quoted, skip))} -cf - ."
            run(["sh", "-c", f"{pack} | tar -C {_quoted(folder)} -xf -"], label="copy KERNEL_SRC")
            return
        skip = ["--anchored", *(f"--exclude={PACKAGE}/{pattern}" for pattern in LEFT_OUT)]
        self.tar(folder, [*skip, "--strip-components=1"])

    def tar(self, folder: Path, options: list[str]) -> None:
        """Run tar with ``options`` on the package's tarball, extracting into ``folder``.

        :raises EascopeError: when the package cannot be downloaded or read.
        """
        deb = self.deb()
        inner = f"./usr/src/{PACKAGE}.tar.xz"
        script = (
            f"dpkg-deb --fsys-tarfile {_quoted(deb)} | tar -xOf - {inner} | "
            f"tar -C {_quoted(folder)} -xJf - {' '.join(map(_quoted, options))}"
        )
        need("xz", "xz-utils")
        run(["bash", "-o", "pipefail", "-c", script], label=f"unpack {PACKAGE}")

    def deb(self) -> Path:
        """The package file, downloaded into the private apt state when it is not there.

        :raises EascopeError: when it cannot be had, or has another digest.
        """
        state = apt(ARCHITECTURE)
        for suite, _ in SUITES:
            if state.resolve(PACKAGE, suite)["version"] == self.package_version:
                path = state.download([PACKAGE], suite)[0].path
                if sha256_file(path) != self.sha256:
                    raise EascopeError(f"{path}: its SHA-256 is not {self.sha256}")
                return path
        raise EascopeError(f"{PACKAGE} {self.package_version} is no longer offered")


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "'\\''") + "'"


def upstream(package_version: str) -> str:
    """``6.12.117`` from ``6.12.117-1~deb12u1``."""
    return re.split(r"[-~+]", package_version.partition(":")[2] or package_version)[0]


def offered() -> list[Source]:
    """Every version of the package that a supported suite offers, newest first.

    :raises EascopeError: when none does.
    """
    state = apt(ARCHITECTURE)
    by_version: dict[str, Source] = {}
    for suite, _ in SUITES:
        fields = state.resolve(PACKAGE, suite)
        version = fields["version"]
        by_version[version] = Source(upstream(version), version, fields["sha256"])
    order = sorted(by_version, key=functools.cmp_to_key(_compare), reverse=True)
    return [by_version[version] for version in order]


def _compare(left: str, right: str) -> int:
    """-1, 0, 1 in Debian's order of versions."""
    if left == right:
        return 0
    later = subprocess.run(["dpkg", "--compare-versions", left, "gt", right], check=False)
    return 1 if later.returncode == 0 else -1


def find_source(queues: Sequence[Path] = ()) -> Source:
    """The tree in ``$KERNEL_SRC``, else the newest tested package, else the newest with a warning.

    :param queues: what will be applied to it.
    :raises RequestError: when KERNEL_SRC is not a kernel tree, or has one of ``queues`` already.
    :raises EascopeError: when no package is to be had.
    """
    given = os.environ.get("KERNEL_SRC")
    if given:
        check_unpatched(Path(given), queues)
        source = directory_source(Path(given))
    else:
        sources = offered()
        source = next((each for each in sources if each.tested), sources[0])
    if not source.tested:
        warn_untested(source)
    return source


def check_unpatched(directory: Path, queues: Sequence[Path]) -> None:
    """Refuse a tree in which a patch has been applied, before minutes are spent on reading it.

    :raises RequestError: naming a file that is there and that a patch of ``queues`` adds.
    """
    for queue in queues:
        for patch in series_patches(queue):
            for name in _ADDED.findall(patch.read_text(errors="replace")):
                if (directory / name).exists():
                    raise RequestError(
                        f"KERNEL_SRC = {str(directory)!r}: {name} is there, which "
                        f"{queue.name}/{patch.name} adds: allowed: a tree without the queue "
                        f"{queue.name}, which is applied to a copy"
                    )


@functools.cache
def warn_untested(source: Source) -> None:
    """Say once that the series were not tested on this version."""
    say(f"  warning: {source.label} is untested: tested are {', '.join(TESTED)}")


@functools.cache
def directory_source(directory: Path) -> Source:
    """The kernel tree at ``directory``, identified by the bytes of its files.

    :raises RequestError: when it is not an unconfigured kernel tree.
    """
    makefile = directory / "Makefile"
    try:
        head = makefile.read_text(errors="replace")[:400]
    except OSError as error:
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: no Makefile: allowed: a Linux source tree"
        ) from error
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", head, re.MULTILINE))
    if len(fields) != 3:
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: no kernel version in its Makefile: "
            "allowed: a Linux source tree"
        )
    if (directory / ".config").exists() or (directory / "include" / "config").exists():
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: the tree has been built in: "
            "allowed: a clean tree (run: make mrproper)"
        )
    version = ".".join(fields[key] for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    return Source(version, directory.resolve().name, _tree_sha256(directory), directory.resolve())


def _tree_sha256(directory: Path) -> str:
    """Over names and digests of the files that a build reads."""
    skip = (".git",)
    fields: dict[str, str] = {}
    for root, folders, names in os.walk(directory):
        if Path(root) == directory:
            folders[:] = [name for name in folders if name not in skip]
        for name in names:
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                fields[str(path.relative_to(directory))] = sha256_file(path)
    return digest_of(fields)


class PatchFailed(EascopeError):
    """A patch of a queue does not apply; the message ends with the hunk."""


def series_patches(folder: Path) -> list[Path]:
    """The patches of the queue in ``folder``, in the order of its ``series`` file.

    :raises RequestError: one line, for a ``series`` that cannot be what was meant: it names a patch
        that is not there, elsewhere, empty or named before, or it leaves one of the folder out.
    """
    series = folder / "series"
    try:
        lines = series.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{shown_path(series)}: byte {error.start} is not UTF-8: allowed: names of patches"
        ) from error
    except OSError as error:
        raise RequestError(
            f"{shown_path(series)}: {error.strerror}: allowed: names of patches, one on a line"
        ) from error
    patches: list[Path] = []
    for number, line in enumerate(lines, start=1):
        if name := line.partition("#")[0].strip():
            patch = folder / name
            if allowed := _wrong_patch(patch, name, patches):
                where = f"{shown_path(series)}: line {number} = {name!r}"
                raise RequestError(f"{where}: allowed: {allowed}")
            patches.append(patch)
    if not patches:
        raise RequestError(f"{shown_path(series)}: no patch: allowed: at least one on a line")
    mentioned = {word for line in lines for word in re.split(r"[\s#:,]+", line)}
    for patch in sorted(folder.glob("*.patch")):
        if patch.name not in mentioned:
            raise RequestError(
                f"{shown_path(series)}: {patch.name} is not in it: allowed: every patch of its "
                f"folder, in order, or '# {patch.name}' for one that is left out on purpose"
            )
    return patches


def _wrong_patch(patch: Path, name: str, before: list[Path]) -> str:
    """What a line of a ``series`` file may be instead of ``name``; empty where that is right."""
    if "/" in name:
        return "the name of a patch in the same folder"
    if patch in before:
        return "each patch once"
    if not patch.is_file():
        known = [path.name for path in patch.parent.glob("*.patch")]
        return f"a patch of that folder, and it is not there{nearest(name, known)}"
    if not _CHANGE.search(patch.read_bytes()):
        return "a patch that changes something, and it has no hunk"
    return ""


def series_digest(folders: list[Path]) -> str:
    """SHA-256 over the names and bytes of the patches, in order."""
    return digest_of(
        {
            "patches": [
                [folder.name, patch.name, sha256_file(patch)]
                for folder in folders
                for patch in series_patches(folder)
            ]
        }
    )


#: What a patch has at least once: a hunk, or what git says of a file without one.
_CHANGE = re.compile(
    rb"^(@@ -|rename from |old mode |new file mode |deleted file mode )", re.MULTILINE
)
#: A file that a patch adds.
_ADDED = re.compile(r"^--- /dev/null\n\+\+\+ b/(\S+)", re.MULTILINE)
_PATCH = ("-p1", "--fuzz=0", "--batch", "--no-backup-if-mismatch", "--reject-file=-")


def apply_series(tree: Path, folder: Path, source: Source) -> None:
    """Apply a queue to ``tree``, without fuzz.

    :raises PatchFailed: as `apply_patch`; the tree then has the patches before that one.
    """
    patches = series_patches(folder)
    for number in range(len(patches)):
        apply_patch(tree, patches, number, source)


def apply_patch(
    tree: Path,
    patches: list[Path],
    number: int,
    source: Source,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Apply one patch of a queue, without fuzz, or leave the tree as it is.

    :param before: called when it will apply and nothing has been changed yet.
    :raises PatchFailed: naming patch, source and hunk, and what else of the queue does not apply.
    """
    patch = patches[number]
    command: list[str | Path] = [need("patch", "patch"), *_PATCH, "--forward", "-d", tree]
    command += ["-i", patch.resolve()]
    try:
        run([*command, "--dry-run"])
    except CommandFailed as error:
        message = _hunk_message(patch, source, error.log_text)
        rest = _rest_message(tree, patch.parent.name, patches, number)
        raise PatchFailed(f"{message}\n{rest}") from error
    before()
    run(command)


def take_back(tree: Path, patch: Path) -> None:
    """Undo a patch that was applied.

    :raises CommandFailed: when the tree is not as the patch left it.
    """
    run([need("patch", "patch"), *_PATCH, "--reverse", "-d", tree, "-i", patch.resolve()])


def _would_apply(tree: Path, patch: Path, *how: str) -> bool:
    command = [need("patch", "patch"), *_PATCH, "--dry-run", *how]
    try:
        run([*command, "-d", tree, "-i", patch.resolve()])
    except CommandFailed:
        return False
    return True


def _rest_message(tree: Path, queue: str, patches: list[Path], number: int) -> str:
    """What became of the queue's other patches, each of those after ``number`` tried by itself."""
    parts = []
    if _would_apply(tree, patches[number], "--reverse", "--force"):
        parts.append(f"{patches[number].name} is in that source already")
    parts.append(f"{number} of {len(patches)} patches of {queue} were applied before it")
    after = patches[number + 1 :]
    bad = [patch.name for patch in after if not _would_apply(tree, patch, "--forward")]
    if bad:
        parts.append(f"of the {len(after)} after it these do not apply either: {', '.join(bad)}")
    elif after:
        parts.append(f"each of the {len(after)} after it applies")
    return "; ".join(parts)


def _hunk_message(patch: Path, source: Source, output: str) -> str:
    name = f"{patch.parent.name}/{patch.name}"
    lines = output.splitlines()
    failed = [index for index, line in enumerate(lines) if re.match(r"Hunk #\d+ FAILED", line)]
    if not failed:
        return f"{name} does not apply to {source.label}:\n" + output.rstrip()
    file = next(
        (
            match[1]
            for line in reversed(lines[: failed[0]])
            if (match := re.match(r"(?:patching|checking) file (.+)", line))
        ),
        "?",
    )
    number = re.match(r"Hunk #(\d+) FAILED at (\d+)", lines[failed[0]])
    where = f"hunk {number[1]} at line {number[2]}" if number else "a hunk"
    hunk = _hunk_text(patch, file, int(number[1]) if number else 1)
    return f"{name} does not apply to {source.label}: {file}: {where}:\n{hunk}"


def _hunk_text(patch: Path, file: str, number: int) -> str:
    """The text of hunk ``number`` of ``file`` in ``patch``, indented."""
    inside, seen, kept = False, 0, []
    for line in patch.read_text(errors="replace").splitlines():
        if line.startswith("diff --git "):
            inside = line.endswith(f" b/{file}")
            seen = 0
        elif inside and line.startswith("@@ "):
            seen += 1
        if inside and seen == number:
            kept.append("  " + line)
    return "\n".join(kept)
