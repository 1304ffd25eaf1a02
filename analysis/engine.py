# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of a cell in words: its name, its mode, its CPU models."""

from __future__ import annotations

from eascope.analysis.derive import Derived
from eascope.analysis.derived_folder import KEY
from eascope.analysis.known.conditions import conditions_of
from eascope.analysis.known.error import error_of
from eascope.analysis.records.cell import CellRecord, KernelRecord
from eascope.host.record import child, load_json


def cpu_models(cell: CellRecord) -> dict[str, str]:
    """Cluster to gem5's CPU model; empty for an engine that has no such thing."""
    machine = cell.settings.engine.machine
    return {cluster.name: cluster.model for cluster in machine.clusters} if machine else {}


def engine_words(cell: CellRecord) -> str:
    """``gem5 in mode elided: little and big ArmAtomicSimpleCPU``, or just the engine's name."""
    words = cell.engine
    if cell.mode:
        words += f" in mode {cell.mode}"
    by_model: dict[str, list[str]] = {}
    for name, model in cpu_models(cell).items():
        by_model.setdefault(model, []).append(name)
    if by_model:
        words += ": " + ", ".join(f"{' and '.join(who)} {model}" for model, who in by_model.items())
    return words


def kernel_words(kernel: KernelRecord) -> str:
    """``6.12.117-eascope-base from linux-source-6.12 6.12.117-1``."""
    return f"{kernel.version} from {kernel.words}"


def error_words(run: Derived) -> str:
    """The error of a run's energy against gem5's, for a caption."""
    cell = run.cell
    if cell.own_platform and not cell.engine_traits.reference:
        return f"no error against gem5 was measured on {cell.platform}, a person's own platform"
    return error_of(
        cell.platform,
        cell.scenario,
        conditions_of(cell, run.result.power_model.name),
        billing=billing_of(run),
        traits=cell.engine_traits,
    )


def billing_of(run: Derived) -> str:
    """Digest of the power model that a run is billed by; empty where its folder is gone."""
    key = run.path / KEY
    return str(child(load_json(key), "power")) if key.is_file() else ""
