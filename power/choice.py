# SPDX-License-Identifier: GPL-2.0-or-later
"""Power models by name, as ``--power`` chooses them."""

from __future__ import annotations

from eascope.configs.activity import Activity
from eascope.configs.billing import DERIVED, SMOOTH, WATTSON
from eascope.configs.knobs import BILLINGS
from eascope.configs.platform import Platform
from eascope.host.errors import RequestError
from eascope.power.curves import CurvePower
from eascope.power.derived import DerivedPower
from eascope.power.model import PowerModel
from eascope.power.stated import StatedPower


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
    if chosen == DERIVED:
        return DerivedPower(platform, activity)
    if chosen in (WATTSON, SMOOTH):
        return CurvePower(platform, chosen)
    return StatedPower(platform, chosen)
