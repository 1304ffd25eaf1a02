# SPDX-License-Identifier: GPL-2.0-or-later
"""Clock floors between clusters: while one requests a fast OPP, another one may not be slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eascope.configs.source import Sources
from eascope.host.strict import StrictTable

KEY = "clock_floors"


@dataclass(frozen=True)
class ClockFloor:
    """While cluster ``of`` requests ``at_khz`` or more, cluster ``on`` gets ``khz`` or more."""

    of: str
    at_khz: int
    on: str
    khz: int
    source: str


def read_floors(
    top: StrictTable, sources: Sources, opps: Mapping[str, Sequence[int]], *, complete: bool
) -> tuple[ClockFloor, ...]:
    """The tables ``[[clock_floors]]`` of a platform file, where it has some.

    :param opps: frequencies in kHz, ascending, by cluster.
    :param complete: the file states them itself. Those of a base may be of other clusters and OPPs:
        floors of clusters that are not there are left out, and a floor between two OPPs is the
        higher one, or else the fastest, as in the driver.
    :raises RequestError: one line with file, key, value and what is allowed.
    """
    floors: list[ClockFloor] = []
    for table in top.tables(KEY, 1, 8) if top.has(KEY) else ():
        of, on = (table.text(key, opps if complete else ()) for key in ("of", "on"))
        if of == on:
            raise table.error("on", f"another cluster than {of}")
        source = sources.of(table, "source")
        present = of in opps and on in opps
        last = (0, 0)
        for row in table.tables("steps", 1, 100):
            step = (
                row.integer("khz", 1, 10_000_000, "kHz"),
                row.integer("floor_khz", 1, 10_000_000, "kHz"),
            )
            for key, cluster, khz, before in zip(
                ("khz", "floor_khz"), (of, on), step, last, strict=True
            ):
                if complete and khz not in opps[cluster]:
                    known = ", ".join(map(str, opps[cluster]))
                    raise row.error(key, f"an OPP of {cluster}: {known}")
                if khz <= before:
                    raise row.error(key, f"more than {before}: steps in ascending order")
            row.finish()
            last = step
            floors += [ClockFloor(of, step[0], on, step[1], source)] if present else []
        table.finish()
    return tuple(floors)
