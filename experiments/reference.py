# SPDX-License-Identifier: GPL-2.0-or-later
"""A core and a frequency as the unit of work: ``cortex-a72@1200`` (MHz).

A scenario's ``run_us`` is work that takes that time on the platform's largest CPU at its top OPP.
So on a platform with another top OPP it is a different amount of work. With a reference it is the
work that the named core does in that time at that frequency, and so equal on every platform.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

from eascope.configs.inherit import activity_of
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.host.errors import RequestError, names_allowed

_FORM = re.compile(r"([a-z0-9-]+)@([1-9]\d{0,4})")
ALLOWED = "CORE@MHZ, such as cortex-a72@1200"


@cache
def reference_iteration_ns(text: str) -> Fraction:
    """Duration in ns of an iteration of rt-app's busy loop on the reference ``text``.

    The core's speed is that of the first shipped platform that has it, at the board's speeds.

    :raises RequestError: another form, or a core that no shipped platform has.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise RequestError(f"reference {text!r}: allowed: {ALLOWED}")
    rates: dict[str, Fraction] = {}
    for name, summary in list_platforms():
        if isinstance(summary, RequestError):
            continue
        platform = load_platform(name)
        activity = activity_of(platform)
        for cluster in platform.clusters:
            rate = Fraction(str(activity.ipc(cluster))) / activity.iteration_instructions
            rates.setdefault(cluster.core.name, rate)
    if match[1] not in rates:
        raise RequestError(f"reference {text!r}: core {match[1]!r}{names_allowed(match[1], rates)}")
    return Fraction(1000) / (rates[match[1]] * int(match[2]))
