# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the energy of a run comes from, by name: what ``--power`` chooses."""

from __future__ import annotations

from collections.abc import Callable

from configs.activity import Activity
from configs.platform import Platform
from host.errors import unknown
from power.billed import PUBLISHED, PowerModel, PublishedPower
from power.model import DerivedPower

POWERS: dict[str, Callable[[Platform, Activity], PowerModel]] = {
    PUBLISHED: lambda platform, activity: PublishedPower(platform),
    "derived": DerivedPower,
}
#: What energies are billed by where nobody asks for another.
DEFAULT_POWER = PUBLISHED


def check_power(name: str) -> str:
    """``name`` when it is one of `POWERS`.

    :raises RequestError: otherwise.
    """
    if name not in POWERS:
        raise unknown("power model", name, POWERS)
    return name


def power_model(name: str, platform: Platform, activity: Activity) -> PowerModel:
    """The power model ``name`` of ``platform``.

    :raises RequestError: when there is no such model, or it does not know a core.
    """
    return POWERS[check_power(name)](platform, activity)
