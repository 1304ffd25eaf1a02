# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's course: what the guest asks for, progress, and every way to end; no gem5."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from eascope.engines.gem5.inside.session import STEP, Session
from eascope.engines.records import START, STOP

LIMIT = ("simulate() limit reached", 0)
EXIT = ("m5_exit instruction encountered", 0)
MS = 1_000_000_000  # ticks


@dataclass
class Event:
    """Why simulate() returned."""

    cause: str
    code: int

    def getCause(self) -> str:
        return self.cause

    def getCode(self) -> int:
        return self.code


@dataclass
class FakeMachine:
    """Returns the given events one after the other, each after 1 ms of simulated time."""

    events: list[tuple[str, int]]
    rate: int = 1000
    busy: int = MS
    now: int = 0
    steps: int = 0
    done: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    def simulate(self, ticks: int) -> Event:
        self.asked.append(ticks)
        self.now += MS
        self.steps += 1
        return Event(*(self.events.pop(0) if self.events else LIMIT))

    def tick(self) -> int:
        return self.now

    def instructions(self) -> Sequence[int]:
        return [self.rate * self.steps, 5]

    def busy_ticks(self) -> Sequence[int]:
        return [self.now, self.busy * self.steps if self.busy != MS else 0]

    def checkpoint(self, folder: str) -> None:
        self.done.append(f"checkpoint {folder}")

    def begin_window(self) -> None:
        self.done.append("begin")

    def mark(self) -> None:
        self.done.append("mark")

    def end_window(self) -> None:
        self.done.append("end")

    def begin_sample(self) -> None:
        self.done.append("sample")

    def end_sample(self) -> None:
        self.done.append("sample ends")


def _request(**changes: Any) -> Any:
    return {
        "mode": "elided",
        "machine": {"memory_mode": "atomic", "marks": {"start": START, "stop": STOP}},
        "checkpoint_in": None,
        "checkpoint_out": None,
        "limit_ns": 1000 * 1_000_000,
        "stall_ns": 20 * 1_000_000,
    } | changes


def _run(machine: FakeMachine, **changes: Any) -> tuple[str, list[str], Session]:
    lines: list[str] = []
    session = Session(machine, _request(**changes), lines.append, _counter(), lambda: 7.0)
    return session.run(), lines, session


def _counter() -> Callable[[], float]:
    """A clock that is a tenth of a second later whenever it is asked."""
    ticks = iter(range(1_000_000))
    return lambda: next(ticks) / 10


def test_boot_ends_with_a_checkpoint_at_the_barrier() -> None:
    machine = FakeMachine([LIMIT, ("checkpoint", 0), EXIT])
    ended, lines, _ = _run(machine, mode="boot", checkpoint_out="/c")
    assert ended == "checkpoint /c"
    assert machine.done == ["checkpoint /c"]
    assert [line.split()[:2] for line in lines if line.startswith("part")] == [["part", "boot"]]


def test_other_modes_go_on_at_the_barrier() -> None:
    machine = FakeMachine([("checkpoint", 0), EXIT])
    ended, lines, _ = _run(machine, checkpoint_out="/c")
    assert ended == "exit at 2 ms"
    assert machine.done == []
    parts = [line.split()[1] for line in lines if line.startswith("part")]
    assert parts == ["boot", "warmup"]


def test_a_window_lies_between_its_marks() -> None:
    events = [("workbegin", 1), ("workbegin", START), LIMIT, ("workbegin", STOP), EXIT]
    machine = FakeMachine(events)
    ended, lines, session = _run(machine, checkpoint_in="/c")
    assert ended.startswith("exit")
    assert machine.done == ["mark", "begin", "end"]
    assert session.marks == [(1, 1_000_000), (2, 2_000_000), (3, 4_000_000)]
    parts = [line.split() for line in lines if line.startswith("part")]
    assert [part[1] for part in parts] == ["warmup", "window", "collect"]
    assert all(float(part[2]) > 0 and part[3] == "0.000" for part in parts)
    assert "progress 4000000 4005" in lines


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (("m5_fail instruction encountered", 1), "fail code 1"),
        (("m5_fail instruction encountered", 0x62300000), "fail trap to EL3, syndrome 0x62300000"),
        (("m5_fail instruction encountered", 0x9600004F - 2**32), "fail trap to EL3, syndrome 0x9"),
        (("Kernel panic in simulated kernel", 1), "panic Kernel panic in simulated kernel"),
        (("Kernel oops in guest", 1), "panic Kernel oops in guest"),
        (("user interrupt received", 0), "fatal gem5 stopped: user interrupt received (0)"),
    ],
)
def test_every_end_has_a_cause(event: tuple[str, int], cause: str) -> None:
    ended, _, _ = _run(FakeMachine([event]))
    assert ended.startswith(cause)


def test_simulated_time_is_limited() -> None:
    ended, _, _ = _run(FakeMachine([]), limit_ns=50 * 1_000_000)
    assert ended == "limit no end after 50 ms of simulated time"


@pytest.mark.parametrize(
    ("machine", "cause", "ms"),
    [
        (FakeMachine([], rate=0), "no CPU has committed an instruction for 20 ms", 21),
        # CPU 0 goes on; CPU 1 hangs with its clock running, half of the time.
        (
            FakeMachine([], busy=MS // 2),
            "CPU 1 was on for 20 ms and has committed no instruction",
            41,
        ),
    ],
)
def test_a_cpu_that_is_on_and_commits_nothing_has_stalled(
    machine: FakeMachine, cause: str, ms: int
) -> None:
    ended, _, _ = _run(machine)
    assert (ended, machine.now) == (f"stall {cause}", ms * MS)


def test_a_sleeping_cpu_has_not_stalled() -> None:
    machine = FakeMachine([LIMIT] * 100 + [EXIT])
    ended, _, _ = _run(machine)
    assert ended.startswith("exit")


def test_steps_do_not_hang_on_host_time() -> None:
    """Between two steps gem5 samples statistics, which must be the same in every run."""
    for memory, step in STEP.items():
        for pace in (1e-3, 10.0):
            machine = FakeMachine([LIMIT] * 9 + [EXIT])
            clock = (pace * number for number in range(1_000_000))
            request = _request(machine={"memory_mode": memory})
            Session(machine, request, lambda _: None, clock.__next__, lambda: 7.0).run()
            assert machine.asked == [step] * 10


def test_progress_is_told_twice_a_second_and_at_every_event() -> None:
    events = [*[LIMIT] * 20, ("workbegin", 1), EXIT]
    _, lines, _ = _run(FakeMachine(events))
    reported = [int(line.split()[1]) // 1_000_000 for line in lines if line.startswith("progress")]
    assert reported[0] == 1
    assert reported[-2:] == [21, 22]
    assert 4 <= len(reported) <= 8
