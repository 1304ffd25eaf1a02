# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of em-error-sweep: EAS with a wrong energy model, compared with CAS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.results.campaigns import ENERGY, MISSED, CampaignResult, SweptCell
from studies.campaigns.cells import counted, percents
from studies.campaigns.plan import EM_ERROR, NO_ERROR

#: The cluster of an error in the energy model, and the error in percent.
ClusterError = tuple[str, float]


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
    cells = [
        cell
        for cell in record.cells
        if cell.axes["scenario"] == scenario and cell.axes["variant"] != record.reference["variant"]
    ]
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


def _differences(points: Sequence[ErrorPoint]) -> list[tuple[float, float]]:
    """Errors, and the energy of EAS less that of CAS."""
    return [
        (point.percent, against.value)
        for point in points
        if (against := point.cell.measures[ENERGY].against) is not None
    ]


def crossings(points: Sequence[ErrorPoint]) -> list[tuple[float, float]]:
    """Neighbouring errors between which EAS begins or ceases to use less than CAS, by means."""
    known = _differences(points)
    return [(x0, x1) for (x0, y0), (x1, y1) in pairwise(known) if (y0 < 0) != (y1 < 0)]


def answer(record: CampaignResult) -> str:
    """Over all scenarios: where EAS changes the side of CAS, and the right model's energies."""
    return (
        "by means, EAS begins or ceases to use less energy than CAS "
        + "; ".join(_changes(record, scenario) for scenario in record.axes["scenario"])
        + f"; with the right model EAS uses {counted(record, _right(record), ENERGY)}"
    )


def _changes(record: CampaignResult, scenario: str) -> str:
    """The errors between which EAS changes the side of CAS."""
    by_cluster = error_lines(record, scenario)
    changes = [
        f"{low:+.0f} and {high:+.0f} % of {cluster}"
        for cluster, points in by_cluster.items()
        for low, high in crossings(points)
    ]
    if changes:
        return f"in {scenario} between {', '.join(changes)}"
    less = all(value < 0 for points in by_cluster.values() for _, value in _differences(points))
    return f"nowhere in {scenario}, where it {'always' if less else 'never'} uses less"


def _right(record: CampaignResult) -> list[SweptCell]:
    """Cells of EAS with the right model."""
    return [
        cell
        for cell in record.cells
        if cell.axes[EM_ERROR] == NO_ERROR and cell.measures[ENERGY].against is not None
    ]


def points(record: CampaignResult) -> Iterator[str]:
    """What EAS with the right model pays for its energy, and which model gave the least energy."""
    for right in _right(record):
        scenario = right.axes["scenario"]
        cas = next(
            cell
            for cell in record.cells
            if cell.axes["scenario"] == scenario
            and all(cell.axes[name] == value for name, value in record.reference.items())
        )
        words = [f"{measure} {percent:+.1f} %" for measure, percent in percents(right)]
        if MISSED in right.measures and MISSED in cas.measures:
            missed = [cell.measures[MISSED].mean for cell in (right, cas)]
            words.append(f"missed {missed[0]:.1f} instead of {missed[1]:.1f}")
        by_cluster = error_lines(record, scenario)
        for cluster, points in by_cluster.items():
            known = _differences(points)
            less = sum(value < 0 for _, value in known)
            words.append(f"less energy at {less} of {len(known)} errors of {cluster}")
        wrong = [point.cell for points in by_cluster.values() for point in points]
        least = min(wrong, key=lambda cell: cell.measures[ENERGY].mean)
        means = [cell.measures[ENERGY].mean for cell in (least, right)]
        if least.axes[EM_ERROR] != NO_ERROR:
            words.append(
                f"least energy with {least.axes[EM_ERROR]}: {means[0]:.3f} instead of "
                f"{means[1]:.3f} mJ"
            )
        yield f"{scenario}, EAS with the right model compared with CAS: {', '.join(words)}"
