# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that scenarios name, compiled for this machine: what they do and what they refuse."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from eascope.experiments.guest_image import COPIES
from eascope.host.cache import cache_root
from eascope.host.errors import EascopeError
from eascope.host.proc import need, run
from eascope.rootfs import image
from eascope.rootfs.image import FLAGS, PROGRAMS, guest_programs, initramfs, program_names
from tests.support import waiting
from tests.support.newc import parse


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the programs as this machine runs them."""
    folder = tmp_path_factory.mktemp("programs")
    for name in program_names():
        run([need("gcc", "gcc"), *FLAGS, "-o", folder / name, PROGRAMS / f"{name}.c"])
    return folder


def call(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return waiting.call([str(word) for word in command])


@pytest.mark.parametrize("count", [1, 1000])
def test_ping_pong_prints_its_count_and_time(native: Path, count: int) -> None:
    done = call(native / "ping-pong", "pipe", str(count))
    assert done.returncode == 0, done.stderr
    line = re.fullmatch(r"(\d+) round trips in (\d+) ns\n", done.stdout)
    assert line is not None
    assert int(line[1]) == count
    assert int(line[2]) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["p"], "usage: ping-pong NAME COUNT"),
        (["p", "0"], "ping-pong: COUNT = '0': allowed: 1..1000000000"),
        (["p", "10x"], "ping-pong: COUNT = '10x'"),
        (["abcdefghijklmn", "1"], "allowed: up to 13 characters"),
    ],
)
def test_ping_pong_refuses(native: Path, arguments: list[str], message: str) -> None:
    done = call(native / "ping-pong", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


def test_launch_becomes_the_program_on_its_cpus(native: Path) -> None:
    shown = ["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status; echo $0", "word"]
    done = call(native / "launch", "1000", "0", *shown)
    assert done.stdout.split() == ["Cpus_allowed_list:", "0", "word"], done
    free = call("/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    done = call(native / "launch", "0", "any", *shown)
    assert done.stdout.startswith(free.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["1", "any"], 2, "usage: launch"),
        (["x", "any", "/bin/true"], 2, "DELAY_US = 'x'"),
        (["1", "0;1", "/bin/true"], 2, "CPUS = '0;1'"),
        (["1", "0,", "/bin/true"], 2, "CPUS = ''"),
        (["1", "1023", "/bin/true"], 1, "CPUS = '1023'"),
        (["1", "any", "/no/such"], 1, "/no/such: No such file"),
    ],
)
def test_launch_refuses(native: Path, arguments: list[str], code: int, message: str) -> None:
    done = call(native / "launch", *arguments)
    assert done.returncode == code
    assert message in done.stderr


def test_the_image_has_the_programs_and_the_overlay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = initramfs(COPIES)
    entries = parse(plain.path.read_bytes())
    for name in program_names():
        program = entries[f"bin/{name}"][1]
        assert program == (guest_programs() / name).read_bytes()
        assert program[:5] == b"\x7fELF\x02"
        assert str(cache_root()).encode() not in program
    monkeypatch.setattr(image, "OVERLAY", tmp_path / "overlay")
    (tmp_path / "overlay" / "bin").mkdir(parents=True)
    (tmp_path / "overlay" / "bin" / "perf").write_bytes(b"a program")
    with_overlay = initramfs(COPIES)
    assert parse(with_overlay.path.read_bytes())["bin/perf"][1] == b"a program"
    assert with_overlay.provenance.sha256 != plain.provenance.sha256
    assert set(with_overlay.provenance.overlay) == {"bin/perf"}
    (tmp_path / "overlay" / "bin" / "busybox").write_bytes(b"another")
    with pytest.raises(EascopeError, match=r"overlay/bin/busybox: the guest image has a /bin/busy"):
        initramfs(COPIES)
