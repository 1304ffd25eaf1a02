# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers by a chip's measured curves: what a CPU draws depends on the clocks of other clusters.

``wattson`` bills as Perfetto's estimator of that name does: a CPU by its clock and idle state, and
littles by the running CPU of another cluster that has the highest power of its own (that CPU's
clock sets the supply of the rail that they share). ``wattson-smooth`` bills littles by the rail's
supply, which is the higher of their own and of the floors that running CPUs of other clusters set:
single rows of the table are off by up to 44 %, the supply's formula is not. Where littles depend on
the clock of the DynamIQ Shared Unit, running CPUs vote for that clock, and what the unit draws by
itself is billed always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from eascope.configs.billing import SMOOTH, WATTSON
from eascope.configs.curves import DSU, CurveRow
from eascope.configs.platform import Cluster, Opp, Platform
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError
from eascope.power.model import (
    SHARED_PART,
    Component,
    Energies,
    Interval,
    component_names,
    whole_component,
)

SUMMARIES = {
    WATTSON: "the chip maker's measured curves: the power depends on the CPU's clock and idle "
    "state, and that of littles on the clocks of running CPUs of other clusters",
    SMOOTH: "the chip maker's measured curves, littles by the supply of their rail, which has "
    "floors that running CPUs of other clusters set",
}
NOTES = (
    "accesses to the L3 are not counted, so nothing is billed for them",
    "an idle CPU draws nothing on its way into a state; it counts as busy for a stated time before "
    "it leaves the deepest one",
)


class CurvePower:
    """See `power.model.PowerModel`; billed by the rows of `configs.curves.Curves`."""

    def __init__(self, platform: Platform, name: str) -> None:
        curves = platform.curves
        if curves is None:
            raise RequestError(f"--power {name}: {platform.name} has no curves")
        self.name, self.summary = name, SUMMARIES[name]
        self._curves = curves
        filled: set[tuple[str, int, object]] = set()
        self._rows: dict[tuple[str, int, object], CurveRow] = {}
        for cluster in platform.clusters:
            for khz in (opp.khz for opp in cluster.opps):
                if cluster.name not in curves.dependents:
                    row = _row(curves.alone, cluster.name, khz, curves.file("1d"))
                    self._rows[cluster.name, khz, None] = row
                else:
                    _row(curves.beside, cluster.name, khz, curves.file("2d"))
            if cluster.name in curves.dependents and name == WATTSON:
                filled |= self._fill(cluster, platform)
            elif cluster.name in curves.dependents:
                self._fill_smooth(cluster)
        gaps = f"{len(filled)} pairs of clocks have no row: billed by the rail's supply"
        unit = (curves.dsu.source,) if curves.dsu else ()
        self.notes: tuple[str, ...] = (curves.source, *unit, *NOTES, *((gaps,) if filled else ()))
        self.digest = digest_of(
            {
                "model": name,
                "rows": sorted([str(key), asdict(row)] for key, row in self._rows.items()),
                "early": [dict(curves.early_us), dict(curves.before_us)],
                "dsu": asdict(curves.dsu) if curves.dsu else None,
                "floors": curves.floors if name == SMOOTH else (),
                "states": [component_names(cluster) for cluster in platform.clusters],
                "exits": [cluster.idle_states[-1].takes.exit_us for cluster in platform.clusters],
            }
        )

    @property
    def draws_off(self) -> bool:
        """True if a shared part draws something while it is off."""
        return any(row.interconnect for row in self._rows.values())

    def early_ns(self, cluster: Cluster) -> tuple[int, int]:
        """See `power.model.PowerModel`."""
        of_the_way, before = self._curves.early_us, self._curves.before_us
        return 1000 * of_the_way.get(cluster.name, 0), 1000 * before.get(cluster.name, 0)

    def depends(self, cluster: Cluster) -> bool:
        """True if the power of ``cluster`` depends on running CPUs of others."""
        return cluster.name in self._curves.dependents

    def vote(self, cluster: Cluster, khz: int) -> tuple[int, object] | None:
        """See `power.model.PowerModel`; a rank is in uW, uV or kHz."""
        if self.depends(cluster):
            return None
        if (dsu := self._curves.dsu) is not None:
            clock = dsu.vote(cluster.name, khz)
            return None if clock == dsu.lowest_khz else (clock, (DSU, clock))
        if self.name == WATTSON:
            return self._rows[cluster.name, khz, None].active, (cluster.name, khz)
        floor = self._floor(cluster.name, khz)
        return None if floor is None else (floor, floor)

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """See `power.model.PowerModel`."""
        row = self._row(cluster, interval.khz, interval.beside)
        if interval.cpu == SHARED_PART:
            whole_ns = interval.active_ns + sum(interval.idle_ns)
            shared = interval.active_ns * row.static + whole_ns * row.interconnect
            return {whole_component("shared"): shared}
        exit_ns = cluster.idle_states[-1].takes.exit_us * 1000
        # A way out is at most as long as it takes, also where a control shortens it.
        of_the_way, before = self.early_ns(cluster)
        early = interval.exit_ns * min(of_the_way, exit_ns) // exit_ns if exit_ns else 0
        late = (interval.exit_ns - early) * row.idle[1]
        if before and exit_ns:
            deepest = interval.idle(len(cluster.idle_states) - 1)
            early += min(interval.exit_ns * before // exit_ns, deepest)
        energies = {
            whole_component("active"): interval.active_ns * row.active,
            whole_component("idle_entry"): interval.entry_ns * row.idle[1],
            whole_component("idle_exit"): early * row.active + late,
        }
        for number, name in enumerate(component_names(cluster)):
            spent = interval.idle(number) * row.idle[min(number, 1)]
            component = Component(name, name)
            energies[component] = energies.get(component, 0) + spent
        return energies

    def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
        """See `power.model.PowerModel`: the curves have no such part."""
        return {whole_component("shared"): 0}

    def _row(self, cluster: Cluster, khz: int, beside: object) -> CurveRow:
        return self._rows[cluster.name, khz, beside if self.depends(cluster) else None]

    def _fill(self, cluster: Cluster, platform: Platform) -> set[tuple[str, int, object]]:
        """All pairs of clocks of a dependent cluster; returns those that the curves do not have.

        Without a running CPU elsewhere, a row's other clock is the lowest that there is. Hardware
        has no pair without a row, for it keeps littles above a clock; here it is billed by the
        supply that the other CPU asks for.
        """
        known = {
            (row.khz, (row.other, row.other_khz)): row
            for row in self._curves.beside
            if row.cluster == cluster.name
        }
        if (dsu := self._curves.dsu) is not None:
            lowest = (DSU, dsu.lowest_khz)
            others = [(DSU, khz) for khz in dsu.clocks]
        else:
            lowest = min((other for _, other in known), key=lambda other: other[1])
            others = [
                (other.name, opp.khz)
                for other in platform.clusters
                if other.name not in self._curves.dependents
                for opp in other.opps
            ]
        missing: set[tuple[str, int, object]] = set()
        for opp in cluster.opps:
            for key, other in ((None, lowest), *((other, other) for other in others)):
                place = (cluster.name, opp.khz, key)
                row = known.get((opp.khz, other))
                if row is None and not self._curves.rail:
                    what = f"{cluster.name} at {opp.khz} kHz beside {other[0]} at {other[1]} kHz"
                    raise _no_row(self._curves.file("2d"), what)
                if row is None:
                    row = self._by_rail(cluster.name, opp, self._floor(*other))
                    missing.add(place)
                self._rows[place] = row
        return missing

    def _fill_smooth(self, cluster: Cluster) -> None:
        """Rows of a dependent cluster by the supply of its rail."""
        for opp in cluster.opps:
            for floor in (None, *sorted({uv for _, _, uv in self._curves.floors})):
                self._rows[cluster.name, opp.khz, floor] = self._by_rail(cluster.name, opp, floor)

    def _floor(self, cluster: str, khz: int) -> int | None:
        """The least supply in uV that a running CPU of ``cluster`` asks for."""
        floors = [uv for name, least, uv in self._curves.floors if name == cluster and least <= khz]
        return max(floors, default=None)

    def _by_rail(self, cluster: str, opp: Opp, floor: int | None) -> CurveRow:
        microvolts = max(opp.uv, floor or 0)
        supplies = [row for row in self._curves.rail if row[0] >= microvolts]
        if not supplies:
            raise _no_row(self._curves.file("rail"), f"a supply of {microvolts} uV")
        _, static, idle0 = supplies[0]
        active = round(self._curves.rail_active * opp.khz / 1e3 * (microvolts / 1e6) ** 2)
        return CurveRow(cluster, opp.khz, "", 0, static, active, (idle0, 0))


def _row(rows: Sequence[CurveRow], cluster: str, khz: int, file: str) -> CurveRow:
    """The first row of ``cluster`` at ``khz``."""
    found = next((row for row in rows if (row.cluster, row.khz) == (cluster, khz)), None)
    if found is None:
        raise _no_row(file, f"{cluster} at {khz} kHz")
    return found


def _no_row(file: str, what: str) -> RequestError:
    return RequestError(
        f"curves: {file} has no row for {what}; use OPPs with a row, or --power published"
    )
