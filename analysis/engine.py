# SPDX-License-Identifier: GPL-2.0-or-later
"""What ran a cell, in words: engine, mode, CPU models named by what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.results.error import error_of


def cpu_models(cell: Mapping[str, Any]) -> dict[str, str]:
    """Cluster to gem5's CPU model; empty for an engine that has no such thing."""
    machine = cell.get("settings", {}).get("engine", {}).get("machine", {})
    return {entry["name"]: entry["model"] for entry in machine.get("clusters", ())}


def engine_words(cell: Mapping[str, Any]) -> str:
    """``gem5 in mode elided: little and big ArmAtomicSimpleCPU``, or just the engine's name."""
    mode, models = cell.get("mode"), cpu_models(cell)
    words = str(cell["engine"])
    if mode:
        words += f" in mode {mode}"
    if models:
        clusters: dict[str, list[str]] = {}
        for name, model in models.items():
            clusters.setdefault(model, []).append(name)
        words += ": " + ", ".join(f"{' and '.join(who)} {model}" for model, who in clusters.items())
    return words


def error_words(cell: Mapping[str, Any], power: str) -> str:
    """How far a run's energy is from gem5's, for a caption.

    :param power: name of the power model that its energy is computed with.
    """
    return error_of(
        *(cell["platform"], cell["scenario"], cell["engine"], cell.get("mode") or ""),
        speeds=cell["controls"]["speeds"],
        power=power,
    )
