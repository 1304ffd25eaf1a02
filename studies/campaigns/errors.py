# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of em-error-sweep: EAS with a wrong energy model, compared with CAS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.results.campaigns import ENERGY, LATENCY, MISSED, WORK, CampaignResult, SweptCell
from studies.campaigns.cells import difference_words, joined, mostly_overloaded, percent
from studies.campaigns.plan import EM_ERROR, NO_ERROR

#: The cluster of an error in the energy model, and the error in percent.
ClusterError = tuple[str, float]
#: Sides of the difference in energy from CAS, by sign.
_SIDES = {-1: "clearly less", 0: "no clear difference", 1: "clearly more"}


def error_of(label: str) -> ClusterError | None:
    """Cluster and percent of ``big=-20%``; None where there is no error."""
    cluster, equals, percent = label.partition("=")
    return (cluster, float(percent.removesuffix("%"))) if equals else None


@dataclass(frozen=True)
class ErrorPoint:
    """EAS with a wrong energy model, against CAS."""

    percent: float
    cell: SweptCell


def error_lines(record: CampaignResult, scenario: str) -> dict[str, list[ErrorPoint]]:
    """Cells of EAS by the wrong cluster and the error; the right model belongs to all."""
    cells = _of_eas(record, scenario)
    right = [ErrorPoint(0.0, cell) for cell in cells if cell.axes[EM_ERROR] == NO_ERROR]
    lines: dict[str, list[ErrorPoint]] = {}
    for cell in cells:
        made = error_of(cell.axes[EM_ERROR])
        if made is not None:
            lines.setdefault(made[0], list(right)).append(ErrorPoint(made[1], cell))
    return {
        cluster: sorted(points, key=lambda point: point.percent)
        for cluster, points in lines.items()
    }


def _of_eas(record: CampaignResult, scenario: str) -> list[SweptCell]:
    return [
        cell
        for cell in record.cells
        if cell.axes["scenario"] == scenario and cell.axes["variant"] != record.reference["variant"]
    ]


def _by_side(points: Sequence[ErrorPoint]) -> dict[int, list[ErrorPoint]]:
    """Wrong models by the sign of the difference in energy from CAS."""
    wrong = [point for point in points if point.percent]
    return {sign: [p for p in wrong if p.cell.sign(ENERGY) == sign] for sign in _SIDES}


def answer(record: CampaignResult) -> str:
    """Of each scenario: the side of CAS on which EAS is, at how many errors of each cluster."""
    scenarios = []
    for scenario in record.axes["scenario"]:
        words = [
            f"of {sum(map(len, by_side.values()))} errors of {cluster} "
            + ", ".join(f"{_SIDES[sign]} at {len(own)}" for sign, own in by_side.items() if own)
            for cluster, points in error_lines(record, scenario).items()
            for by_side in (_by_side(points),)
        ]
        for right in _right(record, scenario):
            words.append(f"with the right model {_SIDES[right.sign(ENERGY)]}")
        scenarios.append(f"{_named(record, scenario)}: {'; '.join(words)}")
    return f"energy of EAS compared with that of CAS: {' · '.join(scenarios)}"


def _named(record: CampaignResult, scenario: str) -> str:
    heavy = mostly_overloaded(record, _of_eas(record, scenario))
    return f"{scenario}{' (overloaded)' if heavy else ''}"


def _right(record: CampaignResult, scenario: str) -> list[SweptCell]:
    """The cell of EAS with the right model, if there is one."""
    return [
        cell
        for cell in _of_eas(record, scenario)
        if cell.axes[EM_ERROR] == NO_ERROR and cell.measures[ENERGY].against is not None
    ]


def points(record: CampaignResult) -> Iterator[str]:
    """What EAS pays for its energy with the right model, and with each wrong one."""
    for scenario in record.axes["scenario"]:
        named = _named(record, scenario)
        for right in _right(record, scenario):
            yield f"{named}, the right model: {_SIDES[right.sign(ENERGY)]}: {_words(record, right)}"
        for cluster, every in error_lines(record, scenario).items():
            sides = [
                f"{_SIDES[sign]} at {joined([f'{point.percent:+.0f}' for point in own])} % "
                f"({_ranges([point.cell for point in own])})"
                for sign, own in _by_side(every).items()
                if own
            ]
            yield f"{named}, errors of {cluster}: {'; '.join(sides)}"


def _ranges(cells: Sequence[SweptCell]) -> str:
    """Their differences in energy; how many clearly differ in latency and in work."""
    known = sorted(made for cell in cells if (made := percent(cell, ENERGY)) is not None)
    ends = dict.fromkeys(f"{end:+.1f}" for end in (known[0], known[-1]))
    words = [f"energy {' to '.join(ends)} %"]
    for measure in (LATENCY, WORK):
        sides = [
            f"{side} at {count}"
            for sign, side in ((-1, "less"), (1, "more"))
            if (count := sum(cell.sign(measure) == sign for cell in cells))
        ]
        words += [f"{measure} clearly {', '.join(sides)} of {len(cells)}"] if sides else []
    return "; ".join(words)


def _words(record: CampaignResult, right: SweptCell) -> str:
    """What differs, with the misses of both."""
    cas = next(
        cell
        for cell in record.cells
        if cell.axes["scenario"] == right.axes["scenario"]
        and all(cell.axes[name] == value for name, value in record.reference.items())
    )
    words = difference_words(right)
    if MISSED in right.measures and MISSED in cas.measures:
        means = [cell.measures[MISSED].mean for cell in (right, cas)]
        words += f", missed {means[0]:.1f} instead of {means[1]:.1f}"
    return words
