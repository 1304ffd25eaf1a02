# SPDX-License-Identifier: GPL-2.0-or-later
"""OPP tables by count and spacing, from the table of a cluster.

A new OPP gets its figures from the cluster's own OPPs: the voltage is linear between the nearest
two, and powers are linear in f V^2, as in `configs.billing.interpolated`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eascope.configs.billing import interpolated
from eascope.configs.platform import Cluster

#: How OPPs lie between the slowest and the fastest: equal steps of what.
SPACINGS = {
    "even": "equal steps of frequency",
    "geometric": "equal ratios of frequency",
    "power": "equal steps of a busy CPU's power",
}
#: Computed frequencies are whole MHz.
STEP_KHZ = 1_000
#: OPPs that a count and a spacing leave.
LEAST_OPPS, MOST_OPPS = 2, 64

_EVERY = re.compile(r"every ([1-9]\d?)(?:st|nd|rd|th)?")
_COUNT = re.compile(rf"([1-9]\d?) ({'|'.join(SPACINGS)})")

#: What `frequencies` takes, in words.
ALLOWED = (
    'kHz as a list, "every 2nd" (counted from the fastest) that leaves 2 or more, or a count of 2 '
    f'or more and its spacing such as "4 even": {", ".join(SPACINGS)}'
)


@dataclass(frozen=True)
class OppRow:
    """An OPP whose powers may be computed; units as of `configs.platform.Opp`.

    :param busy: uW of a busy CPU by the tables of `configs.billing.TABLES` that the cluster has.
    """

    khz: int
    uv: int
    power_uw: int
    shared_uw: int
    busy: dict[str, int]
    turbo: bool = False


def frequencies(cluster: Cluster, wanted: object) -> list[int] | None:
    """The kHz that ``wanted`` stands for, ascending; None if `ALLOWED` does not name it."""
    known = [opp.khz for opp in cluster.opps]
    if isinstance(wanted, list):
        whole = all(isinstance(khz, int) and not isinstance(khz, bool) for khz in wanted)
        inside = whole and all(known[0] <= khz <= known[-1] for khz in wanted)
        return sorted(set(wanted)) if wanted and inside else None
    if not isinstance(wanted, str):
        return None
    if every := _EVERY.fullmatch(wanted):
        left = known[::-1][:: int(every[1])][::-1]
        return left if len(left) >= min(LEAST_OPPS, len(known)) else None
    if (counted := _COUNT.fullmatch(wanted)) and LEAST_OPPS <= int(counted[1]) <= MOST_OPPS:
        return _spaced(cluster, int(counted[1]), counted[2])
    return None


def rows(cluster: Cluster, wanted: Sequence[int]) -> list[OppRow]:
    """The OPPs of ``cluster`` at the frequencies ``wanted``."""
    return [_row(cluster, khz) for khz in wanted]


def _spaced(cluster: Cluster, count: int, spacing: str) -> list[int]:
    """``count`` frequencies from the slowest OPP to the fastest, each in whole MHz."""
    low, high = cluster.opps[0].khz, cluster.opps[-1].khz
    shares = [number / (count - 1) for number in range(1, count - 1)]
    inner: list[int]
    if spacing == "even":
        inner = [_whole(low + share * (high - low)) for share in shares]
    elif spacing == "geometric":
        inner = [_whole(low * (high / low) ** share) for share in shares]
    else:
        least, most = cluster.opps[0].power_uw, cluster.opps[-1].power_uw
        inner = [_with_power(cluster, least + share * (most - least)) for share in shares]
    return sorted({low, *inner, high})


def _whole(khz: float) -> int:
    return round(khz / STEP_KHZ) * STEP_KHZ


def _with_power(cluster: Cluster, microwatts: float) -> int:
    """The frequency in whole MHz at which a busy CPU's power is nearest to ``microwatts``."""
    low, high = _whole(cluster.opps[0].khz), _whole(cluster.opps[-1].khz)
    while high - low > STEP_KHZ:
        middle = _whole((low + high) / 2)
        if _row(cluster, middle).power_uw < microwatts:
            low = middle
        else:
            high = middle
    return min((low, high), key=lambda khz: abs(_row(cluster, khz).power_uw - microwatts))


def _row(cluster: Cluster, khz: int) -> OppRow:
    uv = _volts(cluster, khz)
    points = sorted({(opp.khz, opp.uv) for opp in cluster.opps} | {(khz, uv)})

    def at(known: dict[int, int]) -> int:
        return interpolated(points, known, khz)

    def column(value: Callable[[int], int]) -> dict[int, int]:
        return {opp.khz: value(number) for number, opp in enumerate(cluster.opps)}

    return OppRow(
        khz,
        uv,
        at(column(lambda n: cluster.opps[n].power_uw)),
        at(column(lambda n: cluster.opps[n].shared_uw)),
        {
            table.name: at(dict(zip(column(int), table.power_uw, strict=True)))
            for table in cluster.busy
        },
        khz > cluster.sustained_khz,
    )


def _volts(cluster: Cluster, khz: int) -> int:
    """Voltage at ``khz`` in uV: the cluster's own, or linear between the nearest OPPs."""
    for low, high in pairwise(cluster.opps):
        if low.khz <= khz <= high.khz:
            share = (khz - low.khz) / (high.khz - low.khz)
            return round(low.uv + share * (high.uv - low.uv))
    near = cluster.opps[0] if khz <= cluster.opps[0].khz else cluster.opps[-1]
    return near.uv
