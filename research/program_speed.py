# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.program_speed``: what programs print on the fast engine and on gem5.

gem5's detailed cores need some half an hour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from eascope.experiments.controls import Controls
from eascope.experiments.renew.costed import CostedRun, derive_costed
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, Resolved, resolve
from research.run import study_command, table

PLATFORM, VARIANT, SCENARIO = "juno-r2", "mainline", "programs/sysbench-clusters"
MEASURE = "events_per_s"
#: Engine and mode.
FAST, REFERENCE = ("qemu", None), ("gem5", "detailed")
#: A scenario that gem5's atomic CPUs run to its end, and what is shown of it.
WHOLE, WHOLE_REFERENCE = "programs/cyclictest-idle", ("gem5", "elided")
WHOLE_MEASURES = ("avg_us", "p99_us", "max_us")


def request(scenario: str, engine: str, mode: str | None) -> Request:
    """The cell on an engine; without noise, whose warm-up gem5 would execute."""
    return Request(
        platform=PLATFORM,
        variant=VARIANT,
        scenario=scenario,
        engine=engine,
        mode=mode,
        controls=Controls(noise=False),
    )


def rates(
    resolved: Resolved, fast: CostedRun, gem5: CostedRun, without: CostedRun
) -> Iterator[list[Any]]:
    """A row for each program that runs alone on a cluster.

    :param without: the fast engine's run in which no program has figures of its own.
    """
    known = {value.program for value in resolved.rates}
    clusters = {cpu: cluster.name for cluster in resolved.platform.clusters for cpu in cluster.cpus}
    for program in resolved.scenario.programs:
        if program.cpus:
            printed = [
                float(run.result.program[program.name][MEASURE]) for run in (fast, without, gem5)
            ]
            errors = [100 * (value / printed[-1] - 1) for value in printed[:2]]
            yield [program.run, clusters[program.cpus[0]], program.run in known, *printed, *errors]


def whole(fast: CostedRun, gem5: CostedRun) -> Iterator[list[Any]]:
    """What the scenario's only program prints on both engines."""
    (program,) = gem5.result.program
    for name in WHOLE_MEASURES:
        yield [name, *(float(run.result.program[program][name]) for run in (fast, gem5))]


def record_of(command: str) -> dict[str, Any]:
    """The record of the scenarios on both engines; executes missing runs."""
    asked = [
        *(request(SCENARIO, *engine) for engine in (FAST, REFERENCE)),
        *(request(WHOLE, *engine) for engine in (FAST, WHOLE_REFERENCE)),
    ]
    names = [resolve(item) for item in asked]
    ran = measured([*names, replace(names[0], rates=())], derive_costed)
    fast, gem5, whole_fast, whole_gem5, without = ran
    columns = ("program", "cluster", "own_figures", "fast", "at_kernels", "gem5")
    return {
        "origins": [origin_of(command, [run.cell for run in ran]).encode()],
        "gem5_cpu_s": gem5.host.cpu_s,
        "sim_s": gem5.result.window_s,
        "whole_cpu_s": [whole_fast.host.cpu_s, whole_gem5.host.cpu_s],
        "whole_sim_s": whole_gem5.host.sim_s,
        "programs": table(
            (*columns, "percent", "at_kernels_percent"),
            list(rates(names[0], fast, gem5, without)),
        ),
        "whole": table(("measure", "fast", "gem5"), list(whole(whole_fast, whole_gem5))),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scenarios on both engines and write the record."""
    return study_command("program_speed", record_of, arguments)


if __name__ == "__main__":
    sys.exit(main())
