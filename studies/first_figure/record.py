# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the first figure."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compare import Comparison
from analysis.results.first_figure import ComparedMeasure, FirstFigure
from analysis.statistics import ENOUGH
from studies.first_figure.plan import MEASURES
from studies.versions import origin_over_seeds


def record_of(compared: Comparison, command: str) -> FirstFigure:
    """The record of the comparison."""
    baseline, variant = compared.names
    cells = [run.cell for runs in compared.variants.values() for run in runs]
    return FirstFigure(
        origin=origin_over_seeds(command, cells),
        platform=compared.platform.name,
        scenario=compared.cell.scenario,
        baseline=baseline,
        variant=variant,
        seeds=len(compared.seeds),
        window_s=compared.variants[baseline][0].result.window_s,
        measures=tuple(_measures(compared, variant)),
    )


def _measures(compared: Comparison, variant: str) -> Iterator[ComparedMeasure]:
    for name, path, relative in MEASURES:
        line = compared.line(*path)
        if line is None:
            raise ValueError(f"{name}: no run gives it")
        base, mean = line.mean(compared.baseline), line.mean(variant)
        difference = line.differences[variant]
        if base is None or mean is None or difference.low is None or difference.high is None:
            raise ValueError(f"{name}: not measured with {ENOUGH} seeds or more")
        ends = (difference.in_percent() if relative else None) or (None, None)
        yield ComparedMeasure(
            name=name,
            baseline=base,
            variant=mean,
            difference=difference.absolute,
            percent=difference.percent if relative else None,
            low=difference.low,
            high=difference.high,
            percent_low=ends[0],
            percent_high=ends[1],
        )
