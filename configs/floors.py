# SPDX-License-Identifier: GPL-2.0-or-later
"""Clock floors between clusters: while one requests a fast OPP, another one may not be slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eascope.configs.source import CLUSTER, cited
from eascope.host.keys import Placed, key

KEY = "clock_floors"


@dataclass(frozen=True)
class ClockFloor:
    """While cluster ``of`` requests ``at_khz`` or more, cluster ``on`` gets ``khz`` or more."""

    of: str
    at_khz: int
    on: str
    khz: int
    source: str


@dataclass(frozen=True)
class _Step:
    khz: int = key("an OPP of `of`: in force from this request up", 1, 10_000_000, "kHz")
    floor_khz: int = key("an OPP of `on`: its slowest clock", 1, 10_000_000, "kHz")


@dataclass(frozen=True, kw_only=True)
class FloorsFile(Placed):
    """Floors of one cluster's clock by what another one requests."""

    of: str = key("whose request decides", form=CLUSTER)
    on: str = key("whose clock has the floor", form=CLUSTER)
    steps: tuple[_Step, ...] = key("floors, in ascending order", count=(1, 100))
    source: str = cited("steps")


def floors_of(
    files: Sequence[FloorsFile], opps: Mapping[str, Sequence[int]], *, complete: bool
) -> Iterator[ClockFloor]:
    """The floors of the tables ``[[clock_floors]]``.

    :param opps: frequencies in kHz, ascending, by cluster.
    :param complete: the file states them itself. Those of a base may be of other clusters and OPPs:
        floors of clusters that are not there are left out, and a floor between two OPPs is the
        higher one, or else the fastest, as in the driver.
    :raises RequestError: one line with file, key, value and what is allowed.
    """
    for own in files:
        for name in ("of", "on") if complete else ():
            own.place.one_of(name, opps)
        if own.of == own.on:
            raise own.place.error("on", f"another cluster than {own.of}")
        last = _Step(0, 0)
        for row, step in zip(own.place.rows("steps"), own.steps, strict=True):
            for name, cluster in (("khz", own.of), ("floor_khz", own.on)):
                if complete and row.data[name] not in opps[cluster]:
                    known = ", ".join(map(str, opps[cluster]))
                    raise row.error(name, f"an OPP of {cluster}: {known}")
                if row.data[name] <= (before := getattr(last, name)):
                    raise row.error(name, f"more than {before}: steps in ascending order")
            last = step
            if own.of in opps and own.on in opps:
                yield ClockFloor(own.of, step.khz, own.on, step.floor_khz, own.source)
