# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of the engines' comparison: scenarios, variants, engines in their modes, seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.controls import Controls
from experiments.request import Request

PLATFORM = "juno-r2"
SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/frequency-spike",
    "uclamp/capped-tasks-spread",
)
VARIANTS = ("mainline", "cas")
#: The cheap engine first: the others are compared with it. Name of the column, engine, mode.
ENGINES = (
    ("fast", "qemu", None),
    ("elided", "gem5", "elided"),
    ("elided-detailed", "gem5", "elided-detailed"),
)
FAST, DETAILED = ENGINES[0][0], ENGINES[-1][0]
#: Seeds 0..N-1 of a cell: in mode elided; on the fast engine; in mode elided-detailed.
SEEDS, FAST_SEEDS, DETAILED_SEEDS = 5, 20, 1
#: The record and page, by the speeds at which all engines run.
NAMES = {"board": "engine-agreement", "measured": "engine-agreement-measured"}
#: Scenario, variant, column, seed.
Key = tuple[str, str, str, int]


def requests(
    scenarios: Sequence[str], seeds: Mapping[str, int], speeds: str = "board"
) -> Iterator[tuple[Key, Request]]:
    """The requests, in the order in which they are run.

    Cheap engines are first, then seeds: an interrupted set has whole seeds of all cells.

    :param seeds: how many of each column; columns that are not in it are left out.
    """
    controls = Controls(speeds=speeds)
    for column, engine, mode in ENGINES:
        for seed in range(seeds.get(column, 0)):
            for scenario in scenarios:
                for variant in VARIANTS:
                    request = Request(
                        PLATFORM, variant, scenario, engine,
                        seed=seed, mode=mode, controls=controls,
                    )  # fmt: skip
                    yield (scenario, variant, column, seed), request
