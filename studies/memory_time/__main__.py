# SPDX-License-Identifier: GPL-2.0-or-later
"""Time of tasks that wait for memory: gem5 executes them, the engines account ``C/f + M``.

``python -m studies.memory_time`` executes mixtures of rt-app's busy loop and of dependent misses on
gem5's detailed cores at every OPP, writes ``results/memory-time.json`` and draws its page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.results.memory_time import ExecutedMixture, MemoryTime
from analysis.results.origin import RUNS, Origin
from engines.gem5.provider import find_gem5, version
from host.proc import Ending, say
from host.version import eascope_version
from studies.command import command_of
from studies.draw import save
from studies.memory_time.plan import NAME, PLATFORMS, chains, measured
from studies.memory_time.record import mixtures
from studies.memory_time.run import execute_all


def main(arguments: list[str] | None = None) -> int:
    """Execute the mixtures, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.memory_time",
        description="Execute mixtures on gem5's detailed cores; write record and page.",
        epilog="example: python -m studies.memory_time",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        versions = {"gem5": version(find_gem5()), "eascope": eascope_version()}
        executed: list[ExecutedMixture] = []
        for name in PLATFORMS:
            platform, activity = measured(name)
            kernels = chains(platform, activity)
            points = execute_all(platform, kernels)
            by_cluster = {
                cluster.name: there
                for cluster, there in zip(platform.clusters, points, strict=True)
            }
            executed += mixtures(platform, activity, kernels, by_cluster)
        command = command_of("memory_time", arguments)
        record = MemoryTime(Origin(command, RUNS, versions), tuple(executed))
        say(f"  {save(NAME, record, options.folder)}: {len(executed)} mixtures")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
