# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory controller: McPAT's figures of one DDR3 channel, uncalibrated.

They were never compared with measured power, and are kept apart from the clusters' energy. The
engines' rows do not count writes to memory, so only fetched lines are charged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.strict import read_json
from eascope.power.mcpat import DERIVED

CONTROLLER = DERIVED / "memory" / "ddr3-1600.json"


@dataclass(frozen=True)
class ControllerPower:
    """Power without any access and leakage in W, energy of a fetched line in pJ."""

    routine_w: float
    leakage_w: float
    read_pj: float
    sha256: str

    def joules(self, fetches: float, seconds: float) -> float:
        """Energy in J of a controller that was on for ``seconds`` and fetched so many lines."""
        return (self.routine_w + self.leakage_w) * seconds + fetches * self.read_pj * 1e-12


@cache
def load_controller() -> ControllerPower:
    """McPAT's controller, at its design point."""
    top = read_json(CONTROLLER)
    parts = top.inside("read_pj")
    names = ("routine_w", "subthreshold_w", "gate_w")
    routine, subthreshold, gate = (top.read(name, float, span=(0, 100)) for name in names)
    return ControllerPower(
        routine_w=routine,
        leakage_w=subthreshold + gate,
        read_pj=sum(parts.read(name, float, span=(0, 1e6)) for name in parts.data),
        sha256=sha256_bytes(canonical_json(top.data)),
    )
