# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a record: versions, and the patches that its runs' kernels had; its writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from eascope.analysis.known.origin import RUNS, Origin, patches_of
from eascope.analysis.records.cell import CellRecord
from eascope.host.cache import write_atomic
from eascope.host.proc import say
from eascope.host.strict import shown_path
from eascope.host.version import eascope_version, from_changed_checkout


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


def write_record(
    path: Path, data: bytes, versions: Mapping[str, str], name: str, pages: str
) -> None:
    """Write a record, with a warning if nobody else has the code that made it.

    :param pages: how the pages that show it are drawn.
    """
    made_with = versions.get("eascope", "")
    if from_changed_checkout(made_with):
        say(f"warning: {name}: eascope {made_with}: commit the changes, then make it again")
    write_atomic(path, data)
    say(f"  {shown_path(path)}; {pages}")
