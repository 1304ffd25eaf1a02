# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples without gem5: when they are taken, and how a trace of instructions is read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import Machine as EngineMachine
from eascope.engines.gem5 import engine
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.inside.request import RowsFacts
from eascope.engines.gem5.inside.rows import write_rows
from eascope.engines.gem5.inside.sampling import steady
from eascope.engines.gem5.inside.session import Session
from eascope.engines.gem5.process import Gem5Ended
from eascope.engines.gem5.samples import CpuSample, ModeCount, read_samples
from eascope.engines.records import READY, START, STOP
from eascope.host.errors import EascopeError

US = 1_000_000  # ticks
LIMIT = "simulate() limit reached"


@dataclass
class Event:
    """Why simulate() returned."""

    cause: str
    code: int = 0

    def getCause(self) -> str:
        return self.cause

    def getCode(self) -> int:
        return self.code


@dataclass
class Machine:
    """Goes on for exactly as long as it is asked to, or to the next of ``events``, by tick."""

    now: int
    events: dict[int, Event] = field(default_factory=dict)
    done: list[tuple[str, int]] = field(default_factory=list)

    def simulate(self, ticks: int) -> Event:
        end = self.now + ticks
        early = [at for at in self.events if self.now < at <= end]
        self.now = min(early, default=end)
        return self.events.pop(self.now) if early else Event(LIMIT)

    def tick(self) -> int:
        return self.now

    def instructions(self) -> Sequence[int]:
        return [self.now]

    def busy_ticks(self) -> Sequence[int]:
        return [0]

    def checkpoint(self, folder: str) -> None:
        self.done.append((folder, self.now))

    def begin_window(self) -> None:
        self.done.append(("window", self.now))

    def mark(self) -> None:
        self.done.append(("mark", self.now))

    def end_window(self) -> None:
        self.done.append(("window ends", self.now))

    def begin_sample(self) -> None:
        self.done.append(("begin", self.now))

    def end_sample(self) -> None:
        self.done.append(("end", self.now))


def run(machine: Machine, **changes: Any) -> str:
    """The end of a run of ``machine``."""
    request: Any = {
        "mode": "detailed",
        "machine": {"memory_mode": "timing", "marks": {"start": START, "stop": STOP}},
        "checkpoint_in": "/c",
        "checkpoint_out": None,
        "limit_ns": 10**9,
        "stall_ns": 10**8,
    } | changes
    ticks = iter(range(10**6))
    clock: Callable[[], float] = lambda: float(next(ticks))  # noqa: E731
    return Session(machine, request, lambda _: None, clock, lambda: 0.0).run()


TIMES = {"first_ns": 3_000, "every_ns": 500_000, "length_ns": 20_000, "count": 3}


def test_samples_lie_at_equal_distances_from_the_first_step_on() -> None:
    machine = Machine(now=70 * US)
    assert run(machine, samples=TIMES) == "samples at 1.093 ms"
    assert machine.done == [
        *(("begin", 73 * US), ("end", 93 * US)),
        *(("begin", 573 * US), ("end", 593 * US)),
        *(("begin", 1073 * US), ("end", 1093 * US)),
    ]


def test_what_the_guest_does_moves_no_sample() -> None:
    marks = {75 * US: Event("workbegin", 7), 573 * US: Event("workbegin", 8)}
    machine = Machine(now=70 * US, events=marks)
    assert run(machine, samples=TIMES | {"count": 2}) == "samples at 0.593 ms"
    samples = [item for item in machine.done if item[0] != "mark"]
    assert samples == [
        *(("begin", 73 * US), ("end", 93 * US)),
        *(("begin", 573 * US), ("end", 593 * US)),
    ]


def test_a_guest_that_ends_before_its_last_sample_is_seen() -> None:
    machine = Machine(now=0, events={600 * US: Event("m5_exit instruction encountered")})
    assert run(machine, samples=TIMES) == "exit at 0.6 ms"


def test_a_boot_saves_the_machine_at_the_mark_that_it_is_asked_for() -> None:
    events = {
        5 * US: Event("checkpoint"),
        9 * US: Event("workbegin", 1),
        20 * US: Event("workbegin", START),
    }
    machine = Machine(now=0, events=events)
    ended = run(machine, mode="boot", checkpoint_out="/saved", save_at=START)
    assert ended == "checkpoint /saved"
    assert machine.done == [("mark", 9 * US), ("/saved", 20 * US)]


#: Of kernels whose addresses have 39 bits, as ours, and 48; and of a library in user space.
KERNEL, WIDE, LIBRARY = "0xffffffc080010000", "0xffff800080010000", "0xffff9c3a2000"


def _folder(tmp_path: Path, lines: Sequence[str], samples: Sequence[Any]) -> Path:
    cpus = {f"system.cluster_little.cpus{n}": n for n in range(4)}
    cpus |= {f"system.cluster_big.cpus{n}": 4 + n for n in range(2)}
    record = {"schema": 1, "cpus": cpus, "samples": samples}
    (tmp_path / "samples.json").write_text(json.dumps(record))
    (tmp_path / "samples.trace").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def _line(tick: int, cpu: str, address: str) -> str:
    return f"{tick:>10}: system.cluster_{cpu}: {address}    :   add   x0, x1, #8: x9"


def test_time_counts_for_the_code_that_runs_until_the_next_instruction(
    tmp_path: Path, juno: Platform
) -> None:
    lines = [
        _line(100, "little.cpus0", "0x4005d0"),
        _line(120, "little.cpus0", "0x4005d4"),
        _line(130, "big.cpus1", KERNEL),
        "warn: something else: 0x12",
        _line(170, "little.cpus0", WIDE),
        _line(175, "big.cpus1", LIBRARY),
        _line(190, "little.cpus0", "0x4005d8"),
        # The second sample: nothing counts from the first one's last instruction on.
        _line(1000, "little.cpus0", "0x4005dc"),
        _line(1010, "little.cpus0", "0x4005e0"),
        # After it: gem5 ends a sample with what had been fetched.
        _line(1250, "little.cpus0", "0x4005e4"),
    ]
    samples = [(100, 200, [450_000_000, 600_000_000]), (1000, 1200, [0, 600_000_000])]
    read = read_samples(_folder(tmp_path, lines, samples), juno)
    assert len(read) == 12
    by_place = {(item.begin, item.cpu): item for item in read}
    assert by_place[100, 0] == CpuSample(0, 100, 450_000, ModeCount(2, 70), ModeCount(1, 20))
    assert by_place[100, 5] == CpuSample(5, 100, 600_000, ModeCount(0, 0), ModeCount(1, 45))
    assert by_place[1000, 0] == CpuSample(0, 1000, 0, ModeCount(1, 10), ModeCount(0, 0))
    assert by_place[1000, 4].user == ModeCount(0, 0)


@pytest.mark.parametrize("lines", [[], ["warn: nothing"]])
def test_a_gem5_without_its_tracing_is_named(
    tmp_path: Path, juno: Platform, lines: list[str]
) -> None:
    with pytest.raises(EascopeError, match="it was built without its tracing"):
        read_samples(_folder(tmp_path, lines, [(0, 10, [0, 0])]), juno)


def test_a_run_without_samples_is_named(tmp_path: Path, juno: Platform) -> None:
    with pytest.raises(EascopeError, match=r"gem5 left no samples\.json"):
        read_samples(tmp_path, juno)


def test_a_clock_that_changed_in_a_sample_counts_as_none() -> None:
    assert steady([450, 600], [450, 1000]) == [450, 0]
    assert steady([450, 600], [450, 600]) == [450, 600]


def _two_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, left: Callable[[Path], None]
) -> list[tuple[Any, str]]:
    """What gem5 is asked: to save a state, and to go on from it, which leaves files in a folder."""
    asked: list[tuple[Any, str]] = []

    def supervise(request: Any, folder: Path, wanted: str, *_: Any) -> Gem5Ended:
        asked.append((request, wanted))
        if wanted == "checkpoint":
            state = Path(request["checkpoint_out"])
            state.mkdir(parents=True)
            (state / "m5.cpt").write_text("saved")
        else:
            left(folder)
        return Gem5Ended()

    monkeypatch.setenv("EASCOPE_CACHE", str(place / "cache"))
    monkeypatch.setattr(engine, "supervise", supervise)
    monkeypatch.setattr(engine, "boot_loader", lambda *_: place / "boot")
    monkeypatch.setattr(Gem5Engine, "_checkpoint", lambda *_: place / "booted")
    return asked


def test_the_machine_is_saved_at_the_windows_start_and_sampled_from_there(
    tmp_path: Path, linux_like: EngineMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of gem5: the start, on atomic CPUs, and the samples, from what it has saved."""

    def left(folder: Path) -> None:
        _folder(folder, [_line(100, "little.cpus0", "0x4005d0")], [(100, 200, [1, 1])])

    asked = _two_runs(tmp_path, monkeypatch, left)
    booted = tmp_path / "booted"
    for _ in range(2):
        folder = tmp_path / f"run{len(asked)}"
        folder.mkdir()
        samples = Gem5Engine(mode="detailed").sample(linux_like, folder, TIMES)  # type: ignore[arg-type]
        assert len(samples) == 6
        assert (folder / "script").read_bytes() == linux_like.script
    (start, saved), (first, ended), (again, _) = asked
    assert (start["mode"], start["checkpoint_in"], saved) == ("boot", str(booted), "checkpoint")
    assert start["save_at"] == START
    assert "samples" not in start
    assert (first["mode"], first["samples"], ended) == ("detailed", TIMES, "samples")
    assert first["checkpoint_in"] != str(booted)
    assert Path(first["checkpoint_in"], "m5.cpt").read_text() == "saved"
    # More samples cost no second start.
    assert again["checkpoint_in"] == first["checkpoint_in"]


def test_a_machine_is_saved_at_the_scripts_barrier_and_observed_to_its_end(
    tmp_path: Path, linux_like: EngineMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of gem5 again; the rows are those that the second one leaves."""

    def left(folder: Path) -> None:
        facts: RowsFacts = {"marks": [(2, 5)], "transitions": {}, "instructions": 7}
        write_rows(folder, ["cluster", "cpu"], [[0.0, 4.0], [1.0, -1.0]], facts)

    asked = _two_runs(tmp_path, monkeypatch, left)
    folder = tmp_path / "run"
    folder.mkdir()
    rows = Gem5Engine(mode="detailed").observe(linux_like, folder)
    assert rows.rows() == [(0.0, 4.0), (1.0, -1.0)]
    (start, saved), (run, ended) = asked
    assert (start["mode"], start["save_at"], saved) == ("boot", READY, "checkpoint")
    assert (run["mode"], ended) == ("detailed", "exit")
    assert "samples" not in run
    assert Path(run["checkpoint_in"], "m5.cpt").read_text() == "saved"
