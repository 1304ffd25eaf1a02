# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's part on activity: the fast engine's figures and gem5's counts.

It is drawn from the records of `make activity-error` (`studies/activity_error`), and from the
activity files of `eascope characterise`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from configs.activity import Activity, load_activity
from configs.platform import Platform
from configs.platform_file import load_platform
from host.table import Table
from power.derived import CYCLE, POWER_MODELS
from power.events import load_events
from power.model import KERNEL, busy_events
from power.records import ActivityComparison, ActivityRecord

RECORDS = POWER_MODELS / "activity"
#: Events that happen less often than this, per 1000 instructions both ways, are left out.
RARE = 0.5


def stated_parts() -> dict[str, str]:
    """Markdown of the record by the names that the notes use."""
    (path,) = RECORDS.glob("*.json")
    record = ActivityRecord.read(path)
    cell, clusters = record.cell, record.clusters
    platform = load_platform(record.platform)
    lines = {
        "activity.clusters": _clusters(clusters),
        "activity.kernels": _kernels(kernels(platform, load_activity(platform))),
    }
    return {
        "activity.cell": f"{record.platform}, {cell.scenario}, {cell.variant} in mode "
        f"`{cell.mode}` (`{record.command}`; run `{cell.simkey[:12]}`)",
        "activity.events": "\n".join(
            line
            for cluster in clusters
            for line in (
                f"#### What {cluster.core} does outside the loop",
                "",
                *_events(cluster),
                "",
            )
        ).rstrip(),
        **{name: "\n".join(some) for name, some in lines.items()},
    }


def _kernels(kernels: Sequence[WorkloadKernel]) -> Iterator[str]:
    heads = ["core", "kernel", "IPC, fast engine", "IPC, gem5"]
    heads += ["pJ a cycle, fast engine", "pJ a cycle, gem5", "error"]
    rows = [
        (
            *(kernel.core, kernel.kernel, f"{kernel.stated_ipc:.3g}", f"{kernel.ipc:.3g}"),
            *(f"{kernel.stated_pj:.0f}", f"{kernel.measured_pj:.0f}"),
            f"{100 * (kernel.stated_pj / kernel.measured_pj - 1):+.1f} %",
        )
        for kernel in kernels
    ]
    yield from _lines(heads, rows)


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table of texts."""
    return Table.of(heads, rows, left=len(heads)).markdown().splitlines()


@dataclass(frozen=True)
class WorkloadKernel:
    """One workload kernel on a core: instructions and dynamic pJ of a cycle, both ways."""

    core: str
    kernel: str
    stated_ipc: float
    ipc: float
    stated_pj: float
    measured_pj: float


def kernels(platform: Platform, activity: Activity) -> list[WorkloadKernel]:
    """Every measured kernel at the fastest OPP: as the fast engine bills it, and as measured."""
    kernels = []
    for cluster in platform.clusters:
        power = load_events(cluster.core.name)
        per_cycle, _ = busy_events(power, cluster, activity)
        volts = cluster.opps[-1].uv / 1e6
        clock = power.pj(CYCLE, volts)
        loop = sum(power.pj(event, volts) * n for event, n in per_cycle.items()) - clock
        for entry in activity.measured:
            if entry.cluster == cluster.name:
                ipc, stated_ipc = entry.ipc[cluster.max_khz], activity.ipc(cluster)
                if entry.kernel != KERNEL:
                    stated_ipc = activity.system_ipc(cluster)
                measured = clock + ipc * sum(
                    power.pj(event, volts) * count
                    for event, count in entry.events.items()
                    if event != CYCLE
                )
                kernels.append(
                    WorkloadKernel(
                        *(cluster.core.name, entry.kernel, stated_ipc, ipc),
                        *(clock + loop * stated_ipc / activity.ipc(cluster), measured),
                    )
                )
    return kernels


def _clusters(clusters: Sequence[ActivityComparison]) -> Iterator[str]:
    heads = ["cluster", "gem5's model", "CPU time, ms", "of it not elided, ms"]
    heads += ["counted, mJ", "as the fast engine, mJ", "error"]
    rows = []
    for cluster in clusters:
        counted, stated = cluster.energy_counted_j, cluster.energy_stated_j
        rows.append(
            (
                *(f"{cluster.cluster} ({cluster.core})", cluster.model),
                *(f"{1000 * cluster.active_s:.1f}", f"{1000 * cluster.counted_s:.1f}"),
                *(f"{1000 * counted:.2f}", f"{1000 * stated:.2f}"),
                f"{100 * (stated / counted - 1):+.2f} %",
            )
        )
    yield from _lines(heads, rows)


def _events(cluster: ActivityComparison) -> Iterator[str]:
    frequent = {
        event: both
        for event, both in cluster.events.items()
        if max(both.stated, both.counted) * 1000 >= RARE
    }
    stated = sum(both.stated * both.pj for both in cluster.events.values())
    counted = sum(both.counted * both.pj for both in cluster.events.values())
    yield (
        f"Of {cluster.instructions_counted} instructions; dynamic energy of one at the fastest "
        f"OPP ({cluster.volts:g} V) is {counted:.0f} pJ by the events counted, {stated:.0f} pJ "
        "as the fast engine has it "
        f"({100 * (stated / counted - 1):+.0f} %)."
    )
    yield ""
    heads = ["event", "a 1000 instructions, fast engine", "gem5", "difference"]
    heads += ["difference, pJ an instruction"]
    rows = []
    for event, both in frequent.items():
        share = f"{100 * (both.stated / both.counted - 1):+.0f} %" if both.counted else "all of it"
        rows.append(
            (
                *(event, f"{1000 * both.stated:.1f}", f"{1000 * both.counted:.1f}", share),
                f"{(both.stated - both.counted) * both.pj:+.1f}",
            )
        )
    yield from _lines(heads, rows)
