# SPDX-License-Identifier: GPL-2.0-or-later
"""The boot loader: built once, the same bytes every time, and laid out as gem5 needs it."""

import struct
from pathlib import Path

import pytest

from eascope.engines.gem5 import boot
from eascope.engines.gem5.checkpoint import LAYOUT
from eascope.host.errors import EascopeError
from eascope.host.imports import closure, code_digest
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from tests.support.repo import REPO


def _segments(elf: bytes) -> list[tuple[int, int]]:
    """(address, bytes) of each loadable segment of an ELF64 file."""
    (offset,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", elf, offset + n * size) for n in range(count)]
    # type, flags, offset, virtual and physical address, bytes in file and in memory, alignment
    return [(header[4], header[6]) for header in headers if header[0] == 1]


def _symbols(elf: Path) -> dict[str, int]:
    listing = run([arm64_tool("nm"), elf]).decode()
    return {line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines()}


def test_same_source_same_bytes(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = boot.boot_loader()
    assert boot.boot_loader() == first
    data = first.read_bytes()
    monkeypatch.setenv("EASCOPE_CACHE", str(own_cache.parent / "other"))
    second = boot.boot_loader()
    assert second != first
    assert second.read_bytes() == data


def test_the_boot_loader_lies_in_boot_memory_and_starts_at_its_entry(own_cache: Path) -> None:
    elf = boot.boot_loader()
    data = elf.read_bytes()
    entry = struct.unpack_from("<Q", data, 24)[0]
    symbols = _symbols(elf)
    assert entry == symbols["_start"] == 0x1000
    assert symbols["vectors"] % 2048 == 0, "VBAR_EL3 has no lower bits"
    assert all(address + length < 64 << 20 for address, length in _segments(data))


def test_another_source_is_another_loader(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = boot.boot_loader()
    edited = tmp_path / "boot.S"
    edited.write_text(boot.SOURCE.read_text().replace("mov	w11, #0xff", "mov	w11, #0xf0"))
    monkeypatch.setattr(boot, "SOURCE", edited)
    second = boot.boot_loader()
    assert second.parent != first.parent
    assert second.read_bytes() != first.read_bytes()


def test_no_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EascopeError, match="gcc is not installed: run: apt-get install gcc"):
        boot.boot_loader()


#: The digest of the files that build the machine, and the layout that they had then.
SEEN = ("8f8814871f9bd1fd9e9ae8683d5a1d73fa2e3820cc949ab23e8ec9678c8f0008", 1)


def test_another_machine_has_another_layout() -> None:
    files = sorted(closure([REPO / "engines/gem5/inside/machine.py"], REPO))
    names = {path.relative_to(REPO).as_posix() for path in files}
    assert {f"engines/gem5/inside/{name}.py" for name in ("machine", "cores", "caches")} <= names
    digest = code_digest(files)
    assert (digest, LAYOUT) == SEEN, (
        "files that build gem5's machine changed: does a checkpoint of the old ones still restore "
        "to the same machine? If not, raise LAYOUT in engines/gem5/checkpoint.py. Then set SEEN to "
        f"{(digest, LAYOUT)}"
    )
