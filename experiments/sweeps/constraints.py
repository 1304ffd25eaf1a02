# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints of a campaign, such as ``little.cpus + big.cpus <= 8``; they hold for every cell.

They are statements (`eascope.analysis.statement`) about the campaign's axes and keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eascope.analysis.statement import Condition, MeasurePath, condition
from eascope.experiments.sweeps.point import UNCHANGED
from eascope.host.errors import RequestError, shown, unknown


class AsIs(float):
    """The value "as is" of an axis: the base's number, and equal to the text, too."""

    def __eq__(self, other: object) -> bool:
        """True if ``other`` is the text, or the base's number."""
        return other == UNCHANGED if isinstance(other, str) else float(self) == other

    def __ne__(self, other: object) -> bool:
        """True if it is neither."""
        return not self == other

    __hash__ = float.__hash__


@dataclass(frozen=True)
class Constraint:
    """A statement, parsed, and its text."""

    text: str
    condition: Condition

    def holds(self, values: Mapping[str, float | str]) -> bool:
        """True if it is true of a cell with ``values`` by name.

        :raises RequestError: a name without a value, a text in the place of a number, or a division
            by zero.
        """

        def lookup(path: tuple[str, ...], variant: str) -> float | str:
            name = MeasurePath(path, variant).name
            if name not in values:
                raise unknown("name", name, values)
            value = values[name]
            return float(value) if isinstance(value, int) else value

        try:
            return self.condition.met(lookup)
        except RequestError as error:
            raise RequestError(f"constraints = {shown(self.text)}: {error}") from error
        except ZeroDivisionError as error:
            wrong = f"constraints = {shown(self.text)}: division by zero"
            raise RequestError(wrong) from error


def read_constraint(text: str) -> Constraint:
    """The constraint ``text``.

    :raises RequestError: any other text.
    """
    try:
        return Constraint(text, condition(text))
    except RequestError as error:
        raise RequestError(f"constraints = {error}") from error
