# SPDX-License-Identifier: GPL-2.0-or-later
"""The drawings of campaigns, from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

from matplotlib.figure import Figure

from analysis.difference import Difference
from analysis.figures import differences, fronts, lines
from analysis.figures.common import Note, note_with
from analysis.figures.reach import WORDS as GOES_ON
from analysis.figures.reach import possible
from analysis.results.campaigns import (
    ENERGY,
    LATENCY,
    MISSED,
    CampaignResult,
    SweptCell,
    SweptMeasure,
    SweptScenario,
)
from analysis.statistics import ENOUGH
from configs.opp_spacing import SPACINGS
from studies.campaigns.cells import grouped
from studies.campaigns.errors import error_lines
from studies.campaigns.opps import spacings, varied_opps
from studies.campaigns.plan import (
    AS_IS,
    CROSSING,
    ENDS,
    FRONTS,
    LINES,
    OPPS,
    RATE_LIMIT,
    ROWS,
    spacing_of,
)
from studies.campaigns.shipped import PAGES
from studies.campaigns.views import DrawingView, worth_a_row

#: Microseconds of a unit of the drawings' latencies.
MS = 1e3
#: The measures of lines, with the factor to the drawing's unit.
_MEASURES = {ENERGY: 1.0, LATENCY: 1 / MS, MISSED: 1.0}
#: Names of spacings, in the order of colours.
_SPACINGS = tuple(SPACINGS)


def draw(record: CampaignResult, view: DrawingView) -> Figure:
    """One drawing."""
    return _DRAW[view.kind](record, view)


def _note(record: CampaignResult, view: DrawingView, *also: str) -> Note:
    """The texts of a drawing.

    :param also: what else intervals say.
    """
    seeds = len(record.seeds)
    what = "differences" if view.kind in (CROSSING, ROWS) else "means"
    bars = f"bars: 95 % intervals of {what}" if seeds >= ENOUGH else "no intervals"
    bars = "; ".join([bars, *(also if seeds >= ENOUGH else ())])
    shown = {cell.axes["scenario"] for cell in view.cells}
    errors = dict.fromkeys(each.error for each in record.scenarios if each.scenario in shown)
    text = (
        f"Engine: {record.engine} ({'; '.join(errors)}). {record.power.capitalize()} power; "
        f"means over {seeds} of {record.planned_seeds} seeds; {bars}."
    )
    return note_with(f"{record.campaign}: {view.title}", text)


def _meaning(record: CampaignResult, scenario: str) -> SweptScenario:
    return next(each for each in record.scenarios if each.scenario == scenario)


def _ends(measure: SweptMeasure, factor: float = 1.0) -> tuple[float, float] | None:
    """The interval of a mean; cut at zero, as the page's tables: no measure is below that."""
    if measure.low is None or measure.high is None:
        return None
    return factor * max(0.0, measure.low), factor * measure.high


# Lines over a number.


def _lines(record: CampaignResult, view: DrawingView) -> Figure:
    if clusters := varied_opps(record):
        return _over_opps(record, view, clusters)
    return _over_limits(record, view)


#: Lines of a measure of cells.
_Series = Callable[[Sequence[SweptCell], str], Iterable[lines.LineSeries]]
_Levels = Callable[[Sequence[SweptCell], str], Iterable[lines.LineLevel]]


def _none(cells: Sequence[SweptCell], measure: str) -> Iterable[lines.LineLevel]:
    del cells, measure
    return ()


def _row(
    meaning: SweptScenario,
    title: str,
    cells: Sequence[SweptCell],
    series: _Series,
    levels: _Levels = _none,
) -> list[lines.LinePanel]:
    """A panel for each measure that the scenario has."""
    known = [
        name
        for name in _MEASURES
        if any(name in cell.measures and cell.measures[name].mean for cell in cells)
    ]
    return [
        lines.LinePanel(
            "" if place else title,
            _measure_label(meaning, name),
            tuple(series(cells, name)),
            tuple(levels(cells, name)),
            least=1.0 if name == MISSED else 0.0,
        )
        for place, name in enumerate(known)
    ]


def _measure_label(meaning: SweptScenario, measure: str) -> str:
    words = {
        ENERGY: f"energy (mJ per {meaning.work_unit})",
        LATENCY: f"{meaning.latency} (ms)",
        MISSED: meaning.missed.partition(" (")[0],
    }
    return words[measure]


def _over_opps(record: CampaignResult, view: DrawingView, clusters: Mapping[str, str]) -> Figure:
    """A row for each variant and each cluster whose OPPs vary."""
    labels = [cell.axes[axis] for cell in view.cells for axis in clusters]
    counts = sorted({made[0] for each in labels if (made := spacing_of(each)) is not None})
    rows = [
        _row(
            _meaning(record, scenario),
            f"{scenario} with {variant}, OPPs of the {cluster} cluster",
            cells,
            partial(_opp_series, axis),
            _own_level,
        )
        for (scenario,), of_scenario in grouped(view.cells, ("scenario",)).items()
        for axis, cluster in clusters.items()
        for (variant,), cells in grouped(of_scenario, ("variant",)).items()
    ]
    axis = lines.LineAxis(
        "OPPs of the cluster",
        tuple((float(count), str(count)) for count in counts),
        logarithmic=True,
        common=f"{ENDS} OPPs: the same of all spacings",
    )
    note = _note(record, view, "grey: that of the board's own OPPs")
    return lines.draw(rows, axis, note, alike=True)


def _opp_series(axis: str, cells: Sequence[SweptCell], measure: str) -> Iterator[lines.LineSeries]:
    for spacing, series in spacings(cells, axis).items():
        points = _points([(float(count), cell) for count, cell in series], measure)
        shared = (replace(each, common=each.x == ENDS) for each in points)
        yield lines.LineSeries(spacing, _SPACINGS.index(spacing), False, tuple(shared))


def _own_level(cells: Sequence[SweptCell], measure: str) -> Iterator[lines.LineLevel]:
    for cell in cells:
        own = all(cell.axes[each] == AS_IS for each in OPPS if each in cell.axes)
        if own and measure in cell.measures:
            factor, made = _MEASURES[measure], cell.measures[measure]
            yield lines.LineLevel("the board's own OPPs", factor * made.mean, _ends(made, factor))


def _over_limits(record: CampaignResult, view: DrawingView) -> Figure:
    limits = sorted({int(cell.axes[RATE_LIMIT]) for cell in view.cells})
    ticks = tuple((float(limit), f"{limit / MS:g}") for limit in limits)
    rows = [
        _row(_meaning(record, scenario), scenario, cells, _limit_series)
        for (scenario,), cells in grouped(view.cells, ("scenario",)).items()
    ]
    axis = lines.LineAxis("rate limit (ms)", ticks, logarithmic=True)
    return lines.draw(rows, axis, _note(record, view))


def _limit_series(cells: Sequence[SweptCell], measure: str) -> Iterator[lines.LineSeries]:
    for number, ((variant,), group) in enumerate(grouped(cells, ("variant",)).items()):
        placed = sorted(((float(cell.axes[RATE_LIMIT]), cell) for cell in group), key=itemgetter(0))
        points = _points(placed, measure)
        yield lines.LineSeries(variant, number, number > 0, points)


def _points(placed: Sequence[tuple[float, SweptCell]], measure: str) -> tuple[lines.LinePoint, ...]:
    factor = _MEASURES[measure]
    return tuple(
        lines.LinePoint(place, factor * made.mean, _ends(made, factor))
        for place, cell in placed
        if (made := cell.measures.get(measure)) is not None
    )


# Differences over the error of the energy model.


def _crossing(record: CampaignResult, view: DrawingView) -> Figure:
    percents = sorted(
        {
            point.percent
            for scenario in record.axes["scenario"]
            for points in error_lines(record, scenario).values()
            for point in points
        }
    )
    than = record.reference["variant"].upper()
    rows = [
        [
            lines.LinePanel(
                f"{scenario}, differences from {than}" if measure == ENERGY else "",
                f"{_difference_words(_meaning(record, scenario), measure)} (%)",
                tuple(_error_series(record, scenario, measure)),
                differences=True,
                noise=_floor(view.cells, scenario, measure),
            )
            for measure in (ENERGY, LATENCY)
        ]
        for scenario in record.axes["scenario"]
    ]
    axis = lines.LineAxis(
        "error of the cluster's power in the kernel's model (%)",
        tuple((percent, f"{percent:+.0f}" if percent else "0") for percent in percents),
        common="no error",
    )
    on = any(lines.goes_on(panel) for row in rows for panel in row)
    note = _note(record, view, *_floor_words(view), *([GOES_ON] if on else []))
    return lines.draw(rows, axis, note)


def _difference_words(meaning: SweptScenario, measure: str) -> str:
    return f"energy per {meaning.work_unit}" if measure == ENERGY else meaning.latency


def _error_series(
    record: CampaignResult, scenario: str, measure: str
) -> Iterator[lines.LineSeries]:
    for number, (cluster, points) in enumerate(error_lines(record, scenario).items()):
        made = [
            lines.LinePoint(
                point.percent,
                against.percent,
                possible(against.in_percent()),
                common=point.percent == 0,
            )
            for point in points
            if (against := _made(point.cell, measure)) is not None and against.percent is not None
        ]
        yield lines.LineSeries(f"error of the {cluster} cluster", number, number > 0, tuple(made))


def _floor(cells: Sequence[SweptCell], scenario: str, measure: str) -> float | None:
    """The noise floor of a drawing's cells of a scenario, in percent; None if none is known."""
    own = [cell for cell in cells if cell.axes["scenario"] == scenario]
    return next((cell.floors[measure] for cell in own if measure in cell.floors), None)


def _floor_words(view: DrawingView) -> list[str]:
    known = any(measure in cell.floors for cell in view.cells for measure in (ENERGY, LATENCY))
    return ["grey: noise floor, mainline's difference from itself"] if known else []


def _made(cell: SweptCell, measure: str) -> Difference | None:
    known = cell.measures.get(measure)
    return None if known is None or known.against is None else known.against.made


# Fronts.


def _fronts(record: CampaignResult, view: DrawingView) -> Figure:
    """A row for each scenario's latency, and one for its misses if there are any."""
    rows = [
        [
            fronts.FrontPanel(
                f"{scenario}, {variant}",
                _measure_label(_meaning(record, scenario), measure),
                _measure_label(_meaning(record, scenario), ENERGY),
                tuple(_front_points(cells, measure)),
            )
            for (variant,), cells in grouped(of_scenario, ("variant",)).items()
        ]
        for (scenario,), of_scenario in grouped(view.cells, ("scenario",)).items()
        for measure in (LATENCY, MISSED)
        if worth_a_row(of_scenario, measure)
    ]
    return fronts.draw(
        rows, _note(record, view), f"clearly less {' and '.join(PAGES[record.campaign].beaten_in)}"
    )


def _front_points(cells: Sequence[SweptCell], measure: str) -> Iterator[fronts.FrontPoint]:
    for cell in cells:
        if ENERGY in cell.measures and measure in cell.measures:
            energy, other = cell.measures[ENERGY], cell.measures[measure]
            factor = _MEASURES[measure]
            yield fronts.FrontPoint(
                name=cell.axes["topology"],
                x=factor * other.mean,
                y=energy.mean,
                x_ends=_ends(other, factor),
                y_ends=_ends(energy),
                # Nothing is decided by misses.
                beaten=measure != MISSED and bool(cell.beaten_by),
            )


# Rows of differences.


def _rows(record: CampaignResult, view: DrawingView) -> Figure:
    """Energy and latency, by scenario and variant."""
    groups = [
        differences.DifferenceGroup(
            scenario,
            tuple(_floor(cells, scenario, measure) for measure in (ENERGY, LATENCY)),
            tuple(
                differences.DifferenceRow(
                    cell.axes["variant"], (_made(cell, ENERGY), _made(cell, LATENCY))
                )
                for cell in cells
                if _made(cell, ENERGY) is not None
            ),
        )
        for (scenario,), cells in grouped(view.cells, ("scenario",)).items()
    ]
    also = "filled: it excludes zero, and the difference exceeds the noise floor if one is known"
    on = [GOES_ON] if differences.goes_on(groups) else []
    note = _note(record, view, also, *_floor_words(view), *on)
    return differences.draw(groups, ("energy per unit of work", "latency"), note)


_DRAW: Mapping[str, Callable[[CampaignResult, DrawingView], Figure]] = {
    LINES: _lines,
    CROSSING: _crossing,
    FRONTS: _fronts,
    ROWS: _rows,
}
