# SPDX-License-Identifier: GPL-2.0-or-later
"""Small recordings whose content a test knows, in each form of the field."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

IDLE = "swapper"


def text(*events: str, cpus: int = 0) -> str:
    """A text of ``trace-cmd report``: each event is ``US CPU PID EVENT DETAIL``."""
    lines = [f"cpus={cpus}"] if cpus else []
    for event in events:
        at, cpu, pid, name, detail = event.split(" ", 4)
        us = int(at)
        stamp = f"{100 + us // 1_000_000}.{us % 1_000_000:06d}"
        lines.append(f"  t{pid}-{pid}  [{int(cpu):03d}] d..2 {stamp}: {name}: {detail}")
    return "\n".join(lines) + "\n"


def switch(us: int, cpu: int, prev: int, state: str, following: int, prio: int = 120) -> str:
    """A switch; 0 is the idle thread, other threads are called ``tPID``."""
    names = [f"t{pid}" if pid else f"{IDLE}/{cpu}" for pid in (prev, following)]
    return (
        f"{us} {cpu} {prev} sched_switch prev_comm={names[0]} prev_pid={prev} prev_prio={prio} "
        f"prev_state={state} ==> next_comm={names[1]} next_pid={following} next_prio={prio}"
    )


def waking(us: int, cpu: int, by: int, pid: int, event: str = "sched_waking") -> str:
    """A wake-up of ``pid`` by ``by``."""
    return f"{us} {cpu} {by} {event} comm=t{pid} pid={pid} prio=120 target_cpu={cpu:03d}"


def clock(us: int, cpu: int, khz: int) -> str:
    """A new clock."""
    return f"{us} 0 0 cpu_frequency state={khz} cpu_id={cpu}"


def clocks(us: int, khz: Sequence[int]) -> list[str]:
    """A new clock of each CPU."""
    return [clock(us, cpu, of) for cpu, of in enumerate(khz)]


def perfetto(*packets: dict[str, Any], packed: bool = False) -> bytes:
    """A trace of packets; ``packed``: all within one that is compressed."""
    trace = perfetto_trace_pb2.Trace(packet=packets)
    if packed:
        inside = zlib.compress(trace.SerializeToString())
        trace = perfetto_trace_pb2.Trace(packet=[{"compressed_packets": inside}])
    return bytes(trace.SerializeToString())


def saved(path: Path, content: str | bytes) -> Path:
    """``path`` with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
