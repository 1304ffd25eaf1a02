# SPDX-License-Identifier: GPL-2.0-or-later
"""Strict reading of campaign files, and campaigns from options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from eascope.configs.knobs import BILLINGS, CONTROLS, Knob
from eascope.experiments.scenario.names import summaries_of
from eascope.experiments.sweeps.campaign import ROOT, Campaign, Choice, SweptAxis
from eascope.experiments.sweeps.constraints import Constraint, read_constraint
from eascope.experiments.sweeps.point import CONTROL, UNCHANGED, merged
from eascope.host.errors import RequestError, missing_key, shortened, shown
from eascope.host.keys import (
    NAME,
    NAME_RULE,
    Context,
    Entry,
    Form,
    Key,
    Place,
    Placed,
    WrongValue,
    is_name,
    is_plain,
    key,
    maybe,
    same,
)
from eascope.host.strict import no_such_name, read_toml

#: Axes that every campaign has.
NEEDED = ("platform", "scenario", "variant")
#: Controls that a campaign may vary.
SWEPT = {name: knob for name, knob in CONTROLS.items() if knob.swept}
MOST_SEEDS = 1000
MOST_VALUES = 1000
Keys = list[tuple[str, Any, Any]]


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
            f"campaign {shown(name)}: a shipped campaign has this file name; choose another, "
            "because directories are named after it"
        )
    return read_campaign(path)


def read_campaign(path: Path) -> Campaign:
    """The campaign in the file at ``path``.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = read_toml(path)
    if not is_name(path.stem):
        raise RequestError(f"{top.file}: wrong file name; expected {NAME_RULE}")
    return campaign_from(top, path.stem, path.parent)


def campaign_from(top: Place, name: str, folder: Path) -> Campaign:
    """The campaign in ``top``.

    :param folder: to which paths in it are relative.
    :raises RequestError: one line with file, key, value and what is allowed.
    """
    own = top.decoded(CampaignFile, folder=folder)
    axes = [*own.axes.axes()]
    keys = {axis.name: {axis.name} for axis in axes}
    for axis, names in (named.axis() for named in own.axis):
        if axis.name in keys:
            raise RequestError(f"{top.file}: duplicate axis {shown(axis.name)}")
        keys[axis.name] = names
        axes.append(axis)
    _check_axes(top, axes, keys)
    common: dict[str, Any] = {"full": own.full}
    if own.reference:
        common["controls"] = {"reference": own.reference}
    made: dict[str, Any] = {"name": name, "file": top.file, "axes": _ordered(axes)}
    made |= {"seeds": own.axes.seeds or (0,), "common": common}
    made |= {"constraints": _constraints(top.file, own.constraints)}
    return Campaign(**same(Campaign, own) | made)


def _ordered(axes: Sequence[SweptAxis]) -> tuple[SweptAxis, ...]:
    """Platform first, scenario and variant last, so that cells of one machine are in a row."""
    ranks = {"platform": 0, "scenario": 8, "variant": 9}
    return tuple(sorted(axes, key=lambda axis: ranks.get(axis.name, 5)))


def _check_axes(top: Place, axes: Sequence[SweptAxis], keys: Mapping[str, Collection[str]]) -> None:
    """Check that one axis sets a key, and that every cell has what it needs.

    :param keys: that the values of an axis set, by its name.
    """
    for name in NEEDED:
        setting = [axis for axis in axes if name in keys[axis.name]]
        if not setting:
            raise missing_key(top.file, f"axes.{name}", "a list of names")
        without = [choice.label for choice in setting[0].choices if name not in choice.sets]
        if without:
            raise RequestError(
                f"{top.file}: axis {shown(setting[0].name)}: its value {shown(without[0])} sets "
                f"no {name}; each of its values must set one"
            )
    for first, second in combinations(axes, 2):
        if both := sorted({*keys[first.name]} & {*keys[second.name]}):
            raise RequestError(
                f"{top.file}: axes {shown(first.name)} and {shown(second.name)} both set "
                f"{shortened(both[0])}; only one may, because the value of the other would be lost"
            )


_COUNT = Entry("", int, Key(span=(1, MOST_SEEDS)))


def _seeds(value: Any, context: Context) -> tuple[int, ...]:  # noqa: ANN401
    """How many seeds from 0, or a list of them."""
    if not isinstance(value, list):
        return tuple(range(_COUNT.read(value, context)))
    whole = all(is_plain(int, n) and n >= 0 for n in value)
    if not value or not whole or len(set(value)) < len(value):
        raise WrongValue("", value, "a count, or a list of different integers from 0")
    return tuple(value)


def _label(value: object) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(entry: Entry) -> Form:
    """The form of a value that its declaration describes."""

    def read(value: Any, context: Context) -> tuple[str, Any]:  # noqa: ANN401
        setting = entry.read(value, context)
        return _label(setting), setting

    return Form(entry.allowed, entry.schema, read)


_TEXT, _FLAG = (_plain(Entry("", kind, Key())) for kind in (str, bool))


def _file_or_name(value: Any, context: Context) -> tuple[str, Any]:  # noqa: ANN401
    """A name, or a file relative to the campaign's."""
    text, _ = _TEXT.read(value, context)
    if not text.endswith(".toml"):
        return text, text
    path = (context["folder"] / text).absolute()
    return path.stem, str(path)


def _errors(value: Any, context: Context) -> tuple[str, Any]:  # noqa: ANN401
    """Errors of the energy model: texts such as ``big=+20%``, several in a list or with commas."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise WrongValue("", value, 'texts such as "big=+20%", or "none"')
    errors = tuple(text.strip() for text in given if text.strip() not in ("", "none"))
    return ",".join(errors) or "none", errors


def _axis(name: str, one: Form, kind: str = "") -> Form:
    """The form of an axis: values of the form ``one``, or one; where it is alone, it may be a list.

    :param kind: what of a `Point` has the values; there, one may leave all as it is.
    """
    more = f', or "{UNCHANGED}"' if kind in ("billing", "controls") else ""

    def choice(value: Any, context: Context) -> Choice:  # noqa: ANN401
        if kind and value == UNCHANGED:
            return Choice(UNCHANGED, {})
        try:
            label, setting = one.read(value, context)
        except WrongValue as wrong:
            raise WrongValue("", value, f"{wrong.allowed}{more}") from wrong
        return Choice(label, {kind: {name: setting}} if kind else {name: setting})

    def read(value: Any, context: Context) -> SweptAxis:  # noqa: ANN401
        values = value if isinstance(value, list) and "value" not in context else [value]
        if not 1 <= len(values) <= MOST_VALUES:
            raise WrongValue("", value, f"an axis with 1 to {MOST_VALUES} values")
        choices = tuple(choice(each, context) for each in values)
        for label, count in Counter(choice.label for choice in choices).items():
            if count > 1:
                twice = f"{shown(label)} appears {count} times"
                raise WrongValue("", value, f"each value once: {twice}")
        return SweptAxis(f"{CONTROL}{name}" if kind == "controls" else name, choices)

    schema = {"anyOf": [{"const": UNCHANGED}, one.schema]} if kind else one.schema
    several = {"type": "array", "items": schema, "minItems": 1}
    return Form(f"{one.allowed}{more}, or a list of such", {"anyOf": [schema, several]}, read)


def _overrides(value: Any, context: Context) -> Any:  # noqa: ANN401
    name = context["override"]
    if isinstance(value, dict):
        allowed = f'the whole key in quotes, such as "{name}.cpus" = [2, 4]'
        raise WrongValue("", value, allowed)
    return _axis(name, _OVERRIDE, "overrides").read(value, context)


@dataclass(frozen=True, kw_only=True)
class _Axes(Placed):
    def axes(self) -> Iterator[SweptAxis]:
        """The axes, in the order of the file."""
        for name in self.place.data:
            own = getattr(self, name)
            if name in ("set", "controls"):
                yield from own.values() if name == "set" else own.axes()
            elif name != "seeds":
                yield own


_FILE = Form("a name or a file", _TEXT.schema, _file_or_name)
_SCHEMA = {"type": ["string", "array"], "items": {"type": "string"}}
_ERRORS = Form('texts such as "big=+20%"', _SCHEMA, _errors)
_ANY: Mapping[str, Any] = {"not": {"type": "object"}}
_OVERRIDE = Form("values", _ANY, lambda value, context: (_label(value), value))
_OVERRIDES = Form("values", _ANY, _overrides)


def _keys(kind: str = "", **axes: tuple[Form, str]) -> Keys:
    pairs = axes.items()
    return [(name, Any, maybe(words, form=_axis(name, one, kind))) for name, (one, words) in pairs]


def _knobs(kind: str, knobs: Mapping[str, Knob]) -> Keys:
    return _keys(kind, **{name: (_plain(own.entry), own.summary) for name, own in knobs.items()})


def _made(name: str, keys: Keys, base: type = _Axes) -> Any:  # noqa: ANN401
    return make_dataclass(name, keys, bases=(base,), frozen=True, kw_only=True)


_NAMES = _keys(
    platform=(_FILE, "platforms; a file is relative to the campaign's"),
    scenario=(_FILE, "scenarios; a file is relative to the campaign's"),
    variant=(_TEXT, "variants"),
    engine=(_TEXT, "engines"),
    mode=(_TEXT, "modes of the engine"),
    em=(_TEXT, "powers that the kernel is given"),
    em_error=(_ERRORS, "errors in these powers"),
)
#: Of a command's ``--set controls.NAME=...``, which may be a way of accounting, too.
_ANY_KNOB = [*_knobs("controls", SWEPT), *_knobs("billing", BILLINGS)]
_CONTROLS = maybe("controls", table=_made("Controls", _ANY_KNOB))
_SET = key("changes to the platform", each=_OVERRIDES, label="override", default={})
_TABLES = [("set", Mapping[str, Any], _SET), ("controls", Any, _CONTROLS)]
_FLAGS = _keys(
    elide=(_FLAG, "whether busy loops are elided"),
    source_conditions=(_FLAG, "whether the scenario's source sets open controls"),
)
_SOME = {**_COUNT.schema, "type": ["integer", "array"], "items": {"type": "integer", "minimum": 0}}
_SEEDS = maybe("numbered from 0 (default: one)", form=Form("a count, or a list", _SOME, _seeds))
#: What a value of a named axis may set, and the table ``[axes]``.
_VALUE: Any = _made("Value", [*_NAMES, *_knobs("billing", BILLINGS), *_TABLES])
_AXES = _made("Axes", [*_FLAGS, ("seeds", Any, _SEEDS)], _VALUE)


@dataclass(frozen=True, kw_only=True)
class _Named(Placed):
    name: str = key("the axis", form=NAME)
    values: Any = key(
        "what each value sets, by its name", table=Mapping[str, _VALUE], label="value"
    )

    def check(self) -> None:
        if not self.values:
            raise self.place.error("values", f"an axis with 1 to {MOST_VALUES} values")

    def axis(self) -> tuple[SweptAxis, set[str]]:
        """The axis, and what its values set, as the axes that they could be."""
        parts = {label: [*value.axes()] for label, value in self.values.items()}
        sets = {label: merged(axis.choices[0].sets for axis in parts[label]) for label in parts}
        names = {axis.name for axes in parts.values() for axis in axes}
        return SweptAxis(self.name, tuple(Choice(*item) for item in sets.items())), names


_LIST = 'a list of texts such as "little.cpus + big.cpus <= 8"'


@dataclass(frozen=True, kw_only=True)
class CampaignFile(Placed):
    """A campaign's file."""

    summary: str = key("one line, for lists")
    question: str = key("the question it answers", default="")
    limits: str = key("the limits of the answer", default="")
    reference: str | None = maybe("core and MHz that count work, such as `cortex-a72@1200`")
    power: str | None = maybe("the power model (default: each platform's own)")
    full: bool = key("the scenarios' full durations", default=False)
    constraints: tuple[str, ...] = key("must all hold", allowed=_LIST, count=(0, 0), default=())
    axes: Any = key("the axes", table=_AXES)
    axis: tuple[_Named, ...] = key("axes that set several keys", count=(1, 20), default=())

    def check(self) -> None:
        """A table of axes has some."""
        for name in ("set", "controls"):
            if self.axes.place.data.get(name) == {}:
                raise self.axes.place.error(name, "a table with at least one axis")


def _constraints(file: str, texts: Iterable[str]) -> tuple[Constraint, ...]:
    try:
        return tuple(map(read_constraint, texts))
    except RequestError as error:
        raise RequestError(f"{file}: {error}") from error
