# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.elision``: the effect of eliding busy loops on gem5, executed and elided.

gem5 decides the time of an executed iteration of the loop: on atomic CPUs a cycle per instruction
on every core type, on Minor and O3 as ``eascope characterise`` measured it. Here an elided
iteration takes the same time, so these cells have their own runs. Windows are short enough to be
executed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.configs.activity import at_measured_speeds
from eascope.experiments.controls import Controls
from eascope.experiments.renew.agreement import PLATFORM
from eascope.experiments.renew.costed import CostedRun, derive_costed, residency_points
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.host.cache import digest_of
from research.run import study_command, table

VARIANT = "mainline"
#: An iteration of the loop on atomic CPUs takes its instructions: one per cycle.
ATOMIC_IPC = 1.0
#: The runs of a case.
SIDES = ("executed", "elided")


@dataclass(frozen=True)
class ElisionPair:
    """A scenario, executed and elided on the same CPUs, with simulated ms before and in the window.

    Lengths are longer if CPUs are always busy, so that the start of all tasks does not count in the
    cost of a busy machine. They are shorter on Minor and O3, which execute a seventh of the
    instructions.
    """

    scenario: str
    warmup_ms: int = 20
    window_ms: int = 60
    detailed: bool = False

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"{self.scenario}, Minor and O3" if self.detailed else self.scenario

    def request(self, elided: bool) -> Request:
        """One of its two cells."""
        mode = ("elided-detailed" if elided else "detailed") if self.detailed else "elided"
        return Request(
            platform=PLATFORM,
            variant=VARIANT,
            scenario=self.scenario,
            engine="gem5",
            elide=elided,
            mode=mode,
            # Windows of milliseconds come before a second of stirring would be over.
            controls=Controls(noise=False),
        )


CASES = (
    ElisionPair("smoke"),
    ElisionPair("eas/video-playback"),
    ElisionPair("uclamp/frequency-spike"),
    ElisionPair("uclamp/capped-tasks-spread", window_ms=100),
    ElisionPair("busy", window_ms=100),
    ElisionPair("eas/video-playback", warmup_ms=10, window_ms=40, detailed=True),
    ElisionPair("busy", warmup_ms=20, window_ms=20, detailed=True),
)


def executable(resolved: Resolved, case: ElisionPair) -> Resolved:
    """The cell as gem5 executes it: its speed of the loop, and a window that is short."""
    if case.detailed:
        _, activity = at_measured_speeds(resolved.platform, resolved.activity)
    else:
        activity = replace(
            resolved.activity,
            clusters=tuple(
                replace(cluster, ipc=ATOMIC_IPC) for cluster in resolved.activity.clusters
            ),
            digest=digest_of({"activity": resolved.activity.digest, "ipc": ATOMIC_IPC}),
        )
    window = replace(
        resolved.scenario.window, warmup_ms=case.warmup_ms, short_ms=case.window_ms, until=None
    )
    scenario = replace(resolved.scenario, window=window)
    return replace(resolved, activity=activity, scenario=scenario)


def run(cases: Sequence[ElisionPair]) -> dict[str, dict[str, CostedRun]]:
    """Both runs of every case: {name: {"executed": .., "elided": ..}}.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    names = [
        executable(resolve(case.request(side == "elided")), case)
        for case in cases
        for side in SIDES
    ]
    ran = iter(measured(names, derive_costed))
    return {case.name: {side: next(ran) for side in SIDES} for case in cases}


def record_of(pairs: Mapping[str, Mapping[str, CostedRun]], command: str) -> dict[str, Any]:
    """The record of the executed runs; differences are those of the elided run."""
    cells = [ran.cell for pair in pairs.values() for ran in pair.values()]
    columns = (
        *("case", "warmup_ms", "window_ms", "busy_percent", "energy_percent"),
        *("residency_points", "alike", "executed_s", "elided_s", "times"),
    )
    rows = [[case.name, *_row(case, pairs[case.name])] for case in CASES if case.name in pairs]
    return {"origins": [origin_of(command, cells).encode()], "cases": table(columns, rows)}


def _row(case: ElisionPair, pair: Mapping[str, CostedRun]) -> list[Any]:
    executed, elided = (pair[side] for side in SIDES)
    met = [
        [(answer.statement, answer.met) for answer in ran.result.expect]
        for ran in (executed, elided)
    ]
    busy = executed.result.cpu_busy
    return [
        case.warmup_ms,
        case.window_ms,
        100 * sum(busy) / len(busy),
        100 * (elided.total_j / executed.total_j - 1),
        100 * max(residency_points(executed.result, elided.result).values()),
        met[0] == met[1] if met[0] else None,
        executed.host_s_per_s,
        elided.host_s_per_s,
        executed.host_s_per_s / elided.host_s_per_s,
    ]


def measure(command: str) -> dict[str, Any]:
    """Run every case; the record."""
    return record_of(run(CASES), command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every case and write the record."""
    return study_command("elision", measure, arguments)


if __name__ == "__main__":
    sys.exit(main())
