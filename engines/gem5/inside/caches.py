# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches of the machine, from settings. Only gem5's embedded Python can import this."""

from __future__ import annotations

from typing import Any

from m5.objects import Cache, StridePrefetcher

from eascope.engines.gem5.inside.request import CacheSettings


def cache(settings: CacheSettings, **parameters: Any) -> Any:
    """One cache."""
    built = Cache(
        size=f"{settings['bytes']}B",
        assoc=settings["ways"],
        tag_latency=settings["cycles"],
        data_latency=settings["cycles"],
        response_latency=settings["cycles"],
        mshrs=settings["mshrs"],
        # Requests for a line that is under way; enough that this never is what a core waits for.
        tgts_per_mshr=16,
        write_buffers=settings["write_buffers"],
        **parameters,
    )
    if settings["prefetch"]:
        built.prefetcher = StridePrefetcher(degree=settings["prefetch"])
    return built
