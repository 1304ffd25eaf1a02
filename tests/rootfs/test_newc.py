# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives that somebody else wrote, as GNU cpio does."""

from __future__ import annotations

import pytest

from eascope.host.errors import EascopeError
from eascope.rootfs.cpio import TRAILER, Archive, entry
from eascope.rootfs.newc import archive_of, entries
from tests.support.newc import parse

FILE, FOLDER, LINK, DEVICE, PIPE = 0o100755, 0o40755, 0o120777, 0o20600, 0o10644


def foreign() -> bytes:
    """The names begin with ``./``, and of a file with two names only the last has content."""
    return b"".join(
        [
            entry(7, ".", FOLDER, b""),
            entry(9, "./b", FILE, b""),
            entry(9, "./a", FILE, b"program"),
            entry(3, "./dev", FOLDER, b""),
            entry(4, "./dev/console", DEVICE, b"", (5, 1)),
            entry(5, "./c", LINK, b"a"),
            entry(6, "./empty", 0o100644, b""),
            TRAILER,
            bytes(100),
        ]
    )


def test_the_same_files_in_our_order() -> None:
    ours = Archive()
    for name in ("a", "b"):
        ours.file(name, b"program", 0o755)
    ours.character_device("dev/console", 5, 1)
    ours.link("c", "a")
    ours.file("empty", b"")
    assert archive_of(foreign()).data() == ours.data()


def test_what_we_wrote_is_read_back() -> None:
    data = archive_of(foreign()).data()
    assert {each.name: each.content for each in entries(data)} == {
        name: content for name, (_, content) in parse(data).items()
    }
    assert archive_of(data).data() == data


def test_what_is_no_archive() -> None:
    with pytest.raises(EascopeError, match="not a newc cpio archive: byte 0"):
        archive_of(b"\x1f\x8b" + bytes(200))
    with pytest.raises(EascopeError, match=r"cut: ./a"):
        archive_of(foreign()[: foreign().index(b"program") + 2])
    with pytest.raises(EascopeError, match="cpio: pipe: neither file"):
        archive_of(entry(1, "pipe", PIPE, b"") + TRAILER)
