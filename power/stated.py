# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers that a platform file states, per OPP and idle state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from eascope.configs.billing import DERIVED, MEASURED, PROFILE, PUBLISHED
from eascope.configs.platform import Cluster, Opp, Platform
from eascope.host.cache import digest_of
from eascope.power.level import idle_microwatt, load_level
from eascope.power.model import (
    SHARED_PART,
    Energies,
    Interval,
    OwnState,
    chip_microwatt,
    component_names,
    idle_fj,
    whole_component,
)

#: What the figures of `StatedPower` are, in a line.
SUMMARIES = {
    PUBLISHED: "published power per OPP and idle state of the platform file: the power does not "
    "depend on what the CPU executes",
    PROFILE: "the maker's power profile: what a busy CPU adds at its OPP, and shared parts while "
    "they are on; the power does not depend on what the CPU executes",
    MEASURED: "power of one busy CPU measured on the device, its idle power subtracted: the power "
    "does not depend on what the CPU executes",
}


@dataclass(frozen=True)
class _Powers:
    """Powers of a cluster in uW, by kHz.

    :param busy: of a busy CPU; ``transition`` of one on its way into or out of an idle state.
    """

    busy: Mapping[int, int]
    transition: Mapping[int, int]
    idle: Mapping[int, tuple[int, ...]]
    shared: Mapping[int, int]
    shared_off: int


class StatedPower(OwnState):
    """Powers that the platform file states, per OPP and idle state, by one of its offers.

    :param name: `PUBLISHED`, or a table of powers that the platform offers.
    """

    def __init__(self, platform: Platform, name: str = PUBLISHED) -> None:
        self.name = name
        self.summary = SUMMARIES[name]
        self.notes: tuple[str, ...] = tuple(_notes(platform, name))
        included = name in platform.billing.included
        self._powers = tuple(
            _powers(platform, cluster, name, included) for cluster in platform.clusters
        )
        self._chip = (0, 0) if included else chip_microwatt(platform)
        self.digest = digest_of(
            {
                "model": name,
                "clusters": [asdict(powers) for powers in self._powers],
                "states": [component_names(cluster) for cluster in platform.clusters],
                "chip": self._chip,
            }
        )

    def busy_microwatt(self, cluster: Cluster, khz: int) -> int:
        """Power in uW of one busy CPU of ``cluster`` at ``khz``."""
        return self._powers[cluster.index].busy[khz]

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """See :class:`PowerModel`."""
        powers = self._powers[cluster.index]
        if interval.cpu == SHARED_PART:
            on = interval.active_ns * powers.shared[interval.khz]
            return {whole_component("shared"): on + interval.off_ns * powers.shared_off}
        active = interval.active_ns * powers.busy[interval.khz]
        idle, transition = powers.idle[interval.khz], powers.transition[interval.khz]
        return {whole_component("active"): active} | {
            whole_component(component): spent
            for component, spent in idle_fj(cluster, interval, idle, transition).items()
        }

    def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
        """See :class:`PowerModel`."""
        on, off = self._chip
        return {whole_component("shared"): on_ns * on + off_ns * off}


def _idle_powers(platform: Platform, cluster: Cluster, opp: Opp) -> tuple[int, ...]:
    """Power in uW of an idle CPU in each state while ``opp`` is in force."""
    if platform.idle.leakage != DERIVED:
        return tuple(state.power_uw for state in cluster.idle_states)
    level = load_level(cluster.core.name)
    return tuple(
        idle_microwatt(level, state.power_state, opp.uv, platform.temperature_c)
        for state in cluster.idle_states
    )


def _powers(platform: Platform, cluster: Cluster, name: str, included: bool) -> _Powers:
    table = {busy.name: busy.power_uw for busy in cluster.busy}
    published = tuple(opp.power_uw for opp in cluster.opps)
    busy = published if name == PUBLISHED else table[name]
    khz = [opp.khz for opp in cluster.opps]
    share = platform.idle.transition_share
    return _Powers(
        busy=dict(zip(khz, busy, strict=True)),
        transition={at: round(share * power) for at, power in zip(khz, busy, strict=True)},
        idle={opp.khz: _idle_powers(platform, cluster, opp) for opp in cluster.opps},
        shared={opp.khz: 0 if included else opp.shared_uw for opp in cluster.opps},
        shared_off=0 if included else cluster.shared_off_uw,
    )


def _notes(platform: Platform, name: str) -> Iterator[str]:
    """Notes on this table for readers of energies."""
    for cluster in platform.clusters:
        for busy in cluster.busy:
            if busy.name == name:
                megahertz = ", ".join(f"{khz / 1000:g}" for khz in busy.interpolated)
                gaps = f"; interpolated at {megahertz} MHz" if megahertz else ""
                yield f"{cluster.name}: {busy.source}{gaps}"
    if name in platform.billing.included:
        yield "shared parts are in the power of a busy CPU and are not billed apart"
