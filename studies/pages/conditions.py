# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions of a page: what holds for every scenario of it, and for each one."""

from __future__ import annotations

from analysis.results.comparisons import Comparisons, ScenarioResult
from analysis.results.findings import NO_CONTROLS, Conditions, control_words, seed_words
from analysis.results.noise import recorded
from analysis.rows import PER_WORK
from analysis.statistics import ENOUGH
from experiments.controls import Controls
from studies.patches import origin_words


def conditions(record: Comparisons) -> str:
    """The conditions of every scenario, as a list."""
    kernels = record.origin.versions.get("kernel", record.kernel)
    lines = [
        f"Platform {record.platform}, engine {record.engine} (busy loops elided), "
        f"{record.duration} windows, {record.seeds} seeds, energy from {record.power} power.",
        f"Linux {kernels}, HZ {record.hz}, schedutil, tracing on. Each scenario names its "
        "controls.",
        *_without_defaults(record),
        "After a mean over seeds, brackets have the least and the largest value. "
        + _meaning_of_seeds(record),
        _tests(record),
        *_floors(record),
        origin_words(record.origin, variants_of(record)),
        *(f"{remark}." for remark in record.origin.remarks),
    ]
    return "\n".join(f"* {line}" for line in lines)


def variants_of(record: Comparisons) -> list[str]:
    """The variants of all scenarios, each once."""
    every = (variant.name for result in record.scenarios for variant in result.variants)
    return list(dict.fromkeys(every))


def of_scenario(record: Comparisons, result: ScenarioResult) -> str:
    """All controls of a scenario in a sentence, as its record has them."""
    rate, transition = result.rate_limit_us, result.transition_latency_us
    off = {*Controls(delay_dequeue=False).words} <= {*result.set_otherwise}
    return (
        f"Controls: {result.controls or NO_CONTROLS}. Rate limit of schedutil "
        f"{record.rate_limit_us if rate is None else rate} us, transitions of "
        f"{record.transition_latency_us if transition is None else transition} us, delayed "
        f"dequeue {'off' if off else 'on'}."
    )


def _without_defaults(record: Comparisons) -> list[str]:
    """The scenarios that were run under their sources' conditions alone."""
    as_it_is = {result.scenario for result in record.scenarios if not result.set_otherwise}
    sourced = [result.scenario for result in record.scenarios if result.source_had]
    alone = [name for name in dict.fromkeys(sourced) if name not in as_it_is]
    if not alone:
        return []
    return [
        "Under today's defaults the page has no runs of these, only under their sources' "
        f"conditions: {', '.join(alone)}."
    ]


def _meaning_of_seeds(record: Comparisons) -> str:
    """The meaning of the spread over seeds."""
    if record.replicates:
        return (
            "[Seeds](../concepts/replicates.md) draw the differences between two runs on a device."
        )
    return (
        "Seeds draw only the starts of tasks, within 16 ms. Their spread is not that of "
        "[replicates](../concepts/replicates.md), and intervals are too narrow."
    )


def _tests(record: Comparisons) -> str:
    """The test of differences."""
    if record.seeds < ENOUGH:
        return f"Fewer than {ENOUGH} seeds: no test is made."
    judged = [verdict for scenario in record.scenarios for verdict in scenario.judged]
    if not judged or any(verdict.effects for verdict in judged):
        made = "[how it is made](../reference/measures.md#intervals)"
        return f"Differences from the first variant carry a 95 % interval ({made})."
    return (
        "Differences from the first variant carry a 95 % interval (percentile bootstrap of pairs). "
        "The record has only means, so every statement is undecided."
    )


def by_controls(record: Comparisons) -> bool:
    """Whether a scenario stands there more than once, under other controls."""
    return len({result.scenario for result in record.scenarios}) < len(record.scenarios)


def floor_words(record: Comparisons, result: ScenarioResult, *, per_work: bool) -> str:
    """``noise floor +-1.2 %``: the size that a difference in energy must exceed."""
    floor = noise_floor(record, result, per_work=per_work)
    return f"noise floor {floor or 'not measured'}"


def noise_floor(record: Comparisons, result: ScenarioResult, *, per_work: bool) -> str:
    """The size that a difference in energy must exceed, ``+-1.2 %``; empty if not measured."""
    floor = recorded(record.platform, result.scenario, vars(conditions_of(record, result)))
    measure = PER_WORK if per_work else ("energy_j", "total")
    percent = floor.percents.get(".".join(measure)) if floor else None
    return "" if percent is None else f"+-{percent:.1f} %"


def _floors(record: Comparisons) -> list[str]:
    """The seeds and conditions of the noise floors, and of how many scenarios there are some."""
    of_each = [
        recorded(record.platform, result.scenario, vars(conditions_of(record, result)))
        for result in record.scenarios
    ]
    known = [floor for floor in of_each if floor]
    seeds = " or ".join(str(count) for count in sorted({floor.seeds for floor in known}))
    first = (
        f"[Noise floors](noise.md) are known for {len(known)} of {len(of_each)} comparisons here"
    )
    if not known:
        return [f"{first}: they were measured under the platform's default conditions alone."]
    return [
        f"{first}, under the platform's default conditions alone. They are of {seeds} seeds on "
        f"each side; this page has {record.seeds}."
    ]


def conditions_of(record: Comparisons, result: ScenarioResult) -> Conditions:
    """The conditions of a scenario's runs, to find what else is known under them."""
    return Conditions(
        kernel=record.kernel,
        engine=record.engine,
        duration=record.duration,
        speeds=result.speeds,
        power=record.power,
        energy_model=result.energy_model,
        seeds=seed_words(result.replicates),
        controls=control_words(result.set_otherwise, result.speeds),
    )
