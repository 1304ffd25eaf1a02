# SPDX-License-Identifier: GPL-2.0-or-later
"""Measured powers by the clocks of several clusters: ``[curves]`` and the files in ``curves/``.

``NAME-1d.csv`` has the clusters whose power depends on their own clock alone, ``NAME-2d.csv`` those
whose power depends on a running CPU of another cluster, too, or on the clock of the DynamIQ Shared
Unit (`Dsu`). Where there are ``NAME-rail.csv`` and ``NAME-floor.csv``, they say the same by the
supply of these clusters' rail (`curves/README.md`). A platform file may name a file of its own: the
first one as Perfetto has it, ``cpu_1d.csv``; the others are those beside it whose names have
``2d``, ``rail`` and ``floor`` for ``1d``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eascope.configs.source import CLUSTER, cited
from eascope.host.cache import digest_of, sha256_file
from eascope.host.errors import RequestError, bad_input, nearest
from eascope.host.keys import Placed, key, maybe
from eascope.host.strict import read_text, shown_path

CURVES = Path(__file__).resolve().parent / "curves"

#: The policy that the files call the DynamIQ Shared Unit, and what stands for a cluster's name.
DSU_POLICY, DSU = 255, "dsu"
#: Perfetto has this unit's clock of some chips in Hz.
_MOST_KHZ = 10_000_000
_RAIL = "uW per MHz and V^2 of a busy CPU"


@dataclass(frozen=True)
class CurveRow:
    """Powers in uW at one clock: of the shared part, a busy CPU, and one in WFI or power gated.

    :param other: the cluster whose running CPU decides, or `DSU`, with its kHz; empty where none
        does.
    :param interconnect: once per system, also while every CPU sleeps.
    """

    cluster: str
    khz: int
    other: str
    other_khz: int
    static: int
    active: int
    idle: tuple[int, int]
    interconnect: int = 0


@dataclass(frozen=True)
class Dsu:
    """The clock of the DynamIQ Shared Unit, in kHz: the highest that a running CPU votes for.

    :param lowest_khz: without a vote.
    :param votes: (cluster, kHz from which on it votes, kHz of the unit).
    """

    lowest_khz: int
    votes: tuple[tuple[str, int, int], ...]
    source: str

    def vote(self, cluster: str, khz: int) -> int:
        """The clock that a running CPU of ``cluster`` at ``khz`` votes for."""
        asked = [dsu for name, least, dsu in self.votes if name == cluster and least <= khz]
        return max((self.lowest_khz, *asked))

    @property
    def clocks(self) -> tuple[int, ...]:
        """All clocks that it can have."""
        return tuple(sorted({self.lowest_khz, *(dsu for _, _, dsu in self.votes)}))


@dataclass(frozen=True)
class Curves:
    """Curves of a chip. Clusters are named as the platform names them, clocks are in kHz.

    :param name: of ours, or of a file.
    :param alone: of clusters whose power depends on their own clock alone.
    :param beside: of the others.
    :param early_us: how long of its way out of the deepest state a CPU counts as busy.
    :param before_us: and how long before that way begins.
    :param dsu: where rows of ``beside`` depend on that unit's clock.
    :param rail: (uV, static, WFI) in uW of the clusters of ``beside``, ascending; or none.
    :param floors: the least supply that a running CPU of another cluster asks for: (cluster, kHz
        from which on, uV), ascending.
    :param rail_active: uW of a busy CPU per MHz and V^2.
    :param files: that are not ours.
    """

    name: str
    alone: tuple[CurveRow, ...]
    beside: tuple[CurveRow, ...]
    early_us: Mapping[str, int]
    before_us: Mapping[str, int]
    dsu: Dsu | None
    rail: tuple[tuple[int, int, int], ...]
    floors: tuple[tuple[str, int, int], ...]
    rail_active: int
    source: str
    files: tuple[Path, ...] = ()

    def file(self, kind: str) -> str:
        """The name of the file of these rows, for messages."""
        return file_of(self.name, kind).name

    @cached_property
    def dependents(self) -> tuple[str, ...]:
        """Clusters whose power depends on another one."""
        return tuple(dict.fromkeys(row.cluster for row in self.beside))


#: Files of curves: of clusters alone, of clusters beside others, of a rail.
KINDS = ("1d", "2d", "rail", "floor")
#: Columns that the first two have at least.
_COLUMNS = ("policy", "freq_khz", "static", "active", "idle0", "idle1")
_MORE_COLUMNS = {"2d": ("dep_policy", "dep_freq")}


def is_file_of_curves(name: str) -> bool:
    """True if a platform file means a file, and not curves of ours."""
    return "/" in name or name.endswith(".csv")


def file_of(name: str, kind: str) -> Path:
    """The file of these curves; it need not be there."""
    if not is_file_of_curves(name):
        return CURVES / f"{name}-{kind}.csv"
    path = Path(name)
    if kind == KINDS[0]:
        return path
    return path.with_name(path.name.replace("1d", kind) if "1d" in path.name else f"no {kind}")


def files_of(name: str) -> list[Path]:
    """The files of these curves that there are."""
    return [path for kind in KINDS if (path := file_of(name, kind)).is_file()]


def curves_digest(name: str) -> str:
    """Of the files of these curves."""
    if is_file_of_curves(name):
        return digest_of(
            {
                kind: sha256_file(file_of(name, kind))
                for kind in KINDS
                if file_of(name, kind).is_file()
            }
        )
    return digest_of({path.name: sha256_file(path) for path in sorted(files_of(name))})


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


@dataclass(frozen=True, kw_only=True)
class _Vote(Placed):
    of: str = key("whose running CPUs vote", form=CLUSTER)
    khz: int = key("the vote holds from this clock of the cluster up", 1, _MOST_KHZ, "kHz")
    dsu_khz: int = key("the vote, a clock of the curves", 1, _MOST_KHZ, "kHz")


@dataclass(frozen=True, kw_only=True)
class _Dsu(Placed):
    lowest_khz: int = key("without a vote, a clock of the curves", 1, _MOST_KHZ, "kHz")
    votes: tuple[_Vote, ...] = key("clocks that running CPUs ask for", count=(0, 100))
    source: str = cited("lowest_khz", "votes")


@dataclass(frozen=True, kw_only=True)
class CurvesFile(Placed):
    """The table ``[curves]`` of a platform file."""

    name: str = key("curves in `configs/curves`, or a CSV file of one's own")
    policies: Mapping[str, int] = key("the policy in the files, by cluster", 0, 254)
    early_us: Mapping[str, int] = key("how early a waking CPU counts as busy", 0, 10_000_000, "us")
    rail_uw_per_mhz_v2: int | None = maybe("with a file of a rail", 1, 100_000, _RAIL)
    dsu: _Dsu | None = maybe("where rows depend on policy 255")
    source: str = cited("all curves")


def curves_of(
    own: CurvesFile, clusters: Mapping[str, tuple[int, int]], *, complete: bool
) -> Curves:
    """The curves that a platform file names.

    :param clusters: names, with the us that a CPU takes to leave its deepest state, and the us that
        it stays there at least.
    :param complete: the file states the whole platform; one with a base may have other clusters.
    :raises RequestError: a table or a file of curves that is wrong: one line.
    """
    name = own.name
    known = sorted(path.name.removesuffix("-1d.csv") for path in CURVES.glob("*-1d.csv"))
    if not _is_file(file_of(name, KINDS[0])):
        allowed = f"one of {', '.join(known)}, or a CSV file that there is, such as ./cpu_1d.csv"
        raise own.place.error("name", allowed + nearest(name, known))
    named, early = own.place.inside("policies"), own.place.inside("early_us")
    if complete:
        named.exactly(clusters, "an integer in 0..254")
        early.only(clusters)
    policies = {name: own.policies[name] for name in clusters if name in own.policies}
    early_us = {name: own.early_us[name] for name in policies if name in own.early_us}
    for cluster in early_us:
        early.within(cluster, 0, clusters[cluster][1], "us")
    own.need_with("rail_uw_per_mhz_v2", "a file of a rail", there=file_of(name, "rail").is_file())
    clocks = {row["dep_freq"] for row in _numbers(name, "2d") if row["dep_policy"] == DSU_POLICY}
    own.need_with(DSU, f"rows of policy {DSU_POLICY}", there=bool(clocks))
    return Curves(
        name=Path(name).name,
        alone=tuple(_rows(name, "1d", policies)),
        beside=tuple(_rows(name, "2d", policies)),
        early_us={name: min(us, clusters[name][0]) for name, us in early_us.items()},
        before_us={name: max(us - clusters[name][0], 0) for name, us in early_us.items()},
        dsu=_clock_of_dsu(own.dsu, policies, clocks, complete) if own.dsu else None,
        rail=tuple((row["uv"], row["static"], row["idle0"]) for row in _numbers(name, "rail")),
        floors=tuple(
            (cluster, row["freq_khz"], row["uv"])
            for row in _numbers(name, "floor")
            for cluster in policies
            if policies[cluster] == row["policy"]
        ),
        rail_active=own.rail_uw_per_mhz_v2 or 0,
        source=own.source,
        files=tuple(files_of(name)) if is_file_of_curves(name) else (),
    )


def _clock_of_dsu(
    own: _Dsu, clusters: Collection[str], clocks: Collection[int], complete: bool
) -> Dsu:
    """The unit's clock; votes of clusters that a base's file has removed are left out."""
    votes = ((vote.place, "dsu_khz") for vote in own.votes)
    for place, name in ((own.place, "lowest_khz"), *votes):
        if place.data[name] not in clocks:
            allowed = f"a clock of the curves: {', '.join(map(str, sorted(clocks)))}"
            raise place.error(name, allowed)
    for vote in own.votes if complete else ():
        vote.place.one_of("of", clusters)
    kept = ((vote.of, vote.khz, vote.dsu_khz) for vote in own.votes if vote.of in clusters)
    return Dsu(own.lowest_khz, tuple(kept), own.source)


#: Columns in mW; they become uW.
_MILLIWATT = ("static", "active", "idle0", "idle1", "interconnect")


def _rows(name: str, kind: str, policies: Mapping[str, int]) -> Iterator[CurveRow]:
    """The rows of a file that are of clusters of the platform; clusters may share a policy."""
    for row in _numbers(name, kind):
        others = [policy for policy in policies if policies[policy] == row.get("dep_policy")]
        others += [DSU] * (row.get("dep_policy") == DSU_POLICY)
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
                    interconnect=row.get("interconnect", 0),
                )


def _numbers(name: str, kind: str) -> Iterator[dict[str, int]]:
    """The rows of a file, powers in uW, without the chip's name; none where there is no file."""
    path = file_of(name, kind)
    if not path.is_file():
        return
    reader = csv.DictReader(io.StringIO(read_text(path, "a CSV file of curves")))
    wanted = (*_COLUMNS, *_MORE_COLUMNS.get(kind, ())) if kind in ("1d", "2d") else ()
    if missing := [column for column in wanted if column not in (reader.fieldnames or ())]:
        raise bad_input(
            shown_path(path), "columns", reader.fieldnames, f"also {', '.join(missing)}"
        )
    for number, row in enumerate(reader, 2):
        try:
            values = {
                column: round(float(text) * (1000 if column in _MILLIWATT else 1))
                for column, text in row.items()
                if column != "device"
            }
            if min(values.values()) < 0:
                raise ValueError("a number below 0")
        except (TypeError, ValueError, OverflowError) as error:
            line = f"{shown_path(path)}:{number}: {error}: allowed: a number in every column"
            raise RequestError(line) from error
        if values.get("dep_policy") == DSU_POLICY and values["dep_freq"] > _MOST_KHZ:
            values["dep_freq"] //= 1000
        yield values
