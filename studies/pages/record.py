# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a page, from its comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.attention import at_kernels_rate
from analysis.compare import Comparison, Line
from analysis.records.cell import CellRecord
from analysis.records.verdict import Verdict
from analysis.results.comparisons import (
    KERNELS_RATE,
    OWN_RATE,
    Change,
    ClusterResult,
    Comparisons,
    Latency,
    Printed,
    ScenarioResult,
    Spread,
    VariantResult,
)
from analysis.results.origin import RUNS, Origin
from analysis.rows import PER_WORK, PROGRAM, WORK, unit_of
from experiments.controls import AS_IT_IS
from experiments.scenario import Scenario
from studies.pages.plan import PageGroup
from studies.patches import patches_of
from studies.versions import versions_of


def record_of(
    compared: Sequence[tuple[PageGroup, Scenario, Comparison]], command: str
) -> Comparisons:
    """The record of a page's groups, each with its scenario and its comparison."""
    first = compared[0][2]
    # Under controls of its own a group says what they are: the page speaks of the others.
    usual = [each.cell for group, _, each in compared if group.controls == AS_IT_IS]
    cell = (usual or [first.cell])[0]
    cells = [
        run.cell
        for _, _, comparison in compared
        for runs in comparison.variants.values()
        for run in runs
    ]
    return Comparisons(
        origin=Origin(
            *(command, RUNS, versions_of(cells)),
            patches=patches_of(each.kernel for each in cells),
        ),
        platform=cell.platform,
        engine=cell.engine,
        power=first.power_model.name,
        duration=cell.duration,
        seeds=len(first.seeds),
        kernel=cell.kernel.source_words,
        hz=cell.controls.hz,
        rate_limit_us=cell.controls.rate_limit_us,
        transition_latency_us=cell.controls.transition_latency_us,
        scenarios=tuple(_scenario(*comparison) for comparison in compared),
    )


def _scenario(group: PageGroup, scenario: Scenario, compared: Comparison) -> ScenarioResult:
    rate = _throughput(compared)
    return ScenarioResult(
        scenario=group.scenario,
        summary=scenario.summary,
        source=scenario.source,
        controls=group.words,
        source_had=scenario.source_conditions.source
        if group.of_source and scenario.source_conditions
        else "",
        throughput="" if rate is None else rate.row.path[1],
        variants=tuple(_variant(compared, name, rate) for name in compared.names),
        judged=tuple(judged_of(compared.verdicts)),
        speeds=compared.cell.controls.speeds,
        energy_model=compared.cell.energy_model.words,
        set_otherwise=compared.cell.set_otherwise,
        replicates=compared.cell.replicates,
        work_unit=compared.cell.work.unit,
        other_work=compared.primary is not compared.total,
        rate_limit_us=compared.cell.controls.rate_limit_us,
        transition_latency_us=compared.cell.controls.transition_latency_us,
        programs=dict(_rates(compared.cell)),
    )


def _rates(cell: CellRecord) -> Iterator[tuple[str, str]]:
    """Kinds of programs of the image, each with what states its rate."""
    if cell.engine_traits.stated_rates:
        without = at_kernels_rate(cell)
        for program in cell.programs:
            if program.command:
                yield program.run, KERNELS_RATE if program in without else OWN_RATE


def _throughput(compared: Comparison) -> Line | None:
    return next((line for line in compared.lines if line.row.path[0] == "throughput"), None)


def _variant(compared: Comparison, name: str, rate: Line | None) -> VariantResult:
    energy = compared.line("energy_j", "total")
    if energy is None:
        raise ValueError("a comparison without energy")
    per_work = compared.line(*PER_WORK)
    clusters = [cluster.name for cluster in compared.platform.clusters]
    return VariantResult(
        name=name,
        energy_mj=_known(energy, name),
        energy_change=change_of(energy, name, compared.baseline),
        latency=_latency(compared, name),
        missed_deadlines=spread_of(compared.line("missed_deadlines"), name),
        migrations=spread_of(compared.line("migrations"), name),
        overutilized_percent=spread_of(compared.line("overutilized_share"), name),
        throughput_per_s=spread_of(rate, name),
        throughput_change=change_of(rate, name, compared.baseline),
        clusters={
            cluster: ClusterResult(
                spread_of(compared.line("work_share", cluster), name),
                spread_of(compared.line("mean_mhz", cluster), name),
                spread_of(compared.line("opp_transitions_per_s", cluster), name),
            )
            for cluster in clusters
        },
        energy_mj_by_seed=tuple(energy.values[name].values()),
        energy_per_work_mj=spread_of(per_work, name),
        per_work_change=change_of(per_work, name, compared.baseline),
        work_change=change_of(compared.line(*WORK), name, compared.baseline),
        printed=dict(_printed(compared, name)),
    )


def _printed(compared: Comparison, variant: str) -> Iterator[tuple[str, Printed]]:
    """Measures of programs that have a unit, as ``latency.p99_us``, in the order of a report."""
    for line in compared.lines:
        if line.row.path[0] == PROGRAM and unit_of(line.row.path[-1]):
            values = spread_of(line, variant)
            if values is not None:
                change = change_of(line, variant, compared.baseline)
                yield ".".join(line.row.path[1:]), Printed(values, change)


def spread_of(line: Line | None, variant: str) -> Spread | None:
    """Mean and ends of a measure over seeds, or None where no run of the variant gives it."""
    if line is None or not line.values.get(variant):
        return None
    return _known(line, variant)


def _known(line: Line, variant: str) -> Spread:
    values = list(line.values[variant].values())
    return Spread(sum(values) / len(values), min(values), max(values))


def change_of(line: Line | None, variant: str, baseline: str) -> Change | None:
    """The difference from the baseline in per cent; None for the baseline and without runs."""
    if line is None or variant == baseline:
        return None
    difference, base = line.differences.get(variant), line.mean(baseline)
    if difference is None or difference.percent is None or not base:
        return None
    return Change(difference.percent, *(difference.in_percent() or (None, None)))


def _latency(compared: Comparison, variant: str) -> Latency | None:
    """The task whose mean of the 95th percentile is the largest; the first of equal ones."""
    known: Mapping[str, Spread] = {
        task: spread
        for task in compared.tasks
        if (spread := spread_of(compared.line("latency_us", task, "p95"), variant)) is not None
    }
    if not known:
        return None
    task = max(known, key=lambda name: known[name].mean)
    return Latency(task, known[task])


def judged_of(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """The verdicts without findings; statements that could not be measured are left out."""
    for verdict in verdicts:
        if verdict.met is not None:
            yield replace(verdict, finding="")
