# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of two releases, from runs of the same variants on both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.compare import Comparison, Line
from analysis.derive import Derived
from analysis.records.verdict import Verdict
from analysis.results.comparisons import Spread
from analysis.results.releases import (
    OnRelease,
    ReleaseBoot,
    ReleaseComparison,
    VariantOnBoth,
    WakeUpOnBoth,
)
from analysis.rows import PER_WORK
from analysis.verdicts import judge
from configs.platform import Platform
from engines.records import MARKS, READY, read_marks
from experiments.scenario_file import load_scenario
from studies.pages.record import change_of, judged_of, spread_of
from studies.versions import origin_over_seeds

#: Derived runs of one scenario by variant, without release, in the order of seeds. They were
#: compared under their full names before, so that they may be compared is known.
ByVariant = Mapping[str, Sequence[Derived]]


def record_of(
    platform: Platform,
    releases: tuple[str, str],
    runs: Mapping[str, tuple[ByVariant, ByVariant]],
    wake_ups: Sequence[WakeUpOnBoth],
    command: str,
) -> ReleaseComparison:
    """The record.

    :param releases: the older and the newer one.
    :param runs: by scenario, on the older and on the newer release, mainline first.
    """
    first = next(iter(runs.values()))
    boots = tuple(_boot(*pair) for pair in zip(releases, first, strict=True))
    every = [run for pair in runs.values() for side in pair for of in side.values() for run in of]
    cell, result = every[0].cell, every[0].result
    return ReleaseComparison(
        origin=origin_over_seeds(command, (run.cell for run in every)),
        platform=platform.name,
        engine=cell.engine,
        power=result.power_model.name,
        duration=cell.duration,
        seeds=len(next(iter(first[0].values()))),
        boots=(boots[0], boots[1]),
        scenarios=tuple(
            entry for name, pair in runs.items() for entry in _scenario(platform, name, *pair)
        ),
        wake_ups=tuple(wake_ups),
    )


def _boot(release: str, by_variant: ByVariant) -> ReleaseBoot:
    runs = next(iter(by_variant.values()))
    ready = [
        mark.t_ns / 1e6 for run in runs for mark in read_marks(run.run / MARKS) if mark.id == READY
    ]
    return ReleaseBoot(
        release,
        runs[0].cell.kernel.source_words,
        Spread(sum(ready) / len(ready), min(ready), max(ready)),
    )


def _scenario(
    platform: Platform, scenario: str, old: ByVariant, new: ByVariant
) -> Iterator[VariantOnBoth]:
    """Every variant of a scenario, each release judged by itself."""
    compared = [
        Comparison(platform, {name: list(of) for name, of in side.items()}) for side in (old, new)
    ]
    verdicts = [_judged(scenario, side) for side in compared]
    for variant in old:
        between = Comparison(platform, {"old": list(old[variant]), "new": list(new[variant])})
        by_work = bool(between.other_work) or any(side.other_work for side in compared)
        change = change_of(_energy(between, by_work), "new", "old")
        if change is None:
            raise ValueError(f"{scenario}, {variant}: a comparison without energy")
        task = _slowest(compared[0], variant)
        sides = [
            _on_release(side, variant, task, judged, by_work)
            for side, judged in zip(compared, verdicts, strict=True)
        ]
        per = compared[0].cell.work.unit if by_work else ""
        yield VariantOnBoth(
            scenario=scenario,
            variant=variant,
            task=task,
            per=per,
            old=sides[0],
            new=sides[1],
            change=change,
        )


def _energy(compared: Comparison, by_work: bool) -> Line:
    """The energy of the window, or of a unit of work where work differs."""
    per_work = compared.line(*PER_WORK) if by_work else None
    return compared.total if per_work is None else per_work


def _slowest(compared: Comparison, variant: str) -> str:
    """The task with the largest 95th percentile of wake-up latency; the first of equal ones."""
    known = {
        task: spread.mean
        for task in compared.tasks
        if (spread := _latency(compared, variant, task)) is not None
    }
    return max(known, key=lambda task: known[task]) if known else ""


def _latency(compared: Comparison, variant: str, task: str) -> Spread | None:
    return spread_of(compared.line("latency_us", task, "p95"), variant)


def _judged(scenario: str, compared: Comparison) -> list[Verdict]:
    """The scenario's statements, which name variants without a release."""
    expect = load_scenario(scenario, compared.platform).expect
    return judge([each for each in expect if each.variant in compared.variants], compared.results)


def _on_release(
    compared: Comparison, variant: str, task: str, verdicts: Sequence[Verdict], by_work: bool
) -> OnRelease:
    return OnRelease(
        energy_mj=_known(compared.total, variant),
        energy_change=change_of(_energy(compared, by_work), variant, compared.baseline),
        latency_p95_us=_latency(compared, variant, task),
        missed_deadlines=spread_of(compared.line("missed_deadlines"), variant),
        migrations=spread_of(compared.line("migrations"), variant),
        verdicts=tuple(judged_of(verdict for verdict in verdicts if verdict.variant == variant)),
    )


def _known(line: Line, variant: str) -> Spread:
    spread = spread_of(line, variant)
    if spread is None:
        raise ValueError(f"{variant}: a comparison without energy")
    return spread
