# SPDX-License-Identifier: GPL-2.0-or-later
"""The further cases of a comparison: one other value of one model axis at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.configs.knobs import AXES, AxisValue
from eascope.configs.platform import Platform
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.request import Resolved, resolve
from eascope.host.errors import RequestError, unknown


@dataclass(frozen=True)
class AxisCase:
    """A comparison at another value of one axis.

    :param resolved: its own cells, one per variant, with the first seed; none if only the power
        model of the asked cells differs.
    """

    axis: str
    value: AxisValue
    billing: BilledBy
    resolved: tuple[Resolved, ...] = ()


@dataclass(frozen=True)
class Cases:
    """All cases, and a line for each alternative that is left out."""

    cases: tuple[AxisCase, ...]
    left_out: tuple[str, ...]

    def __add__(self, more: Cases) -> Cases:
        """Both, in the order of `AXES`."""
        order = list(AXES)
        cases = sorted((*self.cases, *more.cases), key=lambda case: order.index(case.axis))
        return Cases(tuple(cases), (*self.left_out, *more.left_out))


#: Axes of which no value needs a run: every comparison has them.
BILLING_AXES = tuple(name for name, axis in AXES.items() if axis.billing)


def wanted_axes(text: str) -> tuple[str, ...]:
    """The axes that ``--robust=TEXT`` names, in the order of `AXES`; all of them for no text.

    :raises RequestError: an axis that does not exist.
    """
    names = [name.strip() for name in text.split(",")] if text.strip() else list(AXES)
    for name in names:
        if name not in AXES:
            raise unknown("axis", name, AXES)
    return tuple(name for name in AXES if name in names)


def cases_for(text: str | None, asked: Sequence[Resolved], billing: BilledBy) -> Cases:
    """The cases of ``--robust=text``, after those that need no run, which are always there.

    :param asked: as in `cases_of`.
    :raises RequestError: an axis that does not exist, or that a person named and cannot be varied.
    """
    named = wanted_axes(text) if text is not None else ()
    always = [axis for axis in BILLING_AXES if not (text and axis in named)]
    free = cases_of(asked, billing, always, named=False)
    more = [axis for axis in named if axis not in always]
    asked_for = cases_of(asked, billing, more, named=bool(text and text.strip()))
    return free + asked_for


def cases_of(
    asked: Sequence[Resolved], billing: BilledBy, axes: Sequence[str], *, named: bool
) -> Cases:
    """The alternatives of ``axes`` to the asked values.

    :param asked: the asked cells of the first seed, one per variant.
    :param named: whether a person named the axes. If so, an axis without another value on this
        platform is an error; otherwise it is left out.
    :raises RequestError: a stated alternative that is not possible on the platform.
    """
    platform = asked[0].platform
    cases: list[AxisCase] = []
    left_out: list[str] = []
    for axis in axes:
        result: list[AxisCase] = []
        why = "the platform states no other value"
        for value in alternatives(platform, axis):
            try:
                result += list(_case(axis, value, asked, billing))
            except RequestError as error:
                if axis in platform.axes:
                    raise
                why = str(error)
        cases += result
        if not result and named:
            raise RequestError(f"axis {axis} of {platform.name}: {why}")
        left_out += [] if result else [f"{axis} ({why})"]
    return Cases(tuple(cases), tuple(left_out))


def alternatives(platform: Platform, axis: str) -> tuple[AxisValue, ...]:
    """Values of ``axis`` on ``platform``: those that it states, else the common ones."""
    return platform.axes.get(axis, AXES[axis].common)


def _case(
    axis: str, value: AxisValue, asked: Sequence[Resolved], billing: BilledBy
) -> Iterator[AxisCase]:
    """The case of ``value``, unless it is the asked value.

    :raises RequestError: when it is not possible on this platform.
    """
    sets: dict[str, Any] = dict(value.sets)
    if AXES[axis].billing:
        changed = replace(billing, **sets)
        if changed != billing:
            machine = asked[0].platform, asked[0].activity
            if changed.model(*machine).digest == (now := billing.model(*machine)).digest:
                raise RequestError(f"it changes nothing of {now.name} power")
            yield AxisCase(axis, value, changed)
        return
    controls = asked[0].request.controls
    if any(_now(asked[0], key) != setting for key, setting in sets.items()):
        other = replace(controls, **sets)
        # The source's conditions are in the controls by now, and must not be put there again.
        changes: dict[str, Any] = {"controls": other, "source_conditions": False}
        own = tuple(resolve(replace(cell.request, **changes)) for cell in asked)
        yield AxisCase(axis, value, billing, own)


def _now(resolved: Resolved, key: str) -> object:
    """A cell's value of a control: as asked, or by default the platform's, if it has any."""
    asked = getattr(resolved.request.controls, key)
    return getattr(resolved.platform, key, None) if asked is None else asked
