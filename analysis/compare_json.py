# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as JSON: what ``eascope compare --json`` prints of variants and differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.compare import Comparison
from analysis.rows import Row
from analysis.statistics import difference


def summary(comparison: Comparison, variant: str) -> dict[str, Any]:
    """`means` of a variant as JSON, with its seeds and the verdicts about it."""
    merged = comparison.means[variant].encode()
    merged["seeds"] = sorted(comparison.results[variant])
    merged["expect"] = [
        {
            "statement": verdict.statement,
            "value": verdict.sides[0][0] if len(verdict.sides) == 1 else None,
            "holds": verdict.holds,
            "decided": verdict.decided,
            "source": verdict.source,
            **({"finding": verdict.explained} if verdict.explained else {}),
        }
        for verdict in comparison.verdicts
        if verdict.variant == variant and verdict.holds is not None
    ]
    return merged


def differences_json(comparison: Comparison) -> list[dict[str, Any]]:
    """``differences`` of ``eascope compare --json``, in the units of ``result.json``."""
    objects = []
    for line in comparison.lines:
        raw = {
            name: {
                seed: number
                for seed, result in by_seed.items()
                if (number := line.row.raw(result)) is not None
            }
            for name, by_seed in comparison.results.items()
        }
        for name in line.differences:
            objects.append(_difference_json(comparison, line.row, raw, name))
    return objects


def _difference_json(
    comparison: Comparison, row: Row, raw: Mapping[str, Mapping[int, float]], name: str
) -> dict[str, Any]:
    base, other = raw[comparison.baseline], raw[name]
    common = [seed for seed in comparison.seeds if seed in base and seed in other]
    made = difference([base[seed] for seed in common], [other[seed] for seed in common])
    entry: dict[str, Any] = {
        "measure": row.measure,
        "label": f"{row.group}: {row.label}",
        "unit": row.raw_unit,
        "baseline": comparison.baseline,
        "variant": name,
        "baseline_value": sum(base.values()) / len(base),
        "value": sum(other.values()) / len(other),
        "difference": made.absolute,
        "seeds": made.pairs,
    }
    if made.percent is not None:
        entry["percent"] = made.percent
    if made.low is not None and made.high is not None:
        entry["confidence_95"] = [made.low, made.high]
    return entry


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
