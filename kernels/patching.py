# SPDX-License-Identifier: GPL-2.0-or-later
"""Applies series to a tree, without fuzz, and names the hunk and patch that does not apply."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from eascope.host.errors import EascopeError
from eascope.host.proc import CommandFailed, need, run
from eascope.kernels.patch_series import added_files, changed_files, patch_label
from eascope.kernels.source import Source

_PATCH = ("-p1", "--fuzz=0", "--batch", "--no-backup-if-mismatch", "--reject-file=-")


class PatchFailed(EascopeError):
    """A patch of a series does not apply; the message ends with the hunk."""


def apply_patch(
    tree: Path,
    patches: list[Path],
    number: int,
    source: Source,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Apply one patch of a series, without fuzz, or leave the tree as it is.

    :param before: called when it will apply, before any change.
    :raises PatchFailed: naming patch, source and hunk, and other patches of the series that fail.
    """
    patch = patches[number]
    command: list[str | Path] = [need("patch", "patch"), *_PATCH, "--forward", "-d", tree]
    command += ["-i", patch.resolve()]
    try:
        run([*command, "--dry-run"])
    except CommandFailed as error:
        message = _hunk_message(patch, source, error.log_text)
        rest = _rest_message(tree, patches, number)
        raise PatchFailed(f"{message}\n{rest}") from error
    before()
    run(command)


def take_back(tree: Path, patch: Path) -> None:
    """Undo a patch that was applied.

    :raises CommandFailed: when the tree has changed since.
    """
    run([need("patch", "patch"), *_PATCH, "--reverse", "-d", tree, "-i", patch.resolve()])


def would_apply(tree: Path, patch: Path, *how: str) -> bool:
    """True if ``patch`` applies to ``tree`` without fuzz; ``how``: more options of patch."""
    command = [need("patch", "patch"), *_PATCH, "--dry-run", *how]
    try:
        run([*command, "-d", tree, "-i", patch.resolve()])
    except CommandFailed:
        return False
    return True


def _rest_message(tree: Path, patches: list[Path], number: int) -> str:
    """The outcome of the series' other patches: those after ``number`` that fail by themselves."""
    parts = []
    applied = would_apply(tree, patches[number], "--reverse", "--force")
    if applied:
        parts.append(f"{patches[number].name} is in that source already")
    series = patch_label(patches[number]).partition("/")[0]
    parts.append(f"{number} of {len(patches)} patches of {series} were applied before it")
    after = patches[number + 1 :]
    alone, following = _failing(tree, after if applied else patches[number:])
    alone = [name for name in alone if name != patches[number].name]
    if alone:
        parts.append(f"of the {len(after)} after it these do not apply either: {', '.join(alone)}")
    if following:
        parts.append(f"{following} of those after it only fail where a failed one has left a gap")
    if after and not alone and not following:
        parts.append(f"each of the {len(after)} after it applies")
    return "; ".join(parts)


def _failing(tree: Path, patches: list[Path]) -> tuple[list[str], int]:
    """Names of those of ``patches`` that fail by themselves, and how many others fail.

    Each meets a copy of the tree with what applies of those before it. The others fail only in
    files in which a part of a patch before them is missing.
    """
    alone, following = [], 0
    gaps: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in {name for patch in patches for name in changed_files(patch)}:
            if (tree / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / name, copy / name)
        for patch in patches:
            failed = _failing_files(copy, patch)
            if failed - gaps:
                alone.append(patch.name)
            elif failed:
                following += 1
            gaps |= failed
    return alone, following


def _failing_files(tree: Path, patch: Path) -> set[str]:
    """Apply to ``tree`` the hunks of ``patch`` that apply; the files in which one does not."""
    failed = {name for name in changed_files(patch) if not (tree / name).is_file()}
    failed -= {*added_files(patch)}
    try:
        run([need("patch", "patch"), *_PATCH, "--forward", "-d", tree, "-i", patch.resolve()])
    except CommandFailed as error:
        for part in re.split(r"^patching file ", error.log_text, flags=re.MULTILINE)[1:]:
            if re.search(r"^\d+ out of \d+ hunks? (FAILED|ignored)", part, re.MULTILINE):
                failed.add(part.partition("\n")[0])
    return failed


def _hunk_message(patch: Path, source: Source, output: str) -> str:
    name = patch_label(patch)
    lines = output.splitlines()
    failed = [index for index, line in enumerate(lines) if re.match(r"Hunk #\d+ FAILED", line)]
    if not failed:
        lacking = re.search(r"^\|\+\+\+ b/(\S+)", output, re.MULTILINE)
        where = f" {lacking[1]}: no such file there:" if lacking else ""
        return f"{name} does not apply to {source.label}:{where}\n{output.rstrip()}"
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
        path = line.partition("\t")[0]  # diff -u puts the time after a tab
        if line.startswith(("diff --git ", "--- ")):
            inside, seen = line.startswith("---") and path.endswith(f"/{file}"), 0
        elif line.startswith("+++ "):
            inside |= path.endswith(f"/{file}")
        elif inside and line.startswith("@@ "):
            seen += 1
        if inside and seen == number:
            kept.append("  " + line)
    return "\n".join(kept)
