# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches of the machine, from settings. Only gem5's embedded Python can import this."""

from __future__ import annotations

from typing import Any

from m5.objects import Cache, StridePrefetcher


def cache(told: dict[str, int], **parameters: Any) -> Any:
    """One cache; ``told`` has bytes, ways, cycles, mshrs, write_buffers and prefetch (lines)."""
    made = Cache(
        size=f"{told['bytes']}B",
        assoc=told["ways"],
        tag_latency=told["cycles"],
        data_latency=told["cycles"],
        response_latency=told["cycles"],
        mshrs=told["mshrs"],
        # Requests for a line that is under way; enough that this never is what a core waits for.
        tgts_per_mshr=16,
        write_buffers=told["write_buffers"],
        **parameters,
    )
    if told["prefetch"]:
        made.prefetcher = StridePrefetcher(degree=told["prefetch"])
    return made
