# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not as it was written in the cache: found by doctor and verify, with what to do."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from eascope.engines.qemu.engine import QemuEngine
from eascope.experiments import doctor
from eascope.experiments.cli.main import main
from eascope.experiments.doctor import Check
from eascope.host.cache import MANIFEST, artefact, check_artefact, entries, write_atomic
from eascope.host.errors import EascopeError
from eascope.kernels import build
from tests.support.command import output_of

pytestmark = pytest.mark.usefixtures("own_cache")


def entry(kind: str) -> Path:
    return artefact(kind, {"a": kind}, lambda work: write_atomic(work / "file", kind.encode()))


def flip(folder: Path) -> None:
    (folder / "file").write_bytes(b"x" * (folder / "file").stat().st_size)


def entry_of(check: Callable[[], Iterator[Check]], name: str) -> Check:
    return next(line for line in check() if line.check == name)


@pytest.mark.parametrize(
    ("kind", "check", "name"),
    [
        ("initramfs", doctor._image, "guest image"),
        ("qemu", doctor._engines, "engine qemu"),
        ("qemu-plugin", doctor._engines, "engine qemu"),
    ],
)
def test_doctor_finds_what_is_corrupt(
    kind: str,
    check: Callable[[], Iterator[Check]],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = SimpleNamespace(status=lambda: "QEMU 10.0", artefacts=QemuEngine().artefacts)
    monkeypatch.setattr(doctor, "get_engine", lambda _: engine)
    folder = entry(kind)
    assert entry_of(check, name).ok
    flip(folder)
    assert entry_of(check, name) == Check(
        check=name,
        ok=False,
        detail=f"cache entry {folder} is corrupt: file does not match its recorded SHA-256",
        remedy="remove that folder and run again",
    )


def test_doctor_finds_a_corrupt_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = entry("kernel")
    monkeypatch.setenv("KERNEL_SRC", "anywhere")
    monkeypatch.setattr(build, "find_source", lambda *_: None)
    monkeypatch.setattr(build, "_key", lambda *_: {"a": "kernel"})
    flip(folder)
    check = entry_of(doctor._kernels, "kernel base")
    assert (check.ok, check.remedy) == (False, "remove that folder and run again")
    assert f"{folder} is corrupt: file does not match" in check.detail


def test_verify_reports_an_entry_without_manifest() -> None:
    whole, without = entry("one"), entry("other")
    assert main(["verify"]) == 0
    (without / MANIFEST).unlink()
    assert entries() == sorted([whole, without])
    assert output_of("verify", code=1) == (
        f"cache entry {without} is corrupt: {MANIFEST} is missing: remove that folder and run "
        "again\n1 of 2 as they were written\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "7", "null", '{"files": []}', '{"files": {"file": 3}}', "[" * 100_000),
        '{"files": {"file": {"bytes": 3}}}',
        '{"files": {"file": {"bytes": ' + "9" * 5000 + "}}}",
    ],
)
def test_a_damaged_manifest_is_one_line(text: str) -> None:
    folder = entry("one")
    (folder / MANIFEST).write_text(text)
    with pytest.raises(EascopeError, match=f"is corrupt: {MANIFEST} .*remove that fold") as caught:
        check_artefact(folder)
    assert "\n" not in str(caught.value)
    assert main(["verify"]) == 1


def test_a_flipped_bit_anywhere_in_a_manifest_is_found() -> None:
    """Its key, too: nobody else reads that, and the folder is named after it."""
    path = entry("one") / MANIFEST
    before, unnoticed = path.read_bytes(), []
    for at in range(8 * len(before)):
        byte, bit = divmod(at, 8)
        path.write_bytes(before[:byte] + bytes([before[byte] ^ 1 << bit]) + before[byte + 1 :])
        try:
            check_artefact(path.parent)
        except EascopeError:
            continue
        unnoticed.append((byte, bit))
    # A blank that has become another blank changes nothing that is read.
    blank = {at for at, byte in enumerate(before) if chr(byte).isspace()}
    assert [at for at in unnoticed if at[0] not in blank] == []
