# SPDX-License-Identifier: GPL-2.0-or-later
"""Power models by name, as ``--power`` chooses them."""

from __future__ import annotations

from collections.abc import Callable

from eascope.configs.activity import Activity
from eascope.configs.billing import BUSY, CURVES, DERIVED, OPPS, RAIL, reading
from eascope.configs.knobs import BILLINGS
from eascope.configs.platform import Platform
from eascope.host.errors import RequestError
from eascope.power.curves import CurvePower
from eascope.power.derived import DerivedPower
from eascope.power.model import PowerModel
from eascope.power.stated import StatedPower

#: Makes a model of a platform, whose activity derived power reads; the last is its name.
Maker = Callable[[Platform, Activity, str], PowerModel]


def _stated(platform: Platform, activity: Activity, name: str) -> PowerModel:
    return StatedPower(platform, name)


def _curves(platform: Platform, activity: Activity, name: str) -> PowerModel:
    return CurvePower(platform, name)


def _derived(platform: Platform, activity: Activity, name: str) -> PowerModel:
    return DerivedPower(platform, activity)


#: Every power model by its name in `BILLED`. A new one is an entry in both, and its own file.
MODELS: dict[str, Maker] = {
    **dict.fromkeys(reading(OPPS, BUSY), _stated),
    **dict.fromkeys(reading(CURVES, RAIL), _curves),
    DERIVED: _derived,
}


def power_of(platform: Platform, name: str | None = None) -> str:
    """The power that runs of ``platform`` are billed by: ``name``, or the platform's default.

    :raises RequestError: when the platform does not offer it.
    """
    BILLINGS["power"].check(name)
    chosen = name or platform.billing.default
    if chosen not in platform.billing.offers:
        raise RequestError(f"--power {chosen}: {platform.name} offers {platform.billing.words}")
    return chosen


def power_model(name: str | None, platform: Platform, activity: Activity) -> PowerModel:
    """The power model ``name`` of ``platform``; None: its default.

    :raises RequestError: when the platform does not offer it, or it does not know a core.
    """
    chosen = power_of(platform, name)
    return MODELS[chosen](platform, activity, chosen)
