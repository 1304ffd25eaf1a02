# SPDX-License-Identifier: GPL-2.0-or-later
"""What an interval is billed: the contract of a power model, and the published powers.

A power model gives the energy of one row of ``intervals`` in whole femtojoules: 1 uW for 1 ns is
1 fJ, so energies from published powers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count, takewhile
from typing import Any, NamedTuple, Protocol

from configs.platform import Cluster, Platform
from host.cache import digest_of

#: The name of `PublishedPower`.
PUBLISHED = "published"
#: Column ``cpu`` of the rows of a cluster's shared part.
SHARED = -1


@dataclass(frozen=True)
class Interval:
    """A row of ``intervals``: a CPU, or a cluster's shared part, while its OPP stayed the same.

    :param cpu: `SHARED` for the shared part.
    :param active_ns: of the shared part the time in which it was on.
    :param exit_ns: from wake-ups until the idle states' exit work was done.
    :param idle_ns: time in each idle state.
    :param instructions: None where nothing counts them.
    :param on_ns: time in which an engine that counts events counted them; None: all of it.
    :param events: counted events by McPAT's names; those that the engine does not count are absent.
    """

    cpu: int
    t0_ns: int
    t1_ns: int
    khz: int
    active_ns: int
    exit_ns: int = 0
    idle_ns: tuple[int, ...] = ()
    instructions: int | None = None
    on_ns: int | None = None
    events: Mapping[str, float] = field(default_factory=dict)

    @property
    def off_ns(self) -> int:
        """Time in which a shared part was not on."""
        return self.t1_ns - self.t0_ns - self.active_ns

    def idle(self, state: int) -> int:
        """Time in ns in the idle state of this number."""
        return self.idle_ns[state] if state < len(self.idle_ns) else 0


def interval_of(row: Mapping[str, Any]) -> Interval:
    """A row of the table ``intervals``, by its columns' names; those of events have a dot."""
    states = takewhile(row.__contains__, (f"idle{state}_ns" for state in count()))
    return Interval(
        cpu=row["cpu"],
        t0_ns=row["t0_ns"],
        t1_ns=row["t1_ns"],
        khz=row["khz"],
        active_ns=row["active_ns"],
        exit_ns=row["exit_ns"],
        idle_ns=tuple(row[name] for name in states),
        instructions=row.get("instructions"),
        on_ns=row.get("on_ns"),
        events={name: value for name, value in row.items() if "." in name and value is not None},
    )


class Component(NamedTuple):
    """What spends energy: ``active``, ``idle_exit``, ``shared``, or an idle state's.

    ``part`` is the part of the energy stack, the component's own name where a model knows no parts.
    """

    name: str
    part: str


def whole_component(name: str) -> Component:
    """A component of a model that knows no parts."""
    return Component(name, name)


#: Energies in fJ.
Energies = dict[Component, int]


class PowerModel(Protocol):
    """Where energy comes from. A model is a pure function of the interval."""

    name: str
    #: One line for a person: what the figures are and where they come from.
    summary: str
    #: Further lines for a person: what stands for what, and what is not in the figures.
    notes: tuple[str, ...]
    #: Changes whenever any energy could.
    digest: str

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """Energy in fJ of one row of ``intervals``.

        Rows of a CPU give ``active``, ``idle_exit`` and one component per idle state; the row of
        the shared part gives ``shared``.
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

    name = PUBLISHED
    summary = (
        "published power per OPP and idle state of the platform file: the power does not depend "
        "on what the CPU executes"
    )
    notes: tuple[str, ...] = ()

    def __init__(self, platform: Platform) -> None:
        self.digest = digest_of(
            {
                "model": self.name,
                "clusters": [billed_powers(cluster) for cluster in platform.clusters],
            }
        )

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """See :class:`PowerModel`. An idle exit runs at the power of an active CPU."""
        opp = cluster.opp(interval.khz)
        if interval.cpu == SHARED:
            on = interval.active_ns * opp.shared_uw
            return {whole_component("shared"): on + interval.off_ns * cluster.shared_off_uw}
        energies = {
            whole_component("active"): interval.active_ns * opp.power_uw,
            whole_component("idle_exit"): interval.exit_ns * opp.power_uw,
        }
        for number, state in enumerate(cluster.idle_states):
            component = whole_component(component_of(state.name))
            spent = interval.idle(number) * state.power_uw
            energies[component] = energies.get(component, 0) + spent
        return energies


@cache
def component_of(state: str) -> str:
    """Component name of an idle state: ``cpu-sleep-0`` gives ``idle_cpu_sleep_0``."""
    return "idle_" + "".join(c if c.isalnum() else "_" for c in state.lower())
