# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of what runs were made with, for records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any


def versions_of(cells: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What ``cell.json`` of all runs says: kernel, QEMU and gem5; and eascope's own version."""
    found: dict[str, set[str]] = {}
    for cell in cells:
        kernel = cell.get("kernel", {})
        identity = cell.get("engine_identity", {})
        for name, value in (
            ("kernel", kernel.get("upstream")),
            ("qemu", identity.get("qemu", {}).get("version")),
            ("gem5", identity.get("version")),
        ):
            if value is not None:
                found.setdefault(name, set()).add(str(value))
    return {name: ", ".join(sorted(values)) for name, values in found.items()} | {
        "eascope": version("eascope")
    }
