# SPDX-License-Identifier: GPL-2.0-or-later
"""The drawings of campaigns, from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter

from matplotlib.figure import Figure

from analysis.difference import Difference
from analysis.figures import axis as rows_figure
from analysis.figures import fronts, lines
from analysis.figures.common import Note, note_with
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
from studies.campaigns.cells import grouped
from studies.campaigns.errors import error_lines
from studies.campaigns.opps import spacings, varied_opps
from studies.campaigns.plan import (
    AS_IS,
    CROSSING,
    FRONTS,
    LINES,
    OPPS,
    RATE_LIMIT,
    ROWS,
    spacing_of,
)
from studies.campaigns.views import DrawingView

#: Microseconds of a unit of the drawings' latencies.
MS = 1e3
#: The measures of lines, with the factor to the drawing's unit.
_MEASURES = {ENERGY: 1.0, LATENCY: 1 / MS, MISSED: 1.0}
#: Names of spacings, in the order of colours.
_SPACINGS = ("even", "geometric", "power")
#: Colour of what a platform has itself.
_OWN = 7


def draw(record: CampaignResult, view: DrawingView) -> Figure:
    """One drawing."""
    return _DRAW[view.kind](record, view)


def _note(record: CampaignResult, view: DrawingView) -> Note:
    seeds = len(record.seeds)
    what = "differences" if view.kind in (CROSSING, ROWS) else "means"
    bars = f"bars: 95 % intervals of {what}" if seeds >= ENOUGH else "no intervals"
    errors = dict.fromkeys(each.error for each in record.scenarios)
    text = (
        f"Engine: {record.engine} ({'; '.join(errors)}). {record.power.capitalize()} power; "
        f"means over {seeds} of {record.planned_seeds} seeds; {bars}."
    )
    return note_with(f"{record.campaign}: {view.title}", text)


def _meaning(record: CampaignResult, scenario: str) -> SweptScenario:
    return next(each for each in record.scenarios if each.scenario == scenario)


def _ends(measure: SweptMeasure, factor: float = 1.0) -> tuple[float, float] | None:
    if measure.low is None or measure.high is None:
        return None
    return factor * measure.low, factor * measure.high


# Lines over a number.


def _lines(record: CampaignResult, view: DrawingView) -> Figure:
    if clusters := varied_opps(record):
        return _over_opps(record, view, clusters)
    series, axis = _over_limits(view)
    return lines.draw(list(_panels(record, view.cells, series)), axis, _note(record, view))


#: Cells of a scenario and a measure to its lines.
_SeriesOf = Callable[[Sequence[SweptCell], str], Iterator[lines.LineSeries]]


def _panels(
    record: CampaignResult, cells: Sequence[SweptCell], series: _SeriesOf, where: str = ""
) -> Iterator[list[lines.LinePanel]]:
    """A row for each scenario, with a panel for each measure.

    :param where: what the titles say besides the scenario.
    """
    counted = [
        name
        for name in _MEASURES
        if any(name in cell.measures and cell.measures[name].mean for cell in cells)
    ]
    for (scenario,), own in grouped(cells, ("scenario",)).items():
        meaning = _meaning(record, scenario)
        yield [
            lines.LinePanel(_title(meaning, name, where), tuple(series(own, name)))
            for name in counted
        ]


def _title(meaning: SweptScenario, measure: str, where: str) -> str:
    words = {
        ENERGY: f"energy (mJ per {meaning.work_unit})",
        LATENCY: f"{meaning.latency or 'latency'} (ms)",
        MISSED: meaning.missed or "missed",
    }
    return f"{meaning.scenario}{where}: {words[measure]}"


def _over_opps(record: CampaignResult, view: DrawingView, clusters: Mapping[str, str]) -> Figure:
    """Rows of each cluster whose OPPs vary."""
    labels = [cell.axes[axis] for cell in view.cells for axis in clusters]
    counts = sorted({made[0] for each in labels if (made := spacing_of(each)) is not None})
    ticks = tuple((float(count), str(count)) for count in counts)
    rows = [
        row
        for axis, cluster in clusters.items()
        for row in _panels(record, view.cells, partial(_opp_series, axis), f", {cluster} cluster")
    ]
    return lines.draw(rows, lines.LineAxis("OPPs of the cluster", ticks), _note(record, view))


def _opp_series(axis: str, cells: Sequence[SweptCell], measure: str) -> Iterator[lines.LineSeries]:
    for number, ((variant,), group) in enumerate(grouped(cells, ("variant",)).items()):
        for spacing, series in spacings(group, axis).items():
            points = _points([(float(count), cell) for count, cell in series], measure)
            yield lines.LineSeries(
                f"{spacing}, {variant}", _SPACINGS.index(spacing), number > 0, points
            )
        for cell in group:
            own = all(cell.axes[each] == AS_IS for each in OPPS if each in cell.axes)
            if own and measure in cell.measures:
                level = _MEASURES[measure] * cell.measures[measure].mean
                yield lines.LineSeries(f"the board's own, {variant}", _OWN, number > 0, (), level)


def _over_limits(view: DrawingView) -> tuple[_SeriesOf, lines.LineAxis]:
    limits = sorted({int(cell.axes[RATE_LIMIT]) for cell in view.cells})
    ticks = tuple((float(limit), f"{limit / MS:g}") for limit in limits)
    return _limit_series, lines.LineAxis("rate limit (ms)", ticks, logarithmic=True)


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
    reference = record.reference["variant"].upper()
    rows = [
        [
            lines.LinePanel(
                f"{scenario}: {words}, difference from {reference} (%)",
                tuple(_error_series(record, scenario, measure)),
                zero=True,
            )
            for measure, words in (
                (ENERGY, "energy per unit of work"),
                (LATENCY, _meaning(record, scenario).latency or "latency"),
            )
        ]
        for scenario in record.axes["scenario"]
    ]
    ticks = tuple((percent, f"{percent:+.0f}" if percent else "0") for percent in percents)
    axis = lines.LineAxis("error of the cluster's power in the kernel's model (%)", ticks)
    return lines.draw(rows, axis, _note(record, view))


def _error_series(
    record: CampaignResult, scenario: str, measure: str
) -> Iterator[lines.LineSeries]:
    for number, (cluster, points) in enumerate(error_lines(record, scenario).items()):
        made = [
            lines.LinePoint(point.percent, against.percent, against.in_percent())
            for point in points
            if (against := _made(point.cell, measure)) is not None and against.percent is not None
        ]
        yield lines.LineSeries(f"{cluster} wrong", number, False, tuple(made))


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
                _x_label(_meaning(record, scenario), measure),
                f"energy (mJ per {_meaning(record, scenario).work_unit})",
                tuple(_front_points(cells, measure)),
            )
            for (variant,), cells in grouped(of_scenario, ("variant",)).items()
        ]
        for (scenario,), of_scenario in grouped(view.cells, ("scenario",)).items()
        for measure in (LATENCY, MISSED)
        if _worth_a_row(of_scenario, measure)
    ]
    return fronts.draw(rows, _note(record, view))


def _worth_a_row(cells: Sequence[SweptCell], measure: str) -> bool:
    """Misses have a row if two cells differ by more than one on average."""
    means = [cell.measures[measure].mean for cell in cells if measure in cell.measures]
    return bool(means) and (measure == LATENCY or max(means) - min(means) > 1)


def _x_label(meaning: SweptScenario, measure: str) -> str:
    if measure == LATENCY:
        return f"{meaning.latency} (ms)"
    return meaning.missed.partition(" (")[0]


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
                # The page compares latencies, not misses.
                beaten=measure == LATENCY and bool(cell.beaten_by),
            )


# Rows of differences.


def _rows(record: CampaignResult, view: DrawingView) -> Figure:
    rows = [
        (f"{cell.axes['scenario']}, {cell.axes['variant']}", made)
        for cell in view.cells
        if (made := _made(cell, ENERGY)) is not None
    ]
    note = _note(record, view)
    return rows_figure.draw(rows, note.title, "energy per work", note)


_DRAW: Mapping[str, Callable[[CampaignResult, DrawingView], Figure]] = {
    LINES: _lines,
    CROSSING: _crossing,
    FRONTS: _fronts,
    ROWS: _rows,
}
