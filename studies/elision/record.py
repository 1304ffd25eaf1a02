# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the cells that were executed and elided."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.results.elision import ElisionCase, ElisionComparison
from analysis.results.origin import RUNS, Origin
from studies.agreement.plan import PLATFORM
from studies.costed import CostedRun, column_values, residency_points
from studies.elision.plan import CASES, VARIANT, ElisionPair
from studies.elision.run import Pair
from studies.versions import versions_of


def answers(pair: Pair) -> dict[str, list[tuple[str, bool]]]:
    """Each column's answers to the scenario's expectations about the run's own variant."""
    return {
        name: [(judged.statement, judged.met) for judged in ran.result.expect]
        for name, ran in pair.items()
    }


def busy_share(ran: CostedRun) -> float:
    """Mean share of the window in which a CPU was awake."""
    busy = ran.result.cpu_busy
    return sum(busy) / len(busy)


def record_of(pairs: Mapping[str, Pair], command: str) -> ElisionComparison:
    """The record of the executed runs."""
    cases = {case.name: case for case in CASES}
    cells = [ran.cell for pair in pairs.values() for ran in pair.values()]
    return ElisionComparison(
        origin=Origin(command, RUNS, versions_of(cells)),
        platform=PLATFORM,
        variant=VARIANT,
        seed=0,
        cases=tuple(_case(cases[name], pair) for name, pair in pairs.items()),
    )


def _case(case: ElisionPair, pair: Pair) -> ElisionCase:
    executed, elided = pair["executed"], pair["elided"]
    met = answers(pair)
    points = residency_points(executed.result, elided.result)
    return ElisionCase(
        name=case.name,
        warmup_ms=case.warmup_ms,
        window_ms=case.window_ms,
        busy_percent=100 * busy_share(executed),
        energy_percent=100 * (elided.total_j / executed.total_j - 1),
        residency_points=100 * max(points.values()),
        alike=met["executed"] == met["elided"] if met["executed"] else None,
        cpu_s_per_s={name: ran.host_s_per_s for name, ran in pair.items()},
        times=executed.host_s_per_s / elided.host_s_per_s,
        measures=column_values([executed, elided], ["executed", "elided"]),
    )
