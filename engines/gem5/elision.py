# SPDX-License-Identifier: GPL-2.0-or-later
"""Elision of rt-app's busy loop on gem5: the cycles of an iteration on each CPU."""

from __future__ import annotations

from collections.abc import Sequence

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Elision
from eascope.engines.gem5.eliding_copy import COPY, MOST_FETCHED, with_table
from eascope.engines.gem5.mixture import with_memory
from eascope.engines.gem5.settings import has_pipelines
from eascope.engines.timing.mixture import mixture
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path
from eascope.rootfs.mixture import mixture_program


def elision(mode: str, platform: Platform, activity: Activity) -> Elision:
    """The copy of rt-app, and its busy function for ``platform``.

    :param mode: one that elides.
    :raises RequestError: a core on which the function would not notice interrupts.
    """
    _check_fetch(mode, platform)
    cycles = [
        activity.iteration_instructions / activity.ipc(platform.cluster_of(cpu))
        for cpu in platform.cpus
    ]
    return Elision(COPY.path, with_table(mode, cycles))


def mixtures(
    mode: str, platform: Platform, activity: Activity, memory: Sequence[float]
) -> tuple[Elision, ...]:
    """The copies for tasks that wait for memory, by their shares.

    :param mode: one that elides.
    :raises RequestError: as `elision`, or a share that is not possible here.
    """
    if memory:
        _check_fetch(mode, platform)
    copies = []
    for number, share in enumerate(memory, 1):
        turn = mixture(platform, activity, share)
        clusters = [platform.cluster_of(cpu).index for cpu in platform.cpus]
        function = with_memory(mode, [(turn.cycles[i], turn.memory_ns[i]) for i in clusters])
        copies.append(Elision(mixture_program(number), function, COPY.path))
    return tuple(copies)


def _check_fetch(mode: str, platform: Platform) -> None:
    """Refuse a core on which the function would not notice interrupts."""
    # CPUs with pipelines fetch more than they execute.
    for core in (cluster.core for cluster in platform.clusters):
        width = core.structure["fetch_width"].value
        if has_pipelines(mode) and core.pipeline != "in-order" and width > MOST_FETCHED:
            raise RequestError(
                f"{shown_path(core.path)}: structure.fetch_width = {width}: eliding busy loops "
                f"supports 1 to {MOST_FETCHED}; use mode elided, or --no-elide"
            )
