# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterfactuals of pairs of runs, one pair for each seed: means over seeds, and their intervals.

A seed in which nothing differs, or nothing can be forced, counts with A itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.analysis.counterfactual import (
    FORCED,
    NOTE,
    Counterfactual,
    energy_fj,
    latency_us,
    share,
)
from eascope.analysis.diff_kinds import FJ_PER_MJ, mean_of
from eascope.analysis.statistics import ENOUGH, Estimate, estimate
from eascope.host.table import Table

#: Percentiles of the tasks' wake-up latency.
_PERCENTILES = ("p50", "p95", "p99")


@dataclass(frozen=True)
class Row:
    """The runs of one name: A, those with forced decisions, or B.

    :param forced_in: seeds in which the kernel forced all of their decisions; None of A and B.
    :param percent: of the mean difference of B and A, with an interval where that of the difference
        excludes zero; None where the difference is zero.
    :param latency_us: percentiles, where every seed has wake-ups.
    """

    name: str
    forced_in: int | None
    mj: Estimate
    less_a_mj: Estimate
    percent: Estimate | None
    latency_us: dict[str, Estimate]

    @property
    def share(self) -> str:
        """What it explains, in words."""
        return share(self.percent.value if self.percent else None)

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "forced_in": self.forced_in,
            "energy_mj": _record(self.mj),
            "less_a_mj": _record(self.less_a_mj),
            "explained_percent": _record(self.percent) if self.percent else None,
            "latency_us": {key: _record(mean) for key, mean in self.latency_us.items()},
        }


def rows(found: Sequence[Counterfactual]) -> list[Row]:
    """A, the runs with forced decisions of the seed that has most of them, B."""
    most = max((each.repeated for each in found), key=len)
    return [_row(name, found) for name in ("A", *(each.name for each in most), "B")]


def _row(name: str, found: Sequence[Counterfactual]) -> Row:
    again = [one.run(name) for one in found]
    sides = [
        each.side if each else one.diff.b if name == "B" else one.diff.a
        for one, each in zip(found, again, strict=True)
    ]
    less = [one.against(side).total_fj for one, side in zip(found, sides, strict=True)]
    forced = sum(1 for each in again if each and {*each.outcomes} == {FORCED})
    waits = [latency_us(side) for side in sides]
    known = [each for each in waits if each]
    keys = _PERCENTILES if len(known) == len(sides) else ()
    return Row(
        name,
        None if name in ("A", "B") else forced,
        mean_of([energy_fj(side) / FJ_PER_MJ for side in sides]),
        mean_of([each / FJ_PER_MJ for each in less]),
        percent_of(less, [one.diff.total_fj for one in found]),
        {key: mean_of([each[key] for each in known]) for key in keys},
    )


def percent_of(less: Sequence[int], whole: Sequence[int]) -> Estimate | None:
    """The sum of ``less`` in percent of that of ``whole``, both in fJ by seed."""
    total = sum(whole)
    if not total:
        return None
    value = 100 * sum(less) / total
    ends = mean_of(whole).interval()
    if ends is None or ends[0] <= 0 <= ends[1]:
        return Estimate(value, ())
    # Without any one seed the mean is not zero, or the interval would include zero.
    samples = {"less": less, "whole": whole}
    varied = estimate(lambda means: 100 * means["less"] / means["whole"], [samples])
    return replace(varied, value=value)


def record(found: Sequence[Counterfactual], command: str) -> dict[str, Any]:
    """As JSON: the means with their 95 % intervals, and each seed."""
    return {
        "runs": [row.record for row in rows(found)],
        "seeds": [each.record(command) for each in found],
        "repeat": command,
    }


def answer(found: Sequence[Counterfactual]) -> str:
    """What the first decision explains, and all of them."""
    forced = [row for row in rows(found) if row.forced_in is not None]
    return "\n".join(
        f"{row.name}: {row.share} % of the energy difference "
        f"({row.less_a_mj.value:+.3f} mJ), mean of {len(found)} seeds"
        for row in [*forced[:1], *forced[1:][-1:]]
    )


def table(found: Sequence[Counterfactual]) -> Table:
    """The energies: a line for the runs of each name."""
    cells = [
        [
            row.name,
            "" if row.forced_in is None else str(row.forced_in),
            _words(row.mj, ".3f"),
            "" if row.name == "A" else _words(row.less_a_mj, "+.3f"),
            "" if row.name == "A" else row.share,
            str(len(found)),
        ]
        for row in rows(found)
    ]
    heads = ("run", "forced in", "energy (mJ)", "- A (mJ)", "% of B - A", "n")
    return Table.of(heads, cells)


def text(found: Sequence[Counterfactual], command: str) -> str:
    """A sentence, the means, and what was forced in each seed, at most 90 columns wide."""
    every = rows(found)
    lines = [answer(found), "", table(found).text()]
    waits = [
        [row.name, *(_words(mean, ".0f") for mean in row.latency_us.values())]
        for row in every
        if row.latency_us
    ]
    if waits:
        heads = ("run", *(f"latency {key} (us)" for key in _PERCENTILES))
        lines += ["", Table.of(heads, waits).text()]
    lines += [f"95 % CI from {ENOUGH} seeds on; latency: of the tasks' wake-ups", ""]
    for one in found:
        a, b = (side.derived.cell for side in (one.diff.a, one.diff.b))
        lines.append(
            f"seed {a.seed}, A: {a.variant} ({a.simkey[:12]}), B: {b.variant} ({b.simkey[:12]})"
        )
        lines += [f"  {said}" for said in one.said]
    return "\n".join([*lines, "", *NOTE, f"repeat: {command}"]) + "\n"


def _words(mean: Estimate, form: str) -> str:
    ends = mean.interval()
    told = "" if ends is None else f" ({ends[0]:{form}} .. {ends[1]:{form}})"
    return f"{mean.value:{form}}{told}"


def _record(mean: Estimate) -> dict[str, Any]:
    return {"mean": mean.value, "interval": mean.interval()}
