# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer to each campaign's question in a sentence or two, from the record alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.pareto import front
from analysis.results.campaigns import (
    ENERGY,
    LATENCY,
    MISSED,
    WORK,
    CampaignResult,
    SweptCell,
)
from analysis.statistics import ENOUGH
from studies.campaigns.plan import (
    EM_ERROR,
    ENDS,
    FRAMES_LATE,
    NO_ERROR,
    OPPS,
    RATE_LIMIT,
    spacing_of,
)

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
    """The answer for each case; none for campaigns whose answer has them."""
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
    """The least number of OPPs from which on none is clearly beaten by a larger one.

    :returns: the number, and whether larger ones were tried.
    """
    enough = series[-1][0]
    for count, cell in reversed(series):
        others = [made for each in cell.beaten_by if (made := spacing_of(each)) is not None]
        if [other for other in others if other[1] == spacing]:
            break
        enough = count
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
    beaten = Counter(name for each in fronts for name in each.beaten)
    counts = {name: len(fronts) - beaten[name] for name in record.axes["topology"]}
    words = [f"{name} in {counts[name]}" for name in sorted(counts, key=lambda each: -counts[each])]
    cases = "scenario with a variant" if len(fronts) == 1 else "scenarios with a variant"
    return (
        "no other topology has clearly less of both energy and latency, of "
        f"{len(fronts)} {cases}, than {', '.join(words)}"
    )


def _topologies_points(record: CampaignResult) -> Iterator[str]:
    for each in topology_fronts(record):
        than = f"; another one has clearly less of both than {joined(each.beaten)}"
        yield (
            f"{each.where}: by means none has less of both than {joined(each.unbeaten)}"
            f"{than if each.beaten else ''}"
        )


# Overload.

#: More frames late, for one that is drawn, than this: most of the time is a backlog.
_MOST = 0.5


def overloaded(record: CampaignResult, cell: SweptCell) -> bool:
    """Whether more than half as many frames are late as are drawn."""
    meaning = next(each for each in record.scenarios if each.scenario == cell.axes["scenario"])
    if not (meaning.missed.startswith(FRAMES_LATE) and MISSED in cell.measures):
        return False
    return cell.measures[MISSED].mean > _MOST * cell.measures[WORK].mean


def overloads(record: CampaignResult) -> Iterator[str]:
    """Platforms and scenarios with overloaded cells, and how many these are."""
    for (platform, scenario), cells in grouped(record.cells, ("platform", "scenario")).items():
        count = sum(overloaded(record, cell) for cell in cells)
        if count:
            yield f"{scenario} on {platform} in {count} of {len(cells)} combinations"


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


def _errors(record: CampaignResult) -> str:
    return (
        "by means, EAS begins or ceases to use less energy than CAS "
        + "; ".join(_changes(record, scenario) for scenario in record.axes["scenario"])
        + f"; with the right model EAS uses {_counted(record, _right(record), ENERGY)}"
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


def _errors_points(record: CampaignResult) -> Iterator[str]:
    """What EAS with the right model pays for its energy, and which model gave the least energy."""
    for right in _right(record):
        scenario = right.axes["scenario"]
        cas = next(
            cell
            for cell in record.cells
            if cell.axes["scenario"] == scenario
            and all(cell.axes[name] == value for name, value in record.reference.items())
        )
        words = [f"{measure} {percent:+.1f} %" for measure, percent in _percents(right)]
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


def _percents(cell: SweptCell) -> Iterator[tuple[str, float]]:
    for measure in (ENERGY, LATENCY):
        known = cell.measures.get(measure)
        if known is None or known.against is None or known.against.made.percent is None:
            continue
        yield measure, known.against.made.percent


# Rate limits.


def _limits(record: CampaignResult) -> str:
    reached: Counter[str] = Counter()
    for cells in grouped(record.cells, ("platform", "scenario", "variant")).values():
        same = record.reference[RATE_LIMIT]
        for cell in sorted(cells, key=lambda each: int(each.axes[RATE_LIMIT])):
            if any(record.sign(cell, measure) for measure in (ENERGY, LATENCY)):
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


def _counted(record: CampaignResult, cells: Sequence[SweptCell], measure: str) -> str:
    signs = Counter(record.sign(cell, measure) for cell in cells)
    return f"clearly less in {signs[-1]} and clearly more in {signs[1]} of {len(cells)}"


def _eas(record: CampaignResult) -> str:
    words = [
        f"{variant}: energy {_counted(record, cells, ENERGY)}, "
        f"latency {_counted(record, cells, LATENCY)}"
        for (variant,), cells in grouped(record.cells, ("variant",)).items()
        if variant != record.reference["variant"]
    ]
    return f"compared with {record.reference['variant']} per unit of work, {'; '.join(words)}"


def _uclamp(record: CampaignResult) -> str:
    words = [
        f"{variant} on {platform}: {_counted(record, cells, ENERGY)}"
        for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items()
        if variant != record.reference["variant"]
    ]
    return (
        f"energy per unit of work compared with {record.reference['variant']}, {'; '.join(words)}"
    )


def _variants_points(record: CampaignResult) -> Iterator[str]:
    """For each variant and platform, the scenarios with a clear difference in energy."""
    for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items():
        if variant == record.reference["variant"]:
            continue
        sides = []
        for sign, side in ((-1, "less"), (1, "more")):
            clear = [cell for cell in cells if record.sign(cell, ENERGY) == sign]
            made = [
                f"{scenario} ({', '.join(_energy_words(cell) for cell in own)})"
                for (scenario,), own in grouped(clear, ("scenario",)).items()
            ]
            sides += [f"clearly {side} in {joined(made)}"] if made else []
        yield f"{variant} on {platform}: {'; '.join(sides) or 'no clear difference'}"


def _energy_words(cell: SweptCell) -> str:
    """``board -2.1 %``: the cell's control and its difference in energy."""
    controls = [value for name, value in cell.axes.items() if name.startswith("controls.")]
    percent = next(percent for measure, percent in _percents(cell) if measure == ENERGY)
    return " ".join([*controls, f"{percent:+.1f} %"])


ANSWERS: Mapping[str, Callable[[CampaignResult], str]] = {
    "opp-sweep": _opps,
    "topology-sweep": _topologies,
    "em-error-sweep": _errors,
    "rate-limit-sweep": _limits,
    "eas-paper": _eas,
    "uclamp-paper": _uclamp,
}
#: Of campaigns whose answer has a line for each case, too.
_POINTS: Mapping[str, Callable[[CampaignResult], Iterator[str]]] = {
    "opp-sweep": _opps_points,
    "topology-sweep": _topologies_points,
    "em-error-sweep": _errors_points,
    "eas-paper": _variants_points,
    "uclamp-paper": _variants_points,
}
