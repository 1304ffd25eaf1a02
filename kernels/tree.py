# SPDX-License-Identifier: GPL-2.0-or-later
"""Working on a queue: a git tree of the source with one commit per patch, and back to patches.

::

    python -m kernels.tree open base ~/linux-base    # unpack, one commit per patch
    (edit, commit, rebase there)
    python -m kernels.tree save base ~/linux-base    # write kernels/series/base anew

A kernel may be made of several queues; ``save`` writes its last one, the commits after those of the
queues before it. Patches are written so that the same commits give the same bytes: no commit and
blob numbers, no git version.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from host.errors import EascopeError, RequestError, unknown
from host.proc import CommandFailed, Ending, Step, need, run
from kernels.source import PatchFailed, Source, find_source, series_patches
from kernels.variants import SERIES, Kernel, load_catalogue

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
        for patch in series_patches(SERIES / series):
            try:
                _git(tree, "am", "--quiet", "--keep-non-patch", str(patch.resolve()))
            except CommandFailed as error:
                raise PatchFailed(
                    f"{series}/{patch.name} does not apply to {source.label}:\n"
                    + error.log_text.rstrip()
                ) from error
        _git(tree, "tag", _tag(series))


def _tag(series: str) -> str:
    return f"eascope-{series}"


def save_tree(tree: Path, kernel: Kernel, folder: Path) -> list[Path]:
    """Write the commits of the last queue of ``kernel`` to ``folder`` as its new content.

    :raises RequestError: when ``tree`` was not made by `open_tree`, or has changes not committed.
    """
    start = _tag(kernel.series[-2]) if len(kernel.series) > 1 else SOURCE_TAG
    try:
        _git(tree, "rev-parse", "--verify", "--quiet", f"{start}^{{commit}}")
    except EascopeError as error:
        raise RequestError(
            f"{tree}: no tag {start}: allowed: a tree made by kernels.tree open"
        ) from error
    if _git(tree, "status", "--porcelain", "--untracked-files=no").strip():
        raise RequestError(f"{tree}: there are changes that are not committed: commit them first")
    new = folder.with_name(f".{folder.name}.new")
    new.mkdir(parents=True)
    try:
        _git(
            tree,
            *("format-patch", "--quiet", "--zero-commit", "--no-signature", "--no-numbered"),
            *("--stat=72", "--output-directory", str(new.resolve()), f"{start}..HEAD"),
        )
        names = sorted(path.name for path in new.glob("*.patch"))
        for name in names:
            text = (new / name).read_text()
            (new / name).write_text(re.sub(r"^index \w+\.\.\w+.*\n", "", text, flags=re.MULTILINE))
        (new / "series").write_text("".join(f"{name}\n" for name in names))
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for path in new.iterdir():
            path.rename(folder / path.name)
    finally:
        for path in new.iterdir():
            path.unlink()
        new.rmdir()
    return [folder / name for name in names]


def main(arguments: list[str] | None = None) -> int:
    """``open KERNEL DIRECTORY`` or ``save KERNEL DIRECTORY``."""
    parser = argparse.ArgumentParser(
        prog="python -m kernels.tree",
        description="Turn a kernel's queue into a git tree, and back.",
        epilog="example: python -m kernels.tree open base ~/linux-base",
    )
    parser.add_argument("verb", choices=("open", "save"))
    parser.add_argument("kernel")
    parser.add_argument("directory", type=Path)
    given = parser.parse_args(arguments)
    with Ending() as ending:
        catalogue = load_catalogue()
        catalogue.check(given.kernel)
        if given.kernel not in catalogue.kernels:
            raise unknown("kernel", given.kernel, catalogue.kernels)
        kernel = catalogue.kernels[given.kernel]
        if given.verb == "open":
            if given.directory.exists():
                raise RequestError(f"{given.directory}: it exists: allowed: a new directory")
            source = find_source([SERIES / series for series in kernel.series])
            with Step(f"tree of {source.label}", 90):
                source.unpack(given.directory)
                open_tree(given.directory, kernel, source)
        else:
            for path in save_tree(given.directory, kernel, SERIES / kernel.series[-1]):
                print(path)
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
