# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of one CPU at the reference activity, for the kernel's energy model.

A core with its own calibration (the Cortex-A15) has the calibrated power. Every other core has the
calibrated core's shape over its own McPAT figures, and a level from a published coefficient
(``power-models/levels.toml``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from eascope.host.errors import unknown
from eascope.host.keys import Place, entries_of, key
from eascope.host.strict import read_toml
from eascope.power.counted import load_calibration
from eascope.power.mcpat import CYCLE, POWER_MODELS, STATES, CorePower, load_derived

LEVELS = POWER_MODELS / "levels.toml"
#: uW of a W.
UW_PER_W = 1e6

#: Events of one instruction of the reference activity; in-order cores lack some and skip them.
PER_INSTRUCTION = {
    "core.rename_reads": 1.5,
    "core.rename_writes": 0.8,
    "core.ROB_reads": 1.0,
    "core.ROB_writes": 1.0,
    "core.inst_window_reads": 1.0,
    "core.inst_window_writes": 1.0,
    "core.inst_window_wakeup_accesses": 1.0,
}
#: Events of one instruction other than integer data processing, as in the calibration's mapping.
PER_OTHER = {
    "core.load_instructions": 0.5,
    "dcache.read_accesses": 0.5,
    "core.store_instructions": 0.2,
    "dcache.write_accesses": 0.2,
    "dtlb.total_accesses": 0.7,
    "core.int_regfile_reads": 1.0,
    "core.int_regfile_writes": 0.5,
    "core.cdb_alu_accesses": 0.5,
    "core.fpu_accesses": 0.15,
    "core.float_regfile_reads": 0.3,
    "core.float_regfile_writes": 0.15,
    "core.cdb_fpu_accesses": 0.15,
    "core.fp_inst_window_reads": 0.15,
    "core.fp_inst_window_writes": 0.15,
    "core.fp_inst_window_wakeup_accesses": 0.15,
}
#: Events of one fetch of 16 bytes.
PER_FETCH = {
    "icache.read_accesses": 1.0,
    "itlb.total_accesses": 1.0,
    "BTB.read_accesses": 1.0,
    "core.branch_instructions": 1.0,
    "core.total_instructions": 4.0,
}


@dataclass(frozen=True, kw_only=True)
class Level:
    """A core's level; ``coefficient`` (uW/MHz/V^2) is none for the calibrated core."""

    core: str
    power: CorePower
    factors: Mapping[str, float]
    ipc: float
    fetches: float
    others: float
    level: float
    coefficient: float | None
    sources: tuple[str, ...]

    def dynamic_pj(self) -> dict[str, float]:
        """Dynamic energy of a busy CPU's cycle in pJ by group, at the design supply."""
        power, ipc = self.power, self.ipc

        def energy(events: Mapping[str, float]) -> float:
            return sum(count * power.pj(event) for event, count in events.items())

        raw = {
            "clock": power.pj(CYCLE),
            "front_end": ipc * self.fetches * energy(PER_FETCH),
            "back_end": ipc * (energy(PER_INSTRUCTION) + self.others * energy(PER_OTHER)),
        }
        return {name: self.level * self.factors[name] * value for name, value in raw.items()}

    def active_w(self, megahertz: float, volts: float, celsius: float) -> dict[str, float]:
        """Power in W by group of one CPU that is busy at the reference activity."""
        scale = megahertz * 1e-6 * self.power.dynamic_scale(volts)
        parts = {name: energy * scale for name, energy in self.dynamic_pj().items()}
        return parts | {"leakage": self.leakage_w("Core", volts, celsius)}

    def leakage_w(self, unit: str, volts: float, celsius: float) -> float:
        """Calibrated leakage power in W of ``Core`` or ``L2``."""
        design = self.power.leakage[unit].subthreshold_w
        return self.factors["leakage"] * design * self.power.subthreshold_scale(volts, celsius)

    def opp_microwatt(self, khz: int, microvolts: int, celsius: float) -> int:
        """``opp-microwatt``: power of one CPU, static and dynamic, without the shared part."""
        parts = self.active_w(khz / 1e3, microvolts / 1e6, celsius)
        return round(sum(parts.values()) * 1e6)

    def shared_w(self, megahertz: float, volts: float, celsius: float) -> dict[str, float]:
        """Power in W of the L2 and cluster logic while any CPU of the cluster is on."""
        scale = megahertz * 1e-6 * self.power.dynamic_scale(volts)
        clock = self.level * self.factors["cluster_clock"] * self.power.pj("L2.read_accesses")
        return {"cluster_clock": clock * scale, "leakage": self.leakage_w("L2", volts, celsius)}


def idle_microwatt(level: Level, power_state: str, microvolts: int, celsius: float) -> int:
    """Power of one idle CPU in uW: the leakage that its power state leaves."""
    keep = STATES[power_state][1]
    return round(keep * level.leakage_w("Core", microvolts / 1e6, celsius) * UW_PER_W)


@dataclass(frozen=True)
class _Activity:
    fetches: float = key("fetches of 16 bytes per instruction", 0, 1)
    others: float = key("instructions other than integer data processing, of each", 0, 1)
    source: str = key("where they are from")


@dataclass(frozen=True)
class _Anchor:
    ipc: float = key("instructions per cycle", 0.1, 10)
    ipc_source: str = key("where it is from")
    coefficient: float = key("dynamic power", 1, 5000, "uW/MHz/V^2")
    coefficient_source: str = key("where it is from")


@dataclass(frozen=True)
class _LevelsFile:
    schema_version: ClassVar[int] = 1

    shape: str = key("the calibrated core")
    activity: _Activity = key("the reference activity")


def _levels(path: Path) -> tuple[_LevelsFile, Mapping[str, Place]]:
    """What all cores have, and the table of each core."""
    top = read_toml(path)
    of_all = entries_of(_LevelsFile)
    own = {name: at for name, at in top.data.items() if name in of_all or not isinstance(at, dict)}
    cores = {name: top.inside(name) for name in top.data if name not in own}
    return Place(top.file, own).decoded(_LevelsFile), cores


def level_cores(path: Path = LEVELS) -> list[str]:
    """Names of the cores that have a level, the calibrated one among them."""
    own, cores = _levels(path)
    return sorted({*cores, own.shape})


@cache
def load_level(core: str, path: Path = LEVELS) -> Level:
    """The level of ``core``.

    :raises RequestError: when there is none or a figure is wrong.
    """
    own, cores = _levels(path)
    if core not in (known := {*cores, own.shape}):
        raise unknown("core with a level", core, known)
    shape = load_calibration(own.shape)
    plain = Level(
        core=core,
        power=load_derived(core),
        factors=shape.factors,
        ipc=1.5,
        fetches=own.activity.fetches,
        others=own.activity.others,
        level=1.0,
        coefficient=None,
        sources=(own.activity.source,),
    )
    if core == shape.model.core:
        return plain
    anchor = cores[core].decoded(_Anchor)
    plain = replace(plain, ipc=anchor.ipc)
    # 1 uW/MHz is 1 pJ a cycle; the anchor's figure is at 1 V.
    at_one_volt = sum(plain.dynamic_pj().values()) * plain.power.dynamic_scale(1.0)
    return replace(
        plain,
        level=anchor.coefficient / at_one_volt,
        coefficient=anchor.coefficient,
        sources=(*plain.sources, anchor.ipc_source, anchor.coefficient_source),
    )
