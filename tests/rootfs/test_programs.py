# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that scenarios name, compiled for this machine: what they do and what they refuse."""

import re
import struct
import subprocess
from pathlib import Path

import pytest

from eascope.engines.qemu.eliding_copy import hint, hint_function, marked_function
from eascope.experiments.runs.guest_image import COPIES
from eascope.host.cache import cache_root
from eascope.host.errors import EascopeError
from eascope.host.proc import need, run
from eascope.rootfs import image
from eascope.rootfs.elide import FUNCTION_BEGINS
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.image import FLAGS, PROGRAMS, RT_APP, guest_programs, initramfs, program_names
from eascope.rootfs.mixture import MOST_MIXTURES, mixture_program
from tests.support import waiting
from tests.support.newc import parse


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the programs as this machine runs them."""
    folder = tmp_path_factory.mktemp("programs")
    for name in program_names():
        source = PROGRAMS / f"{name}.c"
        run([need("gcc", "gcc"), *FLAGS, f"-I{INCLUDE}", "-o", folder / name, source])
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
    ("command", "code", "message"),
    [
        ("ping-pong p", 2, "usage: ping-pong NAME COUNT"),
        ("ping-pong p 0", 2, "ping-pong: COUNT = '0': allowed: 1..1000000000"),
        ("ping-pong p 10x", 2, "ping-pong: COUNT = '10x'"),
        ("ping-pong abcdefghijklmn 1", 2, "allowed: up to 13 characters"),
        ("launch 1 any", 2, "usage: launch"),
        ("launch x any /bin/true", 2, "DELAY_US = 'x'"),
        ("launch 1 0;1 /bin/true", 2, "CPUS = '0;1'"),
        ("launch 1 0, /bin/true", 2, "CPUS = ''"),
        ("launch 1 1023 /bin/true", 1, "CPUS = '1023'"),
        ("launch 1 any /no/such", 1, "/no/such: No such file"),
    ],
)
def test_a_wrong_request_is_refused(native: Path, command: str, code: int, message: str) -> None:
    name, *words = command.split()
    done = call(native / name, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_launch_becomes_the_program_on_its_cpus(native: Path) -> None:
    shown = ["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status; echo $0", "word"]
    done = call(native / "launch", "1000", "0", *shown)
    assert done.stdout.split() == ["Cpus_allowed_list:", "0", "word"], done
    free = call("/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    done = call(native / "launch", "0", "any", *shown)
    assert done.stdout.startswith(free.stdout)


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
    with pytest.raises(
        EascopeError, match=r"overlay/bin/busybox: the guest image already has /bin/busy"
    ):
        initramfs(COPIES)


def test_a_copy_is_known_by_its_first_instructions() -> None:
    """No two copies, nor the executed and the plain eliding one, begin alike; one word differs."""
    numbers = range(1, MOST_MIXTURES + 1)
    begins = [struct.unpack_from("<4I", marked_function(number)) for number in numbers]
    begins += [FUNCTION_BEGINS, struct.unpack_from("<4I", hint_function())]
    assert len({*begins}) == MOST_MIXTURES + 2
    for number in numbers:
        assert marked_function(number)[4:] == hint_function()[4:]


def test_a_mark_is_a_hint_that_does_nothing_else() -> None:
    """Hints 0x60 to 0x7f are NOPs; the engine's own are the message and the two of turns."""
    for number in range(1, MOST_MIXTURES + 1):
        (word,) = struct.unpack_from("<I", marked_function(number))
        assert word == hint(word >> 5 & 0x7F)
        assert 0x63 <= word >> 5 & 0x7F <= 0x7F


def test_every_copy_has_a_path_of_the_same_length() -> None:
    paths = [mixture_program(number) for number in range(1, MOST_MIXTURES + 1)]
    assert {len(path) for path in [*paths, RT_APP]} == {len(RT_APP)}
    assert len({*paths}) == len(paths)
