# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings about a request, one line each, before it runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from eascope.configs.activity import CAPACITY_TOLERANCE, Activity, with_speeds
from eascope.configs.billing import BUSY, CURVES, DERIVED, EVENTS, OPPS, RAIL, reading
from eascope.configs.knobs import ACTIVITY, CONTROLS, HARDWARE, PLATFORM
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.experiments.controls import Controls
from eascope.experiments.runs.request import Resolved
from eascope.experiments.scenario.model import REALTIME
from eascope.kernels.defaults import already_so
from eascope.kernels.state import asymmetric
from eascope.kernels.switches import Switches

#: What the machine lacks: names of boot arguments that act on it, and paths of switches below
#: ``/proc/sys``. The kernel takes some of them in silence, and refuses others where our
#: configuration lacks them.
LACKING = {
    "no device interrupts it, and [[interrupt]] is each CPU's own timer": (
        r"irqaffinity|threadirqs|noirqdebug|irqfixup|irqpoll|irqchip[.].*",
        r"$^",
    ),
    "it is one NUMA node": (r"numa|numa_\w+|mempolicy[.].*", r"kernel/numa_\w+|vm/(numa|zone)_\w+"),
    "it has no watchdog": (
        r"nowatchdog|nmi_watchdog|nosoftlockup|(softlockup|hung_task)_\w+|watchdog_thresh",
        r"kernel/(\w*watchdog\w*|\w*softlockup\w*|\w*hardlockup\w*|hung_task_\w+)",
    ),
    "it has no swap": (r"zswap[.].*", r"vm/(swappiness|page-cluster|watermark_boost_factor)"),
    "it has no storage": (
        r"elevator|rootdelay|rootwait|ro|rw|rootfstype",
        r"vm/(dirty_\w+|dirtytime_\w+|laptop_mode|vfs_cache_pressure)",
    ),
    "its cores have one thread each": (r"nosmt|smt", r"$^"),
}
_SYSCTL = "/proc/sys/"


def wrong_capacities(resolved: Resolved) -> str:
    """The differences of capacities and speeds if the engine executes the busy loop; else empty.

    An elided loop has the speed that the capacities state, an executed loop that of the CPU models.
    """
    platform = resolved.platform
    if resolved.request.elide and resolved.request.controls.speeds == HARDWARE:
        rates = [resolved.activity.ipc(cluster) for cluster in platform.clusters]
        wrong = _other_capacities(platform, rates)
        return f"device-tree capacity and rt-app loop speed differ, as on the board: {wrong}"
    if resolved.request.elide:
        return ""
    loop = resolved.engine.executed_loop(platform, resolved.activity)
    if loop is None:
        return ""
    if not loop.ipc:
        return "no IPC data for these CPUs; run eascope characterise"
    wrong = _other_capacities(platform, loop.ipc)
    if not wrong:
        return ""
    remedy = "; --speeds measured corrects them" if loop.measured else ""
    return f"the kernel has wrong capacities for these CPUs: {wrong}{remedy}"


def _other_capacities(platform: Platform, ipc: Sequence[float]) -> str:
    """Capacities that do not go with the loop's ``ipc`` by cluster; empty where all do."""
    real = with_speeds(platform, ipc, "executed").capacities
    return ", ".join(
        f"{cluster.name} capacity {platform.capacities[cpu]}, speed {real[cpu]}"
        for cluster in platform.clusters
        for cpu in cluster.cpus[:1]
        if abs(platform.capacities[cpu] / real[cpu] - 1) > CAPACITY_TOLERANCE
    )


def billed_by_others(resolved: Resolved, power: str) -> str:
    """A word about figures of a person's own file by which ``power`` does not bill; else ""."""
    platform = resolved.platform
    if not platform.base:
        return ""
    own, base = _billing_figures(platform), _billing_figures(load_platform(platform.base))
    unread = [
        figure
        for figure, (value, readers) in own.items()
        if value != base.get(figure, (value,))[0] and power not in readers
    ]
    if not unread:
        return ""
    return f"{platform.name} uses the power model {power}, which does not read {', '.join(unread)}"


def _billing_figures(platform: Platform) -> dict[str, tuple[object, Collection[str]]]:
    """What may bill, by its key: figures, and the powers that read them."""
    tables, derived = reading(OPPS, BUSY), reading(EVENTS)
    shared = tables - {*platform.billing.included}
    leaks = derived if platform.idle.leakage != DERIVED else derived | tables
    curves = platform.curves
    found: dict[str, tuple[object, Collection[str]]] = {
        "temperature_c": (platform.temperature_c, leaks),
        "idle": (platform.idle, tables | derived),
        "shared": (platform.shared, shared | derived),
        "curves": (curves and replace(curves, rail_active=0, source=""), reading(CURVES, RAIL)),
        "curves.rail_uw_per_mhz_v2": (curves and curves.rail_active, reading(RAIL)),
    }
    for cluster in platform.clusters:
        where = f"cluster.{cluster.name}"
        opps = [(opp.khz, opp.power_uw) for opp in cluster.opps]
        parts = [cluster.shared_on_uw, cluster.shared_off_uw]
        idle = [state.power_uw for state in cluster.idle_states]
        found |= {
            f"{where}.opps.power_uw": (opps, reading(OPPS)),
            f"{where}.shared_uw": (parts, shared),
            f"{where}.idle_states.power_uw": (idle, tables - leaks),
            **{f"{where}.busy.{busy.name}": (busy.power_uw, {busy.name}) for busy in cluster.busy},
        }
    return found


def without_eas(resolved: Resolved) -> str:
    """A word about a platform on which no variant has EAS; else ""."""
    if asymmetric(resolved.variant, resolved.platform):
        return ""
    return (
        f"no variant has EAS on {resolved.platform.name}: all of its CPUs have the same capacity, "
        "and the kernel refuses EAS there"
    )


def without_latency_nice(resolved: Resolved) -> str:
    """A word about a latency_nice that the kernel does not have; else ""."""
    if resolved.kernel.has_latency_nice or not resolved.scenario.has_latency_nice:
        return ""
    return (
        f"{resolved.variant.name}: latency_nice has no effect: kernel {resolved.kernel.name} lacks "
        "it; use a latnice variant"
    )


def without_effect(resolved: Resolved) -> Iterator[str]:
    """A word about each control, boot argument or switch that changes nothing of the machine."""
    request = resolved.request
    yield from (
        f"{resolved.variant.name}: {line}"
        for line in _lacking(resolved.variant.boot, resolved.variant.switches)
    )
    yield from (
        f"{resolved.variant.name}: {line} has no effect: it is already the kernel's default"
        for line in already_so(resolved.variant, resolved.kernel, resolved.platform)
    )
    for name, item in CONTROLS.items() if not request.source_conditions else ():
        value = getattr(request.controls, name)
        if item.changes in (PLATFORM, ACTIVITY) and value != item.default:
            other = replace(request.controls, **{name: item.default})
            if _machine(other, request.platform) == _machine(request.controls, request.platform):
                shown = item.flag if item.kind is bool else f"{item.flag} {value}"
                board = resolved.platform.name
                yield f"{shown} has no effect: it is already the default of {board}"


def _lacking(boot: str, switches: Switches) -> Iterator[str]:
    """A line for each boot argument and switch that acts on nothing that the machine has."""
    told: list[tuple[str, str]] = []
    for word in boot.split():
        name = word.partition("=")[0]
        path = name.removeprefix("sysctl.").replace(".", "/") if name.startswith("sysctl.") else ""
        told.append((word, path or name.replace("-", "_")))
    for path, value in switches:
        told.append((f"{path}={value}", path.removeprefix(_SYSCTL)))
    for word, name in told:
        for lacks, patterns in LACKING.items():
            if any(re.fullmatch(pattern, name) for pattern in patterns):
                yield f"{word} has no effect: {lacks}"


def _machine(controls: Controls, platform: str) -> tuple[Platform, Activity]:
    """What controls make of a platform, and of its activity; its digest says which they were."""
    made, activity = controls.load(platform)
    return replace(made, digest=""), activity


def without_fair_server(resolved: Resolved) -> str:
    """A word about real-time tasks that nothing keeps from starving fair ones; else ""."""
    urgent = [
        task.name
        for task in resolved.scenario.tasks
        if {each.policy for each in task.all_attributes} & {*REALTIME}
    ]
    if resolved.request.controls.fair_server or not urgent:
        return ""
    return f"with --no-fair-server, fair tasks starve on a CPU while {', '.join(urgent)} runs there"


def rate_warnings(resolved: Resolved) -> list[str]:
    """Warnings about rates of the kernel that were not measured on this platform (fast engine)."""
    if not resolved.engine.traits.stated_rates:
        return []
    clusters = resolved.activity.clusters
    inherited = [
        f"{speeds.name} from {speeds.system_inherited}"
        for speeds in clusters
        if speeds.system_inherited
    ]
    fast = [
        f"{speeds.name} ({cluster.core.name})"
        for speeds, cluster in zip(clusters, resolved.platform.clusters, strict=True)
        if speeds.system_ipc is None
    ]
    warnings = []
    if inherited:
        warnings.append(f"the kernel's rate is inherited: {', '.join(inherited)}")
    if fast:
        warnings.append(
            f"the kernel runs at the busy loop's rate, 2 to 4 times too fast, on {', '.join(fast)}:"
            " no platform has measured it (eascope characterise)"
        )
    return warnings
