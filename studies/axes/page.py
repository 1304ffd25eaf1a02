# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the model axes: the parts for its notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.records.verdict import REFUTED, SHOWN
from analysis.results.axes import AxisResult, ModelAxes, OverAxes, ScenarioOverAxes
from analysis.results.comparisons import Change
from analysis.robust import AS_ASKED, DEPENDS, LESS, MORE
from configs.axes import AXES
from host.table import Table
from studies.authors import written_anew
from studies.axes.plan import NAME, plan
from studies.drawing import Drawing
from studies.patches import origin_words

#: Scenarios that are named one by one.
MOST_NAMED = 3


def parts(record: ModelAxes) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    energies = [(each, over) for each in record.scenarios for over in each.energies]
    statements = [(each, over) for each in record.scenarios for over in each.statements]
    return {
        "answer": _answer(record),
        "authors": written_anew(
            over.variant for each in record.scenarios for over in each.energies
        ),
        "conditions": _conditions(record),
        "energies": Table.of(
            ("scenario", "variant", "energy as asked", "at every value"),
            ((_title(each), over.variant, _of(each, over), over.words) for each, over in energies),
            left=4,
        ).markdown(),
        "statements": Table.of(
            ("scenario", "statement", "as asked", "at every value"),
            (
                *(
                    (
                        *(_title(each), f"{over.variant}: `{over.statement}`"),
                        *(over.asked, over.words),
                    )
                    for each, over in statements
                ),
            ),
            left=4,
        ).markdown(),
        "values": "\n\n".join(_values(each) for each in record.scenarios),
    }


def _answer(record: ModelAxes) -> str:
    """What is the same at every value; apart for scenarios that some axes were left out of."""
    by_left_out: dict[tuple[str, ...], list[ScenarioOverAxes]] = {}
    for each in record.scenarios:
        by_left_out.setdefault(each.not_asked, []).append(each)
    lines = []
    for left_out, scenarios in sorted(by_left_out.items(), key=lambda item: len(item[0])):
        varied = [name for name in AXES if name not in left_out]
        which = f", with these axes alone: {', '.join(varied)}" if left_out else ""
        lines.append(f"In {_scenarios(scenarios)}{which}, {_same(scenarios)}.")
    return " ".join(lines)


def _same(scenarios: Sequence[ScenarioOverAxes]) -> str:
    energies = [over for each in scenarios for over in each.energies]
    statements = [over for each in scenarios for over in each.statements]
    return (
        f"{_survive(statements, (SHOWN, REFUTED))} verdicts and "
        f"{_survive(energies, (LESS, MORE))} differences in energy are the same at every value"
    )


def _scenarios(scenarios: Sequence[ScenarioOverAxes]) -> str:
    """How many of how many planned there are; few by name."""
    counted = f"{len(scenarios)} of {len(plan())} planned scenarios"
    if len(scenarios) > MOST_NAMED:
        return counted
    return f"{counted} ({' and '.join(map(_title, scenarios))})"


def _title(scenario: ScenarioOverAxes) -> str:
    """Scenario and platform, and controls that are not at their defaults."""
    words = f", {scenario.conditions}" if scenario.conditions else ""
    return f"{scenario.scenario} on {scenario.platform}{words}"


def _survive(every: Sequence[OverAxes], words: Sequence[str]) -> str:
    """``3 of 5``: of those that the asked values decide, how many every value decides so."""
    decided = [over for over in every if over.asked in words]
    return f"{sum(over.all != DEPENDS for over in decided)} of {len(decided)}"


def _of(scenario: ScenarioOverAxes, over: OverAxes) -> str:
    return _change(scenario.values[0].changes[over.variant])


def _conditions(record: ModelAxes) -> str:
    seeds = sorted({each.seeds for each in record.scenarios})
    powers = " or ".join(dict.fromkeys(each.power for each in record.scenarios))
    return (
        f"* Engine {record.engine} (busy loops elided), {record.duration} windows, "
        f"{' or '.join(map(str, seeds))} seeds, energy from {powers} power where no axis "
        f"says otherwise.\n* Linux {record.kernel}, HZ {record.hz}.\n* {_origins(record)}"
    )


def _origins(record: ModelAxes) -> str:
    """The commands that made the scenarios, each once, in their order."""
    return "\n* ".join(dict.fromkeys(origin_words(each.origin) for each in record.scenarios))


def _values(scenario: ScenarioOverAxes) -> str:
    """A scenario's differences and verdicts by value."""
    names = list(scenario.values[0].changes)
    heads = ["axis", "value", "own runs", *(f"{name} (%)" for name in names)]
    heads += [str(number) for number in range(1, len(scenario.statements) + 1)]
    table = Table.of(heads, (tuple(_row(each, names)) for each in scenario.values), left=len(heads))
    lines = [
        f"{number}. {over.variant}: `{over.statement}`"
        for number, over in enumerate(scenario.statements, 1)
    ]
    lines += [f"* Not varied: {line}." for line in scenario.left_out]
    if scenario.not_asked:
        lines.append(f"* Not run: {', '.join(scenario.not_asked)}.")
    sources = dict.fromkeys(
        f"* {each.axis} {each.value}: {each.source}." for each in scenario.values if each.axis
    )
    head = (
        f"### {_title(scenario)}\n\n"
        f"Difference of {scenario.label} from {scenario.baseline}'s with its 95 % interval, and "
        "verdicts by number:"
    )
    return "\n\n".join([head, table.markdown(), "\n".join(lines), "\n".join(sources)])


def _row(value: AxisResult, names: Sequence[str]) -> Iterator[str]:
    yield value.axis or AS_ASKED
    yield value.value
    yield str(value.own_runs) if value.axis else "-"
    yield from (_change(value.changes[name]) for name in names)
    yield from value.verdicts


def _change(change: Change | None) -> str:
    if change is None:
        return "-"
    if change.low is None or change.high is None:
        return f"{change.percent:+.1f} %"
    return f"{change.percent:+.1f} % ({change.low:+.1f} to {change.high:+.1f})"


DRAWINGS = {NAME: Drawing(ModelAxes, parts)}
