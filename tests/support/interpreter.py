# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes a few functions of an arm64 program, as objdump prints them, and counts instructions.

Just the forms that rt-app's busy loop, musl's ldexp and the eliding copy consist of; anything else
is an error. Independent of every emulator, so that the counts which the engine relies on are
checked without one.
"""

import re
import struct
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eascope.host.toolchain import arm64_tool

MASK = {"x": 2**64 - 1, "w": 2**32 - 1}
LINE = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f]{8} +\t(\S+)\t?(.*)$", re.MULTILINE)
#: gem5's pseudo operations, which objdump does not know.
M5_OP = {"0xff030110": "quiesce_cycle", "0xff020110": "quiesce_ns", "0xff070110": "rpns"}


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


class Interpreter:
    """Registers, a stack, and the disassembled ranges of one program."""

    def __init__(self, program: Path, ranges: Sequence[tuple[int, int]]) -> None:
        self.program = program
        self.code: dict[int, tuple[str, list[str]]] = {}
        for start, stop in ranges:
            command = [arm64_tool("objdump"), "-d", f"--start-address={start:#x}"]
            text = subprocess.run(
                [*command, f"--stop-address={stop:#x}", program],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for address, name, operand_text in LINE.findall(text):
                operands = re.sub(r"//.*", "", operand_text).strip()
                self.code[int(address, 16)] = (
                    name,
                    [part.strip() for part in re.findall(r"\s*(\[[^]]*\]!?|[^,]+)", operands)],
                )
        self.bytes = program.read_bytes()
        self.x = {"sp": 0x10000, "x30": 0}
        self.d: dict[int, int] = {}
        self.memory: dict[int, int] = {}
        self.flags = (False, False)  # less than (signed), lower than (unsigned); see _compare
        self.equal = False

    def outside(self, name: str, operands: list[str]) -> bool:
        """What the machine around the CPU does at this instruction; false when nothing.

        Called once for every instruction, before it is executed.
        """
        return False

    def call(self, address: int, x0: int, limit: int = 1_000_000) -> Counter[str]:
        """Run the function until it returns; how often each instruction (by text) was executed."""
        counts: Counter[str] = Counter()
        self.x["x0"] = x0
        self.x["x30"] = 0
        pc = address
        while pc != 0:
            name, operands = self.code[pc]
            counts[" ".join([name, *operands])] += 1
            assert counts.total() < limit, "does not end"
            pc = self._step(pc, name, operands)
        return counts

    def _get(self, operand: str) -> int:
        if operand.startswith("#"):
            return int(operand[1:], 0)
        if operand in ("xzr", "wzr"):
            return 0
        if operand[0] == "d":
            return self.d[int(operand[1:])]
        if operand == "sp":
            return self.x["sp"]
        return self.x.get("x" + operand[1:], 0) & MASK[operand[0]]

    def _set(self, operand: str, value: int) -> None:
        if operand[0] == "d":
            self.d[int(operand[1:])] = value
        elif operand == "sp":
            self.x["sp"] = value
        else:
            self.x["x" + operand[1:]] = value & MASK[operand[0]]

    def _address(self, operand: str, step: str | None = None) -> int:
        """``[sp, #16]``, ``[sp, #-64]!`` or, with a step after it, ``[sp], #64``."""
        base, _, offset = operand.strip("[]!").partition(",")
        address = self._get(base) + (self._get(offset.strip()) if offset else 0)
        if operand.endswith("!"):
            self._set(base, address)
        if step is not None:
            self._set(base, address + self._get(step))
        return address

    def _load(self, address: int) -> int:
        if address in self.memory:
            return self.memory[address]
        # a constant of the program, which is linked at 0x400000 with file offset 0
        return int.from_bytes(self.bytes[address - 0x400000 : address - 0x400000 + 8], "little")

    def _compare(self, left: str, right: int) -> None:
        bits = 64 if left[0] == "x" else 32
        a, b = self._get(left), right & MASK[left[0]]
        sign = 1 << (bits - 1)
        self.flags = ((a ^ sign) < (b ^ sign), a < b)
        self.equal = a == b

    def _holds(self, condition: str) -> bool:
        less, lower = self.flags
        return {
            "ne": not self.equal,
            "eq": self.equal,
            "cc": lower,
            "cs": not lower,
            "le": less or self.equal,
            "gt": not (less or self.equal),
            "ge": not less,
        }[condition]

    def _shifted(self, operand: str, shift: str) -> int:
        """A register after ``lsr #1`` or ``asr #63`` (64 bits)."""
        kind, _, amount = shift.partition(" ")
        value = self._get(operand)
        if kind == "asr" and value >> 63:
            value -= 1 << 64
        elif kind not in ("asr", "lsr"):
            raise AssertionError(f"unknown shift {shift}")
        return value >> int(amount.lstrip("#"))

    def _step(self, pc: int, name: str, o: list[str]) -> int:
        """Execute the instruction at ``pc`` and return the address of the next."""
        after = pc + 4
        if name == ".inst":
            name = M5_OP[o[0].split()[0]]
        if self.outside(name, o) or name in ("nop", "hint"):
            return after
        if name == "ret":
            return self.x["x30"]
        if name in ("b", "bl"):
            if name == "bl":
                self.x["x30"] = after
            return int(o[0].split()[0], 16)
        if name.startswith("b."):
            return int(o[0].split()[0], 16) if self._holds(name[2:]) else after
        if name in ("cbz", "cbnz"):
            is_taken = (self._get(o[0]) == 0) == (name == "cbz")
            return int(o[1].split()[0], 16) if is_taken else after
        self._calculate(name, o)
        return after

    def _calculate(self, name: str, o: list[str]) -> None:  # noqa: PLR0912, PLR0915 - a decoder
        if name in ("mov", "adrp"):
            value = self._get(o[1]) if o[1][0] in "#xws" else int(o[1].split()[0], 16)
            self._set(o[0], value)
        elif name == "movk":
            shift = int(o[2].split("#")[1])
            kept_bits = self._get(o[0]) & ~(0xFFFF << shift)
            self._set(o[0], kept_bits | self._get(o[1]) << shift)
        elif name == "adr":
            self._set(o[0], int(o[1].split()[0], 16))
        elif name in ("mul", "madd"):
            self._set(o[0], self._get(o[1]) * self._get(o[2]) + (self._get(o[3]) if o[3:] else 0))
        elif name == "udiv":
            self._set(o[0], self._get(o[1]) // self._get(o[2]))
        elif name == "lsr":
            self._set(o[0], self._get(o[1]) >> self._get(o[2]))
        elif name == "lsl":
            self._set(o[0], self._get(o[1]) << self._get(o[2]))
        elif name in ("add", "sub", "subs", "bic"):
            right = self._shifted(o[2], o[3]) if o[3:] else self._get(o[2])
            left = self._get(o[1])
            if name == "subs":
                self._compare(o[1], right)
            self._set(
                o[0],
                left & ~right if name == "bic" else left + (right if name == "add" else -right),
            )
        elif name in ("cmp", "cmn"):
            self._compare(o[0], self._get(o[1]) if name == "cmp" else -self._get(o[1]))
        elif name == "csel":
            self._set(o[0], self._get(o[1] if self._holds(o[3]) else o[2]))
        elif name == "stp":
            address = self._address(o[2])
            self.memory[address], self.memory[address + 8] = self._get(o[0]), self._get(o[1])
        elif name == "ldp":
            address = self._address(o[2], o[3])
            self._set(o[0], self._load(address))
            self._set(o[1], self._load(address + 8))
        elif name == "ldrh":
            base, index, scale = (part.strip() for part in o[1].strip("[]").split(","))
            address = self._get(base) + (self._get(index) << int(scale.split("#")[1]))
            self._set(o[0], self._load(address) & 0xFFFF)
        elif name == "and":
            self._set(o[0], self._get(o[1]) & self._get(o[2]))
        elif name == "ldr" and o[1].count(",") == 2:
            base, index, scale = (part.strip() for part in o[1].strip("[]").split(","))
            self._set(o[0], self._load(self._get(base) + (self._get(index) << int(scale[-1]))))
        elif name == "str":
            self.memory[self._address(o[1])] = self._get(o[0])
        elif name == "ldr":
            self._set(o[0], self._load(self._address(o[1])))
        elif name == "fmov":
            constant = o[1].startswith("#")
            self._set(o[0], _bits(float(o[1][1:])) if constant else self._get(o[1]))
        elif name == "fmul":
            self._set(o[0], _bits(_double(self._get(o[1])) * _double(self._get(o[2]))))
        elif name == "fcvtzs":
            number = _double(self._get(o[1]))
            self._set(o[0], int(max(-(2.0**31), min(2.0**31 - 1, number))))
        elif name == "shl":
            self._set(o[0], self._get(o[1]) << self._get(o[2]) & MASK["x"])
        else:
            raise AssertionError(f"unknown instruction {name} {o}")
