# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a campaign: the parts for its notes, and its drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.results.campaigns import (
    ENERGY,
    LATENCY,
    MISSED,
    WORK,
    CampaignResult,
    SweptCell,
    SweptMeasure,
    SweptScenario,
)
from analysis.results.comparisons import Change
from analysis.statistics import ENOUGH
from host.table import Table
from studies.campaigns.cells import grouped, joined, overloads, varied
from studies.campaigns.plan import record_name
from studies.campaigns.shipped import PAGES, answer, answer_points
from studies.campaigns.views import views
from studies.drawing import Drawing
from studies.pages.page import change_text
from studies.patches import origin_words

#: Axes whose values have a heading of their own.
HEADED = ("platform", "scenario")
#: The axis by which noise floors differ.
_SPEEDS = "controls.speeds"


def parts(
    record: CampaignResult, on_gem5: Sequence[str] = (), of_single: str = ""
) -> dict[str, str]:
    """Markdown by the names that the notes use.

    :param on_gem5: paragraphs on the cells that gem5 ran.
    :param of_single: what sets these, which are single seeds, in relation to errors of means.
    """
    return {
        "question": record.question,
        "answer": answer(record),
        "points": _bullets(iter(answer_points(record))),
        "figures": "\n\n".join(_figures(record)),
        "conditions": _bullets(_conditions(record)),
        "tables": "\n\n".join([*_tables(record), *on_gem5]),
        "limits": _bullets(_limits(record, of_single, sampled=bool(on_gem5))),
    }


def _bullets(lines: Iterator[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)


def _figures(record: CampaignResult) -> Iterator[str]:
    folder = record_name(record.campaign)
    for name, view in views(record).items():
        yield f"![{view.title}]({folder}/{name}.svg)\n\n{view.title} ([PDF]({folder}/{name}.pdf))."


def seed_words(record: CampaignResult) -> str:
    """The seeds that were run, and how many the campaign has if these are more."""
    seeds = list(record.seeds)
    in_a_row = seeds == list(range(seeds[0], seeds[-1] + 1))
    names = f"{seeds[0]} to {seeds[-1]}" if in_a_row else ", ".join(map(str, seeds))
    words = f"{len(seeds)} seeds ({names})" if len(seeds) > 1 else f"one seed ({seeds[0]})"
    more = record.planned_seeds > len(seeds)
    return f"{words} of the campaign's {record.planned_seeds}" if more else words


def _conditions(record: CampaignResult) -> Iterator[str]:
    yield (
        f"Campaign `{record.campaign}`: {record.summary}. Engine {record.engine}, "
        f"{record.duration} windows, energy from {record.power} power, Linux {record.kernel}."
    )
    yield f"{len(record.cells)} combinations, each with {seed_words(record)}."
    for name, values in record.axes.items():
        yield f"{name}: {', '.join(values)}."
    if len(record.seeds) >= ENOUGH:
        yield (
            "Brackets have 95 % intervals ([how they are made](../reference/measures.md#intervals)"
            f"): of a mean, or of the difference from {_reference(record)}."
        )
        yield (
            "*Clearly*, and how noise floors and overload count: [verdicts of campaigns]"
            "(../reference/measures.md#verdicts-of-campaigns)."
        )
    else:
        yield f"Differences are from {_reference(record)}."
    if PAGES[record.campaign].axes:
        yield (
            "*beaten by*: what has clearly less of "
            + " and ".join(PAGES[record.campaign].beaten_in)
            + "."
        )
    yield origin_words(record.origin, record.axes["variant"])
    yield from (f"{remark[:1].upper()}{remark[1:]}." for remark in record.origin.remarks)


def _reference(record: CampaignResult) -> str:
    return ", ".join(f"{name} {value}" for name, value in record.reference.items())


def _limits(record: CampaignResult, of_single: str, *, sampled: bool) -> Iterator[str]:
    yield f"{record.limits[:1].upper()}{record.limits[1:]}."
    if len(record.seeds) < record.planned_seeds:
        yield f"The record has {seed_words(record)}."
    if len(record.seeds) < ENOUGH:
        yield f"An interval needs {ENOUGH} seeds: no difference on this page is decided."
    for name, values in record.left_out.items():
        yield f"Not run: {name} {', '.join(values)}."
    if overloaded := list(overloads(record)):
        yield (
            "Overloaded, with more than half as many frames missed as drawn: "
            f"{joined(overloaded)}. "
            "Latencies there are a backlog, which depends on the window's length."
        )
    errors: dict[str, list[str]] = {}
    for scenario in record.scenarios:
        errors.setdefault(scenario.error, []).append(scenario.scenario)
    others = ", a sample aside" if sampled else ""
    for error, scenarios in errors.items():
        yield (
            f"Only engine {record.engine} ran these cells{others}; {', '.join(scenarios)}: {error}."
        )
    if of_single:
        yield of_single


def _tables(record: CampaignResult) -> Iterator[str]:
    """A table for each platform and scenario."""
    meanings = {each.scenario: each for each in record.scenarios}
    for (platform, scenario), cells in grouped(record.cells, HEADED).items():
        meaning = meanings[scenario]
        yield f"### {scenario} on {platform}"
        yield f"{_meaning(meaning)}; {_floors(cells)}."
        yield _table(record, meaning, cells).markdown()


def _meaning(meaning: SweptScenario) -> str:
    words = [f"Energy is for a unit of work: {meaning.work_unit}"]
    words += [f"latency: {meaning.latency}"] if meaning.latency else []
    words += [f"missed: {meaning.missed}"] if meaning.missed else []
    return "; ".join(words)


def _floors(cells: Sequence[SweptCell]) -> str:
    """The noise floors of cells, in percent; those of some cells with their speeds."""
    words: dict[str, list[SweptCell]] = {}
    for cell in cells:
        known = [f"{measure} +-{percent:.1f} %" for measure, percent in cell.floors.items()]
        words.setdefault(", ".join(known) or "not known", []).append(cell)
    if len(words) == 1:
        return f"noise floor: {next(iter(words))}"
    return "noise floor: " + ", ".join(f"{text} ({_where(own)})" for text, own in words.items())


def _where(cells: Sequence[SweptCell]) -> str:
    """The speeds of cells, or how many they are if the campaign varies no speeds."""
    speeds = dict.fromkeys(cell.axes[_SPEEDS] for cell in cells if _SPEEDS in cell.axes)
    if not speeds:
        return f"{len(cells)} cells"
    return f"{_SPEEDS.rpartition('.')[2]} {joined([*speeds])}"


def _table(record: CampaignResult, meaning: SweptScenario, cells: Sequence[SweptCell]) -> Table:
    names = varied(record, (name for name in record.axes if name not in HEADED))
    names = names or ["variant"]
    heads = [*names, "energy (mJ)", "%"]
    heads += ["latency (us)", "%"] if meaning.latency else []
    heads += ["missed"] if meaning.missed else []
    heads += ["work", "%"]
    compared = bool(PAGES[record.campaign].axes)
    heads += ["beaten by"] if compared else []
    return Table.of(
        heads,
        [_row(meaning, cell, names, with_beaten=compared) for cell in cells],
        left=len(names),
    )


def _row(
    meaning: SweptScenario, cell: SweptCell, names: Sequence[str], *, with_beaten: bool
) -> list[str]:
    measures = cell.measures
    row = [cell.axes[name] for name in names]
    row += [measure_text(measures.get(ENERGY), 3), percent_text(measures.get(ENERGY))]
    if meaning.latency:
        row += [measure_text(measures.get(LATENCY), 0), percent_text(measures.get(LATENCY))]
    if meaning.missed:
        row.append(measure_text(measures.get(MISSED), 1))
    row += [measure_text(measures.get(WORK), 2), percent_text(measures.get(WORK))]
    return [*row, ", ".join(cell.beaten_by) or "-"] if with_beaten else row


def measure_text(measure: SweptMeasure | None, digits: int) -> str:
    """The mean and its interval, where the interval differs by what is shown."""
    if measure is None:
        return "-"
    text = f"{measure.mean:.{digits}f}"
    if measure.low is None or measure.high is None:
        return text
    if measure.high - measure.low < 0.5 * 10**-digits:
        return text
    # No measure of a campaign is below zero; an interval is made without regard to that.
    return f"{text} ({max(0.0, measure.low):.{digits}f}..{measure.high:.{digits}f})"


def percent_text(measure: SweptMeasure | None) -> str:
    """The difference from the reference in per cent; empty for the reference itself."""
    if measure is None or measure.against is None:
        return ""
    made = measure.against.made
    if made.percent is None:
        return "-"
    low, high = made.in_percent() or (None, None)
    return change_text(Change(made.percent, low, high))


def draw(record: CampaignResult, folder: Path) -> None:
    """Write the page's drawings into ``folder``, as SVG and PDF."""
    # matplotlib takes a second, and most pages have no drawing.
    from analysis.figures import style  # noqa: PLC0415
    from studies.campaigns import figures  # noqa: PLC0415

    with style.styled():
        for name, view in views(record).items():
            style.save(figures.draw(record, view), folder, name)


DRAWINGS = {record_name(campaign): Drawing(CampaignResult, parts, draw=draw) for campaign in PAGES}
