# SPDX-License-Identifier: GPL-2.0-or-later
"""The initramfs archive: readable by cpio's readers, the same bytes whatever the order."""

import stat
from collections.abc import Callable

import pytest

from eascope.host.errors import EascopeError
from eascope.rootfs.cpio import TRAILER, Archive, entry
from eascope.rootfs.newc import archive_of, entries
from tests.support.newc import parse


def small(order: int) -> Archive:
    archive = Archive()
    steps: list[Callable[[], object]] = [
        lambda: archive.file("bin/tool", b"tool", 0o755),
        lambda: archive.link("bin/alias", "tool"),
        lambda: archive.folder("proc"),
        lambda: archive.character_device("dev/console", 5, 1),
        lambda: archive.file("init", b"x" * 4097, 0o755),
    ]
    for step in steps[::order]:
        step()
    return archive


def test_same_bytes_in_any_order() -> None:
    assert small(1).data() == small(-1).data()
    assert small(1).data() == small(1).data()


def test_entries() -> None:
    entries = parse(small(1).data())
    assert list(entries) == sorted(entries)
    assert set(entries) == {"bin", "bin/alias", "bin/tool", "dev", "dev/console", "init", "proc"}
    for fields, _ in entries.values():
        assert fields["uid"] == fields["gid"] == fields["mtime"] == 0
    assert entries["init"][1] == b"x" * 4097
    assert stat.S_IMODE(entries["init"][0]["mode"]) == 0o755
    assert stat.S_ISLNK(entries["bin/alias"][0]["mode"])
    assert entries["bin/alias"][1] == b"tool"
    console = entries["dev/console"][0]
    assert stat.S_ISCHR(console["mode"])
    assert (console["rdevmajor"], console["rdevminor"]) == (5, 1)
    assert len({fields["ino"] for fields, _ in entries.values()}) == len(entries)


def test_length_lets_another_archive_follow() -> None:
    assert len(small(1).data()) % 512 == 0


@pytest.mark.parametrize("name", ["/init", "a//b", "../x", "", "a/./b"])
def test_names_must_be_plain(name: str) -> None:
    with pytest.raises(ValueError, match="not a plain relative path"):
        Archive().file(name, b"")


def test_a_name_stands_once() -> None:
    archive = Archive()
    archive.folder("dev")
    archive.folder("dev")
    archive.file("init", b"1")
    with pytest.raises(ValueError, match="twice"):
        archive.file("init", b"2")
    with pytest.raises(ValueError, match="twice"):
        archive.file("dev", b"")


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
    assert {item.name: item.content for item in entries(data)} == {
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
