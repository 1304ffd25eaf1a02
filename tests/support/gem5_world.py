# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5 as far as an eliding function can tell: time, CPUs, the monitor, two system calls."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eascope.rootfs import elide
from tests.support.interpreter import Interpreter

#: Cycles of a turn and clock in GHz of a little and of a big CPU.
LITTLE, BIG = 223.0, 105.625
TABLE = (LITTLE, LITTLE, BIG, BIG)
SYSCALL_CYCLES = 400


@dataclass
class Interrupt:
    """At ``at_ns``: a handler of ``kernel_ns``, then others run for ``others_ns``; then where."""

    at_ns: float
    kernel_ns: float = 2_000
    others_ns: float = 0
    cpu: int | None = None
    ghz: float | None = None


@dataclass
class World(Interpreter):
    """gem5 as far as the function can tell: time, CPUs, the monitor, two system calls."""

    program: Path
    interrupts: list[Interrupt] = field(default_factory=list)
    cpu: int = 0
    ghz: float = 1.0
    monitor_works: bool = True
    #: Instructions that a wake-up fetches before the interrupt that caused it is taken (O3CPU).
    fetch_width: int = 0
    #: Of each CPU, a turn's cycles and its ns of memory.
    table: Sequence[tuple[float, float]] = tuple((cycles, 0.0) for cycles in TABLE)
    #: Bytes of the function.
    length: int = elide.FUNCTION_BYTES

    def __post_init__(self) -> None:
        function = elide.FUNCTION_ADDRESS
        super().__init__(self.program, [(function, function + self.length)])
        self.ns = 5e6
        self.thread_ns = 3e6
        self.monitor = False
        self.event = False
        self.fetched = 0
        self.turns = 0.0  # what the CPUs stood still for, in turns of the CPU that did
        self.slices: list[float] = []
        self.looks = 0
        self.asked = 0  # for CPU time

    def _take(self, ns: float) -> None:
        self.ns += ns
        self.thread_ns += ns

    def _interrupted(self) -> bool:
        """Let the next interrupt happen when it is due."""
        if not self.interrupts or self.interrupts[0].at_ns > self.ns:
            return False
        interrupt = self.interrupts.pop(0)
        self._take(interrupt.kernel_ns)
        self.ns += interrupt.others_ns
        self.cpu = self.cpu if interrupt.cpu is None else interrupt.cpu
        self.ghz = interrupt.ghz or self.ghz
        self.monitor = False
        self.event = True
        return True

    def outside(self, name: str, operands: list[str]) -> bool:
        if self.fetched:
            self.fetched -= 1
        else:
            self._interrupted()
        self._take(1 / self.ghz)
        if name == "sevl":
            self.event = True
        elif name == "wfe":
            assert self.event, "waits for an event that never comes"
            self.event = False
        elif name == "quiesce_cycle":
            self._stand_still(self.x["x0"] / self.ghz)
        elif name == "quiesce_ns":
            self._stand_still(self.x["x0"])
        elif name == "rpns":
            self.x["x0"] = int(self.ns)
        elif name == "svc":
            self._call_kernel()
        elif name == "brk":
            raise ZeroDivisionError("SIGTRAP")
        elif name == "ldxr":
            self.monitor = self.monitor_works
            self._set(operands[0], self._load(self.x["sp"]))
        elif name == "stxr":
            self._set(operands[0], not self.monitor)
            self.monitor = False
        else:
            return False
        return True

    def _stand_still(self, ns: float) -> None:
        due = self.interrupts[0].at_ns if self.interrupts else float("inf")
        for_ns = min(ns, max(0.0, due - self.ns))
        cycles, memory_ns = self.table[self.cpu]
        self.turns += for_ns / (cycles / self.ghz + memory_ns)
        self.slices.append(ns)
        self._take(for_ns)
        if for_ns < ns and self.fetch_width:
            self.fetched = 1 + self.fetch_width  # WFE, at which fetching had stopped

    def _call_kernel(self) -> None:
        self._take(SYSCALL_CYCLES / self.ghz)
        self.monitor, self.event = False, True
        if self.x["x8"] == 168:
            self.memory[self.x["x0"]] = self.cpu
            self.looks += 1
        else:
            assert (self.x["x8"], self.x["x0"]) == (113, 3)
            self.asked += 1
            seconds, rest = divmod(int(self.thread_ns), 10**9)
            self.memory[self.x["x1"]], self.memory[self.x["x1"] + 8] = seconds, rest
        self.x["x0"] = 0

    def burn(self, turns: int) -> Counter[str]:
        """Call the function."""
        return self.call(elide.FUNCTION_ADDRESS, turns)
