# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the cells that are executed and elided, and gem5's modes for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from configs.activity import at_measured_speeds
from experiments.cell import Cell, prepare
from experiments.controls import Controls
from experiments.request import Names, Request, resolve
from host.cache import digest_of
from studies.agreement.plan import PLATFORM

VARIANT = "mainline"
#: An iteration of the loop on atomic CPUs takes its instructions: one per cycle.
ATOMIC_IPC = 1.0


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
        """Its name in tables and on the command line."""
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
NAME = "elision"


def executable(names: Names, case: ElisionPair) -> Names:
    """The cell as gem5 executes it: its speed of the loop, and a window that is short."""
    if case.detailed:
        _, activity = at_measured_speeds(names.platform, names.activity)
    else:
        activity = replace(
            names.activity,
            clusters=tuple(replace(cluster, ipc=ATOMIC_IPC) for cluster in names.activity.clusters),
            digest=digest_of({"activity": names.activity.digest, "ipc": ATOMIC_IPC}),
        )
    window = replace(
        names.scenario.window, warmup_ms=case.warmup_ms, short_ms=case.window_ms, until=None
    )
    scenario = replace(names.scenario, window=window)
    return replace(names, activity=activity, scenario=scenario)


def prepared(cases: Sequence[ElisionPair]) -> dict[tuple[str, str], Cell]:
    """Both cells of every case."""
    return {
        (case.name, name): prepare(executable(resolve(case.request(name == "elided")), case))
        for case in cases
        for name in ("executed", "elided")
    }
