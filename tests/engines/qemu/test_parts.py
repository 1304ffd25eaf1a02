# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's parts that need no guest: tables, packages, sources, pages of programs."""

import struct
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.engines.files import write_counters
from eascope.engines.qemu import provider as qemu_provider
from eascope.engines.qemu.build import _code
from eascope.engines.qemu.files import counters_table
from eascope.engines.qemu.program_pages import PAGE_BYTES, digest, program_pages
from eascope.engines.records import Mark, write_marks
from eascope.host import debian
from eascope.host.errors import EascopeError
from eascope.rootfs.cpio import Archive

ROW = "0,1,0,100,450000,820000,{active},4,1,10,20,30,40\n"


def test_counters_become_a_table(tmp_path: Path) -> None:
    """Columns by number of idle states; the same rows give the same bytes."""
    raw = tmp_path / "counters.raw"
    raw.write_text(ROW.format(active=65))
    table = counters_table(raw, 2)
    assert table.columns[6:9] == ["active_ns", "entry_ns", "exit_ns"]
    assert table.columns[9:] == ["idle0_ns", "idle1_ns", "cycles", "instructions"]
    assert table.row(0) == (0, 1, 0, 100, 450000, 820000, 65, 4, 1, 10, 20, 30, 40)
    write_counters(table, tmp_path / "a")
    write_counters(table, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW.format(active=66), "times that do not add up"),
        (ROW.format(active=65) + "0,1,100", "times that do not add up|not readable"),
        ("0,1,zero,100,1,1,1,1,1,1,1,1,1\n", "not readable"),
    ],
)
def test_broken_counters_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """A sum that is off by one, a line cut short, a number that is none."""
    raw = tmp_path / "counters.raw"
    raw.write_text(text)
    with pytest.raises(EascopeError, match=message):
        counters_table(raw, 2)


def test_marks_are_json(tmp_path: Path) -> None:
    """As the contract has them."""
    write_marks([Mark(2, 10, 5)], tmp_path / "marks.json")
    text = " ".join((tmp_path / "marks.json").read_text().split())
    assert text == '[ { "id": 2, "t_ns": 10, "mono_ns": 5 } ]'


@pytest.mark.parametrize("version", ["1:7.2+dfsg-7+deb12u18", "1:10.1.0+ds-1", "1:9.2.0+ds-5"])
def test_another_release_of_qemu_is_refused(version: str) -> None:
    """The plugin knows the internals of one."""
    with pytest.raises(EascopeError, match=r"is written for QEMU 10\.0"):
        qemu_provider._check_release(version)


def test_a_cache_whose_path_has_a_space(tmp_path: Path) -> None:
    root, folder = tmp_path / "ca che", tmp_path / "made"
    for path in ("usr/bin/qemu-system-aarch64", "usr/lib/x/ld-linux.so.2", "usr/lib/x/libz.so"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f'#!/bin/sh\necho "libz.so => {root}/usr/lib/x/libz.so (0x1)"\n')
        (root / path).chmod(0o755)
    folder.mkdir()
    qemu_provider._collect(root, folder)
    assert (folder / "lib" / "libz.so").is_file()


def test_missing_qemu_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror without the package."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))

    class Empty:
        def closure(self, packages: list[str], suite: str) -> list[debian.Deb]:
            raise EascopeError(f"package {packages[0]} (amd64) is in none of: {suite}")

    monkeypatch.setattr(qemu_provider, "apt", lambda architecture: Empty())
    with pytest.raises(EascopeError, match=r"^package qemu-system-arm .* is in none of: trixie$"):
        qemu_provider.qemu()
    assert not list((tmp_path / "qemu").glob("*/bin"))


def test_a_corrupt_package_list_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the file and what to do."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    known = qemu_provider._resolution_file()
    known.parent.mkdir(parents=True)
    known.write_text("[{")
    with pytest.raises(EascopeError, match=r"packages-\w+\.json is corrupt .*: remove that file"):
        qemu_provider.qemu()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('puts("a // b"); /* more */ f();', True),
        ('\tputs("a // b");   // more\n\n\tf();', False),
        ('puts("a // c"); f();', False),
        ('puts("a // b"); g();', False),
        ('/* one\n two */\nputs("a // b");   f(); // x', True),
        ('puts("a // b"); f(\'"\'); /* " */', False),
    ],
)
def test_only_code_is_in_the_digest(text: str, same: bool, tmp_path: Path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    first.write_text('puts("a // b");   f();')
    second.write_text(text)
    assert (_code(first) == _code(second)) is same


LIBRARY, OWN, OTHER, DATA = (bytes([value]) * PAGE_BYTES for value in (1, 2, 3, 4))
SHORT = b"\x05" * 100


def elf(*code: bytes, data: bytes = b"") -> bytes:
    """An ELF file with a page of headers, then code, then data."""
    segments = [(5, PAGE_BYTES, sum(map(len, code))), (6, PAGE_BYTES + len(b"".join(code)), 8)]
    head = bytearray(PAGE_BYTES)
    head[:5] = b"\x7fELF\x02"
    struct.pack_into("<Q", head, 0x20, 64)
    struct.pack_into("<HH", head, 0x36, 56, len(segments))
    for number, (flags, offset, length) in enumerate(segments):
        struct.pack_into("<IIQ", head, 64 + 56 * number, 1, flags, offset)
        struct.pack_into("<Q", head, 64 + 56 * number + 32, length)
    return bytes(head) + b"".join(code) + data


def image(tmp_path: Path, **files: bytes) -> Path:
    """Two archives, one after the other, as the programs image has them."""
    first, second = Archive(), Archive()
    first.folder("bin")
    for name, content in files.items():
        archive = second if name == "program" else first
        archive.file(f"bin/{name}", content, 0o755)
    # A text that looks like an archive's end.
    first.file("bin/cpio", b"TRAILER!!!\0", 0o755)
    path = tmp_path / "image.cpio"
    path.write_bytes(first.data() + bytes(512) + second.data())
    return path


def test_pages_of_the_code_that_no_other_program_has(tmp_path: Path) -> None:
    """Neither those of data, nor those of a library that both hold; a copy is the same program."""
    program = elf(LIBRARY, OWN, SHORT, data=DATA)
    path = image(tmp_path, program=program, copy=program, other=elf(LIBRARY, OTHER), text=OWN)
    # The last page of the code ends with what follows it in the file.
    last = (SHORT + DATA)[:PAGE_BYTES]
    assert program_pages(path, "/bin/program") == (digest(OWN), digest(last))
    assert program_pages(path, "/bin/other") == (digest(OTHER),)


def test_the_digest_depends_on_every_byte_and_its_place() -> None:
    pages = [bytes(PAGE_BYTES)]
    for place in (0, 7, 8, 4088, 4095):
        for value in (1, 128):
            pages.append(bytes(place) + bytes([value]) + bytes(PAGE_BYTES - place - 1))
    assert len({digest(page) for page in pages}) == len(pages)
    assert all(digest(page) < 1 << 64 for page in pages)


def test_what_has_no_such_pages_is_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = image(tmp_path, text=b"#!/bin/sh\n", same=elf(OWN), program=elf(OWN, OTHER))
    lines = []
    for program in ("/bin/none", "/bin/text", "/bin/same"):
        with pytest.raises(EascopeError) as caught:
            program_pages(path, program)
        lines.append(str(caught.value).removeprefix(str(tmp_path)))
    assert lines == snapshot
