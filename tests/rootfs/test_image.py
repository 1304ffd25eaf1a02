# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: same bytes from nothing, what is in it, and one line when it cannot be had."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from eascope.engines.gem5.eliding_copy import elide
from eascope.engines.qemu.eliding_copy import elide_hint
from eascope.experiments.runs.guest_image import COPIES
from eascope.host import cache, lisa
from eascope.host.cache import cache_root, sha256_file
from eascope.host.errors import EascopeError
from eascope.host.toolchain import VERSIONS
from eascope.rootfs import image
from eascope.rootfs.image import guest_agent, initramfs
from tests.support.newc import parse


def test_same_bytes_when_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an empty cache (downloads are taken from the old one), the image is the same."""
    first = initramfs(COPIES)
    second_cache = tmp_path / "cache"
    second_cache.mkdir()
    for kind in ("lisa", "busybox"):
        shutil.copytree(cache_root() / kind, second_cache / kind)
    monkeypatch.setenv("EASCOPE_CACHE", str(second_cache))
    second = initramfs(COPIES)
    assert second.path.is_relative_to(second_cache)
    assert second.path.read_bytes() == first.path.read_bytes()
    assert second.provenance == first.provenance


def test_content(rt_app: Path) -> None:
    built = initramfs(COPIES)
    entries = parse(built.path.read_bytes())
    assert entries["init"][1] == (guest_agent() / "agent").read_bytes()
    assert entries["exec/rt-app"][1] == rt_app.read_bytes()
    assert entries["hint/rt-app"][1] == elide_hint(rt_app.read_bytes())
    assert entries["gem5/rt-app"][1] == elide(rt_app.read_bytes())
    assert entries["bin/rt-app-elided-hint"][1] == b"/hint/rt-app"
    assert {"rt-app-elided-hint", "rt-app-elided-gem5"} == {*built.provenance.copies}
    assert entries["bin/rt-app"][1] == image.RT_APP.encode()
    assert entries["bin/sh"][1] == b"busybox"
    assert entries["init"][0]["mode"] & 0o111 == 0o111
    assert built.provenance.sha256 == sha256_file(built.path)
    assert built.provenance.busybox.architecture == "arm64"
    for program in ("init", "bin/busybox", "exec/rt-app", "hint/rt-app", "bin/trace-cmd"):
        elf = entries[program][1]
        assert elf[:5] == b"\x7fELF\x02"
        assert int.from_bytes(elf[18:20], "little") == 183, f"{program} is not for arm64"
        assert b"/lib/ld-linux-aarch64" not in elf[:4096], f"{program} is not static"
    # boot time: each MiB is copied by the guest
    assert built.path.stat().st_size < 7 * 2**20


def test_all_rt_apps_start_alike() -> None:
    """Same thread name, same path length: else executed and elided runs start to differ here."""
    executed = Path(image.RT_APP)
    assert len(COPIES) >= 2
    for elided in (Path(copy.path) for copy in COPIES):
        assert executed != elided
        assert executed.name == elided.name
        assert len(str(executed)) == len(str(elided))
        assert len(executed.parts) == len(elided.parts)


def test_no_path_of_this_machine_in_the_agent() -> None:
    agent = (guest_agent() / "agent").read_bytes()
    assert str(image.AGENT.parent.parent).encode() not in agent
    assert str(cache_root()).encode() not in agent


def test_missing_compiler_is_one_line(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(own_cache))
    with pytest.raises(EascopeError, match=r"gcc is not installed: run: .* libc6-dev\S* \("):
        guest_agent()


def test_what_is_in_the_cache_needs_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = guest_agent()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert guest_agent() == built


def test_refused_source_shows_the_compiler_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "agent"
    shutil.copytree(image.AGENT, sources)
    (sources / "main.c").write_text("int main(void) { int unused; return 0; }\n")
    monkeypatch.setattr(image, "AGENT", sources)
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(EascopeError, match=r"(?s)guest agent: command failed.*unused"):
        guest_agent()
    files = [path for path in (tmp_path / "cache").rglob("*") if path.parent.name != VERSIONS]
    left = [path for path in files if path.name not in ("agent", VERSIONS)]
    assert all(path.name.endswith(".lock") for path in left), left


def test_another_wheel_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(command: Sequence[str | Path], **_: object) -> bytes:
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir()
        (folder / lisa.WHEEL).write_bytes(b"another wheel")
        return b""

    monkeypatch.setattr(lisa, "run", download)
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    with pytest.raises(EascopeError) as caught:
        initramfs(COPIES)
    assert str(caught.value) == (
        f"download of {lisa.WHEEL}: its SHA-256 is not {lisa.WHEEL_SHA256}"
    )
    assert not list(tmp_path.rglob(cache.MANIFEST))


def test_corrupt_image_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    initramfs(COPIES)
    for kind in ("lisa", "busybox", "agent"):
        shutil.copytree(cache_root() / kind, tmp_path / kind)
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    path = initramfs(COPIES).path
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with pytest.raises(EascopeError, match=r"corrupt: initramfs\.cpio does not match"):
        initramfs(COPIES)
