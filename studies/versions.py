# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of what runs were made with, for records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.records.cell import CellRecord
from host.version import eascope_version


def versions_of(cells: Iterable[CellRecord]) -> dict[str, str]:
    """Versions of kernel, QEMU and gem5 as ``cell.json`` of all runs has them, and eascope's."""
    return versions((cell.kernel.upstream, cell.engine_identity) for cell in cells)


def versions(made_with: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """Versions of kernel and engine, and eascope's own with its commit.

    :param made_with: upstream versions of kernels, each with its engine's identity.
    """
    versions: dict[str, set[str]] = {}
    for upstream, identity in made_with:
        for name, value in (
            ("kernel", upstream),
            ("qemu", identity.get("qemu", {}).get("version")),
            ("gem5", identity.get("version")),
        ):
            if value is not None:
                versions.setdefault(name, set()).add(str(value))
    return {name: ", ".join(sorted(values)) for name, values in versions.items()} | {
        "eascope": eascope_version()
    }
