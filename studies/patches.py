# SPDX-License-Identifier: GPL-2.0-or-later
"""The queues of patches that a record's kernels had, and whether they are today's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analysis.results.origin import Origin
from host.errors import RequestError
from kernels.naming import variant_named
from kernels.provenance import KernelProvenance
from kernels.queues import series_digest
from kernels.releases import DEFAULT, release_of
from kernels.variants import SERIES


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


def queues_of(variant: str) -> list[str]:
    """The ``queue@release`` of a variant's kernel; empty for a variant that is gone."""
    try:
        kernel, _ = variant_named(variant)
    except RequestError:
        return []
    return [f"{name}@{kernel.release or DEFAULT}" for name in kernel.series]


def origin_words(origin: Origin, variants: Sequence[str] = (), series: Path = SERIES) -> str:
    """The origin of a record for its page, and whether its kernels had today's patches.

    :param variants: of the record; those that have an older queue are named.
    """
    return f"{origin.words} {_patch_words(origin.patches, variants, series)}"


def _patch_words(patches: Mapping[str, str], variants: Sequence[str], series: Path) -> str:
    if not patches:
        return "The patches of its kernels were not recorded."
    stale = older(patches, series)
    if not stale:
        return "The patches of its kernels are today's."
    words = []
    for queue in stale:
        name, _, release = queue.partition("@")
        users = [variant for variant in variants if queue in queues_of(variant)]
        words.append(f"{name} on {release}" + (f" ({', '.join(users)})" if users else ""))
    return f"Recorded with older patches of {'; '.join(words)}: today's may give other figures."
