"""How far the engines agree: a fixed set of cells on gem5 and on the fast engine, as one page.

``python -m experiments.agreement`` (``make engine-agreement``) runs what is missing and writes
``docs/results/engine-agreement.md``. It can be interrupted; runs that are complete stay.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.derive import Derived, derive
from analysis.engine import cpu_models
from configs.host.cache import write_atomic
from configs.host.errors import EascopeError
from configs.host.proc import Ending, duration, say
from experiments.cell import Cell, Request, find, prepare
from experiments.pool import run_all
from experiments.runs import Run, existing

PLATFORM = "juno-r2"
SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/frequency-spike",
    "uclamp/capped-tasks-spread",
)
VARIANTS = ("mainline", "cas")
#: The fast engine first: the others are compared with it. Name of the column, engine, mode.
ENGINES = (
    ("fast", "qemu", None),
    ("elided", "gem5", "elided"),
    ("elided-detailed", "gem5", "elided-detailed"),
)
#: What is aimed at: relative difference of energy, and points of residency.
ENERGY_GOAL, RESIDENCY_GOAL = 0.05, 0.02
PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "engine-agreement.md"
#: What a person found in the traces about differences; goes into the page as it is.
NOTES = PAGE.with_suffix(".notes.md")


@dataclass(frozen=True)
class Ran:
    """A derived run and what it cost."""

    result: Mapping[str, Any]
    cell: Mapping[str, Any]
    host: Mapping[str, Any]

    @property
    def host_s_per_s(self) -> float:
        """Processor seconds per simulated second; on gem5 of the window alone."""
        parts = self.host.get("parts_cpu_s")
        if parts is None:
            return float(self.host["cpu_s"] / self.host["sim_s"])
        return float(parts["window"] / self.result["window_s"])


Side = dict[str, Ran]


def requests(scenarios: Sequence[str], engines: Sequence[str]) -> dict[tuple[str, str], Any]:
    """(scenario, variant) -> {column: request}."""
    return {
        (scenario, variant): {
            column: Request(PLATFORM, variant, scenario, engine, mode=mode)
            for column, engine, mode in ENGINES
            if column in engines
        }
        for scenario in scenarios
        for variant in VARIANTS
    }


def run(
    scenarios: Sequence[str], engines: Sequence[str], *, present: bool = False
) -> dict[tuple[str, str], Side]:
    """Run what is missing of the set; the cheap engine first.

    :param present: run nothing, and leave out what is not there.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    wanted = requests(scenarios, engines)
    cells: dict[tuple[str, str, str], Cell] = {}
    for column, _, _ in ENGINES:
        for (scenario, variant), sides in wanted.items():
            if column in sides:
                cell = prepare(find(sides[column]))
                if not present or existing(cell.simkey):
                    cells[scenario, variant, column] = cell

    def after(cell: Cell, one: Run) -> Ran:
        made: Derived = derive(one.path, cell.names.platform, cell.names.activity)
        return Ran(made.result, made.cell, one.host)

    done = run_all(list(cells.values()), after)
    found: dict[tuple[str, str], Side] = {}
    for (scenario, variant, column), ran in zip(cells, done, strict=True):
        found.setdefault((scenario, variant), {})[column] = ran
    return found


def residency_points(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, float]:
    """Largest difference of an OPP's share of the window, by cluster."""
    return {
        cluster: max(abs(share - b["residency"][cluster][khz]) for khz, share in shares.items())
        for cluster, shares in a["residency"].items()
    }


def _measures(result: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """Measures by name with how they differ: ``%`` relatively, else by subtraction."""
    found: dict[str, tuple[float, str]] = {}
    energy = result["energy_j"]
    for cluster, joules in energy["cluster"].items():
        found[f"energy, {cluster} (mJ)"] = (1000 * joules, "%")
    found["energy, total (mJ)"] = (1000 * energy["total"], "%")
    for cluster, shares in result["residency"].items():
        for khz, share in shares.items():
            found[f"{cluster} at {int(khz) / 1000:g} MHz (%)"] = (100 * share, "")
    for cluster, rate in result["opp_transitions_per_s"].items():
        found[f"OPP changes of {cluster} (1/s)"] = (rate, "%")
    for cluster, rate in result["opp_requests_per_s"].items():
        found[f"OPP requests of {cluster} (1/s)"] = (rate, "%")
    for task, shares in result["run_share"].items():
        first = next(iter(shares))
        found[f"{task} on {first} (%)"] = (100 * shares[first], "")
    for cluster, busy in result["cluster_busy"].items():
        found[f"busiest CPU of {cluster} (%)"] = (100 * busy["max"], "")
    found["migrations"] = (result["migrations"], "")
    for task, times in result["latency_us"].items():
        for name in ("p50", "p99"):
            found[f"wake-up of {task}, {name} (us)"] = (times[name], "")
    if "missed_deadlines" in result:
        found["missed deadlines"] = (result["missed_deadlines"], "")
    return found


def _difference(value: float, base: float, kind: str) -> str:
    if kind == "%":
        return f"{100 * (value / base - 1):+.1f} %" if base else "-"
    return f"{value - base:+.1f}"


def table(side: Side) -> Iterator[str]:
    """One cell on all engines, differences to the fast engine's."""
    columns = list(side)
    heads = ["measure", columns[0]]
    for name in columns[1:]:
        heads += [f"gem5 {name}", "diff"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    values = {name: _measures(ran.result) for name, ran in side.items()}
    base = values[columns[0]]
    for measure, (value, kind) in base.items():
        cells = [measure, f"{value:.1f}"]
        for name in columns[1:]:
            other = values[name].get(measure)
            cells += (
                ["-", "-"]
                if other is None
                else [
                    f"{other[0]:.1f}",
                    _difference(other[0], value, kind),
                ]
            )
        yield "| " + " | ".join(cells) + " |"
    cells = ["processor s per simulated s", f"{side[columns[0]].host_s_per_s:.2f}"]
    for name in columns[1:]:
        ratio = side[name].host_s_per_s / side[columns[0]].host_s_per_s
        cells += [f"{side[name].host_s_per_s:.1f}", f"{ratio:.0f} x"]
    yield "| " + " | ".join(cells) + " |"


def verdicts(side: Side) -> dict[str, list[Any]]:
    """Each engine's answers to the scenario's expectations."""
    return {
        name: [(one["statement"], one.get("holds")) for one in ran.result.get("expect", [])]
        for name, ran in side.items()
    }


def _summary(found: Mapping[tuple[str, str], Side]) -> Iterator[str]:
    """One line per cell and engine: total energy, worst residency, verdicts, host time."""
    heads = ("scenario", "variant", "gem5", "energy", "worst residency, points", "verdicts")
    yield f"| {' | '.join(heads)} | processor s per s |"
    yield "|---|---|---|---:|---:|---|---:|"
    for (scenario, variant), side in found.items():
        columns = list(side)
        base = side[columns[0]].result
        answers = verdicts(side)
        for name in columns[1:]:
            other = side[name].result
            spent = base["energy_j"]["total"] / other["energy_j"]["total"] - 1
            points = max(residency_points(base, other).values())
            same = answers[name] == answers[columns[0]]
            marks = (
                "" if abs(spent) <= ENERGY_GOAL else " *",
                "" if points <= RESIDENCY_GOAL else " *",
            )
            yield (
                f"| {scenario} | {variant} | {name} | {100 * spent:+.1f} %{marks[0]} | "
                f"{100 * points:.1f}{marks[1]} | "
                f"{'the same' if same else 'differ *' if answers[name] else 'none stated'} | "
                f"{side[name].host_s_per_s:.1f} ({side[columns[0]].host_s_per_s:.2f}) |"
            )


def page(found: Mapping[tuple[str, str], Side], load: str, notes: str = "") -> str:
    """The page's text; ``notes`` are a person's, on what differs."""
    some = next(ran for side in found.values() for ran in side.values())
    models = {
        name: ", ".join(f"{cluster} {model}" for cluster, model in cpu_models(ran.cell).items())
        for side in found.values()
        for name, ran in side.items()
        if cpu_models(ran.cell)
    }
    lines = [
        "# How far the fast engine and gem5 agree",
        "",
        f"Made by `make engine-agreement`. Platform {PLATFORM}, short windows, seed 0, busy loops",
        f"elided on all engines, energy from {some.result['power_model']['name']} power.",
        "",
        *(f"* gem5 in mode `{name}`: {words}" for name, words in models.items()),
        f"* {load}",
        "",
        "Differences of the table below are the fast engine's against gem5's. A star: outside of",
        f"what is aimed at (energy {100 * ENERGY_GOAL:.0f} %, residency "
        f"{100 * RESIDENCY_GOAL:.0f} points, the same verdicts). In brackets: the fast engine's",
        "processor time. gem5's is that of the window, the fast engine's that of the whole run.",
        "",
        *_summary(found),
        "",
        notes.rstrip(),
    ]
    for (scenario, variant), side in found.items():
        if len(side) > 1:
            lines += ["", f"## {scenario}, {variant}", "", *table(side)]
    return "\n".join(lines) + "\n"


def machine_load() -> str:
    """What this machine was busy with."""
    one, five, fifteen = os.getloadavg()
    cores = len(os.sched_getaffinity(0))
    return (
        f"measured on {cores} cores with a load of {one:.1f}, {five:.1f}, {fifteen:.1f} "
        "(1, 5, 15 min) at the end"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the set and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.agreement",
        description="Run a fixed set on gem5 and on the fast engine; write the page.",
        epilog="example: python -m experiments.agreement --scenario smoke --engine fast elided",
    )
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    names = [column for column, _, _ in ENGINES]
    parser.add_argument("--engine", nargs="+", choices=names, default=names)
    parser.add_argument(
        "--present", action="store_true", help="run nothing: the page of the runs that are there"
    )
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    with Ending() as ending:
        found = run(options.scenario, options.engine, present=options.present)
        found = {cell: side for cell, side in found.items() if len(side) > 1}
        if not found:
            raise EascopeError("no cell was run on both engines yet")
        write_atomic(options.page, page(found, machine_load(), NOTES.read_text()).encode())
        spent = sum(ran.host["host_s"] for side in found.values() for ran in side.values())
        say(f"  {options.page}: {len(found)} cells, {duration(spent)} of host time in all runs")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
