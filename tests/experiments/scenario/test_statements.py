# SPDX-License-Identifier: GPL-2.0-or-later
"""Each statement of the scenario files can hold, and can be refuted."""

import re
from collections.abc import Iterator
from random import Random

import pytest

from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import HOLDS, REFUTED
from eascope.analysis.statement import MeasurePath, parse
from eascope.analysis.verdicts import judge
from eascope.configs.platform_file import load_platform
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario_file import load_scenario

SEEDS = 20
#: Of values of a statement's measures: all, or as many at random.
TRIES = 400
PLATFORM = load_platform("juno-r2")
#: One scenario of each statement.
ENTRIES = {
    entry.statement: (name, entry)
    for name in names()
    for entry in load_scenario(name, PLATFORM).expect
}


def results(measures: dict[str, float]) -> dict[int, dict[str, object]]:
    """Twenty results with these measures, each a little otherwise."""
    result: dict[int, dict[str, object]] = {}
    for seed in range(SEEDS):
        result[seed] = {}
        for path, value in measures.items():
            here = result[seed]
            *above, last = path.split(".")
            for part in above:
                here = here.setdefault(part, {})  # type: ignore[assignment]
            here[last] = value * (1 + 1e-6 * (-1) ** seed * (1 + seed % 3))
    return result


def mentioned(entry: Expectation) -> Iterator[MeasurePath]:
    for measure in parse(entry.statement).measures:
        yield MeasurePath(measure.path, measure.variant or entry.variant)


@pytest.mark.parametrize(("name", "entry"), ENTRIES.values(), ids=ENTRIES)
def test_a_statement_can_hold_and_be_refuted(name: str, entry: Expectation) -> None:
    """Neither answer is excluded by what its measures can be."""
    measures = list(dict.fromkeys(mentioned(entry)))
    answers = set()
    steps = [0.001, 0.3, 0.55, 0.7, 0.97, 0.995, 1.0, 2.0, 8.0, 60.0, 300.0, 3000.0]
    if len(measures) == 1:
        # Between and beside the statement's own limits.
        limits = [
            float(value) / (100 if percent else 1)
            for value, percent in re.findall(r"[<>]=? (\d[\d.]*)(%?)", entry.statement)
        ]
        steps = [limit * factor for limit in limits for factor in (0.9, 1.1)] + steps
    drawn = Random(1)
    few = len(steps) ** len(measures) <= TRIES
    for number in range(TRIES):
        runs: dict[str, dict[str, float]] = {}
        for place, measure in enumerate(measures):
            if few:
                step = steps[number // len(steps) ** place % len(steps)]
            else:  # all alike at first: of many measures, drawn ones are seldom all small
                step = steps[number] if number < len(steps) else drawn.choice(steps)
            runs.setdefault(measure.variant, {})[".".join(measure.path)] = step
        result = {variant: results(values) for variant, values in runs.items()}
        verdict = judge([entry], result)[0]
        answers.add(verdict.verdict)
        if "share(" in entry.statement and verdict.effects[0].value == 0:
            answers.add(REFUTED)  # what is seen in no seed: no number of seeds excludes it
        if {HOLDS, REFUTED} <= answers:
            return
    raise AssertionError(f"{name}: {entry.statement}: only {answers}")
