# SPDX-License-Identifier: GPL-2.0-or-later
"""Measured powers by the clocks of several clusters: ``[curves]`` and the files in ``curves/``.

``NAME-1d.csv`` has the clusters whose power depends on their own clock alone, ``NAME-2d.csv`` those
whose power depends on a running CPU of another cluster, too. ``NAME-rail.csv`` and
``NAME-floor.csv`` say the same by the supply of these clusters' rail (`curves/README.md`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.source import Sources
from eascope.host.cache import digest_of, sha256_file
from eascope.host.errors import RequestError
from eascope.host.strict import StrictTable, shown_path

CURVES = Path(__file__).resolve().parent / "curves"


@dataclass(frozen=True)
class CurveRow:
    """Powers in uW at one clock: of the shared part, a busy CPU, and one in WFI or power gated.

    :param other: the cluster whose running CPU decides, with its kHz; empty where none does.
    """

    cluster: str
    khz: int
    other: str
    other_khz: int
    static: int
    active: int
    idle: tuple[int, int]


@dataclass(frozen=True)
class Curves:
    """Curves of a chip. Clusters are named as the platform names them, clocks are in kHz.

    :param alone: of clusters whose power depends on their own clock alone.
    :param beside: of the others.
    :param early_us: how long before its wake-up from the deepest state a CPU counts as busy.
    :param rail: (uV, static, WFI) in uW of the clusters of ``beside``, ascending.
    :param floors: the least supply that a running CPU of another cluster asks for: (cluster, kHz
        from which on, uV), ascending.
    :param rail_active: uW of a busy CPU per MHz and V^2.
    """

    name: str
    alone: tuple[CurveRow, ...]
    beside: tuple[CurveRow, ...]
    early_us: Mapping[str, int]
    rail: tuple[tuple[int, int, int], ...]
    floors: tuple[tuple[str, int, int], ...]
    rail_active: int
    source: str

    @property
    def dependents(self) -> tuple[str, ...]:
        """Clusters whose power depends on another one."""
        return tuple(dict.fromkeys(row.cluster for row in self.beside))


def curves_digest(name: str) -> str:
    """Of the files of these curves."""
    return digest_of(
        {path.name: sha256_file(path) for path in sorted(CURVES.glob(f"{name}-*.csv"))}
    )


def read_curves(
    top: StrictTable, sources: Sources, clusters: Mapping[str, int], *, complete: bool
) -> Curves | None:
    """The table ``[curves]`` of a platform file, where it has one.

    :param clusters: names, with the us that a CPU takes to leave its deepest state.
    :param complete: the file states the whole platform; one with a base may have other clusters.
    :raises RequestError: a table or a file of curves that is wrong: one line.
    """
    if not top.has("curves"):
        return None
    table = top.table("curves")
    known = sorted(path.name.removesuffix("-1d.csv") for path in CURVES.glob("*-1d.csv"))
    name = table.text("name", known)
    named = table.table("policies")
    early = table.table("early_us")
    if complete:
        named.only(clusters)
        early.only(clusters)
    listed = [cluster for cluster in clusters if complete or named.has(cluster)]
    policies = {name: named.integer(name, 0, 254) for name in listed}
    early_us = {
        name: early.integer(name, 0, clusters[name], "us") for name in listed if early.has(name)
    }
    active = table.integer("rail_uw_per_mhz_v2", 1, 100_000, "uW per MHz and V^2 of a busy CPU")
    source = sources.of(table, "source")
    table.finish()
    return Curves(
        name=name,
        alone=tuple(_rows(name, "1d", policies)),
        beside=tuple(_rows(name, "2d", policies)),
        early_us=early_us,
        rail=tuple(
            (row["uv"], row["static"], row["idle0"])
            for row in _numbers(CURVES / f"{name}-rail.csv")
        ),
        floors=tuple(
            (cluster, row["freq_khz"], row["uv"])
            for row in _numbers(CURVES / f"{name}-floor.csv")
            for cluster in policies
            if policies[cluster] == row["policy"]
        ),
        rail_active=active,
        source=source,
    )


#: Columns in mW; they become uW.
_MILLIWATT = ("static", "active", "idle0", "idle1")


def _rows(name: str, kind: str, policies: Mapping[str, int]) -> Iterator[CurveRow]:
    """The rows of a file that are of clusters of the platform; clusters may share a policy."""
    for row in _numbers(CURVES / f"{name}-{kind}.csv"):
        others = [policy for policy in policies if policies[policy] == row.get("dep_policy")]
        for cluster in (policy for policy in policies if policies[policy] == row["policy"]):
            for other in others if "dep_policy" in row else [""]:
                yield CurveRow(
                    cluster=cluster,
                    khz=row["freq_khz"],
                    other=other,
                    other_khz=row.get("dep_freq", 0),
                    static=row["static"],
                    active=row["active"],
                    idle=(row["idle0"], row["idle1"]),
                )


def _numbers(path: Path) -> Iterator[dict[str, int]]:
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                yield {
                    name: round(float(text) * (1000 if name in _MILLIWATT else 1))
                    for name, text in row.items()
                }
            except (TypeError, ValueError) as error:
                line = f"{shown_path(path)}:{number}: {error}: allowed: a number in every column"
                raise RequestError(line) from error
