# SPDX-License-Identifier: GPL-2.0-or-later
"""``docs/results/power-validation.md``: every error of the power models that is known, as tables.

The tables come from committed records alone. The figures show measured rows, so they are drawn only
where the measurements are; elsewhere the committed ones stay.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from configs.platform_file import load_platform
from host.table import Table
from power.counted import CALIBRATED, load_counted
from power.derived import DERIVED, POWER_MODELS, derived_cores, load_derived
from power.em import em_rows
from power.level import level_cores, load_level
from power.measurements import VARIABLE, measurements_folder
from studies.power_validation.stated import stated_against_counted

PAGE = POWER_MODELS.parent / "docs" / "results" / "power-validation.md"
ANCHORS = POWER_MODELS / "anchors.toml"
EXPRESSIONS = POWER_MODELS / "expressions"
CORE = "cortex-a15"
#: Temperature at which leakage of chips without a thermometer in their table is taken, C.
TEMPERATURE_C = 57.0


def write(page: Path = PAGE) -> str:
    """Write the page (and its figures where the measurements are); a line about what was done."""
    record = json.loads((CALIBRATED / f"{CORE}.json").read_text(encoding="utf-8"))
    figures = page.parent / "power-validation"
    drawn = "figures kept: " + f"{VARIABLE} names no folder"
    if measurements_folder() is not None:
        from studies.power_validation import figures as drawing

        figures.mkdir(parents=True, exist_ok=True)
        drawing.draw(CORE, figures)
        drawn = "figures drawn"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(_page(record)) + "\n", encoding="utf-8")
    return f"{page}: written; {drawn}"


def _page(record: Mapping[str, Any]) -> list[str]:
    inputs = record["inputs"]
    return [
        "# How wrong the power models are",
        "",
        "Made by `make power-validation`; do not edit. What the models are: [power](../concepts/"
        "power.md).",
        "",
        f"## {CORE}, calibrated with measured power",
        "",
        f"Data: `{inputs['data']}` ({inputs['rows']} rows: 40 workloads, 9 frequencies, 1 to "
        f"4 copies; SHA-256 `{inputs['data_sha256'][:16]}`), public GemStone/Powmon data of an "
        "Exynos 5422. Errors are mean absolute percentages of the cluster's measured power. "
        "Leaving out: each workload (or OPP) is predicted by a fit to all the others.",
        "",
        *_table(
            ("model", "fit", "leaving workloads out", "worst OPP of it", "leaving OPPs out"),
            [
                ("six factors", *_summary(record["errors"])),
                ("McPAT uncalibrated", _percent(record["uncalibrated"]["mape"]), "", "", ""),
                (
                    f"free regression, {record['free_regression']['terms']} terms of any sign (the "
                    "bound)",
                    *_summary(record["free_regression"]),
                ),
                (
                    "published 15-term regression, as stated for it: OPPs known, OPPs left out",
                    "3.1 %",
                    "",
                    "",
                    "8.9 %",
                ),
            ],
        ),
        "",
        "![measured against modelled power, and error by OPP](power-validation/opps.svg)",
        "",
        "![residuals by workload](power-validation/residuals.svg)",
        "",
        "### The factors, and what each is there for",
        "",
        *_factors(record),
        "",
        "### Other sets of factors",
        "",
        "A group that is left out gets nothing when it is offered a factor of its own; without any "
        "one of the six the error grows.",
        "",
        *_table(
            ("factors", "fit", "leaving workloads out", "worst OPP of it", "leaving OPPs out"),
            [(title, *_summary(tried)) for title, tried in record["alternatives"].items()],
        ),
        "",
        "### By OPP",
        "",
        *_by_opp(record),
        "",
        "At the two highest OPPs the model is too low: measured power rises faster there than V^2 "
        "and McPAT's V^3 leakage do.",
        "",
        "### Workloads that fit worst",
        "",
        *_worst_workloads(record),
        "",
        "## The scaling law against McPAT itself",
        "",
        *_scaling(),
        "",
        "## gem5's expressions beside the rows",
        "",
        "Runs are billed by rows of statistics; the same energies as expressions of gem5's own "
        "power model (MathExprPowerModel) check them. An expression reads scalars alone. O3CPU "
        "counts all that is billed in scalars. MinorCPU's mix of committed instructions is a "
        "vector: its expression takes loads and stores from accesses to the data cache, and "
        "floating point from what the second fetch stage has decoded "
        "(`fetch2.vecInstructions`), wrong paths included. Dynamic energy of an instruction on "
        "gem5's detailed cores at the fastest OPP of each, both ways in one run "
        "(`make power-expressions`). Goal: 0.1 % for O3CPU, 3 % for MinorCPU.",
        "",
        *_expressions(),
        "",
        "## Activity on the fast engine, against gem5",
        "",
        *stated_against_counted(),
        "",
        "## The other cores",
        "",
        "They have no activity data. Their level is set by a published coefficient; these were "
        "computed as C f V^2 from few measurements, so agreement with them validates nothing.",
        "",
        *_levels(),
        "",
        "### The shared part against Juno r0's cluster power",
        "",
        "Published: power of Juno r0's clusters beside their CPUs, by Arm, carried over to Juno r2 "
        "by f V^2 (`configs/platforms/juno-r2.toml`). Modelled: cluster clock and L2 leakage, "
        "with the factors of the Cortex-A15 and the level of the core. Nothing was fitted to it.",
        "",
        *_shared(),
        "",
        "### Against measured power of other chips",
        "",
        "Measured: CoreMark on one core, idle power subtracted (freqbench). Modelled: one CPU at "
        f"the reference activity and {TEMPERATURE_C:g} C, dynamic part only, since idle power was "
        "subtracted. None of these figures was used for the models, so these are validations; but "
        "a phone's fuel gauge also sees regulators, memory and interconnect, the chips are of "
        "other technologies than the 28 nm of the energies, and the reference activity is not "
        "CoreMark's.",
        "",
        *_measured(),
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return Table.of(head, rows, left=len(head)).markdown().splitlines()


def _percent(value: float) -> str:
    return f"{value:.1f} %"


def _summary(errors: Mapping[str, Any]) -> tuple[str, str, str, str]:
    workloads = errors["leaving_workloads_out"]
    worst = max(workloads["by_mhz"].items(), key=lambda item: item[1]["mape"])
    return (
        f"{errors['fit']['mape']:.2f} %",
        f"{workloads['mape']:.2f} %",
        f"{worst[1]['mape']:.1f} % at {worst[0]} MHz",
        f"{errors['leaving_opps_out']['mape']:.2f} %",
    )


def _factors(record: Mapping[str, Any]) -> list[str]:
    model = load_counted(CORE)
    rows = []
    for group in model.groups:
        factor = record["factors"].get(group.name)
        shown = "left out" if factor is None else f"{factor:g}"
        rows.append((group.name, shown, group.reason))
    return _table(("group of McPAT's events", "factor", "why"), rows)


def _by_opp(record: Mapping[str, Any]) -> list[str]:
    errors = record["errors"]
    rows = []
    for mhz, fitted in errors["fit"]["by_mhz"].items():
        rows.append(
            (
                mhz,
                _percent(fitted["mape"]),
                f"{fitted['mean']:+.1f} %",
                _percent(errors["leaving_workloads_out"]["by_mhz"][mhz]["mape"]),
                _percent(errors["leaving_opps_out"]["by_mhz"][mhz]["mape"]),
                _percent(record["free_regression"]["leaving_opps_out"]["by_mhz"][mhz]["mape"]),
                _percent(record["uncalibrated"]["by_mhz"][mhz]["mape"]),
            )
        )
    head = ("MHz", "fit", "mean error", "leaving workloads out", "leaving this OPP out")
    return _table((*head, "free regression, this OPP out", "uncalibrated"), rows)


def _worst_workloads(record: Mapping[str, Any], count: int = 6) -> list[str]:
    by_workload = record["errors"]["leaving_workloads_out"]["by_workload"]
    worst = sorted(by_workload.items(), key=lambda item: -item[1]["mape"])[:count]
    free = record["free_regression"]["leaving_workloads_out"]["by_workload"]
    return _table(
        ("workload", "error, itself left out", "mean error", "free regression"),
        [
            (name, _percent(e["mape"]), f"{e['mean']:+.1f} %", _percent(free[name]["mape"]))
            for name, e in worst
        ],
    )


#: Largest error of the scaling law that is aimed at.
GOAL = 0.02
FIGURES = [(unit, figure) for unit in ("core", "l2") for figure in ("dynamic", "leakage")]


def _scaling() -> list[str]:
    lines = [
        "Dynamic V^2, sub-threshold leakage V^3 g(T), gate leakage V, from the one design point "
        "of a core, against direct runs of McPAT with that supply. McPAT refuses supplies below "
        "0.84 V at 28 nm: there the law is an extrapolation. The design supply is the middle of "
        "the published supplies that McPAT takes. A chip keeps its layout when the "
        "supply changes, so the direct runs keep that of the design point: CACTI, which lays out "
        "McPAT's arrays, is offered no other (`power-models/src/layout.rs`). "
        f"Goal: {100 * GOAL:g} %.",
        "",
        "Largest error of the law at supplies that McPAT takes:",
        "",
    ]
    rows, anew, summary, missing, beyond = [], [], [], [], []
    misses: list[tuple[str, float]] = []
    leakage = 0.0
    for core in derived_cores():
        path = DERIVED / "scaling" / f"{core}.json"
        if not path.is_file():
            missing.append(core)
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        voltages = record["voltages"]
        legal = [row for row in voltages if not row["extrapolated"]]
        summary.append(
            (
                core,
                f"{record['design']['vdd_v']:g} V",
                str(len(legal)),
                str(len(voltages) - len(legal)),
                *(_largest(legal, unit, figure, "error") for unit, figure in FIGURES),
            )
        )
        below = [f"{row['vdd_v']:g}" for row in voltages if row["extrapolated"]]
        if below:
            beyond.append(f"{core} at {', '.join(below)} V")
        for row in legal:
            head = (core, f"{row['vdd_v']:g}")
            worst = max(abs(row[unit][figure]["error"]) for unit, figure in FIGURES)
            leakage = max(leakage, *(abs(row[one]["leakage"]["error"]) for one in ("core", "l2")))
            if worst > GOAL:
                misses.append((" at ".join(head) + " V", worst))
            found = [_errors(row, kind) for kind in ("error", "error_laid_out_anew")]
            rows.append((*head, *found[0]))
            if found[0] != found[1]:
                area = _signed(row["l2"]["area_change_laid_out_anew"])
                anew.append((*head, *found[1], area))
    heads = ("core dynamic", "core leakage", "L2 dynamic", "L2 leakage")
    lines += _table(("core", "design supply", "supplies", "extrapolated", *heads), summary)
    lines += ["", _misses(misses, len(rows))]
    lines += ["", f"Extrapolated, and compared with nothing: {'; '.join(beyond)}."]
    lines += [
        "",
        f"Leakage agrees within {100 * leakage:.2f} %. "
        "Dynamic energy follows the supply a little less than V^2, "
        "as if a tenth of it went with V: CACTI lets bit lines swing by 80 mV at any supply, and "
        "gives repeaters a short-circuit current that does not depend on it. So the law errs on "
        "opposite sides of the design supply, the further away the more.",
        "",
        *_table(("core", "V", *heads), rows),
        "",
        "### Where McPAT lays arrays out anew",
        "",
        "Left alone, McPAT takes the layout that suits the supply in hand best, most of all "
        "another one of the L2, as its area shows. Errors of the law against such runs, where "
        "they differ from those above: they are the other layout's, not the law's.",
        "",
        *_table(("core", "V", *heads, "L2 area"), anew),
    ]
    if missing:
        lines += ["", f"Not yet compared: {', '.join(missing)}."]
    return lines


def _misses(misses: Sequence[tuple[str, float]], points: int) -> str:
    if not misses:
        return f"All {points} points meet the goal."
    named = ", ".join(f"{name} ({100 * error:.2f} %)" for name, error in misses)
    return f"{points - len(misses)} of {points} points meet the goal; those that do not: {named}."


def _errors(row: Mapping[str, Any], kind: str) -> list[str]:
    return [f"{row[unit][figure][kind] * 100:+.2f} %" for unit, figure in FIGURES]


def _largest(rows: Sequence[Mapping[str, Any]], unit: str, figure: str, kind: str) -> str:
    errors = [abs(row[unit][figure][kind]) for row in rows]
    return f"{100 * max(errors):.2f} %" if errors else "none"


def _signed(share: float) -> str:
    return f"{share * 100:+.1f} %"


def _expressions() -> list[str]:
    rows = []
    for path in sorted(EXPRESSIONS.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for one in record["kernels"]:
            error = one["expression_pj"] / one["rows_pj"] - 1
            rows.append(
                (
                    record["core"],
                    record["model"],
                    one["kernel"],
                    f"{one['ipc']:.3g}",
                    f"{one['rows_pj']:.1f}",
                    f"{error * 100:+.3f} %",
                )
            )
    head = ("core", "gem5's model", "workload kernel", "IPC", "pJ an instruction, by rows")
    return _table((*head, "expression"), rows)


def _levels() -> list[str]:
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
    return _table(head, rows)


def _shared() -> list[str]:
    rows = [
        (
            row.core,
            f"{row.khz / 1000:g}",
            f"{row.published_shared_uw / 1000:.0f}",
            f"{row.derived_shared_uw / 1000:.0f}",
            _signed(row.derived_shared_uw / row.published_shared_uw - 1),
        )
        for row in em_rows(load_platform("juno-r2"))
    ]
    return _table(("cluster of", "MHz", "published mW", "modelled mW", "difference"), rows)


def _measured() -> list[str]:
    anchors = tomllib.loads(ANCHORS.read_text(encoding="utf-8"))
    lines: list[str] = []
    for core, entry in anchors.items():
        measured = entry.get("measured")
        if measured is None or core not in level_cores():
            continue
        if "volts" not in measured:
            lines += [f"**{core}**, {measured['chip']}: supplies unknown, not compared.", ""]
            continue
        level = load_level(core)
        rows, errors = [], []
        for (mhz, milliwatts), volts in zip(measured["points"], measured["volts"], strict=True):
            parts = level.active_w(mhz, volts, TEMPERATURE_C)
            modelled = 1e3 * sum(value for name, value in parts.items() if name != "leakage")
            errors.append(modelled / milliwatts - 1)
            rows.append((f"{mhz}", f"{volts:g}", f"{milliwatts}", f"{modelled:.0f}"))
        mean = sum(errors) / len(errors)
        spread = max(errors) - min(errors)
        lines += [
            f"**{core}**, {measured['chip']}: mean error {_signed(mean)}; from OPP to OPP it "
            f"varies by {spread * 100:.0f} points.",
            "",
            *_table(
                ("MHz", "V", "measured mW", "modelled mW", "error"),
                [(*row, _signed(error)) for row, error in zip(rows, errors, strict=True)],
            ),
            "",
        ]
    return lines
