# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a record: versions, and the patches that its runs' kernels had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from eascope.analysis.known.origin import RUNS, Origin
from eascope.analysis.records.cell import CellRecord
from eascope.host.errors import RequestError
from eascope.host.version import eascope_version
from eascope.kernels.provenance import KernelProvenance
from eascope.kernels.queues import series_digest
from eascope.kernels.releases import release_of
from eascope.kernels.variants import SERIES


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


def patches_of(kernels: Iterable[KernelProvenance], series: Path = SERIES) -> dict[str, str]:
    """SHA-256 of each queue's patches by ``queue@release``, as `Origin.patches` has them.

    A kernel whose queues are not those of ``series`` is left out: a person's own, or one that was
    built before a queue changed.
    """
    made = {
        (kernel.series, release_of(kernel.upstream).name, kernel.series_sha256)
        for kernel in kernels
    }
    digests: dict[str, str] = {}
    for queues, release, sha256 in sorted(made):
        try:
            if series_digest([series / name for name in queues], release) == sha256:
                digests |= digests_of((f"{name}@{release}" for name in queues), series)
        except RequestError:
            continue
    return digests


def digests_of(queues: Iterable[str], series: Path = SERIES) -> dict[str, str]:
    """The digests of ``queue@release`` as ``series`` has them now.

    :raises RequestError: a queue that is not there.
    """
    digests = {}
    for queue in queues:
        name, _, release = queue.partition("@")
        digests[queue] = series_digest([series / name], release)
    return digests


def older(patches: Mapping[str, str], series: Path = SERIES) -> list[str]:
    """Those ``queue@release`` of a record whose patches are no longer those of ``series``."""
    return [queue for queue, sha256 in patches.items() if _today(queue, series) != sha256]


def _today(queue: str, series: Path) -> str:
    """The digest of ``queue@release`` now; empty if it is gone."""
    try:
        return digests_of([queue], series)[queue]
    except RequestError:
        return ""
