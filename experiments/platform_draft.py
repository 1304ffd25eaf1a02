# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded device as a platform: a file by difference, with its gaps named."""

from __future__ import annotations

import numpy as np

from eascope.analysis.recordings.device import Device, DeviceCluster
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.host.strict import read_toml

#: A supply falls by so much, at most, below that of the base's lowest OPP.
LOWER = 0.2


def draft_of(device: Device) -> str:
    """The text of a platform file: CPUs, clocks, capacities of the device; the rest of its base.

    Voltages and powers are those of the base's cluster at the same share of its top clock. Below
    the lowest one of the base the supply falls with the clock.
    """
    base = load_platform(device.base)
    given = read_toml(base.path).data
    kept = {cluster.name for cluster in device.clusters}
    removed = [
        key for key in ("clock_floors", "curves", "billing", "package_budget") if key in given
    ]
    removed += [
        f"cluster.{of.name}.busy"
        for of in device.clusters
        if any("busy" in cluster and cluster["name"] == of.like for cluster in given["cluster"])
    ]
    removed += [f"cluster.{of.name}" for of in base.clusters if of.name not in kept]
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# A draft of {device.name}, from a recording.",
        "# Unknown, so borrowed from the base: cores, caches, voltages, powers, idle states, DVFS.",
        *(f"# {gap}" for gap in device.gaps),
        "",
        f'base = "{device.base}"',
        f'summary = "draft: {device.name}"',
        "remove = [" + ", ".join(f'"{key}"' for key in removed) + "]",
        "",
        "[sources]",
        f'device = "{_origin(device)}"',
        f'scaled = "borrowed from {device.base}: voltage, power at this share of the top clock"',
    ]
    largest = max(of.dmips for of in device.clusters)
    for of in device.clusters:
        lines += _cluster(of, base.cluster(of.like), base, largest)
    return "\n".join(lines) + "\n"


def _origin(device: Device) -> str:
    known = device.source.startswith("published")
    return device.source if known else "assumed: from a recording, see the top of this file"


def _cluster(of: DeviceCluster, like: Cluster, base: Platform, largest: float) -> list[str]:
    dmips = round(of.dmips * max(c.capacity_dmips_mhz for c in base.clusters) / largest)
    shares = np.array([opp.khz / like.max_khz for opp in like.opps])
    rows = []
    for khz in of.khz:
        share = khz / of.top_khz
        uv, power, shared = (
            float(np.interp(share, shares, [getattr(opp, key) for opp in like.opps]))
            for key in ("uv", "power_uw", "shared_uw")
        )
        # Below the base's lowest OPP: else the kernel would take these for inefficient.
        below = min(1.0, share / shares[0])
        supply = 1 - LOWER * (1 - below)
        uv, power = uv * supply, power * below * supply**2
        powers = f"power_uw = {power:.0f}, shared_uw = {shared:.0f}"
        rows.append(f"    {{ khz = {khz}, uv = {uv:.0f}, {powers} }},")
    return [
        "",
        f"[cluster.{of.name}]",
        *([f'like = "{like.name}"'] if of.name != like.name else []),
        f"cpus = {len(of.cpus)}",
        f"capacity_dmips_mhz = {dmips}",
        'capacity_source = "device"',
        "opp_sources = { "
        'khz = "device", uv = "scaled", power_uw = "scaled", shared_uw = "scaled" }',
        "opps = [",
        *rows,
        "]",
    ]
