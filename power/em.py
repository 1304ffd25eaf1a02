# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope em PLATFORM``: the kernel's energy model and the derived power, OPP by OPP.

Derived power is shown twice: at the reference activity, which ``--em derived`` gives to the kernel,
and at the activity of billed runs. The two are equal until ``eascope characterise`` has measured
rt-app's busy loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from eascope.configs.activity import Activity
from eascope.configs.platform import CAPACITY_SCALE, Cluster, Platform
from eascope.host.table import Column, Table
from eascope.power.derived import DerivedPower, shared_microwatt
from eascope.power.given import DEFAULT_MODEL, GivenModel, as_given
from eascope.power.level import load_level


@dataclass(frozen=True)
class EmRow:
    """One OPP: powers in uW, ``difference`` of derived to published power of a CPU.

    ``given_uw`` is the power that the kernel is given (``--em``, ``--em-error``; by default the
    published one), ``simulated_uw`` a busy CPU as runs by derived power are billed,
    ``simulated_difference`` its difference from ``given_uw``.

    ``inefficient``: in each model, whether a higher OPP costs no more energy for the same work, as
    the kernel judges it; EAS then never wants this one.
    """

    cluster: str
    core: str
    khz: int
    uv: int
    published_uw: int
    derived_uw: int
    difference: float
    published_inefficient: bool
    derived_inefficient: bool
    published_shared_uw: int
    derived_shared_uw: int
    given_uw: int
    given_inefficient: bool
    simulated_uw: int
    simulated_difference: float
    #: Power of a busy CPU by each table that the platform offers besides, such as ``profile``.
    busy_uw: Mapping[str, int]
    #: Those of ``busy_uw`` for which the source has no figure at this OPP.
    interpolated: tuple[str, ...]


def inefficient(
    khz: Sequence[int], microwatts: Sequence[int], capacities: Iterable[int]
) -> list[bool]:
    """For ascending OPPs: which the kernel marks, by the integers of its em_compute_costs().

    :param capacities: of a CPU, as `capacities_of`: the kernel computes costs with each of them,
        and takes no mark back.
    """
    marked = [False] * len(khz)
    for capacity in capacities:
        least = math.inf
        for index in reversed(range(len(khz))):
            performance = capacity * khz[index] // khz[-1]
            # arm64 divides by zero without a trap: the quotient is zero.
            cost = microwatts[index] * 10 // performance if performance else 0
            marked[index] |= cost >= least
            least = min(least, cost)
    return marked


def capacities_of(platform: Platform, cluster: Cluster) -> tuple[int, ...]:
    """Capacities of the cluster's CPUs, in the order in which the kernel's energy model has them.

    The kernel knows the highest frequencies only when the last cluster has its cpufreq policy. The
    other clusters' models are made before, with capacities by capacity-dmips-mhz alone.
    """
    known = platform.capacities[cluster.cpus[0]]
    if cluster is platform.clusters[-1]:
        return (known,)
    most = max(cluster.capacity_dmips_mhz for cluster in platform.clusters)
    return cluster.capacity_dmips_mhz * CAPACITY_SCALE // most, known


def em_rows(
    platform: Platform, activity: Activity | None = None, model: GivenModel = DEFAULT_MODEL
) -> list[EmRow]:
    """Published, derived and given energy model of ``platform``, and power at ``activity``.

    :raises RequestError: an error for a cluster that is not there, a power that no kernel takes.
    """
    rows = []
    billed, given = DerivedPower(platform, activity), as_given(platform, model)
    for cluster, heard in zip(platform.clusters, given.clusters, strict=True):
        level = load_level(cluster.core.name)
        khz = [opp.khz for opp in cluster.opps]
        derived = [
            level.opp_microwatt(opp.khz, opp.uv, platform.temperature_c) for opp in cluster.opps
        ]
        capacities = capacities_of(platform, cluster)
        judged = zip(
            inefficient(khz, [opp.power_uw for opp in cluster.opps], capacities),
            inefficient(khz, derived, capacities),
            inefficient(khz, [opp.power_uw for opp in heard.opps], capacities),
            strict=True,
        )
        tables = [dict(zip(khz, busy.power_uw, strict=True)) for busy in cluster.busy]
        for opp, power, hears, (published_bad, derived_bad, given_bad) in zip(
            cluster.opps, derived, heard.opps, judged, strict=True
        ):
            shared, _ = shared_microwatt(level, opp.khz, opp.uv, platform.temperature_c)
            simulated = billed.busy_microwatt(cluster, opp.khz)
            rows.append(
                EmRow(
                    *(cluster.name, cluster.core.name, opp.khz, opp.uv, opp.power_uw, power),
                    difference=power / opp.power_uw - 1,
                    published_inefficient=published_bad,
                    derived_inefficient=derived_bad,
                    published_shared_uw=opp.shared_uw,
                    derived_shared_uw=shared,
                    given_uw=hears.power_uw,
                    given_inefficient=given_bad,
                    simulated_uw=simulated,
                    simulated_difference=simulated / hears.power_uw - 1,
                    busy_uw={
                        busy.name: table[opp.khz]
                        for busy, table in zip(cluster.busy, tables, strict=True)
                    },
                    interpolated=tuple(
                        busy.name for busy in cluster.busy if opp.khz in busy.interpolated
                    ),
                )
            )
    return rows


def text(rows: Sequence[EmRow]) -> str:
    """The rows as an aligned table in mW, with what the kernel is given where that differs."""
    other = any(row.given_uw != row.published_uw for row in rows)
    columns = (
        *(Column("cluster", "left"), Column("clock", unit="MHz"), Column("supply", unit="V")),
        Column("published", unit="mW"),
        *(Column(name, unit="mW") for name in rows[0].busy_uw),
        *(Column("derived", unit="mW"), Column("differ")),
        *((Column("given", unit="mW"),) if other else ()),
        *(Column("simulated", unit="mW"), Column("differ")),
        *(Column("shared", unit="mW"), Column("derived", unit="mW"), Column("", "left")),
    )
    lines: list[tuple[str, ...]] = []
    for row in rows:
        notes = [
            f"inefficient ({name})"
            for name, bad in (
                ("published", row.published_inefficient),
                ("derived", row.derived_inefficient),
                *((("given", row.given_inefficient),) if other else ()),
            )
            if bad
        ]
        notes += [f"interpolated ({name})" for name in row.interpolated]
        lines.append(
            (
                row.cluster,
                f"{row.khz / 1000:g}",
                f"{row.uv / 1e6:g}",
                f"{row.published_uw / 1000:.1f}",
                *(f"{power / 1000:.1f}" for power in row.busy_uw.values()),
                f"{row.derived_uw / 1000:.1f}",
                f"{row.difference * 100:+.1f} %",
                *((f"{row.given_uw / 1000:.1f}",) if other else ()),
                f"{row.simulated_uw / 1000:.1f}",
                f"{row.simulated_difference * 100:+.1f} %",
                f"{row.published_shared_uw / 1000:.1f}",
                f"{row.derived_shared_uw / 1000:.1f}",
                ", ".join(notes),
            )
        )
    return Table(columns, tuple(lines)).text()


def records(rows: Sequence[EmRow]) -> list[dict[str, object]]:
    """The rows for ``--json``."""
    return [asdict(row) for row in rows]
