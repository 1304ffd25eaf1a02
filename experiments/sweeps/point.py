# SPDX-License-Identifier: GPL-2.0-or-later
"""A point of a campaign: a cell without its seed, in names and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eascope.engines.registry import DEFAULT_ENGINE
from eascope.experiments.controls import Controls
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.request import Request
from eascope.host.errors import RequestError
from eascope.host.record import Record
from eascope.power.given import given_model

#: Of an axis: a value with which the platform or the kernel keeps what it has.
UNCHANGED = "as is"
#: Before the key of a control in a campaign's files.
CONTROL = "controls."
#: Axes whose values say by themselves what they are.
_KNOWN_BY_VALUE = ("platform", "scenario", "variant", "engine", "mode")


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``parts`` set together: fields of a `Point`, a later part over an earlier one."""
    fields: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            fields[key] = {**fields.get(key, {}), **value} if isinstance(value, Mapping) else value
    return fields


@dataclass(frozen=True)
class Point(Record):
    """A value of every axis of a campaign; the fields are those of a `Request`.

    :param labels: the value of each axis, in words.
    :param overrides: of the platform (`configs.overrides`), by dotted key.
    :param controls: fields of `Controls` that are not at their defaults.
    :param em: the energy model that the kernel is given; ``em_error``: errors in it.
    :param billing: fields of `experiments.runs.finished.BilledBy` that are not at their defaults.
    """

    labels: Mapping[str, str]
    platform: str = ""
    variant: str = ""
    scenario: str = ""
    engine: str = DEFAULT_ENGINE
    mode: str = ""
    full: bool = False
    elide: bool = True
    source_conditions: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)
    controls: Mapping[str, Any] = field(default_factory=dict)
    em: str = "published"
    em_error: tuple[str, ...] = ()
    billing: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(labels: Mapping[str, str], parts: Sequence[Mapping[str, Any]]) -> Point:
        """The point that ``parts`` set together, a later part over an earlier one."""
        return Point(labels=dict(labels), **merged(parts))

    @property
    def words(self) -> str:
        """The values of all axes for messages, such as ``juno-r2, big.cpus=2, smoke, cas``."""
        return ", ".join(
            label if axis in _KNOWN_BY_VALUE else f"{axis}={label}"
            for axis, label in self.labels.items()
        )

    def values(self) -> dict[str, float | str]:
        """The names for constraints: axes, overrides and controls; a list is its axis's label."""
        own = {"platform": self.platform, "variant": self.variant, "scenario": self.scenario}
        controls = {f"{CONTROL}{key}": value for key, value in self.controls.items()}
        rest = {"engine": self.engine, "mode": self.mode, "em": self.em, "full": self.full}
        given = {**rest, **own, **self.overrides, **controls, **self.billing}
        plain = {
            name: value for name, value in given.items() if isinstance(value, float | int | str)
        }
        return {**self.labels, **plain}

    def billed(self, power: str | None) -> BilledBy:
        """How energies of its cells are computed.

        :param power: the campaign's; None: each platform's default.
        :raises RequestError: an unknown way of billing.
        """
        try:
            return BilledBy(**{"power": power, **self.billing})
        except TypeError as error:
            raise RequestError(f"billing: {error}") from error

    def request(self, platform: str, seed: int) -> Request:
        """The request for one seed.

        :param platform: name or file: the point's platform with its overrides.
        :raises RequestError: an unknown control or energy model.
        """
        try:
            controls = Controls(**self.controls)
        except TypeError as error:
            raise RequestError(f"controls: {error}") from error
        return Request(
            platform=platform,
            variant=self.variant,
            scenario=self.scenario,
            engine=self.engine,
            seed=seed,
            full=self.full,
            elide=self.elide,
            controls=controls,
            energy_model=given_model(self.em, self.em_error),
            mode=self.mode or None,
            source_conditions=self.source_conditions,
            stated=tuple(self.controls),
        )
