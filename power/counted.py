# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of a cluster from counted events: McPAT's energies, reached by a committed mapping.

A mapping (``power-models/calibration/CORE.toml``) puts McPAT's events into groups; a calibration
(``power-models/calibrated/CORE.json``) has one factor for each group, fitted to measurements.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, ClassVar

from eascope.host.errors import RequestError, bad_input, nearest, unknown
from eascope.host.keys import Placed, key, maybe, named
from eascope.host.strict import read_json, read_toml
from eascope.power.mcpat import POWER_MODELS, CorePower, load_derived

MAPPINGS = POWER_MODELS / "calibration"
CALIBRATED = POWER_MODELS / "calibrated"

#: The rate that needs no column: the cluster's own clock.
CLOCK = "clock"
COLUMNS = ("workload", "mask", "megahertz", "volts", "celsius", "watts")
LEAKAGES = ("subthreshold", "gate")


@dataclass(frozen=True)
class Rate:
    """Events per second and CPU: a column of the data, less another one where given."""

    column: str = key("of the data")
    less: str | None = maybe("a column that is taken from it")


@dataclass(frozen=True)
class EventGroup:
    """McPAT events that share a factor: (rate, energy in pJ of one counted event), or leakage."""

    name: str
    reason: str
    left_out: bool
    terms: tuple[tuple[str, float], ...]
    leakage: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CountedModel:
    """A mapping, resolved against McPAT's energies of its core."""

    core: str
    cpus: int
    data: str
    columns: Mapping[str, str]
    rates: Mapping[str, Rate]
    groups: tuple[EventGroup, ...]
    power: CorePower
    sha256: str

    @property
    def fitted(self) -> tuple[EventGroup, ...]:
        """The groups that have a factor."""
        return tuple(group for group in self.groups if not group.left_out)

    def watts(
        self,
        group: EventGroup,
        rates: Mapping[str, float],
        megahertz: float,
        volts: float,
        celsius: float,
    ) -> float:
        """Uncalibrated power of ``group`` in W; ``rates`` are per second and CPU."""
        if group.leakage:
            scale = {
                "subthreshold": self.power.subthreshold_scale(volts, celsius),
                "gate": volts / self.power.vdd_v,
            }
            units = (("Core", self.cpus), ("L2", 1))
            design = {
                "subthreshold": sum(
                    count * self.power.leakage[unit].subthreshold_w for unit, count in units
                ),
                "gate": sum(count * self.power.leakage[unit].gate_w for unit, count in units),
            }
            return sum(design[kind] * scale[kind] for kind in group.leakage)
        per_second = {name: value * self.cpus for name, value in rates.items()}
        per_second[CLOCK] = megahertz * 1e6
        picojoules = sum(per_second[rate] * energy for rate, energy in group.terms)
        return picojoules * 1e-12 * self.power.dynamic_scale(volts)

    def row(self, row: Mapping[str, str], file: str, line: int) -> dict[str, float]:
        """Uncalibrated power by group of one ``row`` of the data's form (text by column)."""

        def number(column: str) -> float:
            try:
                value = float(row[column])
            except (KeyError, TypeError, ValueError):
                value = math.nan
            if not math.isfinite(value):
                raise bad_input(file, f"line {line}, {column}", row.get(column), "a number")
            return value

        rates = {
            name: max(number(rate.column) - (number(rate.less) if rate.less else 0.0), 0.0)
            for name, rate in self.rates.items()
        }
        point = [number(self.columns[key]) for key in ("megahertz", "volts", "celsius")]
        return {group.name: self.watts(group, rates, *point) for group in self.groups}


@dataclass(frozen=True, kw_only=True)
class _Term(Placed):
    rate: str = key("one of [rates], or clock", form=named("a name of [rates], or clock"))
    events: Mapping[str, float] = key("McPAT events of a counted one", 0, 100, "events")


@dataclass(frozen=True, kw_only=True)
class _Group(Placed):
    name: str = key("the group")
    reason: str = key("why these events are together")
    left_out: bool = key("without a factor: true, or no such key", default=False)
    leakage: tuple[str, ...] = key("kinds of leakage", choices=LEAKAGES, default=())
    terms: tuple[_Term, ...] = key("counted events", count=(1, 20), default=())

    def check(self) -> None:
        """Leakage, or events; and no key that says nothing."""
        if "left_out" in self.place.data and not self.left_out:
            raise self.place.error("left_out", "true, or no such key")
        if not self.leakage:
            self.need("terms")
        elif self.terms:
            raise self.place.error("terms", "not together with leakage")

    def group(self, rates: Mapping[str, Rate], power: CorePower) -> EventGroup:
        """The group, with McPAT's energies."""
        terms = []
        for term in self.terms:
            term.place.one_of("rate", [*rates, CLOCK])
            for event in term.events:
                if event not in power.energy_pj:
                    near = nearest(event, sorted(power.energy_pj))
                    allowed = f"an event of McPAT's table{near}"
                    raise term.place.inside("events").error(event, allowed)
            energy = sum(count * power.pj(event) for event, count in term.events.items())
            terms.append((term.rate, energy))
        return EventGroup(self.name, self.reason, self.left_out, tuple(terms), self.leakage)


_Columns = make_dataclass("_Columns", [(name, str, key("of the data")) for name in COLUMNS])


@dataclass(frozen=True)
class _MappingFile:
    schema_version: ClassVar[int] = 1

    core: str = key("the core; also the name of the file without `.toml`")
    cpus: int = key("CPUs of the cluster", 1, 16)
    data: str = key("the file of measured rows")
    columns: Any = key("columns of the data", table=_Columns)
    rates: Mapping[str, Rate] = key("counted events by name")
    group: tuple[_Group, ...] = key("events that share a factor", count=(1, 20))


def counted_cores(directory: Path = MAPPINGS) -> list[str]:
    """Names of the cores that have a mapping from counted events."""
    return sorted(path.stem for path in directory.glob("*.toml"))


def load_counted(core: str, directory: Path = MAPPINGS) -> CountedModel:
    """The mapping of ``core``.

    :raises RequestError: when there is none or it is wrong.
    """
    if core not in counted_cores(directory):
        raise unknown("core with counted events", core, counted_cores(directory))
    path = directory / f"{core}.toml"
    top = read_toml(path)
    own = top.decoded(_MappingFile)
    if own.core != core:
        raise top.error("core", f"{core!r}, the file's own name")
    power = load_derived(core)
    return CountedModel(
        core=core,
        cpus=own.cpus,
        data=own.data,
        columns=vars(own.columns),
        rates=own.rates,
        groups=tuple(group.group(own.rates, power) for group in own.group),
        power=power,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


@dataclass(frozen=True)
class Calibration:
    """Factors by group, and the record that they come from."""

    model: CountedModel
    factors: Mapping[str, float]

    def parts_w(self, row: Mapping[str, str], file: str, line: int) -> dict[str, float]:
        """Calibrated power in W by group of one row of the data's form."""
        raw = self.model.row(row, file, line)
        return {name: factor * raw[name] for name, factor in self.factors.items()}


def load_calibration(core: str, directory: Path = CALIBRATED) -> Calibration:
    """The committed calibration of ``core``.

    :raises RequestError: when it was fitted to another mapping than the present one.
    """
    model = load_counted(core)
    top = read_json(directory / f"{core}.json")
    if top.inside("inputs").read("mapping_sha256", str) != model.sha256:
        raise RequestError(
            f"{top.file}: fitted to another mapping than {core}.toml: run make power-calibration"
        )
    table = top.inside("factors")
    factors = {group.name: table.read(group.name, float, span=(0, 1000)) for group in model.fitted}
    return Calibration(model, factors)
