# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a record: versions, and the patches that its runs' kernels had."""

from __future__ import annotations

from collections.abc import Iterable

from eascope.analysis.known.origin import RUNS, Origin, patches_of
from eascope.analysis.records.cell import CellRecord
from eascope.host.version import eascope_version


def origin_of(command: str, cells: Iterable[CellRecord]) -> Origin:
    """The origin of figures of these runs, with their seeds' draws."""
    every = tuple(cells)
    return Origin(
        *(command, RUNS, versions_of(every)),
        replicates=all(cell.replicates for cell in every),
        patches=patches_of(cell.kernel for cell in every),
    )


def versions_of(cells: Iterable[CellRecord]) -> dict[str, str]:
    """Versions of kernel, QEMU and gem5 as ``cell.json`` of all runs has them, and eascope's."""
    versions: dict[str, set[str]] = {}
    for cell in cells:
        identity = cell.engine_identity
        versions.setdefault("kernel", set()).add(cell.kernel.upstream)
        versions.setdefault(identity.engine, set()).add(identity.version)
    return {name: ", ".join(sorted(values)) for name, values in versions.items()} | {
        "eascope": eascope_version()
    }
