# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers that a platform offers for billing, besides those that the kernel is given.

The kernel's energy model gets one power per OPP (``power_uw``). Energy may be computed with other
powers of the same CPU: the maker's power profile, or a measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from eascope.configs.source import Sources
from eascope.host.strict import StrictTable

PUBLISHED, PROFILE, MEASURED, DERIVED = "published", "profile", "measured", "derived"
WATTSON, SMOOTH = "wattson", "wattson-smooth"

#: What a run can be billed by.
BILLED = {
    PUBLISHED: "the power that the kernel is given",
    PROFILE: "the maker's power profile: what each part adds while it is busy",
    MEASURED: "power measured on the device",
    WATTSON: "the chip maker's curves: littles by the running CPU elsewhere that draws most",
    SMOOTH: "the same curves, littles by the supply of the rail that they share",
    DERIVED: "McPAT's figures of events and leakage",
}
#: Those whose power of a busy CPU is a table of its own in the platform file.
TABLES = (PROFILE, MEASURED)

#: Whether shared parts are billed apart from the CPUs, or are in the power of a busy CPU.
APART, INCLUDED = "apart", "included"


@dataclass(frozen=True)
class Billing:
    """The powers that a platform offers.

    :param default: the power of a run without ``--power``.
    :param included: offered tables whose power of a busy CPU holds the shared parts.
    """

    default: str = PUBLISHED
    offers: tuple[str, ...] = (PUBLISHED, DERIVED)
    included: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The offers, for messages: ``profile (default), published``."""
        return ", ".join(
            f"{name} (default)" if name == self.default else name for name in self.offers
        )


#: Of a file that does not say.
BY_THE_KERNELS = Billing()


#: Name of the chip's shared part where energy is listed by cluster; no cluster has it.
CHIP = "chip"

#: What bills an idle CPU: the leakage of the derived model at the OPP in force, or the idle state's
#: ``power_uw`` at every OPP.
LEAKAGE = (DERIVED, "stated")


@dataclass(frozen=True)
class Idle:
    """Billing of idle CPUs, and of entries into and exits from idle states.

    :param leakage: one of `LEAKAGE`.
    :param transition_share: billed power of entries and exits, as a share of a busy CPU's power.
    """

    leakage: str = DERIVED
    transition_share: float = 0.5


#: Of a file that does not say: supply and clock rise from nothing to what a busy CPU has, so the
#: mean of both ends.
HALF_OF_BUSY = Idle()


@dataclass(frozen=True)
class ChipShared:
    """The shared part of a whole chip, in uW: on unless every CPU is in its cluster's sleep."""

    on_uw: int
    off_uw: int
    source: str


@dataclass(frozen=True)
class BusyPower:
    """Power of one busy CPU at each OPP by one table of the platform file.

    :param power_uw: aligned with the cluster's OPPs.
    :param interpolated: kHz of the OPPs for which the source has no figure.
    """

    name: str
    power_uw: tuple[int, ...]
    interpolated: tuple[int, ...]
    source: str


def read_billing(top: StrictTable) -> Billing:
    """The table ``[billing]`` of a platform file; without it published and derived are offered."""
    if not top.has("billing"):
        return BY_THE_KERNELS
    table = top.table("billing")
    offers = table.texts("offers", BILLED)
    default = table.text("default", offers)
    included = []
    for name in TABLES:
        if table.has(name):
            if name not in offers:
                raise table.error(name, f"only powers of offers: {', '.join(offers)}")
            options = table.table(name)
            if options.text("shared", (APART, INCLUDED)) == INCLUDED:
                included.append(name)
            options.finish()
    table.finish()
    return Billing(default, offers, tuple(included))


def read_chip_shared(top: StrictTable, sources: Sources) -> ChipShared | None:
    """The table ``[shared]``: one part serves the whole chip."""
    if not top.has("shared"):
        return None
    table = top.table("shared")
    on = table.integer("on_uw", 0, 63_999_999, "uW")
    off = table.integer("off_uw", 0, on, "uW, not above on_uw")
    source = sources.of(table, "source")
    table.finish()
    return ChipShared(on, off, source)


def read_idle(top: StrictTable, sources: Sources) -> tuple[Idle, dict[str, str]]:
    """The table ``[idle]``, and the sources of its figures by name."""
    if not top.has("idle"):
        return HALF_OF_BUSY, {}
    table = top.table("idle")
    leakage = table.text("leakage", LEAKAGE)
    share = table.number("transition_share", 0, 1, "of a busy CPU's power")
    stated = {
        "leakage": sources.of(table, "leakage_source"),
        "transition_share": sources.of(table, "transition_source"),
    }
    table.finish()
    return Idle(leakage, share), stated


def read_busy(
    table: StrictTable, points: Sequence[tuple[int, int]], sources: Sources, billing: Billing
) -> tuple[BusyPower, ...]:
    """The tables ``busy.NAME`` of a cluster: one for each table of powers that is offered.

    :param points: (kHz, uV) of the cluster's OPPs, ascending.
    """
    wanted = [name for name in TABLES if name in billing.offers]
    if not wanted:
        return ()
    busy = table.table("busy")
    busy.only(wanted)
    return tuple(_busy_power(busy.table(name), name, points, sources) for name in wanted)


def _busy_power(
    table: StrictTable, name: str, points: Sequence[tuple[int, int]], sources: Sources
) -> BusyPower:
    known: dict[int, int] = {}
    supplies = dict(points)
    for row in table.tables("opps", 1, len(points)):
        khz = row.integer("khz", 1, 10_000_000, "kHz")
        if khz not in supplies or khz in known:
            raise row.error("khz", f"each OPP of the cluster once: {', '.join(map(str, supplies))}")
        if known and khz < max(known):
            raise row.error("khz", "OPPs in ascending order")
        known[khz] = row.integer("power_uw", 1, 63_999_999, "uW")
        row.finish()
    source = sources.of(table, "source")
    table.finish()
    power = tuple(interpolated(points, known, khz) for khz, _ in points)
    return BusyPower(name, power, tuple(khz for khz, _ in points if khz not in known), source)


def interpolated(points: Sequence[tuple[int, int]], known: dict[int, int], khz: int) -> int:
    """Power in uW at ``khz``: linear in f V^2 between the nearest OPPs that have a figure.

    Dynamic power at the same activity is proportional to f V^2. Outside of the known OPPs the
    power of the nearest one is scaled by f V^2.

    :param points: (kHz, uV) of all OPPs.
    :param known: uW by kHz, ascending.
    """
    if khz in known:
        return known[khz]
    load = {point: point * (volts / 1e6) ** 2 for point, volts in points}
    for low, high in pairwise(known):
        if low < khz < high:
            rise = load[high] - load[low]
            share = (load[khz] - load[low]) / rise if rise else 0
            return round(known[low] + share * (known[high] - known[low]))
    near = min(known, key=lambda point: abs(point - khz))
    return round(known[near] * load[khz] / load[near])
