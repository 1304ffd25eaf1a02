# SPDX-License-Identifier: GPL-2.0-or-later
"""Which end of a check is which, and what a check executes."""

import base64
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from eascope.engines.base import EngineFailed
from tests.mutants.plugin import BOUND, COVER, LINES, TooSlow, either, end_of
from tests.support.repo import REPO


def failed(reason: str, *console: str) -> EngineFailed:
    return EngineFailed(reason, [*console], [])


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (AssertionError("assert 1 == 2"), "assertion"),
        (pytest.fail.Exception("DID NOT RAISE"), "assertion"),
        (failed("expect /sys/x 1: it has 0"), "assertion"),
        (failed("guest panic: Kernel panic - not syncing: kernel: panic_on_warn"), "warning"),
        (failed("fast engine: QEMU died", "WARNING: CPU: 0 PID: 1 at kernel/x.c"), "warning"),
        (failed("the run has not ended after 60.000 simulated seconds"), "simulated-time limit"),
        (failed("wait toy: still running after 20000 ms"), "simulated-time limit"),
        (failed("fast engine: cannot write console.log"), "error"),
        (TooSlow(), "too slow"),
        (KeyError("log"), "error"),
    ],
)
def test_ends(error: BaseException, end: str) -> None:
    assert end_of(error) == end


CHECKS = """
import os, pytest

def boots(*instructions):
    bits = sum(1 << n for n in instructions)
    with open(os.environ["EASCOPE_COVER"].partition("out=")[2], "wb") as out:
        out.write(bits.to_bytes(4, "little"))

@pytest.fixture(scope="module", params=["one", "two"])
def shared(request):
    boots(1 if request.param == "one" else 2)

@pytest.fixture(scope="module")
def plain():
    pass

def test_by_itself(plain): boots(9)
def test_first(shared): pass
def test_second(shared): boots(17)
"""


def lines_of(checks: str, folder: Path, **env: str) -> list[dict[str, str]]:
    """What the plugin writes of a file of checks."""
    (folder / "test_toy.py").write_text(checks)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (lines := folder / "lines").touch()
    env = {**os.environ, LINES: str(lines), "PYTHONPATH": str(REPO), **env}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.plugin", "test_toy.py"]
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    assert ended.returncode in (0, 1), ended.stdout
    return [json.loads(line) for line in lines.read_text().splitlines()]


def test_a_check_executes_what_the_boots_that_it_shares_do(tmp_path: Path) -> None:
    found = {}
    for line in lines_of(CHECKS, tmp_path, **{COVER: "cover.so,out="}):
        bits = int.from_bytes(zlib.decompress(base64.b64decode(line["seen"])), "little")
        found[line["check"].partition("::")[2]] = bits, line["boot"]
    assert found == {
        "test_by_itself": (1 << 9, ""),
        "test_first[one]": (1 << 1, "test_toy.py::shared[one]"),
        "test_second[one]": (1 << 1 | 1 << 17, "test_toy.py::shared[one]"),
        "test_first[two]": (1 << 2, "test_toy.py::shared[two]"),
        "test_second[two]": (1 << 2 | 1 << 17, "test_toy.py::shared[two]"),
    }


def test_nothing_is_believed_after_a_check_that_was_too_slow(tmp_path: Path) -> None:
    """What was stopped in the middle may fail the next check by an assertion of its own."""
    slow = "import pytest, time\n@pytest.fixture(scope='module')\ndef boot(): time.sleep(60)\n"
    checks = f"{slow}def test_slow(boot): pass\ndef test_next(boot): assert False\n"
    found = lines_of(checks, tmp_path, **{BOUND: "1"})
    assert [(line["check"], line["end"]) for line in found] == [
        ("test_toy.py::test_slow", "too slow")
    ]


def test_bits_of_any_length() -> None:
    assert either([]) == b""
    assert either([b"\1\0", b"", b"\2\1\0\0"]) == b"\3\1"
