# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms and scenarios by difference: a file that names a base and states what differs.

Tables are merged key by key. Entries of a list have names: clusters, idle states and tasks have
their own, an OPP has its kHz (``cluster.big.opps.1200000.power_uw = 600_000``). A list replaces the
whole list of the base. ``remove`` takes entries and optional keys away.

Of platforms: ``like`` makes a new cluster from a cluster of the base. A changed figure needs its
own source; without one, its source is an assumption of this file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.configs.curves import is_file_of_curves
from eascope.configs.source import Sources
from eascope.host.errors import RequestError, bad_input, shown, unknown
from eascope.host.keys import NAME_RULE, Entry, Place, is_name
from eascope.host.strict import no_such_name, read_toml, shown_path

#: Lists of tables whose entries have names, and the key that has the name.
NAMED = {"cluster": "name", "opps": "khz", "idle_states": "name"} | dict.fromkeys(
    ("task", "program", "group", "interrupt"), "name"
)

#: What only a file with a base says.
OWN_KEYS = ("base", "remove")

OPP = ("khz", "uv", "power_uw", "shared_uw")

Data = dict[str, Any]


@dataclass(frozen=True)
class Described:
    """A platform file in its complete form.

    :param top: its own figures with those of its base.
    :param base: the complete platform at the end of the chain of bases; empty for a complete file.
    :param inherited: sources of the base, some of which may no longer be needed.
    """

    top: Place
    base: str
    inherited: frozenset[str]
    own: frozenset[str]

    def clusters(self, most: int) -> list[Place]:
        """The clusters' tables, by the names that a file with a base gives them."""
        tables = self.top.rows("cluster", 1, most)
        if not self.base:
            return tables
        return [
            Place(table.file, table.data, f"cluster.{table.data.get('name')}") for table in tables
        ]

    def sources(self) -> Sources:
        """The ``[sources]`` of the file and its base."""
        return Sources(self.top.inside("sources"), self.inherited)


def describe(
    path: Path,
    shipped: Path,
    check: Callable[[Described, Path], object],
    keys: Mapping[str, Entry],
    above: tuple[Path, ...] = (),
) -> Described:
    """The platform file at ``path``, with its base's figures if it has a base.

    :param shipped: the folder whose files are complete, and whose names no other file may have.
    :param check: called with each base; raises if it is no platform.
    :param above: files whose base this one is.
    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = read_toml(path)
    _place_curves(top, path)
    if "base" not in top.data:
        if "schema" not in top.data:
            raise RequestError(f"{top.file}: base is missing; expected a platform's name or file")
        return Described(top, "", frozenset(), frozenset(top.data))
    if not is_name(path.stem):
        raise RequestError(f"{top.file}: wrong file name; expected, before .toml, {NAME_RULE}")
    if is_shipped(path, shipped):
        raise top.error("base", f"only outside {shown_path(shipped)}, whose files are complete")
    if (shipped / path.name).exists():
        raise RequestError(
            f"{top.file}: {shown_path(shipped)} has a file of this name; choose another, because "
            "records name a platform by it"
        )
    base = top.read("base", str)
    try:
        under = base_path(path, base, shipped)
    except RequestError as error:
        raise RequestError(f"{top.file}: base = {shown(base)}: {error}") from error
    if os.path.realpath(under) in map(os.path.realpath, (*above, path)):
        raise top.error("base", "a platform that does not have this one as its base")
    below = describe(under, shipped, check, keys, (*above, path))
    check(below, under)
    data = _merged(top, path, below.top.data, keys)
    inherited = frozenset(below.top.data["sources"]) - frozenset(top.data.get("sources", ()))
    root = below.base or under.stem
    return Described(Place(top.file, data), root, inherited, frozenset(top.data))


def _place_curves(top: Place, path: Path) -> None:
    """Find a file of curves beside the platform file that names it."""
    curves = top.data.get("curves")
    name = curves.get("name") if isinstance(curves, dict) else None
    if isinstance(curves, dict) and isinstance(name, str) and is_file_of_curves(name):
        curves["name"] = str(path.parent / Path(name).expanduser())


def with_origin(message: str, top: Place, base: str, path: Path) -> str:
    """An error's line with the base's name where the file itself does not state the key.

    :param top: the file's own keys with those of its base.
    """
    file, _, rest = message.partition(": ")
    key = re.match(r"[\w.\[\]-]+(?= = )", rest)
    if not base or file != top.file or not key or _states(read_toml(path).data, top.data, key[0]):
        return message
    return f"{file}: {key[0]} (inherited from {base}){rest[key.end() :]}"


def _states(own: Any, merged: Any, dotted: str) -> bool:  # noqa: ANN401 - values of TOML
    """True if a file's ``own`` figures have the key that ``merged`` ones are read by.

    A row of a list is named there by its name or its kHz.
    """
    for part in re.findall(r"[\w-]+|\[\d+\]", dotted):
        if not isinstance(own, dict) or not own:
            return bool(own)
        known = [part]
        if part.startswith("["):
            merged = merged[int(part[1:-1])] if isinstance(merged, list) else {}
            known = [str(merged.get(key)) for key in ("name", "khz")]
        elif isinstance(merged, list):  # clusters, by their names
            merged = next((row for row in merged if row.get("name") == part), {})
        else:
            merged = merged.get(part) if isinstance(merged, dict) else None
        found = next(
            (name for name in own if name.replace("_", "") in known or name in known), None
        )
        if found is None:
            return False
        own = own[found]
    return True


def base_path(path: Path, base: str, shipped: Path) -> Path:
    """The file that the platform file ``path`` names as its base.

    :raises RequestError: an unknown name.
    """
    in_a_file = "/" in base or base.endswith(".toml")
    return path.parent / base if in_a_file else platform_path(base, shipped)


def platform_path(name: str, directory: Path) -> Path:
    """The file of the platform ``name`` of ``directory``.

    :raises RequestError: an unknown name, with the nearest.
    """
    known = sorted(path.stem for path in directory.glob("*.toml"))
    if name not in known:
        raise no_such_name("platform", name, known)
    return directory / f"{name}.toml"


def is_shipped(path: Path, shipped: Path) -> bool:
    """True if ``path`` lies in the folder of the platforms that have names."""
    return os.path.realpath(path.parent) == os.path.realpath(shipped)


def changed(top: Place, base: Mapping[str, Any]) -> Data:
    """The keys of ``base``, less those that ``top`` removes, with the changes of ``top``."""
    top.read("summary", str)  # the base's would be about another one
    data = deepcopy(dict(base))
    for dotted in _removals(top, "task.ui"):
        _remove(top, data, dotted)
    _check_names(top, data)
    _merge(top, data, _changes(top), "")
    return data


def _check_names(top: Place, data: Data) -> None:
    """Who changes an entry of ``data`` names one; a new one states what each must have."""
    for key, needs in {"task": ("phase", "recorded"), "program": ("run",)}.items():
        known = {*_named(data.get(key))}
        for name, entry in _named(top.data.get(key)).items():
            if name not in known and isinstance(entry, dict) and not {*needs} & {*entry}:
                raise RequestError(
                    f"{top.file}: {unknown(key, name, sorted(known))}, or a new one with {needs[0]}"
                )


def _changes(top: Place) -> Data:
    return {key: value for key, value in top.data.items() if key not in OWN_KEYS}


def _removals(top: Place, example: str) -> tuple[str, ...]:
    if "remove" not in top.data:
        return ()
    allowed = f'a list of keys of the base, such as ["{example}"]'
    return top.read("remove", tuple[str, ...], allowed=allowed, count=(0, 1000))


def _merged(top: Place, path: Path, base: Mapping[str, Any], keys: Mapping[str, Entry]) -> Data:
    """The figures of ``base``, less those that ``top`` removes, with the changes of ``top``."""
    top.read("summary", str)  # the base's would be about another machine
    if "sources" in top.data:
        top.inside("sources")
    data = deepcopy(dict(base))
    changes = _changes(top)
    of_new = _below_new_clusters(changes, base)
    removals = _removals(top, 'cluster.big", "l3')
    for dotted in removals:
        if dotted in ("cluster", "sources"):
            raise bad_input(top.file, "remove", dotted, f"an entry of {dotted}, such as {dotted}.X")
        if not dotted.startswith(of_new):
            _remove(top, data, dotted)
    if isinstance(changes.get("cluster"), dict):
        for name, entry in changes["cluster"].items():
            _begin_cluster(top, data, base["cluster"], name, entry)
        changes["cluster"] = {
            name: {key: value for key, value in entry.items() if key != "like"}
            for name, entry in changes["cluster"].items()
        }
    for dotted in removals:
        if dotted.startswith(of_new):
            _remove(top, data, dotted)
    data["name"] = path.stem
    for cluster in _tables(data["cluster"]):
        if "cluster_sleep" not in cluster:  # removed: no CPU is the last of its cluster
            for state in _tables(cluster.get("idle_states")):
                for key in ("last_entry_us", "first_exit_us"):
                    state.get("takes", {}).pop(key, None)
    _merge(top, data, changes, "")
    _check_own_names(top, data)
    _bill_no_other_opps(data)
    own = f"own-{path.stem}"
    if _give_sources(data, changes, own, keys):
        text = f"assumed: {path.name} has another figure than {base['name']}"
        data["sources"].setdefault(own, text)
    return data


def _check_own_names(top: Place, data: Data) -> None:
    """Figures that the file itself states are of clusters and OPPs of the platform.

    The base's may be of others, which the file has removed: those are left out.
    """
    clusters = {str(row.get("name")): _tables(row.get("opps")) for row in _tables(data["cluster"])}
    curves = top.inside("curves") if "curves" in top.data else None
    for key in ("policies", "early_us"):
        if curves and key in curves.data:
            curves.inside(key).only(clusters)
    dsu = curves.inside("dsu") if curves and "dsu" in curves.data else None
    for row in dsu.rows("votes", 0, 100) if dsu and "votes" in dsu.data else ():
        row.one_of("of", clusters)
    for name, entry in _named(top.data.get("cluster")).items():
        busy = entry.get("busy") if isinstance(entry, dict) else None
        known = [str(row.get("khz")) for row in clusters.get(name, ())]
        for kind, table in busy.items() if isinstance(busy, dict) else ():
            opps = table.get("opps") if isinstance(table, dict) else None
            stated = opps if isinstance(opps, dict) else [row.get("khz") for row in _tables(opps)]
            for khz in stated:
                if str(khz).replace("_", "") not in known:
                    where = f"cluster.{name}.busy.{kind}.opps"
                    raise bad_input(top.file, where, khz, f"OPPs of {name}: {', '.join(known)}")


def _bill_no_other_opps(data: Data) -> None:
    """Powers of busy CPUs at the base's OPPs that the platform does not have go with them."""
    for cluster in _tables(data["cluster"]):
        known = [row.get("khz") for row in _tables(cluster.get("opps"))]
        busy = cluster.get("busy")
        for table in _tables([*busy.values()] if isinstance(busy, dict) else ()):
            rows = [row for row in _tables(table.get("opps")) if row.get("khz") in known]
            table["opps"] = rows or table.get("opps")


def _tables(value: object) -> list[Data]:
    """The tables of a list; a file that is wrong elsewhere is complained about when it is read."""
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


def _below_new_clusters(changes: Data, base: Mapping[str, Any]) -> tuple[str, ...]:
    """How paths of keys begin that a new cluster has from the one that it is like."""
    entries = changes.get("cluster")
    known = [cluster["name"] for cluster in base["cluster"]]
    new = [name for name in entries if name not in known] if isinstance(entries, dict) else []
    return tuple(f"cluster.{name}." for name in new)


def _entry(top: Place, key: str, name: str, items: list[Data], where: str) -> int | None:
    """Place of the entry ``name`` in the base's list at ``key``; None where it has none."""
    wanted: int | str = name
    if NAMED[key] == "khz":
        try:
            wanted = int(name)
        except ValueError as error:
            allowed = "OPPs by their kHz, such as opps.950000"
            raise bad_input(top.file, where, name, allowed) from error
    places = [n for n, item in enumerate(items) if item.get(NAMED[key]) == wanted]
    return places[0] if places else None


def _remove(top: Place, data: Data, dotted: str) -> None:
    """Take the entry or key at ``dotted`` out of the base's ``data``."""
    here: Any = data
    place: int | str | None
    parts = dotted.split(".")
    for depth, (part, after) in enumerate(zip(parts, [*parts[1:], ""], strict=True)):
        last = depth == len(parts) - 1
        if isinstance(here, list):
            place = _entry(top, parts[depth - 1], part, here, "remove")
            known = [str(item.get(NAMED[parts[depth - 1]])) for item in here]
        else:
            place, known = part if part in here else None, list(here)
        if place is None:
            raise bad_input(top.file, "remove", dotted, f"keys of the base: {', '.join(known)}")
        if last:
            del here[place]
            return
        here = here[place]
        named = isinstance(here, list) and part in NAMED
        if not isinstance(here, dict) and not named:
            raise bad_input(
                top.file, "remove", dotted, f"{part} itself: it has no key {shown(after)}"
            )


def _begin_cluster(top: Place, data: Data, others: list[Data], name: str, entry: object) -> None:
    """Put a cluster that is made ``like`` one of ``others`` into ``data``.

    :raises RequestError: ``like`` for an existing cluster, or a wrong name: a new cluster has
        ``like``, or states everything.
    """
    if not isinstance(entry, dict):
        raise bad_input(top.file, f"cluster.{name}", entry, "a table of the keys that differ")
    table = Place(top.file, entry, f"cluster.{name}")
    if name in [cluster["name"] for cluster in data["cluster"]]:
        if "like" in entry:
            raise table.error("like", "only for a cluster that the base does not have")
        return
    known = [str(cluster["name"]) for cluster in others]
    if "like" not in entry and "core" not in entry:
        raise RequestError(
            f"{top.file}: {unknown('cluster', name, known)}, or a new one with like = one of these"
        )
    if "like" in entry:
        like = table.one_of("like", known)
        data["cluster"].append({**deepcopy(others[known.index(like)]), "name": name})


def _merge(top: Place, data: Data, changes: Mapping[str, Any], where: str) -> None:
    """Put ``changes`` into ``data``, key by key."""
    for key, change in changes.items():
        here = f"{where}.{key}" if where else key
        before = data.get(key)
        if before is None and key in NAMED and isinstance(change, dict):
            before = data[key] = []
        if isinstance(change, dict) and isinstance(before, dict):
            _merge(top, before, change, here)
        elif isinstance(change, dict) and isinstance(before, list) and key in NAMED:
            _merge_entries(top, key, before, change, here)
        else:
            data[key] = deepcopy(change)


def _merge_entries(
    top: Place, key: str, items: list[Data], changes: Mapping[str, Any], where: str
) -> None:
    """Put ``changes``, tables by name, into the list ``items``."""
    for name, change in changes.items():
        if not isinstance(change, dict):
            raise bad_input(top.file, f"{where}.{name}", change, "a table of the keys that differ")
        if NAMED[key] in change:
            raise bad_input(
                *(top.file, f"{where}.{name}.{NAMED[key]}", change[NAMED[key]]),
                f"nothing: its {NAMED[key]} is {name}",
            )
        place = _entry(top, key, name, items, where)
        if place is None:
            items.append({NAMED[key]: int(name) if NAMED[key] == "khz" else name})
            place = len(items) - 1
        _merge(top, items[place], change, f"{where}.{name}")
    if NAMED[key] == "khz":
        items.sort(key=lambda item: int(item["khz"]))


def _give_sources(data: object, changes: object, own: str, keys: Mapping[str, Entry]) -> bool:
    """Name ``own`` as the source of every figure that changes without one; whether any does."""
    if not isinstance(data, dict) or not isinstance(changes, dict):
        return False
    named = {name for name in keys if {*keys[name].key.of} & {*changes}} - {*changes}
    data.update(dict.fromkeys(named, own))
    given = [bool(named), "opp_sources" in keys and _own_columns(data, changes, own)]
    for key in (key for key in changes if key in keys):
        for below, entry in _entries(key, data.get(key), changes[key]):
            given.append(_give_sources(below, entry, own, keys[key].below))
    return any(given)


def _entries(key: str, data: object, changes: object) -> Iterator[tuple[object, object]]:
    """Table and changes at ``key``: of each entry, where entries have names.

    In a list that replaces the base's each idle state may name its sources; new clusters must.
    """
    if key not in ("cluster", "idle_states"):
        yield data, changes
    elif not (key == "cluster" and isinstance(changes, list)):
        before, after = _named(data), _named(changes)
        yield from ((before.get(name), entry) for name, entry in after.items())


def _named(entries: object) -> Mapping[str, object]:
    if isinstance(entries, list):
        return {str(row.get("name")): row for row in entries if isinstance(row, dict)}
    return entries if isinstance(entries, dict) else {}


def _own_columns(cluster: Data, changes: Data, own: str) -> bool:
    """The same for an OPP table, whose columns have a source each."""
    opps = changes.get("opps")
    rows = list(opps.values()) if isinstance(opps, dict) else opps if isinstance(opps, list) else []
    complete = any(isinstance(row, dict) and {*OPP[1:]} <= {*row} for row in rows)
    new = {"khz"} if isinstance(opps, dict) and complete else set()
    changed = {key for row in rows if isinstance(row, dict) for key in row if key in OPP} | new
    stated = changes.get("opp_sources")
    named = changed - set(stated if isinstance(stated, dict) else ())
    if named and isinstance(cluster.setdefault("opp_sources", {}), dict):
        cluster["opp_sources"].update(dict.fromkeys(named, own))
    return bool(named)
