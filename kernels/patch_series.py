# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of patches: a folder with a ``series`` file, and one more for each other release.

``series`` is for the default release, ``series-7.3`` for Linux 7.3. A folder with the name of a
release has the patches that differ there: a line of ``series-7.3`` names ``7.3/0004-x.patch``, or
``0005-y.patch``, which both releases then share. In place of a patch that differs from 6.12's in
few lines, ``7.3/0004-x.lines`` has the lines that differ from ``0004-x.patch``. A series without
``series`` is only for other releases. A line ``../push/7.3/0004-x.patch`` names a patch of another
series: one that does the same on top of others has only the patches that differ there. A file
``config`` is a fragment of the configuration, for all releases. A folder ``files`` has files
that the series adds to Linux, at their places there, for all releases: they are added before its
patches, by a patch that is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from eascope.host.cache import artefact, digest_of, sha256_bytes, sha256_file, write_atomic
from eascope.host.errors import RequestError, nearest
from eascope.host.strict import shown_path
from eascope.kernels.releases import DEFAULT, RELEASES

#: A series' own fragment of the configuration; most have none.
CONFIG = "config"
#: Ends, in place of ``.patch``, the name of a patch that has most lines of the default release's.
LINES_FILE = ".lines"
#: The share of lines that may differ.
MOST_LINES = 0.25
#: The files that a series adds; most have none, or add them by their patches.
FILES = "files"
#: The beginning of the patch that adds them.
_MAIL = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: eascope developers <developers@eascope.invalid>
Date: Thu, 1 Jan 1970 00:00:00 +0000
Subject: [PATCH] {series}: Add the files of the queue

Nothing builds them: patches of the queue that follow do.
---
"""
#: What a patch has at least once: a hunk, or what git says of a file without one.
_CHANGE = re.compile(
    rb"^(@@ -|rename from |old mode |new file mode |deleted file mode )", re.MULTILINE
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
#: A file that a patch adds.
_ADDED = re.compile(r"^--- /dev/null\n\+\+\+ b/(\S+)", re.MULTILINE)
_CHANGED = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)


#: A patch of another series.
_OTHERS = re.compile(r"\.\./([^/]+/.+)")
#: A line of a fragment.
_OPTION = re.compile(r"(CONFIG_\w+=.+|#.*|)")


def changes_something(content: bytes) -> bool:
    """True if a patch has a hunk, or a change that needs no hunk."""
    return _CHANGE.search(content) is not None


def patch_label(patch: Path) -> str:
    """A patch for messages: ``base/0005-y.patch``, ``base/7.3/0004-x.patch``."""
    folder = patch.parent
    above = f"{folder.parent.name}/" if folder.name in RELEASES else ""
    return f"{above}{folder.name}/{patch.name}"


def patches_in(folder: Path) -> list[Path]:
    """The patches that lie in ``folder``, whole or as ``.lines``, sorted."""
    found = (path for suffix in (".patch", LINES_FILE) for path in folder.glob(f"*{suffix}"))
    return sorted({path.with_suffix(".patch") for path in found})


def patch_file(patch: Path) -> Path:
    """``patch``, or the whole patch made of its ``.lines``.

    That has ``sha256:DIGEST`` of the whole patch, and as ``NUMBER:TEXT`` each line in which it
    differs from the default release's patch.

    :raises RequestError: the whole patch has another digest.
    """
    context = patch.parent / f"{patch.stem}{LINES_FILE}"
    if patch.is_file() or not context.is_file():
        return patch
    default = patch.parent.parent / patch.name
    texts = dict(line.partition(b":")[::2] for line in context.read_bytes().split(b"\n"))
    lines = default.read_bytes().split(b"\n") if default.is_file() else []
    data = b"\n".join(texts.get(b"%d" % number, line) for number, line in enumerate(lines, 1))
    if (digest := texts.get(b"sha256", b"").decode(errors="replace")) != sha256_bytes(data):
        raise RequestError(
            f"{shown_path(context)}: sha256 = {digest!r} is not {sha256_bytes(data)}, that of "
            f"{shown_path(default)} with these lines; restore both files, or put a whole patch here"
        )
    return _made(data, patch)


def write_patch(patch: Path, data: bytes) -> None:
    """Write ``patch``: as ``.lines`` if few of its lines are not those of the default release's."""
    default, lines = patch.parent.parent / patch.name, patch.with_suffix(LINES_FILE)
    old = default.read_bytes().split(b"\n") if default.is_file() else []
    new = data.split(b"\n")
    differ = [
        (number, line)
        for number, (was, line) in enumerate(zip(old, new, strict=False), 1)
        if was != line
    ]
    if len(old) != len(new) or len(differ) > MOST_LINES * len(new):
        write_atomic(patch, data)
        lines.unlink(missing_ok=True)
    else:
        texts = [b"sha256:%b" % sha256_bytes(data).encode()]
        texts += [b"%d:%b" % (number, line) for number, line in differ]
        write_atomic(lines, b"\n".join(texts) + b"\n")
        patch.unlink(missing_ok=True)


def is_ported(folder: Path, release: str) -> bool:
    """True if the series in ``folder`` has its own order for ``release``."""
    return (folder / RELEASES[release].series).is_file()


def folders_of_series(folder: Path) -> list[Path]:
    """The series below ``folder``, sorted: folders with an order for any release."""
    return sorted(
        path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if any(is_ported(path, release) for release in RELEASES)
    )


def changed_files(patch: Path) -> list[str]:
    """The files that ``patch`` changes, adds or removes, relative to the tree."""
    return sorted(set(_CHANGED.findall(patch.read_text(errors="replace"))))


def added_files(patch: Path) -> list[str]:
    """The files that ``patch`` adds, relative to the tree."""
    return _ADDED.findall(patch.read_text(errors="replace"))


def series_digest(folders: Sequence[Path], release: str = DEFAULT) -> str:
    """SHA-256 over the names and bytes of the patches of some series, in order, and fragments."""
    configs = {
        folder.name: sha256_file(file) for folder in folders if (file := folder / CONFIG).is_file()
    }
    patches = [
        [folder.name, patch.name, sha256_file(patch)]
        for folder in folders
        for patch in series_patches(folder, release)
    ]
    return digest_of({"patches": patches} | ({"configs": configs} if configs else {}))


def effect_digest(folder: Path, release: str = DEFAULT) -> str:
    """SHA-256 of what a series changes: by file, removed and added lines in order; its fragment.

    Messages, context, numbers of lines and the cut into patches do not count.
    """
    lines: dict[str, list[str]] = {}
    for patch in series_patches(folder, release):
        left = [0, 0]
        changed: list[str] = []
        for line in patch.read_text(errors="replace").splitlines():
            if any(left):
                changed += [line] if line[:1] in ("+", "-") else []
                left = [
                    left[0] - (line[:1] in ("-", " ", "")),
                    left[1] - (line[:1] in ("+", " ", "")),
                ]
            elif hunk := _HUNK.match(line):
                left = [int(count or 1) for count in hunk.groups()]
            elif line.startswith("+++ "):
                changed = lines.setdefault(line[4:].partition("/")[2], [])
    config = folder / CONFIG
    own = {CONFIG: sha256_file(config)} if config.is_file() else {}
    return digest_of(lines | own)


def states_options(content: bytes) -> bool:
    """True if a file is a fragment of a configuration."""
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    return b"CONFIG_" in content and all(_OPTION.fullmatch(line) for line in lines)


def config_text(folder: Path) -> str:
    """The series' own fragment of the configuration, empty where it has none.

    :raises RequestError: a line that states no option.
    """
    file = folder / CONFIG
    if not file.is_file():
        return ""
    text = file.read_bytes().decode(errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not _OPTION.fullmatch(line.strip()):
            raise RequestError(
                f"{shown_path(file)}: line {number} = {line!r}: allowed: CONFIG_NAME=VALUE, "
                "'# CONFIG_NAME is not set', or a comment"
            )
    return text


def series_patches(folder: Path, release: str = DEFAULT) -> list[Path]:
    """The patches of the series in ``folder`` for ``release``, in their order.

    A series without ``series-RELEASE`` has ``series`` for all. If it adds files, the first patch
    adds them.

    :raises RequestError: one line, for a ``series`` that cannot be what was meant: it names a patch
        that is not there, elsewhere, empty or named before, or it leaves one of the folder out; it
        names none, and the folder has no fragment of the configuration either; for
        a file to be added that is not text.
    """
    ported = is_ported(folder, release)
    others = [other for other in RELEASES if is_ported(folder, other)]
    if others and not is_ported(folder, DEFAULT) and not ported:
        allowed = " and ".join(f"Linux {other}" for other in others)
        raise RequestError(
            f"{shown_path(folder)}: no patches for Linux {release}, only for {allowed}"
        )
    series = folder / (RELEASES[release].series if ported else "series")
    try:
        lines = series.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{shown_path(series)}: byte {error.start} is not UTF-8; expected names of patches"
        ) from error
    except OSError as error:
        raise RequestError(
            f"{shown_path(series)}: {error.strerror}; expected names of patches, one on a line"
        ) from error
    below = release if ported and release != DEFAULT else ""
    patches: list[Path] = []
    for number, line in enumerate(lines, start=1):
        if name := line.partition("#")[0].strip():
            other = _OTHERS.fullmatch(name)
            shared_from = other[1] if other and other[1].split("/")[0] != folder.name else ""
            patch = patch_file(folder.parent / shared_from if shared_from else folder / name)
            if allowed := _wrong_patch(
                patch, shared_from.partition("/")[2] or name, patches, below
            ):
                where = f"{shown_path(series)}: line {number} = {name!r}"
                raise RequestError(f"{where}; expected {allowed}")
            patches.append(patch)
    if not patches and not (folder / CONFIG).is_file():
        raise RequestError(f"{shown_path(series)}: names no patch")
    _check_complete(series, lines, below)
    return _patch_of_files(folder) + patches


def made_series(name: str, patches: Sequence[tuple[str, bytes]], config: bytes = b"") -> Path:
    """A series in the cache, of ``patches`` by their files' names, and of options.

    A line of a series is a file's name up to the first space, so other characters become dashes.
    """
    stems = (re.sub(r"^[0-9]+-", "", Path(file).stem) for file, _ in patches)
    contents = {
        f"{number:04}-{re.sub(r'[^A-Za-z0-9._-]+', '-', stem)}.patch": content
        for number, (stem, (_, content)) in enumerate(zip(stems, patches, strict=True), start=1)
    }
    series = "".join(f"{patch}\n" for patch in contents).encode()
    if config:
        contents[CONFIG] = config

    def build(folder: Path) -> None:
        (folder / name).mkdir()
        for file, content in {**contents, "series": series}.items():
            (folder / name / file).write_bytes(content)

    key = {"name": name, "patches": {k: sha256_bytes(v) for k, v in contents.items()}}
    return artefact("own-patches", key, build, label=f"patches {name}") / name


def own_files(folder: Path) -> dict[str, Path]:
    """The files that the series in ``folder`` adds before its patches, by their names in Linux."""
    files = folder / FILES
    return {
        path.relative_to(files).as_posix(): path
        for path in sorted(files.rglob("*"))
        if path.is_file()
    }


@cache
def _scratch() -> TemporaryDirectory[str]:
    """Where patches that were made lie until the process ends."""
    return TemporaryDirectory(prefix="eascope-patches-")


def _made(data: bytes, patch: Path) -> Path:
    """A file with ``data`` that has the name of ``patch`` and of the folders above it."""
    made = Path(_scratch().name, sha256_bytes(data)[:16], *patch.absolute().parts[-3:])
    if not made.is_file():
        write_atomic(made, data)
    return made


def _patch_of_files(folder: Path) -> list[Path]:
    """The patch that adds the files of the series in ``folder``; none where it has none."""
    files = own_files(folder)
    if not files:
        return []
    text = _MAIL.format(series=folder.name)
    for name, path in files.items():
        try:
            *lines, rest = path.read_bytes().decode().split("\n")
        except UnicodeDecodeError:
            lines, rest = [], "not text"
        if rest or not lines:
            raise RequestError(f"{shown_path(path)}: not text whose lines end with a newline")
        text += f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        text += f"@@ -0,0 +1{f',{len(lines)}' * (len(lines) > 1)} @@\n"
        text += "".join(f"+{line}\n" for line in lines)
    return [_made(text.encode(), folder / FILES)]


def _check_complete(series: Path, lines: list[str], below: str) -> None:
    """Check that every patch next to ``series`` is named in it, or has another form in ``below``.

    :raises RequestError: naming one that is not.
    """
    mentioned = {word for line in lines for word in re.split(r"[\s#:,]+", line)}
    folder = series.parent
    left_out = patches_in(folder)
    if below:
        left_out = [patch for patch in left_out if f"{below}/{patch.name}" not in mentioned]
        left_out += patches_in(folder / below)
    for patch in left_out:
        name = patch.relative_to(folder)
        if str(name) not in mentioned:
            raise RequestError(
                f"{shown_path(series)}: does not name {name}; add it in its place, or '# {name}' "
                "if it is left out on purpose"
            )


def _wrong_patch(patch: Path, name: str, before: list[Path], below: str) -> str:
    """The allowed line of a ``series`` file instead of ``name``; empty if ``name`` is right."""
    place, _, plain = name.rpartition("/")
    if "/" in place or place not in ("", below) or not plain:
        inside = f", or in {below}/" if below else ""
        return (
            f"the name of a patch in the same folder{inside}, or of another series: ../SERIES/NAME"
        )
    if patch in before:
        return "each patch once"
    if not patch.is_file():
        known = [path.name for path in patches_in(patch.parent)]
        return f"a patch of that folder, and it is not there{nearest(plain, known)}"
    if not changes_something(patch.read_bytes()):
        return "a patch that changes something, and it has no hunk"
    return ""
