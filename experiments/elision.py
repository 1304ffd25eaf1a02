"""What eliding busy loops changes on gem5: the same cells executed and elided, as one page.

``python -m experiments.elision`` runs what is missing and writes ``docs/results/elision.md``. On
atomic CPUs an executed turn takes a cycle per instruction on every core type, so here the elided
one does, too: the cells are not those of a figure, and lie in runs of their own. Windows are short
enough to be executed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.derive import derive
from configs.host.cache import digest_of, write_atomic
from configs.host.proc import Ending, say
from experiments.agreement_page import (
    PLATFORM,
    Ran,
    Side,
    machine_load,
    residency_points,
    table,
)
from experiments.cell import Cell, Names, Request, find, prepare
from experiments.pool import run_all
from experiments.runs import Run

SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/frequency-spike",
    "uclamp/capped-tasks-spread",
    "busy",
)
VARIANT = "mainline"
#: A turn of the loop on atomic CPUs takes its instructions: one per cycle.
ATOMIC_IPC = 1.0
#: Simulated ms before the window and in it; fewer where six busy CPUs have to be executed.
LENGTHS_MS = (20, 60)
OTHER_LENGTHS_MS = {"busy": (10, 30)}
#: What is aimed at: energy, points of residency, how many times less host time.
ENERGY_GOAL, RESIDENCY_GOAL, SPEED_GOAL = 0.01, 0.01, 100
PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "elision.md"
#: What a person found out about costs and differences; goes into the page as it is.
NOTES = PAGE.with_suffix(".notes.md")


def executable(names: Names) -> Names:
    """The cell as atomic CPUs can execute it: their speed, and a window that is short."""
    activity = names.activity
    clusters = tuple(replace(one, ipc=ATOMIC_IPC) for one in activity.clusters)
    digest = digest_of({"activity": activity.digest, "ipc": ATOMIC_IPC})
    warmup_ms, window_ms = OTHER_LENGTHS_MS.get(names.scenario.name, LENGTHS_MS)
    window = replace(names.scenario.window, warmup_ms=warmup_ms, short_ms=window_ms, until=None)
    return replace(
        names,
        activity=replace(activity, clusters=clusters, digest=digest),
        scenario=replace(names.scenario, window=window),
    )


def run(scenarios: Sequence[str]) -> Mapping[str, Side]:
    """Both runs of every scenario: {scenario: {"executed": .., "elided": ..}}.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    cells = {
        (scenario, name): prepare(
            executable(find(Request(PLATFORM, VARIANT, scenario, "gem5", elide=name == "elided")))
        )
        for scenario in scenarios
        for name in ("executed", "elided")
    }

    def after(cell: Cell, one: Run) -> Ran:
        made = derive(one.path, cell.names.platform, cell.names.activity)
        return Ran(made.result, made.cell, one.host)

    found: dict[str, dict[str, Ran]] = {}
    done = run_all(list(cells.values()), after)
    for (scenario, name), ran in zip(cells, done, strict=True):
        found.setdefault(scenario, {})[name] = ran
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
                faster >= SPEED_GOAL,
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
        f"Made by `python -m experiments.elision`. Platform {PLATFORM}, variant {VARIANT}, seed 0,",
        "ArmAtomicSimpleCPU, {} ms of warm-up and a window of {} ms ".format(*LENGTHS_MS)
        + "".join(f"({name}: {a} and {b}), " for name, (a, b) in OTHER_LENGTHS_MS.items())
        + "in which a",
        "turn of the loop takes a cycle per instruction, executed and elided. Differences are the",
        f"elided run's against the executed one's; {load}.",
        "Processor seconds are gem5's own, of the window.",
        "",
        f"A star: outside of what is aimed at (energy {100 * ENERGY_GOAL:.0f} %, residency "
        f"{100 * RESIDENCY_GOAL:.0f} point, the same verdicts, {SPEED_GOAL} times less of them "
        "where CPUs are mostly busy).",
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
        prog="python -m experiments.elision",
        description="Run a fixed set on gem5, executed and elided; write the page.",
        epilog="example: python -m experiments.elision --scenario smoke",
    )
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    with Ending() as ending:
        found = run(options.scenario)
        write_atomic(options.page, page(found, machine_load(), NOTES.read_text()).encode())
        say(f"  {options.page}: {len(found)} scenarios")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
