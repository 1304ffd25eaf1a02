# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads of a recording in a scenario: the file of their bursts, and what the guest is given.

The file is text. A line ``thread`` begins a thread, and each line below it is a burst: when it was
woken, how long it had rested, and its work, all in us (work: on the largest CPU at its top OPP);
where another thread woke it, also that thread, its burst, and the work that it had done in it.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from eascope.host.errors import bad_input

#: The name under which its threads run in the guest.
NAME = "recorded"
FIRST_LINE = "eascope-bursts 1"
#: A thread's rests: to the recorded time of its next wake-up, or as long as it rested.
OPEN, THINKING = "open", "thinking"
POLICIES = {"other": 0, "fifo": 1, "rr": 2, "batch": 3, "idle": 5}
_UNTIL, _REST, _WAIT, _RUN, _POST = range(5)
_HEAD, _THREAD = "<IIIIQQ", "<16siiiiQIIII"
_MAGIC = 0x50525345
#: How long `replay` waits for each thread to start, before it begins.
STARTING_US = 200


def document_name(name: str) -> str:
    """The file of an input of rt-app, or of `replay`, by the name under which it runs."""
    return f"{name}.bursts" if name == NAME else f"{name}.json"


@dataclass(frozen=True)
class Burst:
    """A burst of a thread; times in us; ``waker`` is empty where no kept thread woke it."""

    begin: float
    rest: float
    work: float
    waker: str = ""
    of: int = -1
    offset: float = 0.0


@dataclass(frozen=True)
class Thread:
    """A recorded thread; ``priority`` is nice where the policy has it.

    :ivar cpus: those to which it is confined, in the platform's numbers; empty: all.
    """

    name: str
    tid: int
    policy: str
    priority: int
    rests: str
    comm: str
    bursts: tuple[Burst, ...]
    cpus: tuple[int, ...] = ()

    @property
    def work(self) -> float:
        """Its work in us."""
        return sum(burst.work for burst in self.bursts)


@dataclass(frozen=True)
class Recorded:
    """All threads of the file."""

    path: Path
    length_us: int
    threads: tuple[Thread, ...]

    def text(self) -> str:
        """The file's content."""
        lines = [FIRST_LINE, f"length {self.length_us}"]
        for thread in self.threads:
            head = ("thread", thread.name, thread.tid, thread.policy, thread.priority)
            cpus = ",".join(map(str, thread.cpus)) or "any"
            lines.append(" ".join(map(str, (*head, thread.rests, cpus, thread.comm))))
            for burst in thread.bursts:
                own = f"{burst.begin:.1f} {burst.rest:.1f} {burst.work:.2f}"
                woken = f" {burst.waker} {burst.of} {burst.offset:.2f}" if burst.waker else ""
                lines.append(own + woken)
        return "\n".join(lines) + "\n"


def read_recorded(path: Path) -> Recorded:
    """The threads of a file.

    :raises RequestError: one line: file, line, what is allowed.
    """

    def wrong(number: int, line: str, allowed: str) -> NoReturn:
        raise bad_input(path, f"line {number}", line, allowed)

    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise bad_input(path, "recording", path.name, f"a file of bursts ({error})") from error
    if not lines or lines[0] != FIRST_LINE:
        wrong(1, lines[0] if lines else "", FIRST_LINE)
    length, threads = 0, []
    head: list[str] = []
    bursts: list[Burst] = []
    for number, line in enumerate([*lines[1:], "thread"], 2):
        words = line.split(" ")
        try:
            if words[0] == "length" and not length:
                length = int(words[1])
            elif words[0] == "thread":
                if head:
                    threads.append(_thread(head, bursts))
                head, bursts = line.split(" ", 7)[1:], []
                if len(head) not in (0, 7):
                    raise ValueError
            elif len(words) in (3, 6) and head:
                begin, rest, work = map(float, words[:3])
                woken = (words[3], int(words[4]), float(words[5])) if words[3:] else ()
                bursts.append(Burst(begin, rest, work, *woken))
            else:
                raise ValueError
        except (ValueError, IndexError, KeyError):
            wrong(
                number,
                line,
                "length US, thread NAME TID POLICY PRIORITY RESTS CPUS COMM, or a burst",
            )
    if length <= 0:
        wrong(2, lines[1] if lines[1:] else "", "length US")
    return Recorded(path, length, tuple(threads))


def _thread(head: Sequence[str], bursts: Sequence[Burst]) -> Thread:
    name, tid, policy, priority, rests, cpus, comm = head
    if policy not in POLICIES or rests not in (OPEN, THINKING) or not bursts:
        raise ValueError
    confined = () if cpus == "any" else tuple(map(int, cpus.split(",")))
    return Thread(name, int(tid), policy, int(priority), rests, comm, tuple(bursts), confined)


@dataclass(frozen=True)
class Attributes:
    """What the scenario says of a thread: its CPUs, in place of its recorded ones, and clamps."""

    cpus: Collection[int] = ()
    uclamp_min: int | None = None
    uclamp_max: int | None = None


def guest_file(
    recorded: Recorded,
    attributes: Mapping[str, Attributes],
    rate: Fraction,
    before_us: int,
    there: Collection[int],
) -> bytes:
    """What ``rootfs/programs/replay.c`` reads.

    :param attributes: of the threads that run, by name.
    :param rate: iterations of the busy loop by us of work.
    :param there: the platform's CPUs; a thread whose recorded CPUs are not there is free.
    :param before_us: how long before the recording's begin the threads start, so that its begin
        falls on the window's.
    """
    threads = [thread for thread in recorded.threads if thread.name in attributes]
    start_us = (STARTING_US * len(threads) - before_us) % recorded.length_us
    places = {thread.name: number for number, thread in enumerate(threads)}
    began = {(t.name, n): burst.begin for t in threads for n, burst in enumerate(t.bursts)}
    posts = _posts(threads, places)
    heads, steps = [], []
    first = 0
    for thread in threads:
        mine, start = _steps(thread, places, posts, rate, start_us)
        late = [burst for burst in thread.bursts if burst.begin >= start_us]
        # Posts of bursts that were under way when the first cycle begins are there from the start.
        posted = sum(began.get((burst.waker, burst.of), start_us) < start_us for burst in late)
        said = attributes[thread.name]
        clamps = [-1 if clamp is None else clamp for clamp in (said.uclamp_min, said.uclamp_max)]
        mask = sum(1 << cpu for cpu in said.cpus or thread.cpus if cpu in there)
        policy = POLICIES[thread.policy]
        name = thread.name.encode()[:15]
        place = (first, len(mine), start, posted)
        heads.append(struct.pack(_THREAD, name, policy, thread.priority, *clamps, mask, *place))
        steps += mine
        first += len(mine)
    head = struct.pack(_HEAD, _MAGIC, len(threads), len(steps), 0, recorded.length_us, start_us)
    return head + b"".join(heads) + struct.pack(f"<{len(steps)}Q", *steps)


#: For each waker and its burst: the work done by then, and the thread that is woken.
Posts = dict[tuple[str, int], list[tuple[float, int]]]


def _posts(threads: Sequence[Thread], places: dict[str, int]) -> Posts:
    posts: Posts = {}
    for thread in threads:
        for burst in thread.bursts:
            if burst.waker in places:
                post = (burst.offset, places[thread.name])
                posts.setdefault((burst.waker, burst.of), []).append(post)
    return {key: sorted(found) for key, found in posts.items()}


def _steps(
    thread: Thread, places: dict[str, int], posts: Posts, rate: Fraction, start_us: int
) -> tuple[list[int], int]:
    """Steps of a thread, and the one with which it begins."""
    steps: list[int] = []
    start = -1
    for number, burst in enumerate(thread.bursts):
        if start < 0 and burst.begin >= start_us:
            start = len(steps)
        if burst.waker in places:
            steps.append(_WAIT << 56)
        elif thread.rests == THINKING and number:
            steps.append(_REST << 56 | max(1, round(burst.rest)))
        else:
            steps.append(_UNTIL << 56 | round(burst.begin))
        steps += _run(burst, posts.get((thread.name, number), ()), rate)
    return steps, len(steps) if start < 0 else start


def _run(burst: Burst, posts: Sequence[tuple[float, int]], rate: Fraction) -> Iterator[int]:
    """Work, with the posts at their places in it."""
    done = 0
    for offset, place in (*posts, (burst.work, -1)):
        iterations = round(min(offset, burst.work) * rate)
        if iterations > done:
            yield _RUN << 56 | (iterations - done)
            done = iterations
        if place >= 0:
            yield _POST << 56 | place
    if not done and burst.work > 0:
        yield _RUN << 56 | 1
