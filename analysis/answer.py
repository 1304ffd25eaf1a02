# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in one sentence: how the energies of variants compare, within their intervals."""

from __future__ import annotations

from eascope.analysis.compare import Comparison
from eascope.analysis.difference import Difference
from eascope.analysis.null import RecordedNull
from eascope.analysis.ranges import PERCENT_CHANGE, cut
from eascope.analysis.records.result import Result
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT


def answers(comparison: Comparison) -> list[str]:
    """A sentence for each further variant, or one sentence for a single variant."""
    if len(comparison.names) == 1:
        return [_alone(comparison)]
    answers = [_energy(comparison, name) for name in comparison.names[1:]]
    return [*answers, *_null(comparison)]


def _energy(comparison: Comparison, name: str) -> str:
    """``cas uses 10.5 % less energy than mainline (-13.9 .. -8.2), 20 seeds``."""
    base, energy = comparison.baseline, comparison.primary
    difference = energy.differences[name]
    of_work = "" if energy is comparison.total else f" {energy.row.label}"
    seeds = f"{difference.seeds} seeds" if difference.seeds > 1 else "one seed"
    if difference.clear is None:
        percent = "" if difference.percent is None else f" ({difference.percent:+.1f} %)"
        return (
            f"{name} {energy.mean(name):.2f} mJ, {base} {energy.mean(base):.2f} mJ{of_work}"
            f"{percent}; {seeds}, no test (--seeds {ENOUGH_FOR_VERDICT} gives one)"
        )
    if difference.percent is None:
        return f"{base} uses no energy, {name} {energy.mean(name):.2f} mJ{of_work}, {seeds}"
    interval = percent_interval(difference)
    if not difference.clear:
        return (
            f"energy{of_work} of {name} and {base} cannot be told apart: "
            f"{difference.percent:+.1f} % ({interval}), {seeds}"
        )
    word = "more" if difference.absolute > 0 else "less"
    percent = f"{abs(difference.percent):.1f} %"
    few = difference.seeds < ENOUGH_FOR_VERDICT
    reservation = f", too few for a verdict ({ENOUGH_FOR_VERDICT})" if few else ""
    return (
        f"{name} uses {percent} {word} energy{of_work} than {base} ({interval}), "
        f"{seeds}{reservation}"
    )


def _null(comparison: Comparison) -> list[str]:
    """``mainline against itself: +0.2 % (-0.9 .. +1.3), 20 other seeds``; nothing if not known."""
    null, row = comparison.noise, comparison.primary.row
    if null is None:
        return []
    line = f"noise floor, {null.variant} against itself: "
    if isinstance(null, RecordedNull):
        percent = null.percent(row)
        return [] if percent is None else [f"{line}+-{percent:.1f} %, {null.seeds_words}"]
    diff = null.difference(row)
    if diff is None or diff.percent is None:
        return []
    interval = f" ({percent_interval(diff)})" if diff.clear is not None else ""
    return [f"{line}{diff.percent:+.1f} %{interval}, {null.seeds_words}"]


def percent_interval(difference: Difference) -> str:
    """``-2.5 .. +3.7``: the ends of the interval in percent of the baseline.

    :raises ValueError: when there is no interval, or the baseline is zero.
    """
    ends = difference.in_percent()
    if ends is None:
        raise ValueError("no interval in percent")
    # No sign where nothing is left of it: an end of -0.04 is +0.0.
    low, high = (round(cut(end, PERCENT_CHANGE), 1) + 0.0 for end in ends)
    return f"{low:+.1f} .. {high:+.1f}"


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
    """The kernel's state as the guest read it back."""
    if result.eas is None:
        return "the kernel's state was not read back"
    return f"energy-aware scheduling {'on' if result.eas else 'off'}"
