# SPDX-License-Identifier: GPL-2.0-or-later
"""A page of compared variants: the parts for its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from analysis.ranges import PERCENT_CHANGE, cut
from analysis.records.verdict import REFUTED, SHOWN
from analysis.results.comparisons import (
    KERNELS_RATE,
    OWN_RATE,
    Change,
    Comparisons,
    ScenarioResult,
    Spread,
    VariantResult,
)
from analysis.results.findings import findings
from analysis.rows import printed_row
from analysis.statistics import ENOUGH
from analysis.verdict_text import counts, details
from host.table import Table
from studies.authors import written_anew
from studies.drawing import Drawing
from studies.pages.conditions import (
    by_controls,
    conditions,
    conditions_of,
    floor_words,
    of_scenario,
    variants_of,
)
from studies.pages.plan import NAMES, OF_PROGRAMS, PROGRAMS

#: Of 95 % intervals, the share that exclude zero where there is no difference.
FALSE_ALARMS = 0.05
#: The least difference that a table shows, in per cent.
SHOWN_PERCENT = 0.1


def parts(record: Comparisons) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    judged = [verdict for scenario in record.scenarios for verdict in scenario.judged]
    return {
        "verdicts": counts(judged),
        "decided": _decided(record),
        "summary": _summary(record).markdown(),
        "authors": written_anew(variants_of(record)),
        "conditions": conditions(record),
        "scenarios": "\n\n".join(_scenarios(record)),
    }


def parts_of_programs(record: Comparisons) -> dict[str, str]:
    """Markdown of a page of programs: no statement is judged on it."""
    base = record.scenarios[0].variants[0].name
    energies = [[result.scenario, _energies(record, result)] for result in record.scenarios]
    rows = [
        [result.scenario, *row]
        for result in record.scenarios
        for row in _printed_rows(result, PROGRAMS[result.scenario])
    ]
    return {
        "printed": Table.of(["scenario", *_printed_heads(record.scenarios[0])], rows, 2).markdown(),
        "clear": _clear(record),
        "rates": _rates(record),
        "energies": Table.of(["scenario", f"energy, % of {base}'s"], energies, 2).markdown(),
        "authors": written_anew(variants_of(record)),
        "conditions": conditions(record),
        "scenarios": "\n\n".join(_scenarios(record)),
    }


def _clear(record: Comparisons) -> str:
    """Which of the answer's differences have an interval without zero, by variant."""
    if record.seeds < ENOUGH:
        return f"With {record.seeds} seeds nothing is decided: a difference may be chance."
    known = [
        (variant.name, f"{result.scenario.removeprefix('programs/')}: {label}", change)
        for result in record.scenarios
        for variant in result.variants[1:]
        for label, change in _answers(result, variant)
        if change is not None and change.low is not None and change.high is not None
    ]
    clear: dict[str, list[str]] = {name: [] for name, _, _ in known}
    for name, label, change in known:
        if change.excludes_zero and abs(change.percent) >= SHOWN_PERCENT:
            clear[name].append(f"{label} {change_text(change)}")
    count = sum(map(len, clear.values()))
    return "\n".join(
        [
            f"{count} of {len(known)} differences are at least {SHOWN_PERCENT} % and have an "
            "interval without zero; chance alone would give up to about "
            f"{len(known) * FALSE_ALARMS:.1f}. In percent:\n",
            *(f"* {name}: {'; '.join(lines) or 'nothing'}" for name, lines in clear.items()),
        ]
    )


def _answers(result: ScenarioResult, variant: VariantResult) -> Iterator[tuple[str, Change | None]]:
    """The differences that the answer has of a variant in a scenario, with their names."""
    for measure in PROGRAMS[result.scenario]:
        line = printed_row(*measure.split("."))
        printed = variant.printed.get(measure)
        yield f"{line.label} ({line.unit})", printed.change if printed else None
    yield f"energy{_by(result)}", _primary(result, variant)


def _rates(record: Comparisons) -> str:
    """The programs with a rate of their own, and those without."""
    names = {
        rate: sorted(
            {
                kind
                for result in record.scenarios
                for kind, known in result.programs.items()
                if known == rate
            }
        )
        for rate in (OWN_RATE, KERNELS_RATE)
    }
    return (
        f"at [rates of their own](program-speed.md#the-figures): "
        f"{', '.join(names[OWN_RATE]) or 'none'}; at the rate of system code: "
        f"{', '.join(names[KERNELS_RATE]) or 'none'}"
    )


def changes(record: Comparisons) -> dict[str, str]:
    """The change of a variant's energy from the first variant's, by scenario and variant.

    Where a scenario stands under several sets of controls, the first one counts, and
    ``SCENARIO/VARIANT/range`` has the least and the largest of all. ``SCENARIO/VARIANT/MEASURE``
    is the change of a measure that a program prints.
    """
    known: dict[str, list[tuple[Change, str]]] = {}
    for result in record.scenarios:
        for variant in result.variants:
            change = _primary(result, variant)
            if change is not None:
                name = f"{result.scenario}/{variant.name}"
                known.setdefault(name, []).append((change, _by(result)))
    words = {
        f"{result.scenario}/{variant.name}/{measure}": _in_words(printed.change)
        for result in record.scenarios
        for variant in result.variants
        for measure, printed in variant.printed.items()
        if printed.change is not None
    }
    for name, some in known.items():
        change, by = some[0]
        words[name] = _in_words(change) + by
        percents = [other.percent for other, _ in some]
        words[f"{name}/range"] = f"{_signed(min(percents))} to {_signed(max(percents))} %"
    return words


def _decided(record: Comparisons) -> str:
    """Of which scenarios and variants statements are shown, and of which refuted.

    If a scenario has several sets of controls, each variant has their number.
    """
    settings = Counter(result.scenario for result in record.scenarios)
    lines = []
    for word in (SHOWN, REFUTED):
        cells: dict[str, Counter[str]] = {}
        for result in record.scenarios:
            variants = {
                judged.variant
                for judged in result.judged
                if judged.verdict == word and not judged.also_shown_of
            }
            if variants:
                cells.setdefault(result.scenario, Counter()).update(sorted(variants))
        scenarios = []
        for scenario, counted in cells.items():
            of = f" of {settings[scenario]} settings"
            names = [
                f"{name} with {count}{of}" if settings[scenario] > 1 else name
                for name, count in counted.items()
            ]
            scenarios.append(f"{scenario} ({', '.join(names)})")
        lines.append(f"* {word}: {'; '.join(scenarios) or 'none'}")
    return "\n".join(lines)


def _primary(result: ScenarioResult, variant: VariantResult) -> Change | None:
    """The comparison's energy: of the window, or of a unit of work if work differs."""
    return variant.per_work_change if result.other_work else variant.energy_change


def _by(result: ScenarioResult) -> str:
    return f" per {result.work_unit}" if result.other_work else ""


def _in_words(change: Change) -> str:
    percent = f"{_signed(change.percent)} %"
    if change.low is None or change.high is None:
        return percent
    low, high = (cut(end, PERCENT_CHANGE) for end in (change.low, change.high))
    return f"{percent} ({_signed(low)} to {_signed(high)})"


def _signed(value: float) -> str:
    """With a sign and a digit; never -0.0."""
    return f"{round(value, 1) + 0.0:+.1f}"


def _summary(record: Comparisons) -> Table:
    """One line per scenario: energy against the first variant's, and the verdicts."""
    rows = []
    for result in record.scenarios:
        name = f"{result.scenario}, {result.controls}" if by_controls(record) else result.scenario
        rows.append([name, _energies(record, result), counts(result.judged)])
    heads = [
        "scenario",
        f"energy, % of {record.scenarios[0].variants[0].name}'s",
        "verdicts",
    ]
    return Table.of(heads, rows, left=2)


def _energies(record: Comparisons, result: ScenarioResult) -> str:
    """The changes of each variant's energy, and the noise floor if it was measured."""
    changes = [
        f"{variant.name} {change_text(_primary(result, variant), 'the same')}"
        for variant in result.variants[1:]
    ]
    if not changes:
        return "-"
    floor = floor_words(record, result, per_work=result.other_work)
    return f"{'; '.join(changes)}{_by(result)}; {floor}"


def _scenarios(record: Comparisons) -> Iterator[str]:
    last = ""
    for result in record.scenarios:
        if result.scenario != last:
            yield f"### {result.scenario}\n\n{result.summary}.\n\n{result.source}"
            last = result.scenario
        if by_controls(record):
            yield f"#### {result.scenario}: {result.controls}"
        if result.source_had:
            yield f"{result.source_had}."
        yield of_scenario(record, result)
        yield _figures(record, result).markdown()
        yield _placement(result).markdown()
        if printed := _printed_rows(result, result.variants[0].printed):
            yield Table.of(_printed_heads(result), printed).markdown()
        verdicts = "\n".join(_verdicts(record, result))
        if verdicts:
            yield verdicts


def _figures(record: Comparisons, result: ScenarioResult) -> Table:
    whole, per_work = (
        f" ({floor_words(record, result, per_work=per_work)})" for per_work in (False, True)
    )
    base = result.variants[0].name
    heads = ["variant", "energy (mJ)", f"% of {base}'s{whole}"]
    if result.other_work:
        heads += ["work, %", f"mJ per {result.work_unit}", f"%{per_work}"]
    heads += ["wake-up p95 (us)", *(["missed"] if _has_deadlines(result) else []), "migrations"]
    heads += [
        "overutilized (%)",
        *([f"{result.throughput} (1/s)", "%"] if result.throughput else []),
    ]
    return Table.of(heads, [_figures_row(result, variant) for variant in result.variants])


def _figures_row(result: ScenarioResult, variant: VariantResult) -> list[str]:
    first = variant.name == result.variants[0].name
    latency = variant.latency
    row = [
        variant.name,
        spread_text(variant.energy_mj, 1),
        change_text(variant.energy_change, "" if first else "-"),
    ]
    if result.other_work:
        row.append(change_text(variant.work_change, "" if first else "-"))
        row.append(spread_text(variant.energy_per_work_mj, 1))
        row.append(change_text(variant.per_work_change, "" if first else "-"))
    row += [
        "-" if latency is None else f"{spread_text(latency.p95_us, 0)} {latency.task}",
        *([spread_text(variant.missed_deadlines, 1)] if _has_deadlines(result) else []),
        spread_text(variant.migrations, 1),
        spread_text(variant.overutilized_percent, 1),
    ]
    if result.throughput:
        row.append(spread_text(variant.throughput_per_s, 0))
        row.append(change_text(variant.throughput_change, "" if first else "-"))
    return row


def _has_deadlines(result: ScenarioResult) -> bool:
    return any(variant.missed_deadlines is not None for variant in result.variants)


def _placement(result: ScenarioResult) -> Table:
    heads = ["variant"]
    for name in result.variants[0].clusters:
        heads += [f"work on {name} (%)", f"{name} (MHz)", f"{name} transitions (1/s)"]
    rows = []
    for variant in result.variants:
        row = [variant.name]
        for cluster in variant.clusters.values():
            row.append(spread_text(cluster.work_percent, 1))
            row.append(spread_text(cluster.mhz, 0))
            row.append(spread_text(cluster.transitions_per_s, 1))
        rows.append(row)
    return Table.of(heads, rows)


def _printed_heads(result: ScenarioResult) -> list[str]:
    base, *others = (variant.name for variant in result.variants)
    return ["printed", base, *(f"{name}, %" for name in others)]


def _printed_rows(result: ScenarioResult, measures: Iterable[str]) -> list[list[str]]:
    """A row of each measure: the first variant's values, and how the others differ."""
    rows = []
    base, *others = result.variants
    for measure in measures:
        line = printed_row(*measure.split("."))
        first = base.printed.get(measure)
        known = [variant.printed.get(measure) for variant in others]
        rows.append(
            [
                f"{line.label} ({line.unit})",
                spread_text(first.values if first else None, line.digits),
                *(change_text(each.change if each else None) for each in known),
            ]
        )
    return rows


def spread_text(spread: Spread | None, digits: int) -> str:
    """The mean, and its ends in brackets where they differ by what is shown."""
    if spread is None:
        return "-"
    if spread.most - spread.least < 0.5 * 10**-digits:
        return f"{spread.mean:.{digits}f}"
    return f"{spread.mean:.{digits}f} ({spread.least:.{digits}f}..{spread.most:.{digits}f})"


def change_text(change: Change | None, absent: str = "-") -> str:
    """The difference in per cent, with its interval where there is one.

    Ends that no run can have are cut to what is possible.
    """
    if change is None:
        return absent
    if change.low is None or change.high is None:
        return f"{change.percent:+.1f}"
    low, high = (cut(end, PERCENT_CHANGE) for end in (change.low, change.high))
    return f"{change.percent:+.1f} ({low:+.1f}..{high:+.1f})"


def _verdicts(record: Comparisons, result: ScenarioResult) -> Iterator[str]:
    """The source's statements with their verdicts; where they differ, the platform's finding."""
    known = findings(record.platform, result.scenario)
    of_result = conditions_of(record, result)
    for judged in result.judged:
        yield (
            f"* **{judged.verdict}**: {judged.variant}: `{judged.statement}`: {details(judged)}. "
            f"Source: {judged.source}."
        )
        if judged.seeds_met < judged.seeds:
            finding = known.get((judged.variant, judged.statement))
            if finding is not None:
                yield f"  Finding: {finding.shown(of_result)}"
            elif not judged.met:
                yield "  Finding: none yet."


DRAWINGS = {
    name: Drawing(Comparisons, parts_of_programs if name in OF_PROGRAMS else parts, changes)
    for name in NAMES
}
