# SPDX-License-Identifier: GPL-2.0-or-later
"""What an interval is billed: the contract of a power model, and the published powers.

A power model gives the energy of one row of ``intervals`` in whole femtojoules: 1 uW for 1 ns is
1 fJ, so energies from published powers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from configs.platform import Cluster, Platform
from host.cache import digest_of

#: Column ``cpu`` of the rows of a cluster's shared part.
SHARED = -1


class PowerModel(Protocol):
    """Where energy comes from. A model is a pure function of the interval."""

    name: str
    #: One line for a person: what the figures are and where they come from.
    summary: str
    #: Further lines for a person: what stands for what, and what is not in the figures.
    notes: tuple[str, ...]
    #: Changes whenever any energy could.
    digest: str

    def interval_fj(self, cluster: Cluster, row: Mapping[str, int]) -> dict[str, int]:
        """Energy by component in fJ of one row of ``intervals``.

        Rows of a CPU give ``active``, ``idle_exit`` and one ``idle_<state>`` per idle state; the
        row of the shared part (cpu -1) gives ``shared``. A model that knows more says
        ``component.part``, such as ``active.l1``: the parts of the energy stack.
        """


def billed_powers(cluster: Cluster) -> dict[str, object]:
    """Every power in uW that `PublishedPower` bills: of a CPU and of the shared part, by state."""
    return {
        "busy": {str(opp.khz): opp.power_uw for opp in cluster.opps},
        "idle": [[state.name, state.power_uw] for state in cluster.idle_states],
        "shared": {str(opp.khz): opp.shared_uw for opp in cluster.opps},
        "shared_off": cluster.shared_off_uw,
    }


class PublishedPower:
    """The platform's published power per OPP and idle state (the kernel's energy model's)."""

    name = "published"
    summary = (
        "published power per OPP and idle state of the platform file: the power does not depend "
        "on what the CPU executes"
    )
    notes: tuple[str, ...] = ()

    def __init__(self, platform: Platform) -> None:
        self.digest = digest_of(
            {"model": self.name, "clusters": [billed_powers(one) for one in platform.clusters]}
        )

    def interval_fj(self, cluster: Cluster, row: Mapping[str, int]) -> dict[str, int]:
        """See :class:`PowerModel`. An idle exit runs at the power of an active CPU."""
        opp = cluster.opp(row["khz"])
        if row["cpu"] == SHARED:
            off_ns = row["t1_ns"] - row["t0_ns"] - row["active_ns"]
            return {"shared": row["active_ns"] * opp.shared_uw + off_ns * cluster.shared_off_uw}
        parts = {
            "active": row["active_ns"] * opp.power_uw,
            "idle_exit": row["exit_ns"] * opp.power_uw,
        }
        for number, state in enumerate(cluster.idle_states):
            name = component_of(state.name)
            spent = row.get(f"idle{number}_ns", 0) * state.power_uw
            parts[name] = parts.get(name, 0) + spent
        return parts


@cache
def component_of(state: str) -> str:
    """Component name of an idle state: ``cpu-sleep-0`` gives ``idle_cpu_sleep_0``."""
    return "idle_" + "".join(c if c.isalnum() else "_" for c in state.lower())
