# SPDX-License-Identifier: GPL-2.0-or-later
"""Run this scenario on a board by LISA, and print eascope's measures of its trace.

    python board.py [target_conf.yml]    # LISA 3.1.0; the board needs root and trace-cmd
    python board.py trace.dat            # a trace that is there, also one of eascope's

Energy is what the board's own meter says. This file is a part of eascope, and stands alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

EVENTS = ("sched_switch", "sched_waking", "cpu_frequency")
LEAVES, WOKEN, ENTERS = 0, 1, 2
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}


def task_of(comm: str, tasks: Mapping[str, Sequence[str]]) -> str | None:
    """The scenario's task of a thread; rt-app may add numbers, and Linux keeps 15 characters."""
    for task, keys in tasks.items():
        for key in keys:
            if comm == key[:15] or (comm.startswith(f"{key}-"[:15]) and len(comm) > len(key)):
                return task
    return None


def latencies(
    events: Iterable[tuple[int, float, int, str, bool]],
    tasks: Mapping[str, Sequence[str]],
    window: tuple[float, float],
) -> dict[str, list[float]]:
    """By task, the times from each wake-up to the CPU.

    :param events: pid, time, `LEAVES`, `WOKEN` or `ENTERS`, thread, and whether it sleeps then.
    """
    found: dict[str, list[float]] = {}
    cycles: dict[int, tuple[float | None, bool, list[float]]] = {}
    for pid, time, kind, comm, sleeps in sorted(events, key=lambda event: event[:3]):
        left, slept, wakes = cycles.get(pid, (None, False, []))
        if kind == LEAVES:
            cycles[pid] = (time if left is None else left, slept or sleeps, wakes)
        elif kind == WOKEN:
            cycles[pid] = (left, slept, [*wakes, time])
        else:
            cycles.pop(pid, None)
            if not wakes or not (slept or left is None):
                continue
            # A wake-up while it was still going to sleep counts from when it left.
            woken = min((at for at in wakes if left is None or at >= left), default=left)
            task = task_of(comm, tasks)
            if task and woken is not None and woken >= window[0] and time <= window[1]:
                found.setdefault(task, []).append(time - woken)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of them does not exceed."""
    rank = -(-int(share * 1_000_000) * len(values) // 1_000_000)
    return sorted(values)[max(rank, 1) - 1]


def mean_mhz(
    changes: Iterable[tuple[float, int, int]],
    clusters: Mapping[str, Sequence[int]],
    window: tuple[float, float],
) -> dict[str, float]:
    """By cluster, the mean frequency over the window, idle time included.

    :param changes: time, CPU, kHz; before its first one a cluster has that one's frequency.
    """
    means = {}
    ordered = sorted(changes)
    for name, cpus in clusters.items():
        own = [(time, khz) for time, cpu, khz in ordered if cpu in cpus]
        if own:
            starts = [max(window[0], time) for time, _ in own]
            ends = [min(window[1], time) for time in [*starts[1:], window[1]]]
            starts[0] = window[0]
            spans = [max(0, end - start) for start, end in zip(starts, ends, strict=True)]
            total = sum(span * khz for span, (_, khz) in zip(spans, own, strict=True))
            means[name] = total / (window[1] - window[0]) / 1000
    return means


def record(kit: Mapping[str, Any], conf: str | None) -> Path:
    """Run rt-app's JSON on the board; its trace."""
    from lisa.target import Target
    from lisa.trace import FtraceCollector
    from lisa.wlgen.rta import RTA, RTAConf

    target = Target.from_one_conf(conf) if conf else Target.from_default_conf()
    path = Path("trace.dat").absolute()
    collector = FtraceCollector(target, events=[*EVENTS], output_path=str(path))
    conf_of = RTAConf(json.loads(Path(__file__).with_name(kit["json"]).read_text()))
    with RTA.from_conf(target, conf=conf_of, name=kit["name"]) as workload, collector:
        workload.run(as_root=True)
    return path


def main(words: Sequence[str]) -> None:
    """Record if no trace is named, and print the measures."""
    from lisa.trace import Trace

    kit = json.loads(Path(__file__).with_name("kit.json").read_text())
    given = words[0] if words else None
    path = given if given and given.endswith(".dat") else record(kit, given)
    trace = Trace(str(path), events=[*EVENTS, "print"])
    events: list[tuple[int, float, int, str, bool]] = []
    for at, row in trace.df_event("sched_switch").iterrows():
        sleeps = bool(int(row.prev_state) & 0xFF)
        events.append((row.prev_pid, at, LEAVES, _text(row.prev_comm), sleeps))
        events.append((row.next_pid, at, ENTERS, _text(row.next_comm), False))
    for at, row in trace.df_event("sched_waking").iterrows():
        events.append((row.pid, at, WOKEN, _text(row.comm), False))
    events = [event for event in events if event[0]]
    window = (trace.start, trace.end)
    try:  # eascope's own window
        marks = trace.df_event("print")
        bounds = marks.index[marks.buf.isin([b"eascope: START", b"eascope: STOP"])]
        window = (bounds[0], bounds[1])
    except (KeyError, IndexError, ValueError, AttributeError):
        pass
    for task, values in latencies(events, kit["tasks"], window).items():
        for name, share in SHARES.items():
            print(f"latency_us.{task}.{name} {percentile(values, share) * 1e6:.1f}")
    rows = trace.df_event("cpu_frequency").iterrows()
    changes = [(at, int(row.cpu_id), int(row.state)) for at, row in rows]
    for cluster, mhz in mean_mhz(changes, kit["clusters"], window).items():
        print(f"mean_mhz.{cluster} {mhz:.1f}")


def _text(comm: str | bytes) -> str:
    return comm.decode() if isinstance(comm, bytes) else comm


if __name__ == "__main__":
    main(sys.argv[1:])
