# SPDX-License-Identifier: GPL-2.0-or-later
"""A rail that was metered with one program, moved to another program.

The dynamic part is moved by the ratio of the derived dynamic powers of both: McPAT's energies of
the events that gem5's detailed cores count in each. What is static stays as it was metered. Only a
ratio of one core's powers at one OPP is used, so neither the supply nor an error of the core's
level has any effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from eascope.configs.activity import BUSY_LOOP, Activity
from eascope.configs.billing import DERIVED, MEASURED, BusyPower
from eascope.configs.platform import Cluster, Opp, Platform
from eascope.configs.program_events import ClusterEvents
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path
from eascope.power.events import EventPower, load_events
from eascope.power.level import idle_microwatt, load_level
from eascope.power.mcpat import CYCLE


@dataclass(frozen=True)
class Dynamic:
    """Derived dynamic power in W of a busy CPU and its L2 at 1 V: the CPU's clock, and the rest."""

    clock_w: float
    events_w: float

    @property
    def all_w(self) -> float:
        """Both."""
        return self.clock_w + self.events_w


def dynamic(power: EventPower, khz: int, ns: float, events: Mapping[str, float]) -> Dynamic:
    """The power of a CPU that executes an instruction in ``ns`` at ``khz``.

    :param events: of an instruction, the L2's included; its cycles are those of the clock.
    """
    counts = {event: count for event, count in events.items() if event != CYCLE}
    return Dynamic(
        power.dynamic_w({CYCLE: khz * 1e3}, 1.0, 1.0), power.dynamic_w(counts, ns * 1e-9, 1.0)
    )


def dynamic_of(power: EventPower, program: ClusterEvents, khz: int) -> Dynamic:
    """The power of a CPU that executes ``program`` at ``khz``."""
    return dynamic(power, khz, program.ns(khz), program.events(khz))


def moved(static: float, metered: float, ratio: float) -> float:
    """A power whose part above ``static`` is ``ratio`` times that of ``metered``."""
    return static + (metered - static) * ratio


def loop_dynamic(power: EventPower, cluster: Cluster, activity: Activity, khz: int) -> Dynamic:
    """The power of a CPU of ``cluster`` in rt-app's busy loop, at the loop's speed in runs.

    :raises RequestError: when the loop's events were not counted.
    """
    for entry in activity.measured:
        if (entry.kernel, entry.cluster) == (BUSY_LOOP, cluster.name):
            return dynamic(power, khz, 1e6 / (activity.ipc(cluster) * khz), entry.events)
    raise RequestError(
        f"{shown_path(activity.path)}: measured is missing: run eascope characterise "
        f"{activity.platform} (needs gem5)"
    )


def moved_to_loop(
    platform: Platform, activity: Activity, metered: Mapping[str, ClusterEvents]
) -> Platform:
    """``platform`` with its measured busy powers moved to rt-app's busy loop.

    What a CPU in WFI draws is static. A power holds no part of the cluster's.

    :param metered: events of the program that ran when the rails were metered, by cluster.
    :raises RequestError: as `loop_dynamic`, or when no power was measured, or no events counted.
    """
    for cluster in platform.clusters:
        if cluster.name not in metered:
            raise RequestError(f"{platform.name}: {cluster.name}: no events of what was metered")
    if MEASURED not in platform.billing.offers or MEASURED in platform.billing.included:
        raise RequestError(f"{platform.name}: offers no measured power of a CPU alone")
    clusters = tuple(
        replace(
            cluster,
            busy=tuple(
                _moved_busy(platform, cluster, activity, metered[cluster.name], busy)
                if busy.name == MEASURED
                else busy
                for busy in cluster.busy
            ),
        )
        for cluster in platform.clusters
    )
    return replace(platform, clusters=clusters)


def _moved_busy(
    platform: Platform,
    cluster: Cluster,
    activity: Activity,
    program: ClusterEvents,
    busy: BusyPower,
) -> BusyPower:
    power = load_events(cluster.core.name)
    powers = []
    for opp, metered in zip(cluster.opps, busy.power_uw, strict=True):
        of = dynamic_of(power, program, opp.khz)
        to = loop_dynamic(power, cluster, activity, opp.khz)
        static = _wfi_microwatt(platform, cluster, opp)
        powers.append(round(moved(static, metered, to.all_w / of.all_w)))
    source = f"computed: moved from {program.program} to rt-app's busy loop; {busy.source}"
    return replace(busy, power_uw=tuple(powers), source=source)


def _wfi_microwatt(platform: Platform, cluster: Cluster, opp: Opp) -> int:
    """What a CPU in WFI is billed."""
    wfi = cluster.idle_states[0]
    if platform.idle.leakage != DERIVED:
        return wfi.power_uw
    level = load_level(cluster.core.name)
    return idle_microwatt(level, wfi.power_state, opp.uv, platform.temperature_c)
