# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a series is to change nothing it changes nothing: switches off, no clamp set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis.derive import derive
from configs.platform import Platform
from experiments.cell import prepare
from experiments.request import Request, resolve
from experiments.runs import execute
from kernels.queues import series_patches
from kernels.switches import STATS
from kernels.variants import SERIES

pytestmark = [pytest.mark.long, pytest.mark.guest, pytest.mark.kernels("feec", "sum")]

#: Fewer leave too much to chance: of five, the mean of a kernel that is the same was outside.
SEEDS = 10


def added_counters(queue: str) -> set[str]:
    """Counters that the patches of ``queue`` add."""
    pattern = re.compile(r"^\+EASCOPE_COUNTER\((\w+)\)", re.MULTILINE)
    return {
        name
        for patch in series_patches(SERIES / queue)
        for name in pattern.findall(patch.read_text())
    }


@dataclass(frozen=True)
class Same:
    """``variant`` is to be what ``reference`` is, and to count nothing of ``queue``'s own.

    Seeds shift tasks but not how the guest boots, and where a thread happens to start may last. In
    speedometer four of mainline's ten seeds leave a helper on the littles, none of max-nospare0's,
    though EAS, in which alone they differ, is off there. So there ``reference`` is both: against
    max-nospare0 alone uclamp-sum's mean power is 0.6 % below the least of ten seeds.
    """

    reference: tuple[str, ...]
    variant: str
    queue: str
    scenario: str


CASES = [
    # Light and steady, capped and stuck, heavy and overutilized.
    *(
        Same(("mainline",), "feec-a", "feec", name)
        for name in ("eas/video-playback", "uclamp/eight-capped-tasks", "eas/speedometer")
    ),
    # Without a clamp: light and steady, heavy and overutilized, and the source's own comparison.
    *(
        Same(("max-nospare0",), "uclamp-sum", "sum", name)
        for name in ("eas/video-playback", "uclamp/no-clamp-multi")
    ),
    Same(("max-nospare0", "mainline"), "uclamp-sum", "sum", "eas/speedometer"),
]


def counters(folder: Path) -> dict[str, list[int]]:
    """The kernel's counters as the guest read them after the window."""
    text = (folder / "state.txt").read_text()
    last = text.rpartition(f"{STATS}: ")[2]
    rows = re.findall(r"^(\w+)((?: \d+)+)$", last, re.MULTILINE)
    return {name: [int(number) for number in numbers.split()] for name, numbers in rows}


def measures(result: dict[str, Any], platform: Platform) -> dict[str, float]:
    """What must not change: power, placement, transitions.

    Not energy: where all CPUs are busy the window ends when the agent gets one, maybe a tick later.
    """
    power_w = result["energy_j"]["total"] / result["window_s"]
    found = {"power": power_w, "migrations": float(result["migrations"])}
    for cluster in platform.clusters:
        found[f"work on {cluster.name}"] = result["work_share"][cluster.name]
        found[f"transitions of {cluster.name}"] = result["opp_transitions_per_s"][cluster.name]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.queue}-{case.scenario}")
def test_nothing_changes(case: Same) -> None:
    """No counter moves, and every measure's mean lies within the reference's range of offsets."""
    found: dict[str, list[dict[str, float]]] = {one: [] for one in (*case.reference, case.variant)}
    own = added_counters(case.queue)
    assert own
    for variant, values in found.items():
        for seed in range(SEEDS):
            cell = prepare(resolve(Request("juno-r2", variant, case.scenario, seed=seed)))
            done = execute(cell)
            names = cell.names
            derived = derive(done.path, names.platform, names.activity)
            values.append(measures(derived.result, names.platform))
            if variant == case.variant:
                counted = counters(done.path)
                assert counted["feec_called"], "the table of counters was not found"
                assert not {name: counted[name] for name in own if any(counted[name])}
    for name in found[case.variant][0]:
        base = [values[name] for reference in case.reference for values in found[reference]]
        mean = sum(values[name] for values in found[case.variant]) / SEEDS
        assert min(base) <= mean <= max(base) or mean == pytest.approx(base[0], rel=1e-3), name
