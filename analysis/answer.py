# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in one sentence: how the energies of variants compare, as far as seeds can say."""

from __future__ import annotations

from analysis.compare import Comparison
from analysis.records.result import Result
from analysis.statistics import ENOUGH, Difference


def answers(comparison: Comparison) -> list[str]:
    """A sentence for each further variant, or the one of a variant alone."""
    if len(comparison.names) == 1:
        return [_alone(comparison)]
    return [_energy(comparison, name) for name in comparison.names[1:]]


def _energy(comparison: Comparison, name: str) -> str:
    """``cas uses 10.5 % less energy than mainline (-13.9 .. -8.2), 10 seeds``."""
    base, total = comparison.baseline, comparison.total
    difference = total.differences[name]
    seeds = f"{difference.pairs} seeds" if difference.pairs > 1 else "one seed"
    if difference.clear is None:
        percent = "" if difference.percent is None else f" ({difference.percent:+.1f} %)"
        return (
            f"{name} {total.mean(name):.2f} mJ, {base} {total.mean(base):.2f} mJ{percent}; "
            f"{seeds}, no test (--seeds {ENOUGH} gives one)"
        )
    if difference.percent is None:
        return f"{base} uses no energy, {name} {total.mean(name):.2f} mJ, {seeds}"
    interval = percent_interval(difference)
    if not difference.clear:
        return (
            f"{seeds} show no difference in energy between {name} and {base}: "
            f"{difference.percent:+.1f} % ({interval})"
        )
    word = "more" if difference.absolute > 0 else "less"
    percent = f"{abs(difference.percent):.1f} %"
    return f"{name} uses {percent} {word} energy than {base} ({interval}), {seeds}"


def percent_interval(difference: Difference) -> str:
    """``-2.5 .. +3.7``: the ends of the interval in percent of the baseline.

    :raises ValueError: when there is no interval, or the baseline is zero.
    """
    if difference.low is None or difference.high is None or not difference.percent:
        if difference.low == difference.high == 0:
            return "0.0 .. 0.0"
        raise ValueError("no interval in percent")
    scale = difference.percent / difference.absolute
    return f"{scale * difference.low:+.1f} .. {scale * difference.high:+.1f}"


def _alone(comparison: Comparison) -> str:
    """``mainline uses 612.77 mJ in 3.001 s, no deadline missed, EAS on (read back)``."""
    (runs,) = comparison.variants.values()
    result, name = runs[0].result, comparison.baseline
    energy = f"{name} uses {comparison.total.mean(name):.2f} mJ in {result.window_s:.3f} s"
    seeds = "" if len(runs) == 1 else f" on the mean of {len(runs)} seeds"
    return f"{energy}{seeds}, {_missed(result)}, {_state(result)}"


def _missed(result: Result) -> str:
    if not result.deadlines:
        return "no task has a deadline"
    all_jobs = sum(entry.jobs for entry in result.deadlines.values())
    return f"{result.missed_deadlines or 'none'} of {all_jobs} deadlines missed"


def _state(result: Result) -> str:
    """What the guest read back of the kernel's state."""
    if result.eas is None:
        return "the kernel's state was not read back"
    return f"energy-aware scheduling {'on' if result.eas else 'off'}"
