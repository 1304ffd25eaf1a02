# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of a cluster from counted events: McPAT's energies, reached by a committed mapping.

A mapping (``power-models/calibration/CORE.toml``) puts McPAT's events into groups; a calibration
(``power-models/calibrated/CORE.json``) has one factor for each group, fitted to measurements.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.host.errors import RequestError, bad_input, nearest, unknown
from eascope.host.strict import StrictTable, read_json, read_toml
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

    column: str
    less: str | None


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
    if top.integer("schema", 1, 1) and top.text("core") != core:
        raise top.error("core", f"{core!r}, the file's own name")
    cpus = top.integer("cpus", 1, 16)
    data = top.text("data")
    columns_table = top.table("columns")
    columns = {key: columns_table.text(key) for key in COLUMNS}
    columns_table.finish()
    rates_table = top.table("rates")
    rates = {}
    for name in rates_table.data:
        entry = rates_table.table(name)
        rates[name] = Rate(entry.text("column"), entry.text("less") if entry.has("less") else None)
        entry.finish()
    power = load_derived(core)
    groups = tuple(_group(table, rates, power) for table in top.tables("group", 1, 20))
    top.finish()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return CountedModel(
        core=core,
        cpus=cpus,
        data=data,
        columns=columns,
        rates=rates,
        groups=groups,
        power=power,
        sha256=digest,
    )


def _group(table: StrictTable, rates: Mapping[str, Rate], power: CorePower) -> EventGroup:
    name, reason = table.text("name"), table.text("reason")
    left_out = table.has("left_out")
    if left_out and not table.flag("left_out"):
        raise table.error("left_out", "true, or no such key")
    leakage: tuple[str, ...] = ()
    terms: list[tuple[str, float]] = []
    if table.has("leakage"):
        leakage = table.texts("leakage", LEAKAGES)
    else:
        for term in table.tables("terms", 1, 20):
            rate = term.text("rate", [*rates, CLOCK])
            events = term.table("events")
            energy = 0.0
            for event in events.data:
                if event not in power.energy_pj:
                    known = sorted(power.energy_pj)
                    raise events.error(event, f"an event of McPAT's table{nearest(event, known)}")
                energy += events.number(event, 0, 100) * power.pj(event)
            terms.append((rate, energy))
            term.finish()
    table.finish()
    return EventGroup(name, reason, left_out, tuple(terms), leakage)


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
    inputs = top.table("inputs")
    if inputs.text("mapping_sha256") != model.sha256:
        raise RequestError(
            f"{top.file}: fitted to another mapping than {core}.toml: run make power-calibration"
        )
    table = top.table("factors")
    factors = {group.name: table.number(group.name, 0, 1000) for group in model.fitted}
    return Calibration(model, factors)
