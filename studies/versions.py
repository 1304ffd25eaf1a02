# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of kernel, engines and eascope in runs, for records."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.records.cell import CellRecord
from analysis.results.origin import RUNS, Origin
from host.version import eascope_version
from studies.patches import patches_of


def origin_over_seeds(command: str, cells: Iterable[CellRecord]) -> Origin:
    """The origin of figures over seeds of these runs, with their seeds' draws."""
    every = tuple(cells)
    drew_more = all(cell.replicates for cell in every)
    return Origin(
        *(command, RUNS, versions_of(every)),
        replicates=drew_more,
        patches=patches_of(cell.kernel for cell in every),
    )


def versions_of(cells: Iterable[CellRecord]) -> dict[str, str]:
    """Versions of kernel, QEMU and gem5 as ``cell.json`` of all runs has them, and eascope's."""
    return versions(
        (cell.kernel.upstream, cell.engine_identity.engine, cell.engine_identity.version)
        for cell in cells
    )


def versions(made_with: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Versions of kernel and engine, and eascope's own with its commit.

    :param made_with: a kernel's upstream version, an engine's name and its simulator's version.
    """
    versions: dict[str, set[str]] = {}
    for upstream, engine, simulator in made_with:
        versions.setdefault("kernel", set()).add(upstream)
        versions.setdefault(engine, set()).add(simulator)
    return {name: ", ".join(sorted(values)) for name, values in versions.items()} | {
        "eascope": eascope_version()
    }
