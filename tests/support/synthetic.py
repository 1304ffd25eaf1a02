# SPDX-License-Identifier: GPL-2.0-or-later
"""Run folders whose content follows from a short schedule, as an engine and the guest write them.

The schedule is simple on purpose: each task runs alone on its CPU, so that every figure of a result
can be computed by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from eascope.analysis.records.cell import CELL, CellRecord, Expectation, Inputs, WindowRecord
from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.resolved import machine_json
from eascope.engines.records import HOST, MARKS, READY, START, STOP, Mark, write_marks
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.inputs import FOLDER, MACHINE
from eascope.experiments.runs.store import OUTSIDE
from eascope.host.sealed import seal
from tests.support.records import cell_record, host_record, task_record
from tests.support.tracefile import TraceEvent, marker, migrate, switch, trace_dat, waking

MS = 1_000_000
#: ns since power-on of CLOCK_MONOTONIC's zero in these runs.
MONO_ZERO = 1_234_567


@dataclass(frozen=True)
class Burst:
    """One job: woken at ``wake_ns`` (since START), runs on ``cpu`` after ``latency_ns``.

    :param ends: whether the thread has then done all of its turns.
    """

    task: str
    wake_ns: int
    cpu: int
    run_ns: int
    latency_ns: int = 20_000
    slack_us: int | None = None
    ends: bool = False


@dataclass
class Schedule:
    """What happens in the window of a run.

    :param khz: cluster index to (time since START, kHz) changes; the first is at 0.
    :param deep: CPUs whose idle time is spent in state 1 instead of WFI.
    :param exit_ns: time that every wake-up of a CPU costs in idle exit.
    """

    window_ns: int
    bursts: Sequence[Burst]
    khz: dict[int, list[tuple[int, int]]]
    deep: set[int] = field(default_factory=set)
    exit_ns: int = 0
    overutilized: Sequence[tuple[int, int]] = ()
    eas: bool | None = True
    more: Sequence[TraceEvent] = ()


def _events(schedule: Schedule, pids: dict[str, int], start: int) -> list[TraceEvent]:
    events: list[TraceEvent] = []
    place: dict[str, int] = {}
    for burst in sorted(schedule.bursts, key=lambda entry: entry.wake_ns):
        task = (burst.task, pids[burst.task])
        idle = (f"swapper/{burst.cpu}", 0)
        wake = start + burst.wake_ns
        enter = wake + burst.latency_ns
        leave = enter + burst.run_ns
        events.append(waking(wake, burst.cpu, task, burst.cpu))
        before = place.get(burst.task)
        if before is not None and before != burst.cpu:
            events.append(migrate(wake, burst.cpu, task, before, burst.cpu))
        place[burst.task] = burst.cpu
        events.append(switch(enter, burst.cpu, idle, 0, task))
        if burst.slack_us is not None:
            text = (
                f"rtapp_stats: period=16667 run=1 wu_lat=1 slack={burst.slack_us} "
                "c_period=16667 c_run=1"
            )
            events.append(marker(leave - 1, burst.cpu, task[1], text))
        if burst.ends:
            events.append(marker(leave - 1, burst.cpu, task[1], "rtapp_task: event=end"))
        events.append(switch(leave, burst.cpu, task, 1, idle))
    for t_ns, flag in schedule.overutilized:
        events.append(TraceEvent(start + t_ns, 0, 0, "lisa__sched_overutilized", (flag, "0-5")))
    events += [replace(event, t_ns=start + event.t_ns) for event in schedule.more]
    return sorted(events, key=lambda event: event.t_ns)


def _counters(schedule: Schedule, platform: Platform, start: int) -> pl.DataFrame:
    rows: list[dict[str, int]] = []
    for cluster in platform.clusters:
        changes = schedule.khz[cluster.index]
        edges = [t for t, _ in changes] + [schedule.window_ns]
        for number, (t0, khz) in enumerate(changes):
            t1 = edges[number + 1]
            key = {
                "cluster": cluster.index,
                "t0_ns": start + t0,
                "t1_ns": start + t1,
                "khz": khz,
                "uv": cluster.opp(khz).uv,
            }
            for cpu in cluster.cpus:
                active = spun = 0
                for burst in schedule.bursts:
                    if burst.cpu != cpu:
                        continue
                    b0 = burst.wake_ns + burst.latency_ns
                    active += max(0, min(t1, b0 + burst.run_ns) - max(t0, b0))
                    spun += max(0, min(t1, b0) - max(t0, b0 - schedule.exit_ns))
                idle = t1 - t0 - active - spun
                deep = cpu in schedule.deep
                rows.append(
                    {
                        **key,
                        "cpu": cpu,
                        "active_ns": active,
                        "exit_ns": spun,
                        "idle0_ns": 0 if deep else idle,
                        "idle1_ns": idle if deep else 0,
                        "cycles": active * khz // 1_000_000,
                        "instructions": active * khz // 1_000_000 * (2 if cluster.index else 1),
                    }
                )
            whole = {"active_ns": t1 - t0, "exit_ns": 0, "idle0_ns": 0, "idle1_ns": 0}
            rows.append({**key, "cpu": -1, **whole, "cycles": 0, "instructions": 0})
    return pl.DataFrame(rows)


def write_run(
    folder: Path,
    platform: Platform,
    schedule: Schedule,
    *,
    variant: str = "mainline",
    seed: int = 0,
    periods: dict[str, int] | None = None,
    expect: Sequence[Expectation] = (),
    of: Cell | None = None,
) -> CellRecord:
    """Write a complete run folder, of the cell ``of`` if given; returns its ``cell.json``."""
    folder.mkdir(parents=True)
    start = 2_000 * MS
    mono = start - MONO_ZERO
    names = sorted({burst.task for burst in schedule.bursts})
    pids = {name: 100 + number for number, name in enumerate(names)}
    known = {0: "<idle>", **{pid: name for name, pid in pids.items()}}
    trace = trace_dat(_events(schedule, pids, mono), len(platform.cpus), known)
    (folder / "trace.dat").write_bytes(trace)
    _counters(schedule, platform, start).write_parquet(folder / "counters.parquet")
    stop = start + schedule.window_ns
    marks = [
        Mark(READY, start - 9 * MS, mono - 9 * MS),
        Mark(START, start, mono),
        Mark(STOP, stop, stop - MONO_ZERO),
    ]
    write_marks(marks, folder / MARKS)
    if schedule.eas is not None:
        text = f"/proc/sys/kernel/sched_energy_aware: {int(schedule.eas)}\n"
        (folder / "state.txt").write_text(text)
    activity = of.resolved.activity if of else load_activity(platform)
    cell = (
        of.record
        if of
        else cell_record(
            simkey=f"{variant}-{seed}",
            platform=platform.name,
            variant=variant,
            seed=seed,
            declares={"eas": schedule.eas},
            inputs=Inputs(platform.digest, activity.digest, ""),
            tasks=tuple(task_record(name, period_us=(periods or {}).get(name)) for name in names),
            window=WindowRecord(500, schedule.window_ns // MS),
            expect=tuple(expect),
            borrowed=tuple(platform.borrowed),
            assumed=("little: one instruction per cycle",),
        )
    )
    cell.write(folder / CELL)
    host_record(mips=100.0, sim_s=2.5).write(folder / HOST)
    write_inputs(folder, platform, activity)
    reseal(folder)
    return cell


def counters_text(**counts: int) -> str:
    """What the agent reports of the kernel's counters: half of each on each of two CPUs."""
    every = (
        "push_check",
        "push_moved",
        "tick_check",
        "tick_moved",
        "lb_active",
        "overutilized_set",
    )
    known = dict.fromkeys(every, 0) | counts
    lines = [f"{name} {count // 2} {count - count // 2}" for name, count in known.items()]
    head = "/sys/kernel/debug/sched/eascope/stats: counter cpu0 cpu1"
    return "\n".join([head, *lines, "/sys/kernel/debug/sched/eascope/variant: kernel=x", ""])


def reseal(run: Path) -> None:
    """Take the files of ``run`` as they are for those that were written."""
    seal(run, OUTSIDE)


def write_inputs(folder: Path, platform: Platform, activity: Activity) -> None:
    """What the run was made of, as far as reading it needs that."""
    (folder / FOLDER).mkdir()
    (folder / FOLDER / MACHINE).write_bytes(machine_json(platform, activity))


def playback(variant: str, seed: int, window_ms: int = 1000) -> Schedule:
    """A video-like load: on the littles for ``mainline``, mostly on the bigs for ``cas``."""
    plan = {"decode-0": (33_333, 3_000), "render-1": (16_667, 2_500), "audio-2": (16_667, 500)}
    bursts = []
    homes = {"mainline": (0, 1, 2), "cas": (4, 5, 3)}[variant]
    for number, (task, (period_us, run_us)) in enumerate(plan.items()):
        cpu = homes[number]
        factor = 4 if cpu < 4 else 1
        wake = (1 + (seed * 7 + number * 5) % 16) * MS
        job = 0
        while wake + (run_us * factor + 400) * 1000 < window_ms * MS:
            moved = 2 if variant == "cas" and task == "render-1" and job % 10 == 9 else cpu
            scale = 4 if moved < 4 else 1
            late = 20_000 + (job * 7919 + seed * 104_729) % 60_000
            slack = period_us - run_us * scale
            bursts.append(Burst(task, wake, moved, run_us * scale * 1000, late, slack))
            wake += period_us * 1000
            job += 1
    steps = {
        "mainline": {0: [(0, 450_000), (200 * MS, 800_000)], 1: [(0, 600_000)]},
        "cas": {0: [(0, 450_000)], 1: [(0, 600_000), (300 * MS, 1_000_000), (700 * MS, 600_000)]},
    }[variant]
    return Schedule(
        window_ms * MS,
        bursts,
        steps,
        deep={1} if variant == "mainline" else set(),
        exit_ns=5_000,
        eas=variant == "mainline",
        overutilized=[(10 * MS, 0), (500 * MS, 1), (600 * MS, 0)] if variant == "mainline" else [],
    )


PERIODS = {"decode-0": 33_333, "render-1": 16_667, "audio-2": 16_667}

EXPECT = [
    Expectation("cas", "energy_j.total > energy_j.total[mainline]", "a source"),
    Expectation("cas", "missed_deadlines < 1", "a source"),
]


def make_run(root: Path, platform: Platform, variant: str, seed: int) -> Path:
    """One run of :func:`playback` below ``root``."""
    run = root / f"{variant}-{seed}"
    expect = [entry for entry in EXPECT if entry.variant == variant]
    schedule = playback(variant, seed)
    write_run(run, platform, schedule, variant=variant, seed=seed, periods=PERIODS, expect=expect)
    return run
