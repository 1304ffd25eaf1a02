# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer to each campaign's question in a sentence or two, from the record alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.pareto import front
from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult, SweptCell
from analysis.statistics import ENOUGH
from studies.campaigns.plan import EM_ERROR, ENDS, NO_ERROR, OPPS, RATE_LIMIT, spacing_of

#: The cluster of an error in the energy model, and the error in percent.
ClusterError = tuple[str, float]


def answer(record: CampaignResult) -> str:
    """The answer, without its last full stop."""
    if len(record.seeds) < ENOUGH:
        plural = "s" if len(record.seeds) > 1 else ""
        return (
            f"undecided: the record has {len(record.seeds)} seed{plural}, and an interval needs "
            f"{ENOUGH}"
        )
    return ANSWERS[record.campaign](record)


def answer_points(record: CampaignResult) -> list[str]:
    """The answer for each scenario and variant; none for campaigns whose answer has them."""
    points = _POINTS.get(record.campaign)
    return list(points(record)) if points else []


def grouped(
    cells: Iterable[SweptCell], axes: Sequence[str]
) -> dict[tuple[str, ...], list[SweptCell]]:
    """Cells by their values of ``axes``, in order."""
    groups: dict[tuple[str, ...], list[SweptCell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.axes[name] for name in axes), []).append(cell)
    return groups


def varied(record: CampaignResult, axes: Iterable[str]) -> list[str]:
    """Those of ``axes`` that have more than one value in the record."""
    return [name for name in axes if len(record.axes[name]) > 1]


def joined(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# The number of OPPs.


def varied_opps(record: CampaignResult) -> dict[str, str]:
    """By the axes of which the record has several numbers of OPPs: the cluster."""
    known = [axis for axis in OPPS if axis in record.axes]
    return {axis: axis.partition(".")[0] for axis in varied(record, known)}


def spacings(cells: Sequence[SweptCell], axis: str) -> dict[str, list[tuple[int, SweptCell]]]:
    """Numbers of OPPs and cells by spacing; the two ends alone belong to every spacing.

    :param axis: whose OPPs are counted; a cell that varies them leaves the other cluster's as is.
    """
    known = [(made, cell) for cell in cells if (made := spacing_of(cell.axes[axis])) is not None]
    ends = [(count, cell) for (count, _), cell in known if count == ENDS]
    series: dict[str, list[tuple[int, SweptCell]]] = {}
    for (count, spacing), cell in sorted(known, key=lambda each: each[0][0]):
        if count != ENDS:
            series.setdefault(spacing, list(ends)).append((count, cell))
    return series


def enough_opps(series: Sequence[tuple[int, SweptCell]], spacing: str) -> tuple[int, bool]:
    """The least number of OPPs that no larger one clearly beats, and whether more were tried."""
    enough = series[-1][0]
    for count, cell in series:
        others = [made for each in cell.beaten_by if (made := spacing_of(each)) is not None]
        if not [other for other in others if other[1] == spacing]:
            enough = count
            break
    return enough, enough < series[-1][0]


def _opps(record: CampaignResult) -> str:
    """Of each cluster and spacing, over all scenarios and variants."""
    clusters = []
    for axis, cluster in varied_opps(record).items():
        least: dict[str, list[tuple[int, bool]]] = {}
        for cells in grouped(record.cells, ("scenario", "variant")).values():
            for spacing, series in spacings(cells, axis).items():
                least.setdefault(spacing, []).append(enough_opps(series, spacing))
        words = []
        for spacing, made in least.items():
            counts = sorted({count for count, _ in made})
            more = "" if all(decided for _, decided in made) else " or more"
            ends = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
            words.append(f"{ends}{more} ({spacing})")
        clusters.append(f"of the {cluster} cluster {joined(words)}")
    return (
        "OPPs from which on no larger number clearly saves energy, by scenario and variant: "
        + "; ".join(clusters)
    )


def _opps_points(record: CampaignResult) -> Iterator[str]:
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        clusters = []
        for axis, cluster in varied_opps(record).items():
            counts = []
            for spacing, series in spacings(cells, axis).items():
                count, decided = enough_opps(series, spacing)
                counts.append(f"{count}{'' if decided else ' or more'} ({spacing})")
            clusters.append(f"{cluster} {joined(counts)}")
        yield f"{scenario} with {variant}: {'; '.join(clusters)}"


# Topologies.


@dataclass(frozen=True)
class Front:
    """Topologies of a scenario with a variant.

    :param unbeaten: those whose means no other one beats in both energy and latency.
    :param beaten: those than which another one has clearly less of both.
    """

    where: str
    unbeaten: tuple[str, ...]
    beaten: tuple[str, ...]


def topology_fronts(record: CampaignResult) -> list[Front]:
    """One for each scenario and variant."""
    fronts = []
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        known = [cell for cell in cells if LATENCY in cell.measures and ENERGY in cell.measures]
        means = [(cell.measures[LATENCY].mean, cell.measures[ENERGY].mean) for cell in known]
        unbeaten = tuple(known[place].axes["topology"] for place in front(means))
        beaten = tuple(cell.axes["topology"] for cell in known if cell.beaten_by)
        fronts.append(Front(f"{scenario} with {variant}", unbeaten, beaten))
    return fronts


def _topologies(record: CampaignResult) -> str:
    fronts = topology_fronts(record)
    counts = Counter(name for each in fronts for name in each.unbeaten)
    never = [name for name in record.axes["topology"] if name not in counts]
    words = [f"{name} in {count}" for name, count in counts.most_common()]
    none = f", {joined(never)} in none" if never else ""
    cases = "scenario with a variant" if len(fronts) == 1 else "scenarios with a variant"
    return (
        "no other topology has both less energy and less latency, by means in "
        f"{len(fronts)} {cases}, than {', '.join(words)}{none}"
    )


def _topologies_points(record: CampaignResult) -> Iterator[str]:
    for each in topology_fronts(record):
        than = f"; another one has clearly less of both than {joined(each.beaten)}"
        yield f"{each.where}: {joined(each.unbeaten)}{than if each.beaten else ''}"


# Errors of the energy model.


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


def crossings(points: Sequence[ErrorPoint]) -> list[float]:
    """Errors at which the line between neighbouring means goes through zero, in percent."""
    known = [
        (point.percent, against.value)
        for point in points
        if (against := point.cell.measures[ENERGY].against) is not None
    ]
    between = [
        x0 + (x1 - x0) * y0 / (y0 - y1) for (x0, y0), (x1, y1) in pairwise(known) if y0 * y1 < 0
    ]
    return sorted([*between, *(x for x, y in known if y == 0)])


def _errors(record: CampaignResult) -> str:
    words = []
    for scenario in record.axes["scenario"]:
        for cluster, points in error_lines(record, scenario).items():
            errors = [f"{percent:+.0f} %" for percent in crossings(points)]
            ends = f"{points[0].percent:+.0f} and {points[-1].percent:+.0f} %"
            where = f"at {joined(errors)}" if errors else f"nowhere between {ends}"
            words.append(f"{where} of {cluster} in {scenario}")
    right = [
        cell
        for cell in record.cells
        if cell.axes[EM_ERROR] == NO_ERROR and cell.measures[ENERGY].against is not None
    ]
    return (
        "by means, the energy of EAS is that of CAS "
        + "; ".join(words)
        + f"; with the right model EAS uses {_counted(right, ENERGY)}"
    )


# Rate limits.


def _limits(record: CampaignResult) -> str:
    reached: Counter[str] = Counter()
    for cells in grouped(record.cells, ("platform", "scenario", "variant")).values():
        same = record.reference[RATE_LIMIT]
        for cell in sorted(cells, key=lambda each: int(each.axes[RATE_LIMIT])):
            if any(_sign(cell, measure) for measure in (ENERGY, LATENCY)):
                break
            same = cell.axes[RATE_LIMIT]
        reached[same] += 1
    total = sum(reached.values())
    words = [
        f"up to {limit} us in {reached[limit]} of {total}"
        for limit in record.axes[RATE_LIMIT]
        if reached[limit]
    ]
    return (
        f"neither energy nor latency clearly differs from those at {record.reference[RATE_LIMIT]} "
        f"us {'; '.join(words)} combinations of platform, scenario and variant"
    )


# Variants on many scenarios.


def _sign(cell: SweptCell, measure: str) -> int:
    """-1 or 1 where an interval excludes zero, on its side; 0 where it does not."""
    made = cell.measures.get(measure)
    if made is None or made.against is None or not made.against.made.clear:
        return 0
    return 1 if made.against.value > 0 else -1


def _counted(cells: Sequence[SweptCell], measure: str) -> str:
    signs = Counter(_sign(cell, measure) for cell in cells)
    return f"clearly less in {signs[-1]} and clearly more in {signs[1]} of {len(cells)}"


def _eas(record: CampaignResult) -> str:
    words = [
        f"{variant}: energy {_counted(cells, ENERGY)}, latency {_counted(cells, LATENCY)}"
        for (variant,), cells in grouped(record.cells, ("variant",)).items()
        if variant != record.reference["variant"]
    ]
    return f"compared with {record.reference['variant']} per unit of work, {'; '.join(words)}"


def _uclamp(record: CampaignResult) -> str:
    words = [
        f"{variant} on {platform}: {_counted(cells, ENERGY)}"
        for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items()
        if variant != record.reference["variant"]
    ]
    return (
        f"energy per unit of work compared with {record.reference['variant']}, {'; '.join(words)}"
    )


ANSWERS: Mapping[str, Callable[[CampaignResult], str]] = {
    "opp-sweep": _opps,
    "topology-sweep": _topologies,
    "em-error-sweep": _errors,
    "rate-limit-sweep": _limits,
    "eas-paper": _eas,
    "uclamp-paper": _uclamp,
}
#: Of campaigns whose answer has a line for each scenario and variant, too.
_POINTS: Mapping[str, Callable[[CampaignResult], Iterator[str]]] = {
    "opp-sweep": _opps_points,
    "topology-sweep": _topologies_points,
}
