# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of verdicts at every value of the model axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.compare import Comparison
from analysis.records.cell import CellRecord
from analysis.results.axes import AxisResult, ModelAxes, OverAxes, ScenarioOverAxes
from analysis.results.comparisons import Change
from analysis.robust import Overall, Robust, sign
from configs.axes import AXES
from host.errors import RequestError
from studies.axes.plan import plan
from studies.versions import origin_over_seeds


def record_of(
    every: Sequence[Robust], command: str, axes: Sequence[str] = tuple(AXES)
) -> ModelAxes:
    """The record of scenarios that were varied over ``axes``."""
    first = every[0].asked
    return ModelAxes(
        origin=origin_over_seeds(command, [cell for robust in every for cell in _cells(robust)]),
        engine=first.engine,
        duration=first.cell.duration,
        kernel=first.cell.kernel.source_words,
        hz=first.cell.controls.hz,
        scenarios=tuple(_scenario(robust, command, axes) for robust in every),
    )


def added(earlier: ModelAxes, made: ModelAxes) -> ModelAxes:
    """``made`` with the scenarios of ``earlier`` that it does not have, in the plan's order.

    A scenario that the plan no longer has is left out.

    :raises RequestError: the two were made under different conditions.
    """
    for name in ("engine", "duration", "kernel", "hz"):
        was, now = getattr(earlier, name), getattr(made, name)
        if was != now:
            raise RequestError(f"--add: {name} is {was} in the record and {now} now")
    scenarios = {each.key: each for each in (*earlier.scenarios, *made.scenarios)}
    planned = [(each.platform, each.scenario, each.conditions) for each in plan()]
    return replace(made, scenarios=tuple(scenarios[key] for key in planned if key in scenarios))


def _cells(robust: Robust) -> Iterator[CellRecord]:
    for compared in (robust.asked, *(at.compared for at in robust.values)):
        for runs in compared.variants.values():
            yield from (run.cell for run in runs)


def _scenario(robust: Robust, command: str, axes: Sequence[str]) -> ScenarioOverAxes:
    asked = robust.asked
    return ScenarioOverAxes(
        origin=origin_over_seeds(command, _cells(robust)),
        platform=asked.platform.name,
        scenario=asked.cell.scenario,
        baseline=asked.baseline,
        label=robust.label,
        seeds=len(asked.seeds),
        power=asked.power_model.name,
        energies=tuple(
            _over(name, "", sign(robust.difference(asked, name)), robust.overall(name))
            for name in robust.others
        ),
        statements=tuple(
            _over(each.variant, each.statement, each.verdict, robust.judged(each))
            for each in asked.verdicts
        ),
        values=(
            AxisResult(
                axis="",
                value="",
                source="",
                own_runs=0,
                changes=_changes(robust, asked),
                verdicts=_words(robust, asked),
            ),
            *(
                AxisResult(
                    *(at.axis, at.value, at.source, at.own_runs),
                    *(_changes(robust, at.compared), _words(robust, at.compared)),
                )
                for at in robust.values
            ),
        ),
        left_out=tuple(robust.left_out),
        conditions=asked.set_otherwise,
        not_asked=tuple(name for name in AXES if name not in axes),
    )


def _over(variant: str, statement: str, asked: str, overall: Overall) -> OverAxes:
    return OverAxes(variant, statement, asked, overall.word, overall.words)


def _changes(robust: Robust, compared: Comparison) -> dict[str, Change | None]:
    """In percent of the baseline's, by variant."""
    changes: dict[str, Change | None] = {}
    for name in robust.others:
        made = robust.difference(compared, name)
        low, high = made.in_percent() or (None, None)
        changes[name] = None if made.percent is None else Change(made.percent, low, high)
    return changes


def _words(robust: Robust, compared: Comparison) -> tuple[str, ...]:
    """The verdicts in the order of the asked comparison's statements."""
    words = {(each.variant, each.statement): each.verdict for each in compared.verdicts}
    return tuple(words[each.variant, each.statement] for each in robust.asked.verdicts)
