# SPDX-License-Identifier: GPL-2.0-or-later
"""Diffs of git, of ``diff -ruN`` and of quilt, with the heads that git writes by default."""

from __future__ import annotations

import re

from eascope.host.errors import RequestError

NO_FILE = b"/dev/null"
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
#: What other tools write between the files.
_BETWEEN = re.compile(rb"(Index: |={20,}$|diff -|Only in )")
#: git's own prefixes, with ``diff.mnemonicPrefix`` as well.
_PREFIX = re.compile(rb"[abciow]/")
#: What names the file as it was.
_COPY = re.compile(rb"(\.orig|~)$")
#: Names at the top of Linux: a path that begins so has no folder of a tree before it.
_TOP = re.compile(
    rb"(arch|block|certs|crypto|Documentation|drivers|fs|include|init|io_uring|ipc|kernel|lib|"
    rb"LICENSES|mm|net|rust|samples|scripts|security|sound|tools|usr|virt)/|[^/]+$"
)


def as_git(diff: bytes, strip: int | None = None) -> bytes:
    """``diff`` with ``diff --git a/PATH b/PATH`` above each file, and names below ``a/``, ``b/``.

    A file that the hunk adds or removes is told from its lines, as times of 1970 do.

    :param strip: folders before each name; None: none where the name begins at the top of Linux,
        else one.
    :raises RequestError: a name that is none in a tree.
    """
    lines, out = diff.split(b"\n"), list[bytes]()
    left, number = [0, 0], 0
    while number < len(lines):
        line = lines[number]
        if any(left):
            left = [left[0] - (line[:1] in b"- "), left[1] - (line[:1] in b"+ ")]
        elif hunk := _HUNK.match(line):
            left = [int(count or 1) for count in hunk.group(2, 4)]
        elif line.startswith(b"diff --git "):
            line = _git_head(line)
        elif line.startswith(b"--- ") and _begins(lines, number):
            head = _head_of(lines[number : number + 3], strip)
            _replace_head(out, head)
            number += 2
            continue
        elif _BETWEEN.match(line):
            number += 1
            continue
        out.append(line)
        number += 1
    return b"\n".join(out)


def _begins(lines: list[bytes], number: int) -> bool:
    """True if a file's changes begin there."""
    names, hunk = lines[number + 1 : number + 2], lines[number + 2 : number + 3]
    return bool(names and hunk and names[0].startswith(b"+++ ") and _HUNK.match(hunk[0]))


def _head_of(three: list[bytes], strip: int | None) -> list[bytes]:
    """The lines above a file's hunks."""
    old, new = (line[4:].partition(b"\t")[0].rstrip() for line in three[:2])
    hunk = _HUNK.match(three[2])
    assert hunk
    added = old == NO_FILE or hunk.group(1, 2) == (b"0", b"0")
    removed = new == NO_FILE or hunk.group(3, 4) == (b"0", b"0")
    path = _path(_COPY.sub(b"", old) if new == NO_FILE else new, strip)
    mode = [b"new file mode 100644"] * added + [b"deleted file mode 100644"] * removed
    before = NO_FILE if added else b"a/" + path
    after = NO_FILE if removed else b"b/" + path
    return [b"diff --git a/%s b/%s" % (path, path), *mode, b"--- " + before, b"+++ " + after]


def _replace_head(out: list[bytes], head: list[bytes]) -> None:
    """Append ``head``; git's own lines above it stay, but for the names."""
    at = next((n for n in reversed(range(len(out))) if out[n].startswith(b"diff --git ")), None)
    if at is None or any(_HUNK.match(line) for line in out[at:]):
        out += head
        return
    own = out[at + 1 :]
    moved = [line.partition(b" ")[2] for line in own if line.startswith((b"rename ", b"copy "))]
    if len(moved) == 2:
        old, new = (words.partition(b" ")[2] for words in moved)
        out[at] = b"diff --git a/%s b/%s" % (old, new)
        out += [b"--- a/" + old, b"+++ b/" + new]
        return
    out[at] = head[0]
    out += head[-2:] if any(b"file mode " in line for line in own) else head[1:]


def _git_head(line: bytes) -> bytes:
    """What git writes above a file, with its default prefixes."""
    names = line.removeprefix(b"diff --git ")
    middle = len(names) // 2
    old, new = names[:middle], names[middle + 1 :]
    if names[middle : middle + 1] != b" " or old.partition(b"/")[2] != new.partition(b"/")[2]:
        return line  # a rename: its own lines have the names
    path = old.partition(b"/")[2] if _PREFIX.match(old) and _PREFIX.match(new) else old
    return b"diff --git a/%s b/%s" % (path, path)


def _path(name: bytes, strip: int | None) -> bytes:
    """A file's path in a tree."""
    if strip is None:
        strip = int(bool(_PREFIX.match(name)) or not _TOP.match(name))
    path = b"/".join(name.split(b"/")[strip:])
    if not path or name.startswith(b"/") or b".." in path.split(b"/"):
        text = name.decode(errors="replace")
        raise RequestError(f"a patch changes {text!r}; expected a file below the top of Linux")
    return path
