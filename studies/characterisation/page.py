# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on gem5's cores: tables from the committed activity files, for the notes."""

from __future__ import annotations

from collections.abc import Iterator

from configs.activity import ACTIVITY, Activity, load_activity, measured_ipc
from configs.platform import Cluster, Platform
from configs.platform_file import load_platform
from configs.system_activity import load_system
from engines.gem5.settings import machine_settings
from engines.timing.kernel_time import KernelTime, kernel_time
from engines.timing.mixture import MISS_INSTRUCTIONS
from experiments.characterisation.record import Capacity, capacities
from host.table import Column, Table

NAME = "characterisation"
PLATFORMS = ("juno-r2", "pixel6")
#: The kernels in words, in the order of the tables.
WORDS = {
    "busy_loop": "rt-app's busy loop",
    "integer": "integer, hits the L1",
    "branchy": "branches nobody predicts",
    "floating_point": "floating point",
    "memory": "dependent misses",
}


def parts() -> dict[str, str]:
    """Markdown by the names that the notes use."""
    known = [(platform, load_activity(platform)) for platform in map(load_platform, PLATFORMS)]
    littles = _first_capacity(*known[0])
    heads = ["cluster", "cycles of an iteration, engines", "measured", "capacity, board"]
    heads += ["capacity, measured", "difference"]
    return {
        "littles": f"{littles.by_kernel['busy_loop']} instead of {littles.board}",
        "slower": _slower(known),
        "speeds": _speeds(known).markdown(),
        "times": _times(known).markdown(),
        "capacities": _capacities(known).markdown(),
        "system": _system(known).markdown(),
        "engines": Table.of(
            heads, [row for platform, activity in known for row in _engines(platform, activity)]
        ).markdown(),
    }


def _first_capacity(platform: Platform, activity: Activity) -> Capacity:
    return capacities(platform, activity.measured)[0]


def _slower(known: list[tuple[Platform, Activity]]) -> str:
    """The least and the greatest factor by which system code is slower than the busy loop."""
    times = [
        loop / activity.system_ipc(cluster)
        for platform, activity in known
        for loop, cluster in zip(measured_ipc(platform, activity), platform.clusters, strict=True)
    ]
    return f"{min(times):.1f} to {max(times):.1f}"


def _speeds(known: list[tuple[Platform, Activity]]) -> Table:
    """Instructions per cycle at the slowest and the fastest OPP, by kernel and cluster."""
    columns = [Column("", "left")]
    models, rest = ["model"], ["all but the busy loop: one run, all OPPs"]
    rows: list[list[str]] = [[words] for words in WORDS.values()]
    for platform, activity in known:
        by_place = {(entry.kernel, entry.cluster): entry for entry in activity.measured}
        settings = machine_settings(platform, "elided-detailed")["clusters"]
        for cluster, machine in zip(platform.clusters, settings, strict=True):
            columns.append(Column(f"{platform.name} {cluster.name}"))
            models.append(f"{_model(machine['model'])} ({_core(cluster)})")
            for row, kernel in zip(rows, WORDS, strict=True):
                ipc = by_place[kernel, cluster.name].ipc
                slowest, fastest = ipc[cluster.opps[0].khz], ipc[cluster.max_khz]
                row.append(f"{slowest:.3f}, {fastest:.3f}")
            rest.append(f"{activity.system_ipc(cluster):.3f}")
    return Table(tuple(columns), (models, *rows, rest))


def _times(known: list[tuple[Platform, Activity]]) -> Table:
    """Cycles and memory time of the loops whose mixture a task could be, per iteration."""
    heads = ["cluster", "busy loop: cycles", "busy loop: ns", "largest error, busy loop"]
    heads += ["misses: cycles", "misses: ns", "largest error, misses"]
    heads += ["memory's share of a miss at the top OPP"]
    rows = []
    for platform, activity in known:
        by_place = {(entry.kernel, entry.cluster): entry for entry in activity.measured}
        for cluster in platform.clusters:
            loop = kernel_time(by_place["busy_loop", cluster.name])
            miss = kernel_time(by_place["memory", cluster.name])
            if loop is None or miss is None:
                raise ValueError(f"{platform.name} {cluster.name}: fewer than two OPPs")
            rows.append(
                [
                    f"{platform.name} {cluster.name}",
                    *_per_iteration(loop, activity.turn_instructions),
                    *_per_iteration(miss, MISS_INSTRUCTIONS),
                    f"{100 * miss.memory_share(cluster.max_khz):.0f} %",
                ]
            )
    return Table.of(heads, rows)


def _per_iteration(time: KernelTime, instructions: int) -> list[str]:
    """Cycles and ns of an iteration, and the largest error of the fit."""
    error = "" if time.residual is None else f"{100 * time.residual:.2f} %"
    figures = (time.cycles * instructions, time.memory_ns * instructions)
    return [*(f"{figure:.1f}" for figure in figures), error]


def _model(name: str) -> str:
    return name.removeprefix("Arm").removesuffix("CPU")


def _core(cluster: Cluster) -> str:
    return cluster.core.name.removeprefix("cortex-").upper()


def _capacities(known: list[tuple[Platform, Activity]]) -> Table:
    """The smaller clusters' capacities, if speed at the fastest OPP decided."""
    heads = ["cluster", "board", "busy loop", "integer", "branches", "floating point", "misses"]
    rows = [
        [
            f"{platform.name} {row.cluster}",
            *map(str, (row.board, *(row.by_kernel[kernel] for kernel in WORDS), row.mean)),
        ]
        for platform, activity in known
        for row in capacities(platform, activity.measured)
        if row.cluster != platform.largest.name
    ]
    return Table.of([*heads, "geometric mean"], rows)


def _system(known: list[tuple[Platform, Activity]]) -> Table:
    """System code compared with the busy loop, at the fastest OPP."""
    heads = ["cluster", "million instructions", "million cycles", "instructions per cycle"]
    rows = []
    for platform, activity in known:
        system = load_system(platform, ACTIVITY)
        if system is None:
            raise ValueError(f"{platform.name}: no system activity")
        loops = measured_ipc(platform, activity)
        for measured, loop, cluster in zip(system.clusters, loops, platform.clusters, strict=True):
            rows.append(
                [
                    f"{platform.name} {cluster.name}",
                    f"{measured.instructions / 1e6:.2f}",
                    f"{measured.cycles / 1e6:.2f}",
                    f"{measured.ipc:.3f}",
                    f"{loop:.3f}",
                    f"{loop / measured.ipc:.1f}",
                ]
            )
    return Table.of([*heads, "busy loop", "times slower"], rows)


def _engines(platform: Platform, activity: Activity) -> Iterator[list[str]]:
    """Cycles of an iteration, and capacities: at the board's speeds, and as measured."""
    turn = activity.turn_instructions
    capacity = {row.cluster: row for row in capacities(platform, activity.measured)}
    for cluster, ipc in zip(platform.clusters, measured_ipc(platform, activity), strict=True):
        board = capacity[cluster.name].board
        measured = capacity[cluster.name].by_kernel["busy_loop"]
        change = f"{100 * (measured / board - 1):+.0f} %" if measured != board else ""
        yield [
            f"{platform.name} {cluster.name}",
            *(f"{turn / activity.ipc(cluster):.1f}", f"{turn / ipc:.1f}"),
            *(str(board), str(measured), change),
        ]
