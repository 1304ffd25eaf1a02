# SPDX-License-Identifier: GPL-2.0-or-later
"""Strict reading of campaign files, and campaigns from options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from eascope.configs.knobs import BILLINGS, CONTROLS
from eascope.experiments.scenario.names import summaries_of
from eascope.experiments.sweeps.campaign import ROOT, Campaign, Choice, SweptAxis
from eascope.experiments.sweeps.constraints import Constraint, read_constraint
from eascope.experiments.sweeps.point import AS_IS, CONTROL, merged
from eascope.host.errors import (
    RequestError,
    bad_input,
    missing_key,
    names_allowed,
    shortened,
    shown,
)
from eascope.host.keys import NAME
from eascope.host.strict import StrictTable, is_line, is_name, no_such_name, read_toml

#: Axes that every campaign has.
NEEDED = ("platform", "scenario", "variant")
#: Controls that a campaign may vary.
SWEPT = {name: knob for name, knob in CONTROLS.items() if knob.swept}
MOST_SEEDS = 1000
MOST_VALUES = 1000
#: Gives the values of an axis at a key.
Values = Callable[[StrictTable, str], list[Any]]


def campaign_names() -> list[str]:
    """The shipped campaigns by name, sorted."""
    return sorted(path.stem for path in ROOT.glob("*.toml"))


def campaign_summaries() -> list[tuple[str, str | RequestError]]:
    """Name and summary of every shipped campaign, or what is wrong with its file."""
    return summaries_of(campaign_names(), lambda name: load_campaign(name).summary)


def load_campaign(name: str) -> Campaign:
    """The campaign ``name``, or the one in the file ``name`` when it ends in ``.toml``.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    if not name.endswith(".toml"):
        if name not in campaign_names():
            raise no_such_name("campaign", name, campaign_names(), "eascope list campaigns")
        return read_campaign(ROOT / f"{name}.toml")
    path = Path(name)
    if path.stem in campaign_names() and path.resolve().parent != ROOT:
        raise RequestError(
            f"campaign {shown(name)}: allowed: a file name that no shipped campaign has, "
            "because folders are named after it"
        )
    return read_campaign(path)


def read_campaign(path: Path) -> Campaign:
    """The campaign in the file at ``path``.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = read_toml(path)
    if not is_name(path.stem):
        raise RequestError(f"{top.file}: allowed: a file name of small letters, digits and dashes")
    return campaign_from(top, path.stem, path.parent)


def campaign_from(top: StrictTable, name: str, folder: Path) -> Campaign:
    """The campaign in ``top``.

    :param folder: to which paths in it are relative.
    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top.only(KEYS[""])
    axes_table = top.table("axes")
    axes_table.only(KEYS["axes"])
    seeds = _seeds(axes_table)
    axes = list(_axes(axes_table, folder, _values))
    keys = {axis.name: {axis.name} for axis in axes}
    if top.has("axis"):
        for table in top.tables("axis", 1, 20):
            axis, own = _named_axis(table, folder)
            if axis.name in keys:
                raise RequestError(f"{top.file}: duplicate axis {shown(axis.name)}")
            keys[axis.name] = own
            axes.append(axis)
    _check_axes(top, axes, keys)
    common: dict[str, Any] = {"full": top.flag("full") if top.has("full") else False}
    if top.has("reference"):
        common["controls"] = {"reference": top.text("reference")}
    campaign = Campaign(
        name=name,
        file=top.file,
        summary=top.text("summary"),
        axes=_ordered(axes),
        constraints=_constraints(top),
        seeds=seeds,
        question=top.text("question") if top.has("question") else "",
        limits=top.text("limits") if top.has("limits") else "",
        common=common,
        power=top.text("power") if top.has("power") else None,
    )
    top.finish()
    return campaign


def _ordered(axes: Sequence[SweptAxis]) -> tuple[SweptAxis, ...]:
    """Platform first, scenario and variant last, so that cells of one machine are in a row."""
    ranks = {"platform": 0, "scenario": 8, "variant": 9}
    return tuple(sorted(axes, key=lambda axis: ranks.get(axis.name, 5)))


def _check_axes(
    top: StrictTable, axes: Sequence[SweptAxis], keys: Mapping[str, Collection[str]]
) -> None:
    """Check that one axis sets a key, and that every cell has what it needs.

    :param keys: that the values of an axis set, by its name.
    """
    for key in NEEDED:
        setting = [axis for axis in axes if key in keys[axis.name]]
        if not setting:
            raise missing_key(top.file, f"axes.{key}", "a list of names")
        without = [choice.label for choice in setting[0].choices if key not in choice.sets]
        if without:
            raise RequestError(
                f"{top.file}: axis {shown(setting[0].name)}: its value {shown(without[0])} sets "
                f"no {key}; each of its values must set one"
            )
    for first, second in combinations(axes, 2):
        if both := sorted({*keys[first.name]} & {*keys[second.name]}):
            raise RequestError(
                f"{top.file}: axes {shown(first.name)} and {shown(second.name)} both set "
                f"{shortened(both[0])}; only one may, because the value of the other would be lost"
            )


def _seeds(table: StrictTable) -> tuple[int, ...]:
    """``seeds``: how many from 0, or a list of them."""
    if isinstance(table.data.get("seeds"), list):
        table.has("seeds")
        given = table.data["seeds"]
        whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in given)
        if not given or not whole or len(set(given)) < len(given):
            raise table.error("seeds", "a count, or a list of different integers from 0")
        return tuple(given)
    return tuple(range(table.integer("seeds", 1, MOST_SEEDS) if table.has("seeds") else 1))


def _axes(table: StrictTable, folder: Path, values: Values) -> Iterator[SweptAxis]:
    """The axes of the table ``[axes]``, or what a value of a named axis sets."""
    for key in table.data:
        if key == "seeds":
            continue
        if key in ("set", "controls"):
            inner = table.table(key)
            if not inner.data and values is _values:
                raise table.error(key, "a table with at least one axis")
            for name in inner.data:
                if key == "set":
                    yield _override_axis(inner, name, values)
                else:
                    yield _knob_axis(inner, name, values)
        elif key in BILLINGS:
            yield _knob_axis(table, key, values)
        else:
            read = _PLAIN[key]
            given = [read(table, key, value, folder) for value in values(table, key)]
            yield _axis(table, key, [(label, {key: value}) for label, value in given])


def _values(table: StrictTable, key: str) -> list[Any]:
    """The values of an axis: a list with some, or a single value."""
    table.has(key)
    values = table.data[key]
    if not isinstance(values, list):
        return [values]
    if not 1 <= len(values) <= MOST_VALUES:
        raise table.error(key, f"an axis with 1 to {MOST_VALUES} values")
    return values


def _value(table: StrictTable, key: str) -> list[Any]:
    """What a value of a named axis has: one value, which may be a list."""
    return [table.data[key]]


def _axis(
    table: StrictTable, name: str, values: Sequence[tuple[str, Mapping[str, Any]]]
) -> SweptAxis:
    labels = [label for label, _ in values]
    for label in labels:
        if labels.count(label) > 1:
            raise table.error(
                name, f"each value once: {shown(label)} appears {labels.count(label)} times"
            )
    return SweptAxis(name, tuple(Choice(label, sets) for label, sets in values))


Plain = Callable[[StrictTable, str, Any, Path], tuple[str, Any]]


def _text(table: StrictTable, key: str, value: Any, folder: Path) -> tuple[str, Any]:  # noqa: ANN401
    if not is_line(value):
        raise bad_input(table.file, table.key(key), value, "a text on one line")
    return value, value


def _file_or_name(table: StrictTable, key: str, value: Any, folder: Path) -> tuple[str, Any]:  # noqa: ANN401
    """A name, or a file relative to the campaign's."""
    text, _ = _text(table, key, value, folder)
    if not text.endswith(".toml"):
        return text, text
    path = (folder / text).absolute()
    return path.stem, str(path)


def _flag(table: StrictTable, key: str, value: Any, folder: Path) -> tuple[str, Any]:  # noqa: ANN401
    if not isinstance(value, bool):
        raise bad_input(table.file, table.key(key), value, "true or false")
    return str(value).lower(), value


def _errors(table: StrictTable, key: str, value: Any, folder: Path) -> tuple[str, Any]:  # noqa: ANN401
    """Errors of the energy model: texts such as ``big=+20%``, several in a list or with commas."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise bad_input(table.file, table.key(key), value, 'texts such as "big=+20%", or "none"')
    errors = tuple(text.strip() for text in given if text.strip() not in ("", "none"))
    return ",".join(errors) or "none", errors


_PLAIN: dict[str, Plain] = {
    "platform": _file_or_name,
    "scenario": _file_or_name,
    "variant": _text,
    "engine": _text,
    "mode": _text,
    "em": _text,
    "em_error": _errors,
    "elide": _flag,
    "source_conditions": _flag,
}
_TABLES = (*BILLINGS, "set", "controls")
#: Keys of a campaign file.
KEYS = {
    "": (
        *("summary", "question", "limits", "reference", "power", "full"),
        *("axes", "axis", "constraints"),
    ),
    "axes": (*_PLAIN, "seeds", *_TABLES),
    "axis": ("name", "values"),
    "axis.values": (*(key for key, read in _PLAIN.items() if read is not _flag), *_TABLES),
}


def _override_axis(table: StrictTable, key: str, values: Values) -> SweptAxis:
    if isinstance(table.data[key], dict):
        raise table.error(key, f'the whole key in quotes, such as "{key}.cpus" = [2, 4]')
    return _axis(table, key, [_override(key, value) for value in values(table, key)])


def _override(key: str, value: object) -> tuple[str, Mapping[str, Any]]:
    if value == AS_IS:
        return AS_IS, {}
    label = "+".join(map(str, value)) if isinstance(value, list) else _label(value)
    return label, {"overrides": {key: value}}


def _label(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _knob_axis(table: StrictTable, key: str, values: Values) -> SweptAxis:
    kind, known = ("billing", BILLINGS) if key in BILLINGS else ("controls", SWEPT)
    if key not in known:
        raise table.error(key, f"a control{names_allowed(key, known).replace(': allowed', '')}")
    given: list[tuple[str, Mapping[str, Any]]] = []
    for value in values(table, key):
        if value == AS_IS:
            given.append((AS_IS, {}))
            continue
        try:
            read = known[key].read(StrictTable(table.file, {key: value}, table.where))
        except RequestError as error:
            raise RequestError(f'{error}, or "{AS_IS}"') from error
        given.append((_label(value), {kind: {key: read}}))
    return _axis(table, key if kind == "billing" else f"{CONTROL}{key}", given)


def _named_axis(table: StrictTable, folder: Path) -> tuple[SweptAxis, set[str]]:
    """An axis whose values set several keys each, and these, as the axes that they could be."""
    table.only(KEYS["axis"])
    name = table.read("name", str, form=NAME)
    values = table.table("values")
    if not values.data:
        raise table.error("values", f"an axis with 1 to {MOST_VALUES} values")
    choices: list[Choice] = []
    keys: set[str] = set()
    for label in values.data:
        value = values.table(label)
        value.only(KEYS["axis.values"])
        axes = list(_axes(value, folder, _value))
        keys |= {axis.name for axis in axes}
        choices.append(Choice(label, merged(axis.choices[0].sets for axis in axes)))
    return SweptAxis(name, tuple(choices)), keys


def _constraints(top: StrictTable) -> tuple[Constraint, ...]:
    if not top.has("constraints"):
        return ()
    allowed = 'a list of texts such as "little.cpus + big.cpus <= 8"'
    texts = top.texts("constraints", allowed=allowed, least=0)
    try:
        return tuple(map(read_constraint, texts))
    except RequestError as error:
        raise RequestError(f"{top.file}: {error}") from error
