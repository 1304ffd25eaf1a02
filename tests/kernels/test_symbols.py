# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols of a kernel, read without the tools for arm64."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from eascope.host.errors import EascopeError
from eascope.kernels.symbols import trace_symbols

#: Name, info (type in the low half), section, address.
SYMBOLS = [
    ("", 0, 0, 0),
    ("trace.c", 4, 0xFFF1, 0),
    ("tracing_mark_write", 0x12, 1, 0xFFFF800080200000),
    ("$x", 0, 1, 0xFFFF800080200000),
    ("$d", 0, 1, 0xFFFF800080200010),
    ("elsewhere", 0x12, 0, 0xFFFF800080200020),
    ("tracing_raw_write", 0x12, 1, 0xFFFF800080200100),
    ("_text", 0x10, 1, 0xFFFF800080000000),
]


def vmlinux(path: Path, symbols: list[tuple[str, int, int, int]]) -> Path:
    """An ELF file that has nothing but symbols, in sections 1 (them) and 2 (their names)."""
    names, table = b"\0", b""
    for name, info, section, value in symbols:
        table += struct.pack("<IBBHQQ", len(names) if name else 0, info, 0, section, value, 0)
        names += name.encode() + b"\0" if name else b""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        *(b"\x7fELF\x02\x01\x01", 2, 183, 1, 0, 0, 64 + len(table) + len(names)),
        *(0, 64, 0, 0, 64, 3, 0),
    )
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (0, 2, 0, 0, 64, len(table), 2, 0, 8, 24),
        (0, 3, 0, 0, 64 + len(table), len(names), 0, 0, 1, 0),
    ]
    data = header + table + names
    path.write_bytes(data + b"".join(struct.pack("<IIQQQQIIQQ", *each) for each in sections))
    return path


def test_the_marks_writer_and_what_follows_it(tmp_path: Path) -> None:
    assert trace_symbols(vmlinux(tmp_path / "vmlinux", SYMBOLS)) == (
        ("ffff800080200000", "tracing_mark_write"),
        ("ffff800080200100", "tracing_raw_write"),
    )


@pytest.mark.parametrize("broken", [b"", b"\x7fELF\x01\x01", b"\x7fELF\x02\x01" + b"\xff" * 60])
def test_no_kernel_is_one_line(tmp_path: Path, broken: bytes) -> None:
    (path := tmp_path / "vmlinux").write_bytes(broken)
    with pytest.raises(EascopeError, match=r"symbols of the kernel: .*: not readable") as wrong:
        trace_symbols(path)
    assert "\n" not in str(wrong.value)


def test_a_kernel_without_it(tmp_path: Path) -> None:
    with pytest.raises(EascopeError, match="has no symbol tracing_mark_write"):
        trace_symbols(vmlinux(tmp_path / "vmlinux", SYMBOLS[-1:]))
