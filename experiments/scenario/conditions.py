# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's ``[source_conditions]``: kernel and board of its source, as controls.

A source measured with its own kernel, board and settings. The table states what is known about
them. ``--source-conditions`` sets these controls; a control on the command line stays as given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, make_dataclass, replace
from typing import Any

from eascope.configs.knobs import BOARD, CONTROLS, Knob
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS
from eascope.experiments.controls import Controls
from eascope.experiments.scenario.names import path_of
from eascope.experiments.scenario.reading import KERNELS, read_scenario
from eascope.host.errors import RequestError
from eascope.host.keys import Placed, key, maybe
from eascope.kernels.switches import SWITCHES

TABLE = "source_conditions"


@dataclass(frozen=True)
class SourceConditions:
    """The conditions of a scenario's source.

    :param source: who states them, with kernel and board.
    :param platform: the platform of its board; empty: there is none, or no board is named.
    :param controls: the controls that differ from the defaults.
    """

    source: str
    platform: str
    controls: Controls

    def over(self, controls: Controls, stated: Collection[str] = ()) -> Controls:
        """``controls``, with the source's values for controls at their defaults.

        :param stated: controls that a person gave, whatever their value.
        """
        ours: dict[str, Any] = {
            name: value
            for name, value in vars(self.controls).items()
            if getattr(controls, name) == CONTROLS[name].default and name not in stated
        }
        return replace(controls, **ours)

    def check_platform(self, platform: Platform, scenario: str) -> None:
        """Refuse another board than the source's: the conditions do not hold there.

        :raises RequestError: one line.
        """
        if self.platform and self.platform not in (platform.name, platform.base):
            raise RequestError(
                f"--source-conditions: the source of {scenario} had {self.platform}, not "
                f"{platform.name}; use --platform {self.platform}"
            )


def _boards() -> list[str]:
    return sorted(path.stem for path in PLATFORMS.glob("*.toml"))


@dataclass(frozen=True, kw_only=True)
class _Stated(Placed):
    source: str = key("who states them, with kernel and board")
    board: str = key("the platform of its board", name="platform", choices=_boards, default="")
    kernel: str = key("conditions that every such kernel has", choices=KERNELS, default="")

    def meaning(self) -> SourceConditions:
        """The conditions as a scenario has them."""
        stated = {name: getattr(self, name) for name in self.place.data if name in CONTROLS}
        if stated.get("dvfs") == BOARD and not self.board:
            raise self.place.lacks("platform", f'the board that dvfs = "{BOARD}" means')
        if stated.get("fast_switch") and stated.get("dvfs") != BOARD:
            del stated["fast_switch"]  # as it is
        return SourceConditions(self.source, self.board, Controls(**stated))


def _optional(knob: Knob) -> Any:  # noqa: ANN401 - a field
    own = knob.entry.key
    form = SWITCHES if knob.kind is tuple else None
    return maybe(own.summary, *(own.span or ()), unit=own.unit, choices=own.choices, form=form)


#: The table of a scenario's file.
ConditionsFile: Any = make_dataclass(
    "ConditionsFile",
    [(name, knob.kind, _optional(knob)) for name, knob in CONTROLS.items() if knob.conditions],
    bases=(_Stated,),
    frozen=True,
    kw_only=True,
)


def conditions_of(scenario: str) -> SourceConditions:
    """The conditions of the scenario ``scenario``, by name or file.

    :raises RequestError: an unknown scenario, a wrong table, or none.
    """
    top = read_scenario(path_of(scenario))
    if TABLE not in top.data:
        raise RequestError(f"--source-conditions: {scenario} has no [{TABLE}]")
    own: SourceConditions = top.inside(TABLE).decoded(ConditionsFile).meaning()
    return own
