# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers that a platform offers for billing, besides those that the kernel is given.

The kernel's energy model gets one power per OPP (``power_uw``). Energy may be computed with other
powers of the same CPU: the maker's power profile, or a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eascope.configs.source import cited
from eascope.host.keys import Placed, key, maybe, named

PUBLISHED, PROFILE, MEASURED, DERIVED = "published", "profile", "measured", "derived"
WATTSON, SMOOTH = "wattson", "wattson-smooth"

#: What a model reads the power of a busy CPU from: `power_uw` of OPPs, a table of its own per
#: cluster (``busy.NAME``), ``[curves]``, those of a rail, or nothing of the platform file.
OPPS, BUSY, CURVES, RAIL, EVENTS = "opps", "busy", "curves", "rail", "events"


@dataclass(frozen=True)
class PowerKind:
    """What is known of a power without its model, which `power.choice.MODELS` has.

    :param reads: one of `OPPS`, `BUSY`, `CURVES`, `RAIL` and `EVENTS`.
    :param evidence: how its figures came about.
    """

    meaning: str
    reads: str
    evidence: str = "published"


#: What a run can be billed by.
BILLED: Mapping[str, PowerKind] = {
    PUBLISHED: PowerKind("the power that the kernel is given", OPPS),
    PROFILE: PowerKind("the maker's power profile: what each part adds while it is busy", BUSY),
    MEASURED: PowerKind("power measured on the device", BUSY),
    WATTSON: PowerKind(
        "the chip maker's curves: littles by the running CPU elsewhere that draws most", CURVES
    ),
    SMOOTH: PowerKind("the same curves, littles by the supply of the rail that they share", RAIL),
    DERIVED: PowerKind("McPAT's figures of events and leakage", EVENTS, "computed"),
}


def reading(*sources: str) -> set[str]:
    """The names of powers that read one of these."""
    return {name for name, kind in BILLED.items() if kind.reads in sources}


#: Those whose power of a busy CPU is a table of its own in the platform file.
TABLES = tuple(name for name, kind in BILLED.items() if kind.reads == BUSY)

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


@dataclass(frozen=True)
class _Table:
    shared: str = key("whether shared parts are billed apart", choices=(APART, INCLUDED))


@dataclass(frozen=True, kw_only=True)
class BillingFile(Placed):
    """The powers that a platform offers."""

    offers: tuple[str, ...] = key("what `--power` may name", choices=BILLED)
    default: str = key("that of a run without `--power`", form=named("one of offers"))
    profile: _Table | None = maybe("how its powers are read")
    measured: _Table | None = maybe("how its powers are read")

    def check(self) -> None:
        """The default and the tables are of powers that are offered."""
        self.place.one_of("default", self.offers)
        for name in TABLES:
            if getattr(self, name) and name not in self.offers:
                raise self.place.error(name, f"only powers of offers: {', '.join(self.offers)}")

    def meaning(self) -> Billing:
        """The powers as a platform has them."""
        tables = {name: getattr(self, name) for name in TABLES}
        included = (name for name, own in tables.items() if own and own.shared == INCLUDED)
        return Billing(self.default, self.offers, tuple(included))


#: The kernel's energy model takes less of one CPU (EM_MAX_POWER).
MAX_POWER_UW = 64_000_000
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

    on_uw: int = key("power while a CPU is outside its cluster's sleep", 0, MAX_POWER_UW - 1, "uW")
    off_uw: int = key("power while none is", 0, MAX_POWER_UW - 1, "uW, not above on_uw")
    source: str = cited("on_uw", "off_uw")


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


@dataclass(frozen=True, kw_only=True)
class IdleFile(Idle):
    """Billing of idle CPUs, with the sources of its figures."""

    leakage: str = key("of an idle CPU: by the derived model, or `power_uw`", choices=LEAKAGE)
    leakage_source: str = cited("leakage")
    transition_share: float = key("of entries and exits", 0, 1, "of a busy CPU's power")
    transition_source: str = cited("transition_share")


@dataclass(frozen=True)
class _BusyOpp:
    khz: int = key("an OPP of the cluster", 1, 10_000_000, "kHz")
    power_uw: int = key("power of one busy CPU", 1, MAX_POWER_UW - 1, "uW")


@dataclass(frozen=True, kw_only=True)
class BusyFile(Placed):
    """Power of one busy CPU that the kernel is not given."""

    source: str = cited("opps")
    opps: tuple[_BusyOpp, ...] = key("OPPs with a figure, slowest first", count=(1, 64))

    def power(self, name: str, points: Sequence[tuple[int, int]]) -> BusyPower:
        """The power at each OPP.

        :param points: (kHz, uV) of the cluster's OPPs, ascending.
        """
        known: dict[int, int] = {}
        supplies = dict(points)
        for row, opp in zip(self.place.rows("opps"), self.opps, strict=True):
            if opp.khz not in supplies or opp.khz in known:
                allowed = f"each OPP of the cluster once: {', '.join(map(str, supplies))}"
                raise row.error("khz", allowed)
            if known and opp.khz < max(known):
                raise row.error("khz", "OPPs in ascending order")
            known[opp.khz] = opp.power_uw
        power = tuple(interpolated(points, known, khz) for khz, _ in points)
        rest = tuple(khz for khz, _ in points if khz not in known)
        return BusyPower(name, power, rest, self.source)


@dataclass(frozen=True, kw_only=True)
class BusyTables:
    """Powers that the kernel is not given: each that `offers` has."""

    profile: BusyFile | None = maybe("the maker's power profile")
    measured: BusyFile | None = maybe("measured on the device")


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
