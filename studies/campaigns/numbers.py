# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a campaign's runs: energy, latency, misses and work, by cell and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.derive import Derived
from analysis.engine import error_words
from analysis.records.cell import CellRecord
from analysis.results.campaigns import ENERGY, LATENCY, MISSED, WORK, SweptScenario
from analysis.results.noise import NoiseFloor
from studies.campaigns.plan import FRAMES_LATE

#: A measure's value by seed.
BySeed = Mapping[int, float]
#: How the latencies of a run are named until one of them is chosen: by kind and task.
_PRINTED, _RESPONSE, _WAKE_UP = "latency printed", "response time", "wake-up latency"
#: What programs call the 95th percentile of their latencies.
_PRINTED_P95 = "p95_us"
#: Kind, and task or program.
Latency = tuple[str, str]


@dataclass(frozen=True)
class Taken:
    """The numbers of a cell, by measure and seed; latencies by kind and task."""

    numbers: dict[str, dict[int, float]] = field(default_factory=dict)
    latencies: dict[Latency, dict[int, float]] = field(default_factory=dict)


def take(taken: Taken, seed: int, derived: Derived) -> None:
    """Add the numbers of a run; what it cannot give stays out."""
    result = derived.result
    numbers = {WORK: result.work, MISSED: result.missed_deadlines}
    if (frames := _not_in_time(derived)) is not None:
        numbers[MISSED] = frames
    if result.energy_per_work_j is not None:
        numbers[ENERGY] = 1e3 * result.energy_per_work_j
    for name, value in numbers.items():
        if value is not None:
            taken.numbers.setdefault(name, {})[seed] = value
    for kind, table in ((_RESPONSE, result.response_us), (_WAKE_UP, result.latency_us)):
        for task in derived.cell.tasks:
            if task.name in table:
                by_seed = taken.latencies.setdefault((kind, task.name), {})
                by_seed[seed] = table[task.name].p95
    for program, printed in result.program.items():
        if _PRINTED_P95 in printed:
            by_seed = taken.latencies.setdefault((_PRINTED, program), {})
            by_seed[seed] = printed[_PRINTED_P95]


def _not_in_time(derived: Derived) -> float | None:
    """Frames that were due in the window less those drawn in time; None without frames.

    A frame at the window's end may be drawn before it is due, so there may be one more.
    """
    cell, result = derived.cell, derived.result
    if cell.frames is None or result.frames is None:
        return None
    due = result.deadlines.get(cell.frames.paced_by)
    if due is None:
        return None
    return max(0.0, due.jobs - (result.frames.drawn - result.frames.late))


def chosen_latency(cell: CellRecord, taken: Sequence[Taken]) -> Latency | None:
    """The latency by which all cells of a scenario are compared; None if no cell has any.

    If the scenario has frames: the response time of the task that paces them. Else of the programs
    that print latencies, or the tasks of which all cells have response times, or else wake-up
    latencies, the one with the largest mean.
    """
    common = set.intersection(*({*each.latencies} for each in taken))
    paced = (_RESPONSE, cell.frames.paced_by) if cell.frames else None
    if paced in common:
        return paced
    for kind in (_PRINTED, _RESPONSE, _WAKE_UP):
        means = {
            key: sum(mean(each.latencies[key]) for each in taken)
            for key in sorted(common)
            if key[0] == kind
        }
        if means:
            return max(means, key=lambda key: means[key])
    return None


def with_latency(taken: Taken, chosen: Latency | None) -> Mapping[str, BySeed]:
    """The numbers in the order of measures."""
    numbers: dict[str, BySeed] = dict(taken.numbers)
    if chosen is not None:
        numbers[LATENCY] = taken.latencies[chosen]
    return {name: numbers[name] for name in (ENERGY, LATENCY, MISSED, WORK) if name in numbers}


def scenario_words(name: str, first: Derived, chosen: Latency | None) -> SweptScenario:
    """The meaning of a scenario's measures, by one of its runs."""
    result = first.result
    missed = "" if result.missed_deadlines is None else "missed deadlines of all tasks"
    if _not_in_time(first) is not None and first.cell.frames is not None:
        missed = FRAMES_LATE
        pacing, drawing = first.cell.frames.paced_by, first.cell.frames.drawn_by
        if pacing != drawing:
            missed += f" ({pacing} begins a frame, {drawing} ends it)"
    return SweptScenario(
        scenario=name,
        work_unit=first.cell.work.unit,
        latency="" if chosen is None else latency_words(chosen),
        missed=missed,
        error=error_words(first),
    )


def floors_of(floor: NoiseFloor, chosen: Latency | None) -> dict[str, float]:
    """The noise floors of a scenario's measures, in percent; those that are known."""
    paths = {ENERGY: "energy_per_work_j", WORK: "work"}
    if chosen is not None:
        kind, name = chosen
        paths[LATENCY] = {
            _PRINTED: f"program.{name}.{_PRINTED_P95}",
            _RESPONSE: f"response_us.{name}.p95",
            _WAKE_UP: f"latency_us.{name}.p95",
        }[kind]
    return {name: floor.percents[path] for name, path in paths.items() if path in floor.percents}


def latency_words(chosen: Latency) -> str:
    """The meaning of a scenario's latency."""
    kind, name = chosen
    return f"{kind} {'by' if kind == _PRINTED else 'of'} {name}, 95th percentile"


def mean(by_seed: BySeed) -> float:
    """The mean over seeds."""
    return sum(by_seed.values()) / len(by_seed)
