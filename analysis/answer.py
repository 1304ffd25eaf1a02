# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer: how the energies of variants compare, and what the difference is made of."""

from __future__ import annotations

from collections.abc import Iterator

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.difference import Difference
from eascope.analysis.null import RecordedNull
from eascope.analysis.ranges import PERCENT_CHANGE, cut
from eascope.analysis.records.result import Result
from eascope.analysis.records.verdict import DEPENDS, ENOUGH_FOR_VERDICT
from eascope.configs.knobs import axis_words


def answers(comparison: Comparison) -> list[str]:
    """The lines of `entries`, one after the other."""
    return [line for entry in entries(comparison) for line in entry]


def entries(comparison: Comparison) -> list[list[str]]:
    """The answer on each further variant, or on a single one; then the noise floor, if known.

    An answer is a sentence and, below it, what the difference is made of.
    """
    if len(comparison.names) == 1:
        return [[_alone(comparison)]]
    answers = [
        [_energy(comparison, name), *_parts(comparison, name)] for name in comparison.names[1:]
    ]
    return [*answers, *([line] for line in _null(comparison))]


def _energy(comparison: Comparison, name: str) -> str:
    """``cas vs mainline: energy -10.5 % (95 % CI -13.9 .. -8.2; 20 seeds)``, and what limits it."""
    energy = comparison.primary
    difference, joint = energy.differences[name], comparison.overall(name)
    of_work = "" if energy is comparison.total else f" {energy.row.label}"
    what = f"{name} vs {comparison.baseline}: energy{of_work}"
    seeds = f"{difference.seeds} seeds" if difference.seeds > 1 else "one seed"
    if difference.clear is None:
        seeds += f", not tested: use --seeds {ENOUGH_FOR_VERDICT}"
    elif difference.seeds < ENOUGH_FOR_VERDICT:
        seeds += f", a verdict needs {ENOUGH_FOR_VERDICT}"
    if difference.percent is None:
        return f"{what} {energy.mean(name):.2f} mJ instead of none ({seeds})"
    interval = "" if difference.clear is None else f"95 % CI {percent_interval(difference)}"
    within = "; ".join(filter(None, (interval, _assumed(comparison, name, energy), seeds)))
    end = "" if difference.clear in (None, True) else ": no significant difference"
    if joint.word == DEPENDS:
        end = f"; sign unknown: {joint.by_axis}"
    return f"{what} {difference.percent:+.1f} % ({within}){end}"


def _assumed(comparison: Comparison, name: str, energy: Line) -> str:
    """``model range -12.0 .. -9.1 (idle entry/exit power)``, with the axis that gives each end.

    Empty where no other value of a model axis makes a difference that is printed.
    """
    ends = comparison.span(name, energy)
    if ends is None:
        return ""
    # No sign where nothing is left of it, as in `percent_interval`.
    low, high = (f"{round(cut(end.percent, PERCENT_CHANGE), 1) + 0.0:+.1f}" for end in ends)
    if low == high:
        return ""
    axes = list(dict.fromkeys(axis_words(end.axis) for end in ends if end.axis))
    if len(axes) == 1:
        return f"model range {low} .. {high} ({axes[0]})"
    return f"model range {low} ({axes[0]}) .. {high} ({axes[1]})"


def _parts(comparison: Comparison, name: str) -> Iterator[str]:
    """``difference -4.1 mJ; by component: busy -3.0, idle -1.1``, and per work before it."""
    whole, parts = comparison.parts(name), comparison.parts(name, per_work=True)
    if comparison.primary is comparison.total:
        yield from [f"difference {whole.line()}"] if whole else []
    elif whole and parts:
        percent = comparison.total.differences[name].percent
        change = "" if percent is None else f"{percent:+.1f} %"
        within = _assumed(comparison, name, comparison.total)
        yield from (
            f"difference {parts.line()}",
            f"total energy {whole.line('; '.join(filter(None, (change, within))))}",
        )


def clock_caption(comparison: Comparison) -> str:
    """The largest part of each difference, as a clock does not show it; empty if unknown."""
    per_work = comparison.primary is not comparison.total
    parts = {name: comparison.parts(name, per_work=per_work) for name in comparison.names[1:]}
    lines = [f"{name}: {of.largest}" for name, of in parts.items() if of and of.largest]
    return f"Largest part of the difference in energy: {'; '.join(lines)}." if lines else ""


def _null(comparison: Comparison) -> list[str]:
    """``noise floor, mainline against itself: +0.2 % (-0.9 .. +1.3), 20 other seeds``, if known."""
    null, row = comparison.noise, comparison.primary.row
    if null is None:
        return []
    line = f"noise floor, {null.variant} against itself: "
    if isinstance(null, RecordedNull):
        percent = null.percent(row)
        return [] if percent is None else [f"{line}+-{percent:.1f} % ({null.seeds_words})"]
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
    seeds = "" if len(runs) == 1 else f" (mean of {len(runs)} seeds)"
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
