# SPDX-License-Identifier: GPL-2.0-or-later
"""A series as a git tree with one commit per patch, and back.

::

    python -m eascope.kernels.tree open base ~/linux-base    # unpack, one commit per patch
    (edit, commit, rebase there)
    python -m eascope.kernels.tree save base ~/linux-base    # write kernels/series/base again

A kernel may have several series. ``save`` writes its last series: the commits after those of the
series before it. Equal commits give equal patches: they have no commit and blob numbers, and no git
version. If the series has a folder ``files``, what its commits have added to Linux goes there, as
it is at the last of them, and the patches leave it out. A patch of another series that
``series`` names stays named there as long as its commit is the same. A commit that nobody has
signed off is signed off by ``EASCOPE_IDENTITY``, by default by the project.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from eascope.host.cache import write_atomic
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import CommandFailed, Ending, Step, need, run
from eascope.kernels.naming import kernel_named
from eascope.kernels.patch_series import (
    FILES,
    LINES_FILE,
    patch_file,
    patch_label,
    patches_in,
    series_patches,
    write_patch,
)
from eascope.kernels.patching import PatchFailed
from eascope.kernels.releases import DEFAULT, RELEASES
from eascope.kernels.source import Source, find_source
from eascope.kernels.variants import SERIES, Kernel

#: Who writes and signs the project's patches.
OURS = "eascope developers <developers@eascope.invalid>"
#: The variable that names who signs instead.
SIGNER = "EASCOPE_IDENTITY"
_WHO = re.compile(r"[^<>\n]*[^<>\s] <[^<>@\s]+@[^<>@\s]+>")
#: Who commits; the patches carry their own authors.
IDENTITY = {
    "GIT_AUTHOR_NAME": "eascope",
    "GIT_AUTHOR_EMAIL": "eascope@localhost",
    "GIT_COMMITTER_NAME": "eascope",
    "GIT_COMMITTER_EMAIL": "eascope@localhost",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}
SOURCE_TAG = "eascope-source"


def _git(tree: Path, *arguments: str) -> str:
    return run([need("git", "git"), "-C", tree, *arguments], env=IDENTITY, label="git").decode()


def open_tree(tree: Path, kernel: Kernel, source: Source) -> None:
    """Make the unpacked ``tree`` a git repository with a commit per patch of ``kernel``.

    :raises PatchFailed: when a patch does not apply.
    """
    _git(tree, "init", "--quiet", "--initial-branch=work")
    # Everything, ignored or not: Debian's tree ignores what it did not ship.
    _git(tree, "add", "--all", "--force", ".")
    _git(tree, "commit", "--quiet", "--message", source.label)
    _git(tree, "tag", SOURCE_TAG)
    for series in kernel.series:
        for patch in series_patches(SERIES / series, source.release.name):
            try:
                _git(tree, "am", "--quiet", "--keep-non-patch", str(patch.resolve()))
            except CommandFailed as error:
                raise PatchFailed(
                    f"{patch_label(patch)} does not apply to {source.label}:\n"
                    + error.log_text.rstrip()
                ) from error
        _git(tree, "tag", _tag(series))


def signer() -> str:
    """Who signs off: ``Name <mail>``.

    :raises RequestError: the variable is set to something else.
    """
    who = os.environ.get(SIGNER) or OURS
    if not _WHO.fullmatch(who):
        raise RequestError(f"{SIGNER} = {who!r}: allowed: Name <mail@host>")
    return who


def _signed(text: str) -> str:
    """A patch with a sign-off; one that has any stays as it is."""
    mail, line, rest = text.partition("\n---\n")
    head, _, message = mail.partition("\n\n")
    if re.search(r"^Signed-off-by: ", message, re.MULTILINE):
        return text
    message = message.rstrip("\n")
    if message:
        trailers = re.match(r"[A-Z][\w-]+: ", message.rpartition("\n")[2])
        message += "\n" if trailers else "\n\n"
    return f"{head.rstrip()}\n\n{message}Signed-off-by: {signer()}{line}{rest}"


def _tag(series: str) -> str:
    return f"eascope-{series}"


def save_tree(tree: Path, kernel: Kernel, folder: Path) -> list[Path]:
    """Write the commits of the last series of ``kernel`` to ``folder`` as its new content.

    For another release than the default, a patch that equals the default's is shared, and any other
    goes into the release's folder, as ``.lines`` if few of its lines differ. Comments of the
    ``series`` file on left-out patches stay. Patches of other releases stay the same.

    :raises RequestError: when ``tree`` was not made by `open_tree`, or has changes not committed;
        the identity that signs is none.
    """
    start = _tag(kernel.series[-2]) if len(kernel.series) > 1 else SOURCE_TAG
    try:
        _git(tree, "rev-parse", "--verify", "--quiet", f"{start}^{{commit}}")
    except EascopeError as error:
        raise RequestError(
            f"{tree}: no tag {start}; expected a tree made by kernels.tree open"
        ) from error
    if _git(tree, "status", "--porcelain", "--untracked-files=no").strip():
        raise RequestError(
            f"{tree}: the tree has changes that are not committed: commit them first"
        )
    files: dict[str, bytes] = {}
    if (SERIES / kernel.series[-1] / FILES).is_dir():
        added = _git(tree, "diff", "--name-only", "--diff-filter=A", "-z", start, "HEAD")
        files = {name: (tree / name).read_bytes() for name in added.split("\0") if name}
    with TemporaryDirectory() as new:
        _git(
            tree,
            *("format-patch", "--quiet", "--zero-commit", "--no-signature", "--no-numbered"),
            *("--stat=72", "--output-directory", new, f"{start}..HEAD"),
            *("--", ".", *(f":(exclude){name}" for name in files)),
        )
        texts = {
            path.name: _signed(re.sub(r"(?m)^index \w+\.\.\w+.*\n", "", path.read_text()))
            for path in sorted(Path(new).glob("*.patch"))
        }
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / FILES, ignore_errors=True)
    for name, data in files.items():
        write_atomic(folder / FILES / name, data)
    return _write(folder, texts, kernel.release or DEFAULT)


def _write(folder: Path, texts: Mapping[str, str], release: str) -> list[Path]:
    """Make ``texts`` the patches of the series in ``folder`` for ``release``."""
    below = folder if release == DEFAULT else folder / release
    below.mkdir(exist_ok=True)
    series = folder / RELEASES[release].series
    old = series.read_text().splitlines() if series.is_file() else []
    others = [folder.parent / line[3:] for line in old if line.startswith("../")]
    ported = [patch for each in RELEASES if each != release for patch in patches_in(folder / each)]
    contents = {patch: patch_file(patch).read_bytes() for patch in ported}
    for path in (*below.glob("*.patch"), *below.glob(f"*{LINES_FILE}")):
        path.unlink()
    saved = []
    for name, text in texts.items():
        path = below / name
        known = others + (patches_in(folder) if below != folder else [])
        if shared := next(
            (patch for patch in known if _subject(patch.name) == _subject(name)), None
        ):
            same = _without_places(patch_file(shared).read_text()) == _without_places(text)
            path = shared if same else below / (name if shared in others else shared.name)
        if path.parent == below:
            write_patch(path, text.encode())
        saved.append(path)
    for patch, data in contents.items():
        write_patch(patch, data)
    kept = "".join(f"{line}\n" for line in old if line.startswith("#"))
    series.write_text(kept + "".join(f"{os.path.relpath(path, folder)}\n" for path in saved))
    return [path if path.is_file() else path.with_suffix(LINES_FILE) for path in saved]


def _subject(name: str) -> str:
    """The subject in a patch's name, which has another number in each series."""
    return name.partition("-")[2]


def _without_places(text: str) -> str:
    """A patch without line numbers and functions, which differ between sources."""
    return re.sub(r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@.*", r"@@ \1 \2", text, flags=re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """``open KERNEL DIRECTORY`` or ``save KERNEL DIRECTORY``."""
    parser = argparse.ArgumentParser(
        prog="python -m eascope.kernels.tree",
        description="Open a kernel's series as a git tree, or save such a tree as the series.",
        epilog="example: python -m eascope.kernels.tree open base ~/linux-base",
    )
    parser.add_argument("verb", choices=("open", "save"))
    parser.add_argument("kernel", help="a name from kernels/variants.toml, such as base")
    parser.add_argument("directory", type=Path, help="the git tree; open makes it")
    given = parser.parse_args(arguments)
    with Ending() as ending:
        kernel = kernel_named(given.kernel)
        if given.verb == "open":
            if given.directory.exists():
                raise RequestError(f"{given.directory} already exists; choose another directory")
            all_series = [SERIES / series for series in kernel.series]
            source = find_source(all_series, kernel.release)
            with Step(f"tree of {source.label}", 90):
                source.unpack(given.directory)
                open_tree(given.directory, kernel, source)
        else:
            for path in save_tree(given.directory, kernel, SERIES / kernel.series[-1]):
                print(path)
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
