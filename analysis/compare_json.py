# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as JSON: what ``eascope compare --json`` prints of variants and differences."""

from __future__ import annotations

from typing import Any

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.difference import Difference
from eascope.analysis.ranges import possible_interval
from eascope.analysis.records.verdict import Effect, Verdict
from eascope.analysis.rows import MeasureRow


def summary(comparison: Comparison, variant: str) -> dict[str, Any]:
    """`means` of a variant as JSON, with its seeds and the verdicts about it."""
    merged = comparison.means[variant].encode()
    merged["seeds"] = sorted(comparison.results[variant])
    merged["expect"] = [
        verdict_json(verdict) for verdict in comparison.verdicts if verdict.variant == variant
    ]
    return merged


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict; `docs/reference/measures.md` lists the keys."""
    primary = verdict.effects[0] if verdict.effects else None
    entry: dict[str, Any] = {
        "statement": verdict.statement,
        "source": verdict.source,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "effect": primary and primary.value,
        "interval": primary and _interval_json(primary),
        "unit": primary and (primary.unit or "1"),
        "level": verdict.level,
        "parts": [_effect_json(effect) for effect in verdict.effects],
        "met": verdict.met,
        "seeds": verdict.seeds,
        "seeds_met": verdict.seeds_met,
        "seeds_needed": verdict.needed,
        "source_percent": verdict.size_percent,
        "also_shown_of": list(verdict.also_shown_of),
        "depends_on": list(verdict.depends_on),
    }
    return entry


def _effect_json(effect: Effect) -> dict[str, Any]:
    return {
        "effect": effect.value,
        "interval": _interval_json(effect),
        "unit": effect.unit or "1",
        "stated": list(effect.stated),
        "paired": effect.paired,
        "correlation": effect.correlation,
    }


def _interval_json(effect: Effect) -> list[float] | None:
    return None if effect.low is None or effect.high is None else [effect.low, effect.high]


def differences_json(comparison: Comparison) -> list[dict[str, Any]]:
    """``differences`` of ``eascope compare --json``, in the units of ``result.json``."""
    return [
        difference_json(comparison, line, name)
        for line in comparison.lines
        for name in line.differences
    ]


def difference_json(comparison: Comparison, line: Line, name: str) -> dict[str, Any]:
    """An entry of ``differences``: one measure of one variant, in the unit of ``result.json``."""
    scale = line.row.scale
    base, value = line.mean(comparison.baseline), line.mean(name)
    if base is None or value is None:
        raise ValueError("a difference without values")
    entry = difference_entry(line.row, name, line.differences[name])
    entry |= {"baseline": comparison.baseline, "baseline_value": base / scale}
    entry["value"] = value / scale
    noise = comparison.noise
    floor = noise.floor(line.row) if noise else None
    if floor is not None:
        entry["noise_floor"] = floor / scale
    return entry


def difference_entry(row: MeasureRow, name: str, diff: Difference) -> dict[str, Any]:
    """A difference of variant ``name`` by itself, in the unit of ``result.json``."""
    entry: dict[str, Any] = {
        "measure": row.measure,
        "label": f"{row.group}: {row.label}",
        "unit": row.raw_unit,
        "variant": name,
        "difference": diff.absolute / row.scale,
        "seeds": diff.seeds,
        "paired": diff.paired,
        "correlation": diff.correlation,
    }
    if diff.percent is not None:
        entry["percent"] = diff.percent
    ends = possible_interval(row, diff)
    if ends is not None:
        entry["confidence_95"] = [end / row.scale for end in ends]
    return entry


def parts_json(comparison: Comparison) -> list[dict[str, Any]]:
    """``parts`` of ``eascope compare --json``: of the window, and per work where that counts."""
    ways = (False,) if comparison.primary is comparison.total else (True, False)
    return [
        {"variant": name, "baseline": comparison.baseline, **parts.record()}
        for name in comparison.names[1:]
        for per_work in ways
        if (parts := comparison.parts(name, per_work=per_work)) is not None
    ]


def variant_json(comparison: Comparison, name: str) -> dict[str, Any]:
    """One of ``variants`` of ``eascope compare --json``: each seed's run, and their mean."""
    runs = comparison.variants[name]
    return {
        "kernel": runs[0].cell.kernel.encode(),
        "switches": [list(switch) for switch in runs[0].cell.switches],
        "mean": summary(comparison, name),
        "seeds": {
            str(run.cell.seed): {
                "run": str(run.run),
                "simkey": run.cell.simkey,
                "result": run.result.encode(),
            }
            for run in runs
        },
    }
