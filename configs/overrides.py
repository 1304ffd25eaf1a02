# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms with overrides: ``little.cpus = 2``, ``big.opps = "every 2nd"``, as a file with a base.

An override is a dotted key and a value. Most name a key of a platform file below a cluster
(``big.idle_states.cpu-sleep-0.exit_us``) or a key at the file's top (``dvfs.rate_limit_us``). Some
stand for several figures, which are computed (`COMPUTED`). The result is the text of a platform
file that names its base (`configs.delta`). So the loader checks it like any other file, and a
person can use it with ``--platform``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from eascope.configs import opp_spacing
from eascope.configs.activity import BUSY_LOOP, has_activity, load_activity
from eascope.configs.cpunames import MAX_CPUS
from eascope.configs.opp_spacing import OppRow, frequencies, rows
from eascope.configs.platform import Cluster, Platform, Takes
from eascope.configs.platform_file import PlatformFile, list_platforms, load_platform
from eascope.host.errors import RequestError, names_allowed, nearest, shortened, shown
from eascope.host.keys import entries_of, is_name
from eascope.host.strict import toml_text

_KEYS = entries_of(PlatformFile)
#: Keys at the top of a platform file that an override may begin with, besides a cluster's name.
TOP = {name for own in _KEYS.values() for name in own.key.of} | {
    name for name, own in _KEYS.items() if any(below.key.of for below in own.below.values())
} - {"cluster"}

#: Keys below a cluster's name that stand for several figures.
COMPUTED = {
    "cpus": "a number of CPUs; 0 removes the cluster",
    "like": "a cluster of the base that a new one is made like",
    "core": "a core type that a shipped platform has: its OPPs, powers, idle states and L2 follow; "
    "capacity per MHz by the busy loop's speed on gem5's cores",
    "opps": "kHz, or count and spacing; voltages and powers of new OPPs are computed",
    "uv": 'voltages in percent, such as "+5%"; powers follow by V^2',
    "capacity_dmips_mhz": 'relative speed per MHz, or in percent such as "-10%"',
    "idle_states": "names of the idle states that stay",
}
#: What an override may be set to.
Setting = str | int | float | bool | list[Any]
#: Keys of a platform that are numbers, below [dvfs] or at the file's top.
_NUMBERS = ("rate_limit_us", "transition_latency_us", "temperature_c", "memory_mib")
_PERCENT = re.compile(r"([+-]\d+(?:\.\d+)?)%")


@dataclass(frozen=True)
class Overridden:
    """A platform file: its text, and a line for each figure that was computed."""

    text: str
    computed: tuple[str, ...]


def overridden(base: str, platform: Platform, settings: Mapping[str, Setting]) -> Overridden:
    """The file of ``platform`` with ``settings`` by dotted key.

    :param base: what the file names as its base: a platform's name, or the path of its file.
    :raises RequestError: one line: key, value, what is allowed. The loader finds further faults
        when it reads the file.
    """
    derived = _Made(platform)
    for key in sorted(settings, key=_order):
        derived.set(key, settings[key])
    words = ", ".join(f"{key} = {shown_setting(settings[key])}" for key in sorted(settings))
    document = {"base": base, "summary": f"{platform.name} with {words}", **derived.document()}
    return Overridden(toml_text(document), derived.computed)


def shown_setting(value: Setting) -> str:
    """A setting as a person types it: a text without quotes, a list with commas."""
    if isinstance(value, list):
        return "[" + ",".join(map(shown_setting, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _order(key: str) -> tuple[int, str]:
    """Clusters first come to be or go, then change their core, then their OPPs, then voltages."""
    ranks = {"like": 0, "cpus": 1, "core": 2, "opps": 3, "uv": 4}
    return (ranks.get(key.partition(".")[2], 5), key)


def _wrong(key: str, value: object, allowed: str) -> RequestError:
    return RequestError(f"{shortened(key)} = {shown(value)}: allowed: {allowed}")


def number_of(platform: Platform, key: str) -> float | None:
    """The number that ``platform`` has at the key of an override; None: it has none there."""
    first, _, rest = key.partition(".")
    cluster = next((cluster for cluster in platform.clusters if cluster.name == first), None)
    if cluster is None:
        name = rest if first == "dvfs" else key
        return getattr(platform, name) if name in _NUMBERS else None
    numbers: dict[str, float] = {
        "cpus": len(cluster.cpus),
        "capacity_dmips_mhz": cluster.capacity_dmips_mhz,
        "shared_off_uw": cluster.shared_off_uw,
    }
    for state in cluster.idle_states:
        for name in ("entry_us", "exit_us", "residency_us", "power_uw"):
            numbers[f"idle_states.{state.name}.{name}"] = getattr(state, name)
        for name, us in _times(state.takes).items():
            numbers[f"idle_states.{state.name}.takes.{name}"] = us
    return numbers.get(rest)


@dataclass
class _Made:
    """What a file with a base says so far."""

    platform: Platform
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    top: dict[str, Any] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    #: What each source of the file states, in words.
    subjects: dict[str, str] = field(default_factory=dict)
    #: Clusters of the base, and those that new ones are made like.
    base: dict[str, Cluster] = field(default_factory=dict)
    #: Clusters as they are by now, for what is computed from their figures.
    now: dict[str, Cluster] = field(default_factory=dict)
    #: Whose OPPs a cluster has by now, where it is not the base.
    whose: dict[str, str] = field(default_factory=dict)
    #: Voltages and powers of OPPs that differ from those of `now`.
    tables: dict[str, list[OppRow]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = {cluster.name: cluster for cluster in self.platform.clusters}
        self.base = dict(self.now)

    @property
    def computed(self) -> tuple[str, ...]:
        """A line for each source of the file."""
        return tuple(f"{what}: {self.sources[source]}" for source, what in self.subjects.items())

    def set(self, key: str, value: Setting) -> None:
        """Take one override."""
        first, _, rest = key.partition(".")
        if first in TOP:
            _put(self.top, key.split("."), value, key)
            return
        if rest == "like":
            self._begin(first, key, value)
            return
        if first in self.base and not rest:
            raise _wrong(key, value, f"a key of {first}, such as {first}.cpus")
        if first in self.base and first not in self.now:
            raise _wrong(key, value, f"no other key of {first} where {first}.cpus = 0")
        if first not in self.now:
            known = [*self.now, *TOP]
            raise RequestError(
                f"override {shown(key)}: {shown(first)} is no cluster of {self.platform.name} and "
                f"no key of a platform{names_allowed(first, known)}; a new cluster begins with "
                f"{shortened(first)}.like = a cluster"
            )
        special = getattr(self, f"_{rest}", None) if rest in COMPUTED else None
        if special is not None:
            special(first, key, value)
        elif first in self.tables and rest.startswith(("opps.", "busy.")):
            raise _wrong(
                key, value, f"no single OPP where {first}.core, .opps or .uv sets them all"
            )
        else:
            path, states = rest.split("."), [state.name for state in self.now[first].idle_states]
            if path[0] == "idle_states" and len(path) > 1 and path[1] not in states:
                allowed = f"a key of an idle state of {first}: {', '.join(states)}"
                raise _wrong(key, value, f"{allowed}{nearest(path[1], states)}")
            _put(self._cluster(first), path, value, key)

    def document(self) -> dict[str, Any]:
        """The tables of the file."""
        for name, table in self.tables.items():
            self._write_opps(name, table)
        parts: dict[str, Any] = {"remove": self.remove, **self.top, "sources": self.sources}
        parts["cluster"] = {n: self.clusters[n] for n in self.now if n in self.clusters}
        return {key: part for key, part in parts.items() if part}

    def _cluster(self, name: str) -> dict[str, Any]:
        return self.clusters.setdefault(name, {})

    def _begin(self, name: str, key: str, value: Setting) -> None:
        if name in self.now or not is_name(name):
            raise _wrong(key, value, "a name that no cluster of the base has")
        if not isinstance(value, str) or value not in self.now:
            raise _wrong(key, value, f"a cluster of {self.platform.name}: {', '.join(self.now)}")
        self.base[name] = self.now[name] = self.now[value]
        self._cluster(name)["like"] = value

    def _cpus(self, name: str, key: str, value: Setting) -> None:
        if value == 0 and value is not False:
            if name in (cluster.name for cluster in self.platform.clusters):
                self.remove.append(f"cluster.{name}")
            self.clusters.pop(name, None)
            del self.now[name]
        elif isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_CPUS:
            self._cluster(name)["cpus"] = value
        else:
            raise _wrong(key, value, f"an integer in 0..{MAX_CPUS}")

    def _core(self, name: str, key: str, value: Setting) -> None:
        donors = _donors()
        if not isinstance(value, str) or value not in donors:
            near = nearest(str(value), donors)
            raise _wrong(key, value, f"{', '.join(sorted(donors))}{near}")
        board, other = donors[value]
        before = self.now[name]
        if before.core.name == value:
            return
        lacking = {table.name for table in before.busy} - {table.name for table in other.busy}
        if lacking:
            raise _wrong(
                key,
                value,
                f"a core whose platform states the {', '.join(sorted(lacking))} power that the "
                f"power model of {self.platform.name} uses",
            )
        ratio = _loop_rate(board, other) / _loop_rate(self.platform, before)
        capacity = round(before.capacity_dmips_mhz * ratio)
        whose = f"{board.name}'s {other.name}"
        self._cite(
            f"capacity-{name}",
            f"computed: {before.capacity_dmips_mhz} of the {before.core.name} times {ratio:.3f}, "
            f"the busy loop's instructions per cycle on gem5's {value} over those on its "
            f"{before.core.name}",
            f"{name}: capacity per MHz",
        )
        self._cite(
            f"core-{name}",
            f"borrowed from {whose}: a {value}",
            f"{name}: OPPs, powers, idle states and L2",
        )
        table = self._cluster(name)
        table |= {"core": value, "capacity_dmips_mhz": capacity}
        table["capacity_source"] = f"capacity-{name}"
        table |= _borrowed(other, f"core-{name}")
        if other.cluster_sleep is None:
            self._drop_sleep(name)
        self.now[name], self.whose[name] = other, whose
        self.tables[name] = rows(other, [opp.khz for opp in other.opps])

    def _opps(self, name: str, key: str, value: Setting) -> None:
        cluster = self.now[name]
        wanted = frequencies(cluster, value)
        if wanted is None:
            low, high = cluster.opps[0].khz, cluster.opps[-1].khz
            raise _wrong(key, value, f"{opp_spacing.ALLOWED}; kHz in {low}..{high}")
        self.tables[name] = rows(cluster, wanted)
        for low_row, high_row in pairwise(self.tables[name]):
            if high_row.power_uw <= low_row.power_uw:
                raise _wrong(key, value, "OPPs whose powers differ: fewer of them")
        table = self._cluster(name)
        if not {*wanted} <= {opp.khz for opp in cluster.opps}:
            self._cite(
                f"opps-{name}",
                f"computed: by {shown_setting(value)} from the OPPs of {self._whose(name)}: "
                "voltages linear in f between the nearest, powers linear in f V^2",
                f"{name}: frequencies, voltages and powers of OPPs",
            )
            table["opp_sources"] = dict.fromkeys(_COLUMNS, f"opps-{name}")
        elif "opp_sources" not in table:
            self._cite(
                f"opps-{name}",
                f"assumed: some of the OPPs of {self._whose(name)}, with their figures",
                f"{name}: which OPPs",
            )
            table["opp_sources"] = dict.fromkeys(_COLUMNS, f"opps-{name}")

    def _uv(self, name: str, key: str, value: Setting) -> None:
        percent = _percent(value)
        if percent is None or not -50 <= percent <= 50:
            raise _wrong(key, value, 'percent in -50..+50 with its sign, such as "+5%"')
        cluster, scale = self.now[name], 1 + percent / 100
        table = self.tables.get(name) or rows(cluster, [opp.khz for opp in cluster.opps])
        self.tables[name] = [
            OppRow(
                row.khz,
                round(row.uv * scale),
                round(row.power_uw * scale**2),
                row.shared_uw,
                {by: round(power * scale**2) for by, power in row.busy.items()},
                row.turbo,
            )
            for row in table
        ]
        self._cite(
            f"uv-{name}",
            f"computed: voltages of {self._whose(name)} {value}, powers of a busy CPU by V^2",
            f"{name}: voltages and powers of a busy CPU",
        )
        columns = self._cluster(name).setdefault("opp_sources", {})
        columns |= {"uv": f"uv-{name}", "power_uw": f"uv-{name}"}

    def _capacity_dmips_mhz(self, name: str, key: str, value: Setting) -> None:
        table, source = self._cluster(name), f"capacity-{name}"
        before = table.get("capacity_dmips_mhz", self.now[name].capacity_dmips_mhz)
        earlier = self.sources.pop(source, "")
        self.subjects.pop(source, None)
        percent = _percent(value)
        if percent is None:
            table["capacity_dmips_mhz"] = value
            table.pop("capacity_source", None)
            return
        table["capacity_dmips_mhz"] = round(before * (1 + percent / 100))
        table["capacity_source"] = source
        text = f"computed: {value} of {before}" + (f", which is {earlier}" if earlier else "")
        self._cite(source, text, f"{name}: capacity per MHz")

    def _idle_states(self, name: str, key: str, value: Setting) -> None:
        states = [state.name for state in self.now[name].idle_states]
        once = isinstance(value, list) and all(
            state in states and value.count(state) == 1 for state in value
        )
        if not isinstance(value, list) or not once or "wfi" not in value:
            raise _wrong(key, value, f"a list of {', '.join(states)} with wfi in it, each once")
        sleep = self.now[name].cluster_sleep
        if sleep is not None and states[sleep] not in value:
            self._drop_sleep(name)
        table = self._cluster(name)
        if "idle_states" in table:  # those of another core
            table["idle_states"] = [row for row in table["idle_states"] if row["name"] in value]
            return
        gone = [state for state in states if state not in value]
        self.remove += [f"cluster.{name}.idle_states.{state}" for state in gone]

    def _drop_sleep(self, name: str) -> None:
        """Take away the sleep of the whole cluster, whose state it has no more."""
        self._cluster(name).pop("cluster_sleep", None)
        path = f"cluster.{name}.cluster_sleep"
        if self.base[name].cluster_sleep is not None and path not in self.remove:
            self.remove.append(path)

    def _whose(self, name: str) -> str:
        return self.whose.get(name, self.platform.name)

    def _cite(self, source: str, text: str, what: str) -> None:
        """Name a source of the file, and say what was computed."""
        self.sources[source] = text
        self.subjects[source] = what

    def _write_opps(self, name: str, table: list[OppRow]) -> None:
        """The rows of ``table`` as the OPPs of a cluster; tables of billing follow."""
        entry = self._cluster(name)
        entry["opps"] = [
            {key: getattr(row, key) for key in (*_COLUMNS, *(("turbo",) if row.turbo else ()))}
            for row in table
        ]
        for by in (busy.name for busy in self.platform.clusters[0].busy):
            kept = entry.setdefault("busy", {}).setdefault(by, {})
            kept["opps"] = [{"khz": row.khz, "power_uw": row.busy[by]} for row in table]
            kept["source"] = entry["opp_sources"]["power_uw"]


_COLUMNS = ("khz", "uv", "power_uw", "shared_uw")


def _put(table: dict[str, Any], path: list[str], value: Setting, key: str) -> None:
    """Set the entry at ``path``, whose tables come to be on the way."""
    for part in path[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise _wrong(key, value, f"nothing below {part}, which is set as a whole")
    table[path[-1]] = value


def _percent(value: object) -> float | None:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) if match else None


def _donors() -> dict[str, tuple[Platform, Cluster]]:
    """The shipped cluster of each core type, the first of its kind."""
    donors: dict[str, tuple[Platform, Cluster]] = {}
    for name, broken in list_platforms():
        if not isinstance(broken, RequestError) and has_activity(name):
            board = load_platform(name)
            for cluster in board.clusters:
                donors.setdefault(cluster.core.name, (board, cluster))
    return donors


def _loop_rate(platform: Platform, cluster: Cluster) -> float:
    """The busy loop's instructions per cycle on gem5's model of the core, at the fastest OPP.

    :raises RequestError: where nobody has measured it.
    """
    board = platform
    if not has_activity(platform.name):  # its activity is that of its cores
        donors = _donors()
        if cluster.core.name not in donors:
            raise RequestError(f"core {cluster.core.name}: no shipped platform has measured it")
        board, cluster = donors[cluster.core.name]
    for entry in load_activity(board).measured:
        if entry.kernel == BUSY_LOOP and entry.cluster == cluster.name:
            return entry.ipc[max(entry.ipc)]
    raise RequestError(f"{board.name}: the busy loop was not measured on {cluster.name}")


def _times(takes: Takes) -> dict[str, int]:
    """The times of an idle state, by key; those of a cluster where it has them."""
    of_cluster = ("last_entry_us", "first_exit_us") if takes.by_cluster else ()
    return {key: getattr(takes, key) for key in ("entry_us", "exit_us", *of_cluster)}


def _borrowed(other: Cluster, source: str) -> dict[str, Any]:
    """Figures of a cluster besides its CPUs, capacity and OPPs, from the cluster ``other``."""
    states = [
        {
            "name": state.name,
            "entry_us": state.entry_us,
            "exit_us": state.exit_us,
            "residency_us": state.residency_us,
            "power_state": state.power_state,
            "power_uw": state.power_uw,
            "time_source": source,
            "power_source": source,
            **({"takes": {**_times(state.takes), "source": source}} if number else {}),
        }
        for number, state in enumerate(other.idle_states)
    ]
    sleep = other.cluster_sleep
    cache = other.l2
    return {
        "shared_off_uw": other.shared_off_uw,
        "shared_off_source": source,
        "idle_states": states,
        **({} if sleep is None else {"cluster_sleep": other.idle_states[sleep].name}),
        "l2": {
            "size_kib": cache.size_kib,
            "ways": cache.ways,
            "line_bytes": cache.line_bytes,
            "source": source,
        },
        "opp_sources": dict.fromkeys(_COLUMNS, source),
    }
