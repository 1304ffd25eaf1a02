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
from tests.mutants.plugin import COVER, LINES, TooSlow, either, end_of
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


def test_a_check_executes_what_the_boots_that_it_shares_do(tmp_path: Path) -> None:
    (tmp_path / "test_toy.py").write_text(CHECKS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (lines := tmp_path / "lines").touch()
    env = {**os.environ, LINES: str(lines), COVER: "cover.so,out="}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.plugin", "test_toy.py"]
    env["PYTHONPATH"] = str(REPO)
    subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)
    found = {}
    for line in map(json.loads, lines.read_text().splitlines()):
        bits = int.from_bytes(zlib.decompress(base64.b64decode(line["seen"])), "little")
        found[line["check"].partition("::")[2]] = bits, line["boot"]
    assert found == {
        "test_by_itself": (1 << 9, ""),
        "test_first[one]": (1 << 1, "test_toy.py::shared[one]"),
        "test_second[one]": (1 << 1 | 1 << 17, "test_toy.py::shared[one]"),
        "test_first[two]": (1 << 2, "test_toy.py::shared[two]"),
        "test_second[two]": (1 << 2 | 1 << 17, "test_toy.py::shared[two]"),
    }


def test_bits_of_any_length() -> None:
    assert either([]) == b""
    assert either([b"\1\0", b"", b"\2\1\0\0"]) == b"\3\1"
