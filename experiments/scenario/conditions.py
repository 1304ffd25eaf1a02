# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's ``[source_conditions]``: kernel and board of its source, as controls.

A source measured with its own kernel, board and settings. The table states what is known about
them. ``--source-conditions`` sets these controls; a control on the command line stays as given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from eascope.configs.knobs import BOARD, CONTROLS
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS
from eascope.experiments.controls import Controls
from eascope.experiments.scenario.names import path_of
from eascope.host.errors import RequestError
from eascope.host.keys import read_at
from eascope.host.strict import StrictTable, read_toml
from eascope.kernels.switches import SWITCHES

TABLE = "source_conditions"
#: The table's keys, all optional but the first.
KEYS = ("source", "platform", *(name for name, knob in CONTROLS.items() if knob.conditions))


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


def conditions_of(scenario: str) -> SourceConditions:
    """The conditions of the scenario ``scenario``, by name or file.

    :raises RequestError: an unknown scenario, a wrong table, or none.
    """
    path = path_of(scenario)
    top = read_toml(path)
    if not top.has(TABLE):
        raise RequestError(f"--source-conditions: {scenario} has no [{TABLE}]")
    return read_conditions(top.table(TABLE))


def read_conditions(table: StrictTable) -> SourceConditions:
    """The table of a scenario's file.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    table.only(KEYS)
    source = table.text("source")
    platform = ""
    if table.has("platform"):
        platform = table.text("platform", [path.stem for path in PLATFORMS.glob("*.toml")])
    set_there: dict[str, Any] = {
        name: table.read(name, tuple, form=SWITCHES)
        if knob.kind is tuple
        else read_at(name, knob.entry, table.data[name], {"place": table})
        for name, knob in CONTROLS.items()
        if knob.conditions and table.has(name)
    }
    if set_there.get("dvfs") == BOARD and not platform:
        raise table.lacks("platform", f'the board that dvfs = "{BOARD}" means')
    if set_there.get("fast_switch") and set_there.get("dvfs") != BOARD:
        del set_there["fast_switch"]  # as it is
    return SourceConditions(source, platform, Controls(**set_there))
