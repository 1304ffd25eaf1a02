# SPDX-License-Identifier: GPL-2.0-or-later
"""What eliding busy loops changes on gem5: the same cells executed and elided, as one page.

``python -m studies.elision`` runs what is missing and writes ``docs/results/elision.md``. What
an executed turn of the loop takes is gem5's own: on atomic CPUs a cycle per instruction on every
core type, on Minor and O3 what ``eascope characterise`` has measured. Here the elided turn takes
the same, so the cells are not those of a figure, and lie in runs of their own. Windows are short
enough to be executed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.derive import derive
from configs.activity import at_measured_speeds
from experiments.cell import Cell, Names, Request, find, prepare
from experiments.pool import run_all
from experiments.runs import Run, existing
from host.cache import digest_of, write_atomic
from host.proc import Ending, say
from studies.agreement.page import (
    PLATFORM,
    Ran,
    Side,
    machine_load,
    residency_points,
    table,
)

VARIANT = "mainline"
#: A turn of the loop on atomic CPUs takes its instructions: one per cycle.
ATOMIC_IPC = 1.0


@dataclass(frozen=True)
class Case:
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
        """As it stands in the page's tables and on the command line."""
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
        )


CASES = (
    Case("smoke"),
    Case("eas/video-playback"),
    Case("uclamp/frequency-spike"),
    Case("uclamp/capped-tasks-spread", window_ms=100),
    Case("busy", window_ms=100),
    Case("eas/video-playback", warmup_ms=10, window_ms=40, detailed=True),
    Case("busy", warmup_ms=20, window_ms=20, detailed=True),
)
#: What is aimed at: energy, points of residency, how many times less host time.
ENERGY_GOAL, RESIDENCY_GOAL, SPEED_GOAL = 0.01, 0.01, 100
#: From this mean share of the window on, CPUs are mostly busy: what the speed goal is about.
MOSTLY_BUSY = 0.5
PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "elision.md"
#: What a person found out about costs and differences; goes into the page as it is.
NOTES = PAGE.with_suffix(".notes.md")


def executable(names: Names, case: Case) -> Names:
    """The cell as gem5 executes it: its speed of the loop, and a window that is short."""
    if case.detailed:
        _, activity = at_measured_speeds(names.platform, names.activity)
    else:
        activity = replace(
            names.activity,
            clusters=tuple(replace(one, ipc=ATOMIC_IPC) for one in names.activity.clusters),
            digest=digest_of({"activity": names.activity.digest, "ipc": ATOMIC_IPC}),
        )
    window = replace(
        names.scenario.window, warmup_ms=case.warmup_ms, short_ms=case.window_ms, until=None
    )
    scenario = replace(names.scenario, window=window)
    return replace(names, activity=activity, scenario=scenario)


def prepared(cases: Sequence[Case]) -> dict[tuple[str, str], Cell]:
    """Both cells of every case."""
    return {
        (case.name, name): prepare(executable(find(case.request(name == "elided")), case))
        for case in cases
        for name in ("executed", "elided")
    }


def run(cells: Mapping[tuple[str, str], Cell]) -> Mapping[str, Side]:
    """Both runs of every case: {name: {"executed": .., "elided": ..}}.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """

    def after(cell: Cell, one: Run) -> Ran:
        made = derive(one.path, cell.names.platform, cell.names.activity)
        return Ran(made.result, made.cell, one.host)

    found: dict[str, dict[str, Ran]] = {}
    done = run_all(list(cells.values()), after)
    for (case, name), ran in zip(cells, done, strict=True):
        found.setdefault(case, {})[name] = ran
    return found


def verdicts(side: Side) -> dict[str, list[Any]]:
    """Each column's answers to the scenario's expectations about the run's own variant."""
    return {
        name: [(one["statement"], one.get("holds")) for one in ran.result.get("expect", [])]
        for name, ran in side.items()
    }


def busy_share(ran: Ran) -> float:
    """Mean share of the window in which a CPU was awake."""
    busy: Sequence[float] = ran.result["cpu_busy"]
    return sum(busy) / len(busy)


def _summary(found: Mapping[str, Side]) -> Iterator[str]:
    heads = ("scenario", "CPUs busy", "energy", "worst residency, points", "verdicts")
    yield f"| {' | '.join(heads)} | processor s per s, executed | elided | times less |"
    yield "|---|---:|---:|---:|---|---:|---:|---:|"
    for scenario, side in found.items():
        executed, elided = side["executed"], side["elided"]
        spent = elided.result["energy_j"]["total"] / executed.result["energy_j"]["total"] - 1
        points = max(residency_points(executed.result, elided.result).values())
        answers = verdicts(side)
        faster = executed.host_s_per_s / elided.host_s_per_s
        marks = [
            "" if good else " *"
            for good in (
                abs(spent) <= ENERGY_GOAL,
                points <= RESIDENCY_GOAL,
                faster >= SPEED_GOAL or busy_share(executed) < MOSTLY_BUSY,
            )
        ]
        words = "the same" if answers["executed"] == answers["elided"] else "differ *"
        yield (
            f"| {scenario} | {100 * busy_share(executed):.0f} % | {100 * spent:+.2f} %{marks[0]} | "
            f"{100 * points:.2f}{marks[1]} | {words if answers['executed'] else 'none stated'} | "
            f"{executed.host_s_per_s:.0f} | {elided.host_s_per_s:.1f} | {faster:.0f}{marks[2]} |"
        )


def page(found: Mapping[str, Side], load: str, notes: str = "") -> str:
    """The page's text; ``notes`` are a person's."""
    lines = [
        "# What eliding busy loops changes on gem5",
        "",
        f"Made by `python -m studies.elision`. Platform {PLATFORM}, variant {VARIANT}, seed 0;",
        "ms of warm-up and of the window: "
        + ", ".join(f"{one.name} {one.warmup_ms} + {one.window_ms}" for one in CASES)
        + ".",
        "A turn of the loop takes as long executed as elided: on ArmAtomicSimpleCPU a cycle per",
        "instruction, on MinorCPU and O3CPU what was [measured there](characterisation.md).",
        f"Differences are the elided run's against the executed one's; {load}.",
        "Processor seconds are gem5's own, of the window.",
        "",
        f"A star: outside of what is aimed at (energy {100 * ENERGY_GOAL:.0f} %, residency "
        f"{100 * RESIDENCY_GOAL:.0f} point, the same verdicts, {SPEED_GOAL} times less of them "
        f"where CPUs are mostly busy, {100 * MOSTLY_BUSY:.0f} % and more).",
        "",
        *_summary(found),
        "",
        notes.rstrip(),
    ]
    for scenario, side in found.items():
        lines += ["", f"## {scenario}", "", *table({name: {0: ran} for name, ran in side.items()})]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Run the set and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.elision",
        description="Run a fixed set on gem5, executed and elided; write the page.",
        epilog="example: python -m studies.elision --scenario smoke",
    )
    names = {case.name: case for case in CASES}
    parser.add_argument("--scenario", nargs="+", choices=names, default=names)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    with Ending() as ending:
        cells = prepared([names[name] for name in options.scenario])
        there = all(existing(cell.simkey) for cell in cells.values())
        found = run(cells)
        load = "made from runs that were there" if there else machine_load()
        write_atomic(options.page, page(found, load, NOTES.read_text()).encode())
        say(f"  {options.page}: {len(found)} cases")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
