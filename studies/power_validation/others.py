# SPDX-License-Identifier: GPL-2.0-or-later
"""The other cores, and other chips: expressions, levels, shared parts, measured power."""

from __future__ import annotations

from dataclasses import dataclass

from configs.platform_file import load_platform
from host.strict import read_toml
from power.derived import POWER_MODELS, load_derived
from power.em import em_rows
from power.level import level_cores, load_level
from power.records import ExpressionsRecord
from studies.power_validation.tables import signed, table

ANCHORS = POWER_MODELS / "anchors.toml"
EXPRESSIONS = POWER_MODELS / "expressions"
#: Temperature at which leakage of chips without a thermometer in their table is taken, C.
TEMPERATURE_C = 57.0


def expressions() -> list[str]:
    """gem5's expressions against the rows of statistics."""
    rows = []
    for path in sorted(EXPRESSIONS.glob("*.json")):
        record = ExpressionsRecord.read(path)
        for kernel in record.kernels:
            error = kernel.expression_pj / kernel.rows_pj - 1
            rows.append(
                (
                    record.core,
                    record.model,
                    kernel.kernel,
                    f"{kernel.ipc:.3g}",
                    f"{kernel.rows_pj:.1f}",
                    f"{error * 100:+.3f} %",
                )
            )
    head = ("core", "gem5's model", "workload kernel", "IPC", "pJ an instruction, by rows")
    return table((*head, "expression"), rows)


def levels() -> list[str]:
    """Every core's level and its anchor."""
    rows = []
    for core in level_cores():
        level = load_level(core)
        # 1 pJ a cycle is 1 uW/MHz; the coefficients are those of 1 V.
        scale = load_derived(core).dynamic_scale(1.0)
        groups = {name: scale * energy for name, energy in level.dynamic_pj().items()}
        dynamic = sum(groups.values())
        raw = sum(value / level.factors[name] / level.level for name, value in groups.items())
        rows.append(
            (
                core,
                f"{level.ipc:g}",
                f"{raw:.0f}",
                f"{dynamic:.0f}",
                "none: calibrated" if level.coefficient is None else f"{level.level:.2f}",
                level.sources[-1] if level.coefficient is not None else "measured, see above",
            )
        )
    head = ("core", "IPC", "McPAT, uW/MHz/V^2", "model, uW/MHz/V^2", "level", "anchor")
    return table(head, rows)


def shared() -> list[str]:
    """Modelled power of the shared part against Juno r0's."""
    rows = [
        (
            row.core,
            f"{row.khz / 1000:g}",
            f"{row.published_shared_uw / 1000:.0f}",
            f"{row.derived_shared_uw / 1000:.0f}",
            signed(row.derived_shared_uw / row.published_shared_uw - 1),
        )
        for row in em_rows(load_platform("juno-r2"))
    ]
    return table(("cluster of", "MHz", "published mW", "modelled mW", "difference"), rows)


@dataclass(frozen=True)
class MeasuredChip:
    """A core's model against a chip; no rows where the chip's supplies are unknown.

    :param rows: MHz, V, measured mW, modelled mW.
    """

    core: str
    chip: str
    rows: tuple[tuple[int, float, float, float], ...]

    @property
    def errors(self) -> list[float]:
        """Modelled less measured power as a share of measured, by row."""
        return [modelled / milliwatts - 1 for _, _, milliwatts, modelled in self.rows]

    @property
    def mean_error(self) -> float:
        """Mean of the errors."""
        return sum(self.errors) / len(self.errors)


def chips() -> list[MeasuredChip]:
    """Every core that was measured in another chip."""
    anchors = read_toml(ANCHORS).data
    chips = []
    for core, entry in anchors.items():
        measured = entry.get("measured")
        if measured is not None and core in level_cores():
            supplies = measured.get("volts", ())
            points = zip(measured["points"], supplies, strict=True) if supplies else ()
            rows = tuple(
                (mhz, volts, milliwatts, _dynamic_mw(core, mhz, volts))
                for (mhz, milliwatts), volts in points
            )
            chips.append(MeasuredChip(core, measured["chip"], rows))
    return chips


def _dynamic_mw(core: str, mhz: int, volts: float) -> float:
    """Modelled power of one busy CPU without leakage, in mW."""
    parts = load_level(core).active_w(mhz, volts, TEMPERATURE_C)
    return 1e3 * sum(value for name, value in parts.items() if name != "leakage")


def mean_errors() -> str:
    """Mean errors in words."""
    return ", ".join(
        f"{chip.core} ({chip.chip}) {signed(chip.mean_error)}" for chip in chips() if chip.rows
    )


def measured() -> list[str]:
    """Modelled against measured power of other chips."""
    lines: list[str] = []
    for chip in chips():
        if not chip.rows:
            lines += [f"**{chip.core}**, {chip.chip}: supplies unknown, not compared.", ""]
            continue
        spread = max(chip.errors) - min(chip.errors)
        rows = [
            (f"{mhz}", f"{volts:g}", f"{milliwatts}", f"{modelled:.0f}", signed(error))
            for (mhz, volts, milliwatts, modelled), error in zip(
                chip.rows, chip.errors, strict=True
            )
        ]
        lines += [
            f"**{chip.core}**, {chip.chip}: mean error {signed(chip.mean_error)}; from OPP to OPP "
            f"it varies by {spread * 100:.0f} points.",
            "",
            *table(("MHz", "V", "measured mW", "modelled mW", "error"), rows),
            "",
        ]
    return lines
