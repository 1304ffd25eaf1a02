# SPDX-License-Identifier: GPL-2.0-or-later
"""One run: simulate in steps, act on what the guest asks for, watch that it makes progress.

Everything that is gem5's is handed in, so the logic runs in tests without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eascope.engines.gem5.inside.request import Gem5Request
from eascope.engines.gem5.inside.rows import TICKS_PER_NS
from eascope.engines.gem5.inside.sampling import SampledMachine, Sampling

#: A step in ticks (ps) of simulated time, by gem5's memory mode: some ten host seconds at most, all
#: CPUs busy and their loops executed. It never depends on host time: the watch between two steps
#: makes gem5 sample statistics, and these have to be the same in every run.
STEP = {"atomic": 1_000_000_000, "timing": 200_000_000}
#: Host seconds between two reports of progress.
TELL_S = 0.5


class ExitEvent(Protocol):
    """Why gem5's simulate() returned."""

    def getCause(self) -> str:
        """In gem5's words."""

    def getCode(self) -> int:
        """A number that belongs to the cause."""


class RunningMachine(SampledMachine, Protocol):
    """gem5's side of a run."""

    def simulate(self, ticks: int) -> ExitEvent:
        """Go on for at most ``ticks``."""

    def tick(self) -> int:
        """Simulated time in ticks since power-on."""

    def instructions(self) -> Sequence[int]:
        """Instructions that each CPU has committed."""

    def busy_ticks(self) -> Sequence[int]:
        """Ticks that each CPU was neither clock-gated nor off."""

    def checkpoint(self, folder: str) -> None:
        """Save the state of the machine."""

    def begin_window(self) -> None:
        """Statistics of the window begin."""

    def mark(self) -> None:
        """Any other mark: rows may be wanted from here on."""

    def end_window(self) -> None:
        """Statistics of the window end."""


@dataclass
class Watch:
    """Progress: a machine that commits nothing, or a CPU that is on and commits nothing."""

    stall_ticks: int
    _since: list[tuple[int, int, int]] = field(default_factory=list)
    _total: tuple[int, int] = (0, -1)

    def stalled(self, tick: int, instructions: Sequence[int], busy: Sequence[int]) -> str:
        """What has stalled, in words; an empty text when nothing has."""
        total = sum(instructions)
        if total != self._total[1]:
            self._total = (tick, total)
        elif tick - self._total[0] >= self.stall_ticks:
            return f"no CPU has committed an instruction for {_ms(tick - self._total[0])} ms"
        if not self._since:
            self._since = [(0, -1, 0)] * len(instructions)
        for cpu, (count, ran) in enumerate(zip(instructions, busy, strict=True)):
            if count != self._since[cpu][1]:
                self._since[cpu] = (tick, count, ran)
            elif ran - self._since[cpu][2] >= self.stall_ticks:
                return (
                    f"CPU {cpu} was on for {_ms(ran - self._since[cpu][2])} ms "
                    "and has committed no instruction"
                )
        return ""


def _ms(ticks: int) -> str:
    return f"{ticks / TICKS_PER_NS / 1e6:g}"


@dataclass
class Session:
    """A run from its first step to its end.

    :param request: as `run.py` reads it.
    :param say: takes one line for the engine.
    :param clock: host seconds.
    :param spent: processor seconds of this process.
    """

    machine: RunningMachine
    request: Gem5Request
    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    spent: Callable[[], float] = time.process_time
    marks: list[tuple[int, int]] = field(default_factory=list)

    def run(self) -> str:
        """Simulate to the end; its cause and a text, as the engine reads them."""
        self._part = "warmup" if self.request["checkpoint_in"] else "boot"
        self._began = (self.clock(), self.spent())
        watch = Watch(self.request["stall_ns"] * TICKS_PER_NS)
        limit = self.request["limit_ns"] * TICKS_PER_NS
        step = STEP[self.request["machine"]["memory_mode"]]
        times = self.request.get("samples")
        sampling = Sampling(self.machine, times, self.machine.tick()) if times else None
        reported = -TELL_S
        while True:
            left = limit - self.machine.tick()
            if left <= 0:
                return self._end("limit", f"no end after {_ms(limit)} ms of simulated time")
            if sampling and sampling.reached(self.machine.tick()):
                return self._end("samples", f"at {_ms(self.machine.tick())} ms")
            ahead = sampling.ahead(self.machine.tick()) if sampling else left
            event = self.machine.simulate(min(step, left, ahead))
            instructions = self.machine.instructions()
            cause = event.getCause()
            done = cause != "simulate() limit reached"
            if done or self.clock() - reported >= TELL_S:
                reported = self.clock()
                self.say(f"progress {self.machine.tick() // TICKS_PER_NS} {sum(instructions)}")
            if done:
                ended = self._act(cause, event.getCode())
                if ended:
                    return ended
                continue
            stalled = watch.stalled(self.machine.tick(), instructions, self.machine.busy_ticks())
            if stalled:
                return self._end("stall", stalled)

    def _act(self, cause: str, code: int) -> str:
        """Do what the guest asked for; the cause of the end when this is one."""
        if cause == "checkpoint":
            return self._barrier()
        if cause == "workbegin":
            folder = self.request["checkpoint_out"]
            if folder and code == self.request.get("save_at"):
                return self._save(folder)
            self._mark(code)
            return ""
        if cause == "workend":
            return ""
        if cause == "m5_exit instruction encountered":
            return self._end("exit", f"at {_ms(self.machine.tick())} ms")
        if cause == "m5_fail instruction encountered":
            return self._end("fail", _failure(code))
        if "panic" in cause.lower() or "oops" in cause.lower():
            return self._end("panic", cause)
        return self._end("fatal", f"gem5 stopped: {cause} ({code})")

    def _barrier(self) -> str:
        """The agent is ready: save there when that is asked for, else go on."""
        folder = self.request["checkpoint_out"]
        if self.request["mode"] == "boot" and folder and "save_at" not in self.request:
            return self._save(folder)
        self._next_part("warmup")
        return ""

    def _save(self, folder: str) -> str:
        self.machine.checkpoint(folder)
        return self._end("checkpoint", folder)

    def _mark(self, number: int) -> None:
        self.marks.append((number, self.machine.tick() // TICKS_PER_NS))
        known = self.request["machine"]["marks"]
        if number == known["start"]:
            self._next_part("window")
            self.machine.begin_window()
        elif number == known["stop"]:
            self.machine.end_window()
            self._next_part("collect")
        else:
            self.machine.mark()

    def _next_part(self, name: str) -> None:
        now, spent = self.clock(), self.spent()
        host_s, cpu_s = now - self._began[0], spent - self._began[1]
        self.say(f"part {self._part} {host_s:.3f} {cpu_s:.3f}")
        self._part, self._began = name, (now, spent)

    def _end(self, cause: str, text: str) -> str:
        self._next_part("")
        return f"{cause} {text}"


def _failure(code: int) -> str:
    """What ``fail`` was called with: by the agent, or by the boot loader with a trap's syndrome."""
    syndrome = code & 0xFFFF_FFFF
    if syndrome >> 26:
        return f"trap to EL3, syndrome {syndrome:#x}: the kernel uses what boot.S does not open"
    return f"code {code}"
