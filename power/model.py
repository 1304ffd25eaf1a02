# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract of a power model, which bills intervals.

A power model gives the energy of one row of ``intervals`` in whole femtojoules: 1 uW for 1 ns is
1 fJ, so energies from powers in whole uW are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, takewhile
from typing import Any, NamedTuple, Protocol

from eascope.configs.platform import Cluster, Platform

#: ``cpu`` of rows that are no CPU's but its cluster's shared part's.
SHARED_PART = -1
#: Components of ways into and out of idle states.
TRANSITIONS = ("idle_entry", "idle_exit")


@dataclass(frozen=True)
class Interval:
    """A row of ``intervals``: a CPU, or a cluster's shared part, while its OPP stayed the same.

    :param cpu: `SHARED_PART` for the shared part.
    :param active_ns: of the shared part the time in which it was on.
    :param entry_ns: on the way into idle states.
    :param exit_ns: from wake-ups until the idle states' exit work was done.
    :param idle_ns: time in each idle state.
    :param instructions: None where nothing counts them.
    :param on_ns: time in which an engine that counts events counted them; None: all of it.
    :param events: counted events by McPAT's names; those that the engine does not count are absent.
    :param beside: what running CPUs of other clusters make of the power (`PowerModel.vote`).
    """

    cpu: int
    t0_ns: int
    t1_ns: int
    khz: int
    active_ns: int
    exit_ns: int = 0
    idle_ns: tuple[int, ...] = ()
    entry_ns: int = 0
    instructions: int | None = None
    on_ns: int | None = None
    events: Mapping[str, float] = field(default_factory=dict)
    beside: object = None

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
        entry_ns=row["entry_ns"],
        instructions=row.get("instructions"),
        on_ns=row.get("on_ns"),
        events={name: value for name, value in row.items() if "." in name and value is not None},
    )


class Component(NamedTuple):
    """A part of energy: ``active``, ``idle_entry``, ``idle_exit``, ``shared``, or an idle state.

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
    """A power model. It is a pure function of the interval, with what runs beside it."""

    name: str
    #: One line for a person: what the figures are and where they come from.
    summary: str
    #: Further lines for a person: what stands for what, and what is not in the figures.
    notes: tuple[str, ...]
    #: Changes whenever any energy could.
    digest: str

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """Energy in fJ of one row of ``intervals``.

        Rows of a CPU give ``active``, ``idle_entry``, ``idle_exit`` and one component per idle
        state; the row of the shared part gives ``shared``.
        """

    def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
        """Energy in fJ of the chip's shared part, which was on and off for so long."""

    def depends(self, cluster: Cluster) -> bool:
        """True if the power of ``cluster`` depends on running CPUs of other clusters."""

    def vote(self, cluster: Cluster, khz: int) -> tuple[int, object] | None:
        """What a running CPU of ``cluster`` at ``khz`` makes of the power of those that depend.

        A rank, the highest of which wins, and `Interval.beside`; None: nothing.
        """

    def early_ns(self, cluster: Cluster) -> tuple[int, int]:
        """How long on its way out of the deepest state, and before it, a CPU counts as busy."""


class OwnState:
    """Of a model by which no cluster's power depends on another cluster."""

    def depends(self, cluster: Cluster) -> bool:
        """See `PowerModel`."""
        return False

    def vote(self, cluster: Cluster, khz: int) -> tuple[int, object] | None:
        """See `PowerModel`."""
        return None

    def early_ns(self, cluster: Cluster) -> tuple[int, int]:
        """See `PowerModel`."""
        return 0, 0


def chip_microwatt(platform: Platform) -> tuple[int, int]:
    """Power of the chip's shared part in uW, on and off; nothing where there is no such part."""
    return (platform.shared.on_uw, platform.shared.off_uw) if platform.shared else (0, 0)


def component_names(cluster: Cluster) -> list[str]:
    """The component of each idle state of ``cluster``."""
    return [component_of(state.name) for state in cluster.idle_states]


def idle_fj(
    cluster: Cluster, interval: Interval, idle_uw: Sequence[int], transition_uw: int
) -> dict[str, int]:
    """Energy in fJ of a CPU that is idle, or on its way, by component.

    :param transition_uw: power on the way into and out of one.
    """
    energies = {
        "idle_entry": interval.entry_ns * transition_uw,
        "idle_exit": interval.exit_ns * transition_uw,
    }
    for number, (component, power) in enumerate(
        zip(component_names(cluster), idle_uw, strict=True)
    ):
        energies[component] = energies.get(component, 0) + interval.idle(number) * power
    return energies


@cache
def component_of(state: str) -> str:
    """Component name of an idle state: ``cpu-sleep-0`` gives ``idle_cpu_sleep_0``."""
    return "idle_" + "".join(c if c.isalnum() else "_" for c in state.lower())
