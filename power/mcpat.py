# SPDX-License-Identifier: GPL-2.0-or-later
"""McPAT's figures of a core (``power-models/derived``), and the law that scales them.

Dynamic energy goes with V^2, sub-threshold leakage power with V^3 g(T), gate leakage power with V.
``power-models/derived/scaling`` has the error of that law against direct runs of McPAT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from eascope.configs.platform import CLK_GATED, OFF, SRAM_RETENTION
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import RequestError, bad_input, unknown
from eascope.host.strict import read_json

POWER_MODELS = Path(__file__).resolve().parents[1] / "power-models"
DERIVED = POWER_MODELS / "derived"

#: Parts of the energy stack, in the order of printing.
PARTS = ("front_end", "execution", "load_store", "l1", "l2")

#: What of a derived file an energy can depend on.
FIGURES = ("design", "l2", "energy_pj", "components")

#: The event that stands for one cycle in which a core's clock runs.
CYCLE = "core.cycles"

#: Power states (``on``, and those that an idle state of a platform can have, in gem5's order): the
#: share of dynamic energy, of sub-threshold and of gate leakage that stays. Retention keeps the
#: share of McPAT's own power gating (state-retentive supply).
STATES = {
    "on": (1.0, 1.0, 1.0),
    CLK_GATED: (0.0, 1.0, 1.0),
    SRAM_RETENTION: (0.0, 0.47, 1.0),
    OFF: (0.0, 0.0, 0.0),
}

CELSIUS = 273.15


@dataclass(frozen=True)
class Leakage:
    """Leakage power at the design point in W."""

    subthreshold_w: float
    gate_w: float


@dataclass(frozen=True)
class CorePower:
    """One core and its L2 at the design point.

    ``energy_pj`` is energy by event and component path, ``part`` the part of the stack (`PARTS`)
    that a component is in, ``leakage`` of leaves and of ``Core`` and ``L2`` as a whole.
    """

    core: str
    vdd_v: float
    temperature_k: float
    energy_pj: Mapping[str, Mapping[str, float]]
    part: Mapping[str, str]
    leakage: Mapping[str, Leakage]
    area_mm2: Mapping[str, float]
    l2_cpus: int
    #: SHA-256 of the figures alone: the words of their sources may change.
    sha256: str

    def pj(self, event: str) -> float:
        """Energy of one ``event`` in pJ at the design supply; 0 when it has no effect."""
        return sum(self.energy_pj.get(event, {}).values())

    def pj_by_part(self, event: str) -> dict[str, float]:
        """Energy of one ``event`` in pJ at the design supply by part of the stack."""
        parts: dict[str, float] = {}
        for path, energy in self.energy_pj.get(event, {}).items():
            parts[self.part[path]] = parts.get(self.part[path], 0.0) + energy
        return parts

    def dynamic_scale(self, volts: float) -> float:
        """Dynamic energy at ``volts`` relative to the design supply."""
        return (volts / self.vdd_v) ** 2

    def leakage_w(self, unit: str, volts: float, celsius: float, state: str = "on") -> float:
        """Leakage power of ``unit`` (``Core`` or ``L2``) in W at ``volts`` and ``celsius``."""
        design = self.leakage[unit]
        _, keep_sub, keep_gate = STATES[state]
        return (
            keep_sub * design.subthreshold_w * self.subthreshold_scale(volts, celsius)
            + keep_gate * design.gate_w * volts / self.vdd_v
        )

    def subthreshold_scale(self, volts: float, celsius: float) -> float:
        """Sub-threshold leakage power relative to the design point: V^3 g(T)."""
        return (volts / self.vdd_v) ** 3 * g_of_t(celsius)


_KELVIN = (200, 500)


def derived_cores(directory: Path = DERIVED) -> list[str]:
    """Names of the cores that are derived."""
    return sorted(path.stem for path in directory.glob("*.json"))


@cache
def load_derived(core: str, directory: Path = DERIVED) -> CorePower:
    """McPAT's figures of ``core``.

    :raises RequestError: when there are none, or `power-models` did not write the file.
    """
    if core not in derived_cores(directory):
        raise unknown("derived core", core, derived_cores(directory))
    top = read_json(directory / f"{core}.json")
    if top.read("schema", int, span=(1, 1)) and top.read("core", str) != core:
        raise top.error("core", f"{core!r}, the file's own name")
    design = top.inside("design")
    energies = {
        event: {path: float(energy) for path, energy in parts.items()}
        for event, parts in top.inside("energy_pj").data.items()
    }
    rows = top.inside("components").data
    missing = {path for parts in energies.values() for path in parts} - set(rows)
    if missing or CYCLE not in energies:
        raise bad_input(top.file, "energy_pj", sorted(missing), "components of the same file")
    return CorePower(
        core=core,
        vdd_v=design.read("vdd_v", float, span=(0.1, 2)),
        temperature_k=design.read("temperature_k", float, span=_KELVIN),
        energy_pj=energies,
        part={path: str(row["part"]) for path, row in rows.items()},
        leakage={
            path: Leakage(float(row["subthreshold_w"]), float(row["gate_w"]))
            for path, row in rows.items()
        },
        area_mm2={path: float(row["area_mm2"]) for path, row in rows.items()},
        l2_cpus=top.inside("l2").read("cpus", int, span=(1, 16)),
        sha256=sha256_bytes(canonical_json({key: top.data.get(key) for key in FIGURES})),
    )


@cache
def temperature_table() -> tuple[tuple[float, float], ...]:
    """(degrees Celsius, sub-threshold leakage relative to the design point), ascending."""
    top = read_json(DERIVED / "scaling" / "g-of-t.json")
    rows = top.rows("relative_to_design", 2, 50)
    return tuple(
        (
            row.read("temperature_k", float, span=_KELVIN) - CELSIUS,
            row.read("core", float, span=(0, 1000)),
        )
        for row in rows
    )


def g_of_t(celsius: float) -> float:
    """Sub-threshold leakage at ``celsius`` relative to the design temperature.

    Linear between McPAT's own temperatures (every 10 K); outside of them there is no figure.

    :raises RequestError: outside of McPAT's temperatures.
    """
    table = temperature_table()
    for (t0, g0), (t1, g1) in pairwise(table):
        if t0 <= celsius <= t1:
            return g0 + (g1 - g0) * (celsius - t0) / (t1 - t0)
    raise RequestError(
        f"temperature_c = {celsius:g}: allowed: {table[0][0]:g}..{table[-1][0]:g}, for which McPAT "
        "gives leakage"
    )
