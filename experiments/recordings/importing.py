# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording becomes a scenario: its threads as recorded or as a model, what is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from eascope.analysis.recordings.bursts import (
    SATURATED_US,
    THREAD,
    UNKNOWN,
    Bursts,
    Work,
    bursts_of,
    window_of,
)
from eascope.analysis.recordings.device import Device
from eascope.analysis.recordings.tables import Recording, RecordingError
from eascope.experiments.scenario.recorded import OPEN, THINKING, Burst, Recorded, Thread

#: Threads by name that are there because of the recording.
RECORDERS = re.compile(
    r"(traced(_.*)?|perfetto.*|atrace|trace-cmd|tracing.*|simpleperf|perf(-exec)?|shutils.*|lttng.*)$"
)
#: Threads by name that a kernel of ours has itself.
KERNEL = re.compile(
    r"(kworker/|ksoftirqd/|migration/|cpuhp/|watchdog/|irq_work/|sugov:|rcu[bcogpst_]|kswapd)"
)
#: Of a SCHED_DEADLINE thread: its parameters are in no event, so it is the highest without any.
DEADLINE = ("fifo", 98)
#: A rest is think time where rests vary this much less than the times between wake-ups.
STEADIER = 0.8
#: Most threads of a model, and the bursts that one has at least.
MODEL_THREADS, MODEL_BURSTS = 60, 4
#: Of a thread's time on one CPU, or of a cluster's at its lowest clock.
MOSTLY = 0.95


@dataclass(frozen=True)
class ThreadSummary:
    """A kept thread as the report shows it."""

    thread: Thread
    length_us: float
    work_share: float
    woken: dict[str, float]
    recorder: bool

    @property
    def loop(self) -> str:
        """Open or closed, and by what."""
        if self.woken.get(THREAD, 0) >= 0.5:
            return "closed, waits for threads"
        if self.thread.rests == THINKING:
            return "closed, think time"
        return "open"


@dataclass
class Imported:
    """What an import has made.

    :ivar merged_work: share of the work whose threads are merged into others.
    """

    recording: Recording
    device: Device
    bursts: Bursts
    recorded: Recorded
    threads: list[ThreadSummary]
    merged: int = 0
    merged_work: float = 0.0
    notes: list[str] = field(default_factory=list)


def import_recording(
    recording: Recording, device: Device, window: str, path: Path, most: int, *, drop: bool = False
) -> Imported:
    """The threads of a recording.

    :param most: threads that are kept by themselves.
    :param drop: whether the recorder's threads are left out.
    :raises RecordingError: the window is empty, nobody ran in it, or only the recorder did.
    """
    begin, end = window_of(recording, window)
    bursts = bursts_of(recording, device, begin, end)
    table = bursts.bursts
    work = table.group_by("pid").agg(pl.col("work").sum()).sort("work", "pid", descending=True)
    total = float(work["work"].sum()) or 1.0
    pids = [pid for pid in work["pid"] if not (drop and is_recorder(recording, pid))]
    if not pids:
        raise RecordingError(
            f"{recording.path}: only the recorder's threads ran; import it without --drop-recorder"
        )
    priorities = _priorities(bursts)
    kept, rest = pids[:most], pids[most:]
    made = Imported(recording, device, bursts, Recorded(path, 0, ()), [])
    own = {pid: rows for (pid,), rows in table.group_by(["pid"], maintain_order=True)}
    names = _names(recording, kept)
    numbers = _numbers(table)
    threads = []
    for pid in kept:
        policy = policy_of(priorities[pid][0])
        thread = _thread(recording, own[pid], pid, policy, names, numbers, begin)
        thread = replace(thread, cpus=_confined(made, pid, own[pid]))
        threads.append(thread)
        causes = own[pid]["cause"].value_counts(normalize=True)
        made.threads.append(
            ThreadSummary(
                thread,
                bursts.us,
                thread.work / total,
                dict(causes.iter_rows()),
                is_recorder(recording, pid),
            )
        )
    if rest:
        policies = {pid: policy_of(priorities[pid][0]) for pid in rest}
        threads += _merged(own, policies, begin)
        made.merged = len(rest)
        made.merged_work = float(sum(own[pid]["work"].sum() for pid in rest)) / total
    made.recorded = Recorded(path, max(1, round(bursts.us)), tuple(threads))
    made.notes = [*recording.notes, *(f"{device.name}: {gap}" for gap in device.gaps)]
    shares = {pid: share / total for pid, share in work.iter_rows() if pid in set(pids)}
    made.notes += list(_said(made, total))
    made.notes += list(_said_of_threads(recording, shares, priorities))
    return made


def _priorities(bursts: Bursts) -> dict[int, list[int]]:
    """The priorities of each thread, by the kernel's number, most of its running time first."""
    times = bursts.slices.group_by("pid", "prio").agg(
        (pl.col("t1") - pl.col("t0")).sum().alias("t")
    )
    found: dict[int, list[int]] = {}
    for pid, prio in times.sort("t", "prio", descending=True).select("pid", "prio").iter_rows():
        found.setdefault(pid, []).append(prio)
    return found


def _confined(made: Imported, pid: int, rows: pl.DataFrame) -> tuple[int, ...]:
    """CPUs to which a thread was confined, by the kernel's names for such threads or by its course.

    A thread that ran for 100 ms and more almost only on one CPU, while a larger one was idle most
    of the time, was pinned: a scheduler would have moved it.
    """
    device, name = made.device, made.recording.names.get(pid, "")
    kernel = re.match(r"(?:kworker|ksoftirqd|migration|cpuhp|watchdog|rcuc|irq_work)/(\d+)", name)
    if kernel and int(kernel[1]) in device.cpus:
        return (device.cpus.index(int(kernel[1])),)
    stays = made.bursts.slices.filter(pl.col("pid") == pid)
    long = rows.filter((pl.col("t1") - pl.col("t0")) >= 1000 * SATURATED_US)
    if not long.height:
        return ()
    times = stays.group_by("cpu").agg((pl.col("t1") - pl.col("t0")).sum().alias("time"))
    cpu, time = times.sort("time").row(-1)
    if time < MOSTLY * int(times["time"].sum()):
        return ()
    speeds = {
        other: device.speeds()[other] * device.cluster_of(other).top_khz for other in device.cpus
    }
    begin, end = int(long["t0"].min()), int(long["t1"].max())  # type: ignore[arg-type]
    others = made.bursts.slices.filter((pl.col("t1") > begin) & (pl.col("t0") < end))
    for other, speed in speeds.items():
        busy = others.filter(pl.col("cpu") == other)
        time = (busy["t1"].clip(begin, end) - busy["t0"].clip(begin, end)).sum()
        if speed > 1.2 * speeds[cpu] and time < (end - begin) / 2:
            return (device.cpus.index(cpu),)
    return ()


def is_recorder(recording: Recording, pid: int) -> bool:
    """True if a thread is the recorder's, by its name or its process's."""
    names = (recording.names.get(pid, ""), recording.names.get(recording.tgids.get(pid, -1), ""))
    return any(RECORDERS.match(name) for name in names)


def _said(made: Imported, total: float) -> Iterator[str]:
    """What a person has to know of the load."""
    table = made.bursts.bursts
    causes = {
        cause: (rows.height, float(rows["work"].sum()))
        for (cause,), rows in table.group_by(["cause"])
    }
    unknown, work = causes.get(UNKNOWN, (0, 0.0))
    if unknown:
        yield (
            f"{unknown} of {table.height} wake-ups have no known cause "
            f"({100 * work / total:.0f} % of the work): they come at their recorded time"
        )
    if (made.recording.wake["context"] < 0).any():
        yield "interrupts are not told apart from the thread that they interrupt"
    yield from _said_of_clocks(made, total)
    lost = made.bursts.slices.filter("lost").sort("work", descending=True)
    if lost.height:
        comm = made.recording.names.get(lost["pid"][0], "")
        yield (
            f"{lost.height} stays on a CPU end in a gap of events: "
            f"{100 * float(lost['work'].sum()) / total:.0f} % of the work rests on them, "
            f"{100 * float(lost['work'][0]) / total:.0f} % on one of {comm} {lost['pid'][0]}"
        )
    long = table.filter((pl.col("t1") - pl.col("t0")) >= 1000 * SATURATED_US)
    if long.height:
        share = 100 * float(long["work"].sum()) / total
        threads = ", ".join(
            made.recording.names.get(pid, str(pid))
            for pid in long["pid"].unique(maintain_order=True)[:4]
        )
        yield (
            f"{long.height} bursts of 100 ms and more ({share:.0f} % of the work: {threads}): a "
            "saturated stretch hides how much more its thread would do"
        )
    pinned = [of.thread for of in made.threads if of.thread.cpus]
    for thread in pinned:
        if not re.match(
            r"(kworker|ksoftirqd|migration|cpuhp|watchdog|rcuc|irq_work)/", thread.comm
        ):
            cpu = made.device.cpus[thread.cpus[0]]
            yield (
                f"{thread.comm} {thread.tid} stayed on CPU {cpu} while larger CPUs were idle: "
                "it is taken as pinned"
            )
    yield "affinity, uclamp and cgroups are in no event of the recording: unknown"


def _said_of_threads(
    recording: Recording, shares: Mapping[int, float], priorities: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    """Of threads that are kept or merged: the recorder's, the kernel's, and whose policy is odd."""

    def said(pids: Sequence[int]) -> str:
        return f"{len(pids)}, with {100 * sum(shares[pid] for pid in pids):.1f} % of the work"

    def listed(pids: Sequence[int]) -> str:
        named = [f"{recording.names.get(pid, '')} {pid}" for pid in pids[:4]]
        return ", ".join([*named, *["..."] * (len(pids) > 4)])

    recorders = [pid for pid in shares if is_recorder(recording, pid)]
    if recorders:
        yield f"the recorder's own threads: {said(recorders)}"
    kernel = [pid for pid in shares if KERNEL.match(recording.names.get(pid, ""))]
    if kernel:
        yield (
            f"the recorded kernel's threads: {said(kernel)}: they are replayed beside those that "
            "the simulated kernel has itself"
        )
    deadline = [pid for pid in shares if priorities[pid][0] < 0]
    if deadline:
        yield (
            f"SCHED_DEADLINE, whose parameters are in no event: {listed(deadline)}: replayed as "
            f"{DEADLINE[0]} {DEADLINE[1]}"
        )
    changed = [pid for pid in shares if len(priorities[pid]) > 1]
    if changed:
        yield (
            f"the priority changed of {len(changed)} threads ({listed(changed)}): each has the one "
            "of most of its running time"
        )


def _said_of_clocks(made: Imported, total: float) -> Iterator[str]:
    """Where the clock is not recorded: what it is taken to be, and the work that rests on it."""
    window, freq = made.bursts, made.recording.freq
    work = Work(made.recording, made.device, window.begin_ns, window.end_ns)
    for of in made.device.clusters:
        done = 0.0
        for cpu in set(of.cpus) & set(work.assumed):
            stays = window.slices.filter(pl.col("cpu") == cpu)
            limit = work.assumed[cpu][0]
            first, last = (
                work.until(cpu, stays[n].clip(0, limit).to_numpy()) for n in ("t0", "t1")
            )
            done += float((last - first).clip(0).sum())
        share = 100 * done / total
        taken = sorted({work.assumed[cpu][1] // 1000 for cpu in of.cpus if cpu in work.assumed})
        mhz = ", ".join(map(str, taken))
        if not freq["cpu"].is_in(of.cpus).any():
            if freq.height:
                yield (
                    f"{of.name}: no clock was recorded: taken at its top clock, {mhz} MHz "
                    f"({share:.0f} % of the work)"
                )
        elif done:
            yield (
                f"{of.name}: the clock before its first event is unknown: taken as the one that it "
                f"had most of the time, {mhz} MHz ({share:.0f} % of the work)"
            )


def _names(recording: Recording, pids: Sequence[int]) -> dict[int, str]:
    """A name of at most 15 characters for each thread: what it is called, and its number."""
    names = {}
    for pid in pids:
        plain = re.sub(r"[^a-z0-9]+", "_", recording.names.get(pid, "thread").lower()).strip("_")
        names[pid] = f"{plain[: 14 - len(str(pid))] or 't'}_{pid}"
    return names


def _numbers(table: pl.DataFrame) -> dict[int, int]:
    """The place of each burst among those of its thread."""
    places = table.select("burst", pl.int_range(pl.len()).over("pid").alias("place"))
    return dict(places.iter_rows())


def _thread(
    recording: Recording,
    rows: pl.DataFrame,
    pid: int,
    policy: tuple[str, int],
    names: dict[int, str],
    numbers: dict[int, int],
    begin_ns: int,
) -> Thread:
    begins, ends = rows["begin"].to_numpy() - begin_ns, rows["t1"].to_numpy() - begin_ns
    rests = np.maximum(0, begins - np.concatenate([[0], ends[:-1]])) / 1000
    bursts = tuple(
        Burst(
            begin=max(0, at) / 1000,
            rest=float(rest),
            work=work,
            waker=names[waker] if waker in names and of in numbers else "",
            of=numbers.get(of, -1),
            offset=offset,
        )
        for at, rest, work, waker, of, offset in zip(
            begins,
            rests,
            *(rows[n] for n in ("work", "waker", "waker_burst", "offset")),
            strict=True,
        )
    )
    alone = np.array([not burst.waker for burst in bursts])
    comm = recording.names.get(pid, str(pid))
    thinks = _thinks(begins / 1000, rests, alone)
    return Thread(names[pid], pid, *policy, THINKING if thinks else OPEN, comm, bursts)


def _thinks(begins: np.ndarray, rests: np.ndarray, alone: np.ndarray) -> bool:
    """True if rests are steadier than the times between wake-ups: then they are its own."""
    places = np.flatnonzero(alone[1:]) + 1
    if len(places) < 2 * MODEL_BURSTS:
        return False
    between = begins[places] - begins[places - 1]
    return spread(rests[places]) < STEADIER * spread(between)


def spread(values: np.ndarray) -> float:
    """How much most values vary, as `cv`, whatever the few others are."""
    middle = float(np.median(values))
    return 1.4826 * float(np.median(np.abs(values - middle))) / middle if middle > 0 else 0.0


def cv(values: np.ndarray) -> float:
    """The standard deviation, divided by the mean."""
    mean = float(values.mean())
    return float(values.std()) / mean if mean > 0 else 0.0


def policy_of(prio: int) -> tuple[str, int]:
    """Policy, and nice or priority, by the kernel's own number."""
    if prio < 0:
        return DEADLINE
    if prio >= 140:
        return "other", 0
    if prio < 100:
        return "fifo", max(1, min(98, 99 - prio))
    return "other", prio - 120


def _merged(
    own: Mapping[object, pl.DataFrame], policies: Mapping[int, tuple[str, int]], begin_ns: int
) -> list[Thread]:
    """Threads that stand for the smallest ones, by CPU on which these ran, policy and priority."""
    made = []
    rows = pl.concat(
        own[pid].with_columns(pl.lit(policy).alias("policy"), pl.lit(priority).alias("priority"))
        for pid, (policy, priority) in policies.items()
    ).sort("begin")
    for (cpu, policy, priority), part in rows.group_by(
        ["cpu", "policy", "priority"], maintain_order=True
    ):
        bursts, last = [], 0.0
        for begin, work in part.select("begin", "work").iter_rows():
            at = max(0, begin - begin_ns) / 1000
            bursts.append(Burst(at, max(0.0, at - last), work))
            last = at
        kind = "" if (policy, priority) == ("other", 0) else f"_{str(policy)[0]}{priority}"
        head = (f"merged_{cpu}{kind}", 0, str(policy), int(str(priority)))
        made.append(Thread(*head, OPEN, "merged", tuple(bursts)))
    return made
