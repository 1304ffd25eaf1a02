# SPDX-License-Identifier: GPL-2.0-or-later
"""The derived power model: the same energies as the kernel's derived energy model, by component.

A busy CPU's power is the sum over McPAT's events. If the engine counted them (gem5's detailed
cores), the counts are billed. Elsewhere, and for elided busy loops, every instruction has the
events of an instruction of rt-app's busy loop, which ``eascope characterise`` measures. Without
such a measurement, a busy CPU has the reference activity, and its power is exactly the one that
``--em derived`` gives to the kernel (`Level.opp_microwatt`). Idle CPUs leak by their power state.
The shared part has a clock, leakage and, if they were counted, the L2's accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from eascope.configs.activity import Activity
from eascope.configs.billing import CHIP
from eascope.configs.platform import SRAM_RETENTION, Cluster, Opp, Platform
from eascope.host.cache import digest_of
from eascope.power.events import EventPower, load_events
from eascope.power.level import UW_PER_W, Level, idle_microwatt
from eascope.power.mcpat import CYCLE, STATES
from eascope.power.model import (
    SHARED_PART,
    TRANSITIONS,
    Component,
    Energies,
    Interval,
    OwnState,
    chip_microwatt,
    idle_fj,
)

#: The workload kernel whose activity stands for what a CPU executes.
KERNEL = "busy_loop"
#: fJ of a pJ.
FJ_PER_PJ = 1e3


def shared_microwatt(level: Level, khz: int, microvolts: int, celsius: float) -> tuple[int, int]:
    """Power of L2 and cluster logic in uW: (on, off). Off: no clock, the L2 keeps its content."""
    parts = level.shared_w(khz / 1e3, microvolts / 1e6, celsius)
    off = STATES[SRAM_RETENTION][1] * parts["leakage"]
    return round(sum(parts.values()) * UW_PER_W), round(off * UW_PER_W)


def whole(parts: Mapping[str, float], total: int) -> dict[str, int]:
    """``parts`` as integers that sum to ``total``: the largest remainders are rounded up."""
    rounded = {name: int(value) for name, value in parts.items()}
    order = sorted(parts, key=lambda name: (rounded[name] - parts[name], name))
    for name in order[: max(0, total - sum(rounded.values()))]:
        rounded[name] += 1
    rounded[order[0]] += total - sum(rounded.values())
    return rounded


@dataclass(frozen=True)
class _Point:
    """A cluster at one OPP, in uW: by part where a CPU or the shared part has parts."""

    active: Mapping[str, int]
    shared_on: Mapping[str, int]
    shared_off: int
    idle: tuple[int, ...]
    volts: float


#: Why the derived model bills a figure that it did not derive.
CHIP_NOTE = (
    "the chip's shared part: not modelled by McPAT, billed as the platform states it; the "
    "clusters' shared parts are McPAT's L2 and cluster logic"
)


class DerivedPower(OwnState):
    """McPAT-derived power by component, from counted events or a stated activity."""

    name = "derived"
    summary = (
        "McPAT-derived power of events: shape of the calibrated Cortex-A15, level from each core's "
        "published coefficient, leakage by supply and temperature"
    )

    def __init__(self, platform: Platform, activity: Activity | None = None) -> None:
        self._power: dict[int, EventPower] = {}
        self._point: dict[tuple[int, int], _Point] = {}
        #: Instructions in a busy cycle, by cluster; none where that is the reference activity's.
        self._ipc: dict[int, float] = {}
        self._idle, self._chip = platform.idle, chip_microwatt(platform)
        notes = []
        for cluster in platform.clusters:
            power = load_events(cluster.core.name)
            counts, source = busy_events(power, cluster, activity)
            if activity is not None and _loop_events(cluster, activity):
                self._ipc[cluster.index] = activity.ipc(cluster)
            notes.append(f"{cluster.name}: {source}")
            self._power[cluster.index] = power
            for opp in cluster.opps:
                self._point[cluster.index, opp.khz] = _point(
                    power, cluster, opp, counts, platform.temperature_c
                )
        self.notes: tuple[str, ...] = (
            "events of a busy CPU where the engine counts none (the fast engine, elided loops): "
            + "; ".join(notes),
            "memory controller and DRAM: not in these figures; gem5's detailed cores have them "
            "apart, the fast engine counts no memory accesses",
            *(CHIP_NOTE for _ in (platform.shared,) if platform.shared),
        )
        # Every figure that an energy can depend on, so any change of them is another model.
        self.digest = digest_of(
            {
                "model": self.name,
                "platform": platform.digest,
                "points": {f"{i}:{khz}": asdict(point) for (i, khz), point in self._point.items()},
                "events": {str(i): power.parts_pj for i, power in self._power.items()},
                "notes": self.notes,
                "idle": asdict(self._idle),
                "chip": self._chip,
                "ipc": {str(i): ipc for i, ipc in self._ipc.items()},
            }
        )

    def busy_microwatt(self, cluster: Cluster, khz: int) -> int:
        """Power in uW of a busy CPU whose events are not counted but stated."""
        return sum(self._point[cluster.index, khz].active.values())

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """See `power.model.PowerModel`."""
        point = self._point[cluster.index, interval.khz]
        power = self._power[cluster.index]
        active_ns = interval.active_ns
        counted = {
            event: interval.events[event]
            for event in power.parts_pj
            if event != CYCLE and event in interval.events
        }
        scale = power.level.power.dynamic_scale(point.volts) * FJ_PER_PJ
        events = {part: round(energy * scale) for part, energy in power.stack_pj(counted).items()}
        if interval.cpu == SHARED_PART:
            parts = {part: active_ns * uw for part, uw in point.shared_on.items()}
            parts["idle"] = interval.off_ns * point.shared_off
            return {Component("shared", part): value for part, value in _sum(parts, events).items()}
        # Time at the busy loop's rate: what an elided loop would have counted, where gem5's CPU
        # stood still; else as long as the loop takes for the instructions that were executed, of
        # which the kernel makes fewer in a cycle.
        stated_ns, ipc = active_ns, self._ipc.get(cluster.index)
        if counted:
            counted_ns = active_ns if interval.on_ns is None else interval.on_ns
            stated_ns = max(0, active_ns - counted_ns)
        elif ipc is not None and interval.instructions is not None:
            stated_ns = round(interval.instructions * 1e6 / (ipc * interval.khz))
        parts = {
            part: (active_ns if part in ("clock", "leakage") else stated_ns) * uw
            for part, uw in point.active.items()
        }
        energies = {Component("active", part): value for part, value in _sum(parts, events).items()}
        transition = round(self._idle.transition_share * sum(point.active.values()))
        for name, spent in idle_fj(cluster, interval, point.idle, transition).items():
            energies[Component(name, name if name in TRANSITIONS else "idle")] = spent
        return energies

    def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
        """See `power.model.PowerModel`: McPAT has no such part, so the platform states it."""
        on, off = self._chip
        return {Component("shared", CHIP): on_ns * on + off_ns * off}


def _loop_events(cluster: Cluster, activity: Activity) -> Mapping[str, float]:
    """Measured events of an instruction of the busy loop on ``cluster``; none, if not measured."""
    for entry in activity.measured:
        if entry.kernel == KERNEL and entry.cluster == cluster.name:
            return entry.events
    return {}


def busy_events(
    power: EventPower, cluster: Cluster, activity: Activity | None
) -> tuple[dict[str, float], str]:
    """Events of one cycle of a busy CPU, and in words where they come from."""
    if activity is None or not (measured := _loop_events(cluster, activity)):
        return power.reference(), f"reference activity ({power.level.sources[0]})"
    ipc = activity.ipc(cluster)
    counts = {event: ipc * count for event, count in measured.items() if event != CYCLE}
    return {CYCLE: 1.0} | counts, (
        "events per instruction of rt-app's busy loop, measured on gem5's detailed cores, at "
        f"{ipc:.3g} instructions per cycle"
    )


def _point(
    power: EventPower, cluster: Cluster, opp: Opp, counts: Mapping[str, float], celsius: float
) -> _Point:
    level, megahertz, volts = power.level, opp.khz / 1e3, opp.uv / 1e6
    scale = level.power.dynamic_scale(volts)
    # pJ a cycle times MHz is uW.
    active = {part: pj * scale * megahertz for part, pj in power.stack_pj(counts).items()}
    active["leakage"] = level.leakage_w("Core", volts, celsius) * UW_PER_W
    parts = level.shared_w(megahertz, volts, celsius)
    shared = {"l2": parts["cluster_clock"] * UW_PER_W, "leakage": parts["leakage"] * UW_PER_W}
    on, off = shared_microwatt(level, opp.khz, opp.uv, celsius)
    idle = tuple(
        idle_microwatt(level, state.power_state, opp.uv, celsius) for state in cluster.idle_states
    )
    return _Point(whole(active, round(sum(active.values()))), whole(shared, on), off, idle, volts)


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {part: first.get(part, 0) + second.get(part, 0) for part in {**first, **second}}
