"""The derived power model: the same energies as the kernel's derived energy model, and the rest.

A power model for ``analysis.derive``: a busy CPU at the reference activity (`Level.opp_microwatt`,
what ``--em derived`` tells the kernel), idle CPUs by their power state, and the shared part.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.energy import SHARED, component_of
from configs.host.cache import digest_of
from configs.platform import Cluster, Platform
from configs.power.derived import STATES
from configs.power.level import Level, load_level

#: Power states of a platform's idle states in the words of `configs.power.derived.STATES`.
STATE = {"on": "ON", "clk_gated": "CLK_GATED", "retention": "RETENTION", "off": "OFF"}


def idle_microwatt(level: Level, power_state: str, microvolts: int, celsius: float) -> int:
    """Power of one idle CPU in uW: what its power state leaves of the leakage."""
    keep = STATES[STATE[power_state]][1]
    return round(keep * level.leakage_w("Core", microvolts / 1e6, celsius) * 1e6)


def shared_microwatt(level: Level, khz: int, microvolts: int, celsius: float) -> tuple[int, int]:
    """Power of L2 and cluster logic in uW: (on, off). Off: no clock, the L2 keeps its content."""
    parts = level.shared_w(khz / 1e3, microvolts / 1e6, celsius)
    return round(sum(parts.values()) * 1e6), round(STATES["RETENTION"][1] * parts["leakage"] * 1e6)


class DerivedPower:
    """McPAT-derived power per OPP and idle state at the reference activity."""

    name = "derived"
    summary = (
        "McPAT-derived power at the reference activity: shape of the calibrated Cortex-A15, level "
        "from each core's published coefficient, leakage by supply and temperature"
    )

    def __init__(self, platform: Platform) -> None:
        celsius = platform.temperature_c
        self._microwatt: dict[tuple[int, int], tuple[int, int, int, tuple[int, ...]]] = {}
        for cluster in platform.clusters:
            level = load_level(cluster.core.name)
            for opp in cluster.opps:
                on, off = shared_microwatt(level, opp.khz, opp.uv, celsius)
                self._microwatt[cluster.index, opp.khz] = (
                    level.opp_microwatt(opp.khz, opp.uv, celsius),
                    on,
                    off,
                    tuple(
                        idle_microwatt(level, state.power_state, opp.uv, celsius)
                        for state in cluster.idle_states
                    ),
                )
        # Every figure that an energy can depend on, so any change of them is another model.
        self.digest = digest_of(
            {
                "model": self.name,
                "platform": platform.digest,
                "microwatt": {f"{i}:{k}": list(v[:3]) + list(v[3]) for (i, k), v in self.items()},
            }
        )

    def items(self) -> list[tuple[tuple[int, int], tuple[int, int, int, tuple[int, ...]]]]:
        """((cluster, kHz), (active, shared on, shared off, idle states)) in uW, in order."""
        return sorted(self._microwatt.items())

    def interval_fj(self, cluster: Cluster, row: Mapping[str, int]) -> dict[str, int]:
        """See ``analysis.energy.PowerModel``. An idle exit runs at the power of an active CPU."""
        active, shared_on, shared_off, idle = self._microwatt[cluster.index, row["khz"]]
        if row["cpu"] == SHARED:
            off_ns = row["t1_ns"] - row["t0_ns"] - row["active_ns"]
            return {"shared": row["active_ns"] * shared_on + off_ns * shared_off}
        parts = {"active": row["active_ns"] * active, "idle_exit": row["exit_ns"] * active}
        for number, state in enumerate(cluster.idle_states):
            name = component_of(state.name)
            parts[name] = parts.get(name, 0) + row.get(f"idle{number}_ns", 0) * idle[number]
        return parts
