# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock: every CPU's speed at every OPP, sleep, and reads in one global order."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.base import Machine
from tests.support.bare_metal import GuestRun, run_machine


def speeds(out: Path) -> list[tuple[dict[int, int], str, int, float]]:
    """(level of each cluster, "alone" or "busy", CPU, instructions per us) in order."""
    levels: dict[int, int] = {}
    rows = []
    for line in (out / "result.txt").read_text().splitlines():
        label, value = line.split()
        kind, number = label.split(".")
        if kind == "level":
            levels[int(number)] = int(value)
        else:
            rows.append((dict(levels), kind, int(number), int(value) / 1000))
    return rows


@pytest.mark.guest
def test_rate_is_frequency_times_ipc(
    run_guest: Callable[..., GuestRun], juno: Platform, juno_activity: Activity
) -> None:
    """Within 0.5 % on every CPU at every OPP, alone and with all CPUs busy."""
    measured = speeds(run_guest("rate").out)
    points = set()
    for levels, kind, cpu, per_us in measured:
        cluster = juno.cluster_of(cpu)
        opps = sorted(cluster.opps, key=lambda opp: -opp.khz)
        khz = opps[levels[cluster.index]].khz
        expected = juno_activity.instructions_per_us(cluster, khz)
        assert per_us == pytest.approx(expected, rel=0.005), (kind, cpu, khz)
        points.add((kind, cpu, khz))
    wanted = {
        (kind, cpu, opp.khz)
        for kind in ("alone", "busy")
        for cluster in juno.clusters
        for cpu in cluster.cpus
        for opp in cluster.opps
    }
    assert points == wanted


@pytest.mark.guest
def test_code_outside_the_busy_loop_runs_at_the_rate_of_system_code(
    bare_machine: Callable[..., Machine], tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """The same instructions, which are nobody's busy loop, at the measured rate of a system."""
    ipc = {"little": 0.37, "big": 0.53}
    clusters = tuple(
        replace(cluster, system_ipc=ipc[cluster.name]) for cluster in juno_activity.clusters
    )
    machine = replace(bare_machine("rate"), activity=replace(juno_activity, clusters=clusters))
    names = set()
    for levels, kind, cpu, per_us in speeds(run_machine(machine, tmp_path / "out").out):
        cluster = juno.cluster_of(cpu)
        khz = sorted((opp.khz for opp in cluster.opps), reverse=True)[levels[cluster.index]]
        assert per_us == pytest.approx(ipc[cluster.name] * khz / 1000, rel=0.005), (kind, cpu, khz)
        names.add(cluster.name)
    assert names == set(ipc)


@pytest.mark.guest
def test_no_cpu_sees_time_go_backwards(run_guest: Callable[..., GuestRun]) -> None:
    """120 000 reads under a lock, six CPUs."""
    result = run_guest("clocks").result
    assert result == {"backwards": 0, "reads": 120_000}
