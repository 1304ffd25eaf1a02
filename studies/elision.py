# SPDX-License-Identifier: GPL-2.0-or-later
"""What eliding busy loops changes on gem5: the same cells executed and elided.

``python -m studies.elision`` runs what is missing, writes ``results/elision.json`` and draws its
page. What an executed turn of the loop takes is gem5's own: on atomic CPUs a cycle per instruction
on every core type, on Minor and O3 what ``eascope characterise`` has measured. Here the elided turn
takes the same, so the cells are not those of a figure, and lie in runs of their own. Windows are
short enough to be executed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.results.elision import ElisionCase, ElisionComparison
from analysis.results.origin import RESULTS, RUNS, Origin
from configs.activity import at_measured_speeds
from experiments.cell import Cell, prepare
from experiments.controls import Controls
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.request import Names, Request, resolve
from experiments.runs import Run
from host.cache import digest_of
from host.proc import Ending, say
from power.choice import DEFAULT_POWER
from studies.agreement.runs import PLATFORM, CostedRun, column_values, residency_points
from studies.draw import save
from studies.versions import versions_of

#: The runs of a case: ``executed`` and ``elided``.
Pair = Mapping[str, CostedRun]
VARIANT = "mainline"
#: A turn of the loop on atomic CPUs takes its instructions: one per cycle.
ATOMIC_IPC = 1.0


@dataclass(frozen=True)
class ElisionPair:
    """A scenario, executed and elided on the same CPUs, with simulated ms before and in the window.

    Lengths are longer where CPUs are always busy, so that the start of all tasks is no part of what
    a busy machine costs, and shorter on Minor and O3, which execute a seventh of the instructions.
    """

    scenario: str
    warmup_ms: int = 20
    window_ms: int = 60
    detailed: bool = False

    @property
    def name(self) -> str:
        """As it stands in tables and on the command line."""
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


def run(cells: Mapping[tuple[str, str], Cell]) -> Mapping[str, Pair]:
    """Both runs of every case: {name: {"executed": .., "elided": ..}}.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """

    def after(cell: Cell, run: Run) -> CostedRun:
        made = derived_for(cell, run, DEFAULT_POWER)
        return CostedRun(made.result, made.cell, run.host)

    pairs: dict[str, dict[str, CostedRun]] = {}
    done = run_all(list(cells.values()), after)
    for (case, name), ran in zip(cells, done, strict=True):
        pairs.setdefault(case, {})[name] = ran
    return pairs


def answers(pair: Pair) -> dict[str, list[tuple[str, bool]]]:
    """Each column's answers to the scenario's expectations about the run's own variant."""
    return {
        name: [(judged.statement, judged.met) for judged in ran.result.expect]
        for name, ran in pair.items()
    }


def busy_share(ran: CostedRun) -> float:
    """Mean share of the window in which a CPU was awake."""
    busy = ran.result.cpu_busy
    return sum(busy) / len(busy)


def record_of(pairs: Mapping[str, Pair], command: str) -> ElisionComparison:
    """The record of what was run."""
    cases = {case.name: case for case in CASES}
    cells = [ran.cell for pair in pairs.values() for ran in pair.values()]
    return ElisionComparison(
        origin=Origin(command, RUNS, versions_of(cells)),
        platform=PLATFORM,
        variant=VARIANT,
        seed=0,
        cases=tuple(_case(cases[name], pair) for name, pair in pairs.items()),
    )


def _case(case: ElisionPair, pair: Pair) -> ElisionCase:
    executed, elided = pair["executed"], pair["elided"]
    met = answers(pair)
    points = residency_points(executed.result, elided.result)
    return ElisionCase(
        name=case.name,
        warmup_ms=case.warmup_ms,
        window_ms=case.window_ms,
        busy_percent=100 * busy_share(executed),
        energy_percent=100 * (elided.total_j / executed.total_j - 1),
        residency_points=100 * max(points.values()),
        alike=met["executed"] == met["elided"] if met["executed"] else None,
        cpu_s_per_s={name: ran.host_s_per_s for name, ran in pair.items()},
        times=executed.host_s_per_s / elided.host_s_per_s,
        measures=column_values([executed, elided], ["executed", "elided"]),
    )


def executed_costs(folder: Path = RESULTS) -> dict[str, float]:
    """Processor seconds per simulated second of the committed record's executed runs, by case."""
    record = ElisionComparison.read(folder / f"{NAME}.json")
    return {case.name: case.cpu_s_per_s["executed"] for case in record.cases}


def main(arguments: list[str] | None = None) -> int:
    """Run the set, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.elision",
        description="Run a fixed set on gem5, executed and elided; write record and page.",
        epilog="example: python -m studies.elision --scenario smoke",
    )
    names = {case.name: case for case in CASES}
    parser.add_argument("--scenario", nargs="+", choices=names, default=names)
    parser.add_argument("--folder", type=Path, help="where to write instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        pairs = run(prepared([names[name] for name in options.scenario]))
        given = sys.argv[1:] if arguments is None else arguments
        record = record_of(pairs, " ".join(["python -m studies.elision", *given]))
        say(f"  {save(NAME, record, options.folder)}: {len(pairs)} cases")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
