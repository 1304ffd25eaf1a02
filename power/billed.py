# SPDX-License-Identifier: GPL-2.0-or-later
"""What an interval is billed: the contract of a power model, and powers that a platform states.

A power model gives the energy of one row of ``intervals`` in whole femtojoules: 1 uW for 1 ns is
1 fJ, so energies from stated powers are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import count, takewhile
from typing import Any, NamedTuple, Protocol

from configs.billing import MEASURED, PROFILE, PUBLISHED
from configs.platform import Cluster, Platform
from host.cache import digest_of

#: What the figures of `StatedPower` are, in a line.
SUMMARIES = {
    PUBLISHED: "published power per OPP and idle state of the platform file: the power does not "
    "depend on what the CPU executes",
    PROFILE: "the maker's power profile: what a busy CPU adds at its OPP, and shared parts while "
    "they are on; the power does not depend on what the CPU executes",
    MEASURED: "power of one busy CPU measured on the device, its idle power subtracted: the power "
    "does not depend on what the CPU executes",
}
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


@dataclass(frozen=True)
class _Powers:
    """Powers of a cluster in uW: of a busy CPU and the shared part by kHz, of idle states."""

    busy: Mapping[int, int]
    idle: tuple[tuple[str, int], ...]
    shared: Mapping[int, int]
    shared_off: int


class StatedPower:
    """Powers that the platform file states, per OPP and idle state, by one of its offers.

    :param name: `PUBLISHED`, or a table of powers that the platform offers.
    """

    def __init__(self, platform: Platform, name: str = PUBLISHED) -> None:
        self.name = name
        self.summary = SUMMARIES[name]
        self.notes: tuple[str, ...] = tuple(_notes(platform, name))
        included = name in platform.billing.included
        self._powers = tuple(_powers(cluster, name, included) for cluster in platform.clusters)
        self.digest = digest_of({"model": name, "clusters": [asdict(p) for p in self._powers]})

    def busy_microwatt(self, cluster: Cluster, khz: int) -> int:
        """Power in uW of one busy CPU of ``cluster`` at ``khz``."""
        return self._powers[cluster.index].busy[khz]

    def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
        """See :class:`PowerModel`. An idle exit runs at the power of an active CPU."""
        powers = self._powers[cluster.index]
        if interval.cpu == SHARED:
            on = interval.active_ns * powers.shared[interval.khz]
            return {whole_component("shared"): on + interval.off_ns * powers.shared_off}
        busy = powers.busy[interval.khz]
        energies = {
            whole_component("active"): interval.active_ns * busy,
            whole_component("idle_exit"): interval.exit_ns * busy,
        }
        for number, (state, power) in enumerate(powers.idle):
            component = whole_component(component_of(state))
            spent = interval.idle(number) * power
            energies[component] = energies.get(component, 0) + spent
        return energies


def _powers(cluster: Cluster, name: str, included: bool) -> _Powers:
    table = {busy.name: busy.power_uw for busy in cluster.busy}
    published = tuple(opp.power_uw for opp in cluster.opps)
    busy = published if name == PUBLISHED else table[name]
    khz = [opp.khz for opp in cluster.opps]
    return _Powers(
        busy=dict(zip(khz, busy, strict=True)),
        idle=tuple((state.name, state.power_uw) for state in cluster.idle_states),
        shared={opp.khz: 0 if included else opp.shared_uw for opp in cluster.opps},
        shared_off=0 if included else cluster.shared_off_uw,
    )


def _notes(platform: Platform, name: str) -> Iterator[str]:
    """What a reader of energies by this table should know."""
    for cluster in platform.clusters:
        for busy in cluster.busy:
            if busy.name == name:
                megahertz = ", ".join(f"{khz / 1000:g}" for khz in busy.interpolated)
                gaps = f"; interpolated at {megahertz} MHz" if megahertz else ""
                yield f"{cluster.name}: {busy.source}{gaps}"
    if name in platform.billing.included:
        yield "shared parts are in the power of a busy CPU and are not billed apart"


@cache
def component_of(state: str) -> str:
    """Component name of an idle state: ``cpu-sleep-0`` gives ``idle_cpu_sleep_0``."""
    return "idle_" + "".join(c if c.isalnum() else "_" for c in state.lower())
