# SPDX-License-Identifier: GPL-2.0-or-later
"""Utilization clamps of a scenario file: absolute, or relative to a cluster's capacity."""

from __future__ import annotations

import re
from fractions import Fraction

from eascope.configs.platform import Platform
from eascope.host.strict import StrictTable


def read_clamps(owner: StrictTable, platform: Platform) -> tuple[int | None, int | None]:
    """``uclamp.min`` and ``uclamp.max`` of a task or program; None if not stated.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    if not owner.has("uclamp"):
        return None, None
    table = owner.table("uclamp")
    low, high = (_clamp(table, key, platform) for key in ("min", "max"))
    table.finish()
    if low is not None and high is not None and low > high:
        raise table.error("min", f"up to max, which is {high}")
    return low, high


def _clamp(table: StrictTable, key: str, platform: Platform) -> int | None:
    """An absolute clamp, or one relative to a cluster's capacity: ``1.0*little+1``."""
    if not table.has(key):
        return None
    value = table.data[key]
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    clamp: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        clamp = value
    elif isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*\*\s*([\w-]+?)\s*(?:([+-])\s*(\d+))?", value)
        if match and match[2] in clusters:
            capacity = platform.capacities[clusters[match[2]].cpus[0]]
            offset = int(match[4] or 0) * (-1 if match[3] == "-" else 1)
            clamp = int(Fraction(match[1]) * capacity) + offset
    if clamp is None or not 0 <= clamp <= 1024:
        example = platform.clusters[0].name
        raise table.error(
            key,
            f'0..1024, or relative to the capacity of {" or ".join(clusters)} like "0.5*{example}" '
            f'or "1.0*{example}+1", with a result in 0..1024',
        )
    return clamp
