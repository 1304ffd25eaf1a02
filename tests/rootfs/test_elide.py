"""The eliding copy of rt-app: its bytes, its count of instructions, what it refuses."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from configs.host.errors import EascopeError
from rootfs import elide
from rootfs.elide import elide_hint, hint_function

START, STOP = elide.FUNCTION_OFFSET, elide.FUNCTION_OFFSET + elide.FUNCTION_BYTES


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
    with pytest.raises(EascopeError) as caught:
        elide_hint(bytes(original))
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("rt-app: SHA-256 ")
    assert elide.RT_APP_SHA256[:16] in message


def test_function_in_the_file_is_the_pinned_one(
    rt_app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second pin is checked on its own: a right file with another offset is refused."""
    monkeypatch.setattr(elide, "FUNCTION_OFFSET", elide.FUNCTION_OFFSET + 4)
    with pytest.raises(EascopeError, match=r"function at 0x2664 is another"):
        elide_hint(rt_app.read_bytes())


def test_disassembly(tmp_path: Path) -> None:
    """binutils reads the new body as the instructions that the docstring promises."""
    code = tmp_path / "code"
    code.write_bytes(hint_function())
    text = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "aarch64", str(code)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = [
        (int(m[1], 16), " ".join(m[2].split("//")[0].split()))
        for m in re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f]{8} \t(.*)$", text, re.MULTILINE)
    ]
    assert len(found) == elide.FUNCTION_BYTES // 4
    body = [instruction for _, instruction in found]
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


def count(emulator: str, program: Path, turns: int, folder: Path) -> dict[int, int]:
    """Executions per address of the busy function (and ldexp) in a run of ``turns`` turns."""
    configuration = {
        "global": {
            "duration": 1,
            "calibration": 1000,  # ns per turn: "run": N is N turns
            "default_policy": "SCHED_OTHER",
            "logdir": str(folder),
            "log_basename": "log",
            "gnuplot": False,
            "pi_enabled": False,
            "lock_pages": False,
        },
        "tasks": {"t": {"loop": 1, "run": turns}},
    }
    script = folder / "t.json"
    script.write_text(json.dumps(configuration))
    log = folder / "executed"
    start = elide.FUNCTION_ADDRESS
    ranges = [(start, start + elide.FUNCTION_BYTES - 1), elide.LDEXP_RANGE]
    wanted = ",".join(f"{low:#x}..{high:#x}" for low, high in ranges)
    options = ["-d", "exec,nochain", "-dfilter", wanted, "-D", str(log)]
    helped = subprocess.run([emulator, "-help"], capture_output=True, text=True, check=False)
    step = "-one-insn-per-tb" if "-one-insn-per-tb" in helped.stdout else "-singlestep"
    subprocess.run(
        [emulator, step, *options, program, script], capture_output=True, timeout=120, check=True
    )
    counts: dict[int, int] = {}
    for line in log.read_text().splitlines():
        found = re.match(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", line)
        assert found, line
        address = int(found[1], 16)
        counts[address] = counts.get(address, 0) + 1
    return counts


@pytest.mark.parametrize("turns", [1, 3, 4, 11])
def test_instructions_counted(emulator: str, rt_app: Path, tmp_path: Path, turns: int) -> None:
    """Single-stepped: the original takes 18 + 223 n, and copy + added is the same number."""
    original = sum(count(emulator, rt_app, turns, tmp_path).values())
    assert original == elide.CALL_INSTRUCTIONS + elide.TURN_INSTRUCTIONS * turns

    copy_path = tmp_path / "rt-app-elided"
    copy_path.write_bytes(elide_hint(rt_app.read_bytes()))
    copy_path.chmod(0o755)
    counts = count(emulator, copy_path, turns, tmp_path)
    words = [
        int.from_bytes(hint_function()[at : at + 4], "little")
        for at in range(0, elide.FUNCTION_BYTES, 4)
    ]
    executed = {
        hint: counts.get(elide.FUNCTION_ADDRESS + 4 * words.index(0xD503201F | hint << 5), 0)
        for hint in (elide.HINT_BULK, elide.HINT_SINGLE)
    }
    assert executed == {elide.HINT_BULK: turns // 4, elide.HINT_SINGLE: turns % 4}
    added = (
        executed[elide.HINT_BULK] * elide.BULK_ADDED
        + executed[elide.HINT_SINGLE] * elide.SINGLE_ADDED
    )
    assert sum(counts.values()) + added == original
