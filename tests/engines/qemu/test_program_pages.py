# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages by which the plugin knows a program: those of its code that no other file has."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from eascope.engines.qemu.program_pages import PAGE_BYTES, digest, program_pages
from eascope.host.errors import EascopeError
from eascope.rootfs.cpio import Archive

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


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("/bin/none", "the guest image has no file /bin/none"),
        ("/bin/text", "/bin/text is no 64-bit ELF file: its code is not known"),
        ("/bin/same", "all code of /bin/same is in other programs, too"),
    ],
)
def test_what_has_no_such_pages_is_refused(tmp_path: Path, program: str, words: str) -> None:
    path = image(tmp_path, text=b"#!/bin/sh\n", same=elf(OWN), program=elf(OWN, OTHER))
    with pytest.raises(EascopeError, match=words):
        program_pages(path, program)
