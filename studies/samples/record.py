# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the samples, from their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.derive import Derived
from analysis.engine import engine_words
from analysis.results.samples import CampaignSamples, SampledCampaign, SampledCell
from experiments.sweeps.campaign_file import load_campaign
from studies.campaigns.numbers import (
    BySeed,
    Taken,
    chosen_latency,
    scenario_words,
    take,
    with_latency,
)
from studies.samples.plan import base_of, changed_words, sample_of
from studies.samples.run import CellRuns
from studies.versions import origin_over_seeds


def record_of(samples: Mapping[str, Sequence[CellRuns]], command: str) -> CampaignSamples:
    """The record of the executed samples; campaigns without a cell are left out."""
    known = {name: cells for name, cells in samples.items() if cells}
    every = [cell for cells in known.values() for cell in cells]
    first = next(iter(every[0].fast.values()))
    cpu_s = {cell.gem5_run: cell.gem5_cpu_s for cell in every}
    runs = [run for cell in every for run in (*cell.fast.values(), cell.gem5)]
    return CampaignSamples(
        origin=origin_over_seeds(command, [run.cell for run in runs]),
        fast=engine_words(first.cell),
        gem5=engine_words(every[0].gem5.cell),
        power=" and ".join(dict.fromkeys(run.result.power_model.name for run in runs)),
        duration=first.cell.duration,
        kernel=first.cell.kernel.source_words,
        fast_seeds=tuple(every[0].fast),
        gem5_runs=len(cpu_s),
        gem5_cpu_s=sum(cpu_s.values()),
        campaigns=tuple(_campaign(name, cells) for name, cells in known.items()),
    )


def _campaign(name: str, cells: Sequence[CellRuns]) -> SampledCampaign:
    """All cells of a sample have one scenario."""
    campaign = load_campaign(name)
    base = base_of(campaign)
    taken = [(_taken(cell.fast), _taken({0: cell.gem5})) for cell in cells]
    first = next(iter(cells[0].fast.values()))
    chosen = chosen_latency(first.cell, [each for engines in taken for each in engines])
    words = scenario_words(cells[0].point.scenario, first, chosen)
    return SampledCampaign(
        campaign=name,
        base=base,
        cells_in_all=len(campaign.checked_points()),
        work_unit=words.work_unit,
        latency=words.latency,
        missed=words.missed,
        lacking=tuple(
            changed_words(point.labels, base)
            for point in sample_of(campaign)
            if point.labels not in [cell.point.labels for cell in cells]
        ),
        cells=tuple(
            SampledCell(
                axes=dict(cell.point.labels),
                gem5_run=cell.gem5_run,
                fast=dict(_of_all_seeds(with_latency(fast, chosen), len(cell.fast))),
                gem5={
                    measure: next(iter(values.values()))
                    for measure, values in with_latency(gem5, chosen).items()
                },
            )
            for cell, (fast, gem5) in zip(cells, taken, strict=True)
        ),
    )


def _taken(runs: Mapping[int, Derived]) -> Taken:
    taken = Taken()
    for seed, run in runs.items():
        take(taken, seed, run)
    return taken


def _of_all_seeds(
    measures: Mapping[str, BySeed], seeds: int
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The measures that every run gives."""
    for name, by_seed in measures.items():
        if len(by_seed) == seeds:
            yield name, tuple(by_seed.values())
