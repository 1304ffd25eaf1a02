# SPDX-License-Identifier: GPL-2.0-or-later
"""The eliding copy of rt-app: its bytes, its count of instructions, what it refuses."""

import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from eascope.engines.qemu import eliding_copy
from eascope.engines.qemu.eliding_copy import elide_hint, hint_function
from eascope.host.errors import EascopeError
from eascope.host.toolchain import arm64_tool
from eascope.rootfs import elide
from tests.support.interpreter import Interpreter

START, STOP = elide.FUNCTION_OFFSET, elide.FUNCTION_OFFSET + elide.FUNCTION_BYTES


def test_the_program_is_known_by_its_first_instructions(rt_app: Path) -> None:
    """Those of the function: by them the fast engine tells rt-app from other programs."""
    words = struct.unpack_from("<4I", rt_app.read_bytes(), elide.FUNCTION_OFFSET)
    assert words == elide.FUNCTION_BEGINS


def test_only_the_function_changes(rt_app: Path) -> None:
    original = rt_app.read_bytes()
    copy = elide_hint(original)
    assert len(copy) == len(original)
    assert copy[:START] == original[:START]
    assert copy[STOP:] == original[STOP:]
    assert copy[START:STOP] == hint_function() != original[START:STOP]


def test_another_rt_app_is_refused_in_one_line(rt_app: Path) -> None:
    original = bytearray(rt_app.read_bytes())
    original[-1] ^= 1
    with pytest.raises(EascopeError, match=rf"^rt-app: SHA-256 .*{elide.RT_APP_SHA256[:16]}.*\Z"):
        elide_hint(bytes(original))


def test_function_in_the_file_is_the_pinned_one(
    rt_app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second pin is checked on its own: a right file with another offset is refused."""
    monkeypatch.setattr(elide, "FUNCTION_OFFSET", elide.FUNCTION_OFFSET + 4)
    with pytest.raises(EascopeError, match=r"function at 0x2664 is not the busy loop"):
        elide_hint(rt_app.read_bytes())


def test_disassembly(tmp_path: Path) -> None:
    """Binutils reads the new body as the instructions that the docstring promises."""
    code = tmp_path / "code"
    code.write_bytes(hint_function())
    text = subprocess.run(
        [arm64_tool("objdump"), "-D", "-b", "binary", "-m", "aarch64", str(code)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    instructions = [
        (int(m[1], 16), " ".join(m[2].split("//")[0].split()))
        for m in re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f]{8} \t(.*)$", text, re.MULTILINE)
    ]
    assert len(instructions) == elide.FUNCTION_BYTES // 4
    body = [instruction for _, instruction in instructions]
    first = body.index("cmp x0, #0x4")
    assert body[:first] == ["nop"] * first
    at = {name: hex(4 * (first + index)) for name, index in
          {"bulk": 2, "singles": 6, "single": 7, "done": 10}.items()}  # fmt: skip
    assert body[first : first + 11] == [
        "cmp x0, #0x4",
        f"b.cc {at['singles']}",
        "sub x0, x0, #0x4",
        "hint #0x61",
        "cmp x0, #0x4",
        f"b.cs {at['bulk']}",
        f"cbz x0, {at['done']}",
        "hint #0x62",
        "subs x0, x0, #0x1",
        f"b.ne {at['single']}",
        "ret",
    ]
    assert set(body[first + 11 :]) == {"ret"}


def count(program: Path, turns: int) -> Counter[str]:
    """Instructions that a call of the busy function with ``turns`` turns executes, by text."""
    start = elide.FUNCTION_ADDRESS
    machine = Interpreter(program, [(start, start + elide.FUNCTION_BYTES), elide.LDEXP_RANGE])
    return machine.call(start, turns)


@pytest.mark.parametrize("turns", [0, 1, 3, 4, 11])
def test_instructions_counted(rt_app: Path, tmp_path: Path, turns: int) -> None:
    """Executed one by one: the original takes 18 + 223 n, and copy + added the same number."""
    original = count(rt_app, turns).total()
    assert original == elide.CALL_INSTRUCTIONS + elide.ITERATION_INSTRUCTIONS * turns

    copy_path = tmp_path / "rt-app"
    copy_path.write_bytes(elide_hint(rt_app.read_bytes()))
    counts = count(copy_path, turns)
    assert counts["hint #0x61"] == turns // eliding_copy.BULK_TURNS
    assert counts["hint #0x62"] == turns % eliding_copy.BULK_TURNS
    bulk, single = (
        eliding_copy.skipped_instructions(eliding_copy.BULK_TURNS),
        eliding_copy.skipped_instructions(1),
    )
    assert (bulk, single) == (888, 220)
    added = counts["hint #0x61"] * bulk + counts["hint #0x62"] * single
    assert counts.total() + added == original
