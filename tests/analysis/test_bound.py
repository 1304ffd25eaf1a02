# SPDX-License-Identifier: GPL-2.0-or-later
"""The least energy of a load: known answers, and never above a run's."""

from collections.abc import Callable
from itertools import combinations

import pytest

from eascope.analysis.bound import Load, Machine
from eascope.analysis.derive import Derived, derive
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.power.choice import power_model
from tests.support.synthetic import MS, Burst, Schedule


def machine(platform: Platform, activity: Activity, power: str | None = None) -> Machine:
    return Machine(platform, activity, power_model(power, platform, activity))


def test_one_thread_takes_the_best_mixture_of_two_clocks(
    platform: Platform, activity: Activity
) -> None:
    """By hand: at most two of all OPPs, and rest."""
    of = machine(platform, activity, "published")
    window_s, work_s = 2.0, 0.5
    idle_uw = {
        cluster.name: len(cluster.cpus) * min(state.power_uw for state in cluster.idle_states)
        + cluster.shared_off_uw
        for cluster in platform.clusters
    }
    chip_off = platform.shared.off_uw if platform.shared else 0
    chip_more = platform.shared.on_uw - chip_off if platform.shared else 0
    top = activity.instructions_per_us(platform.largest, platform.largest.max_khz)
    points = [(0.0, 0.0)]
    for cluster in platform.clusters:
        sleep_uw = min(state.power_uw for state in cluster.idle_states)
        points += [
            (
                activity.instructions_per_us(cluster, opp.khz) / top,
                opp.power_uw - sleep_uw + opp.shared_uw - cluster.shared_off_uw + chip_more,
            )
            for opp in cluster.opps
        ]
    answers = []
    for (slow, little), (fast, much) in combinations(sorted(points), 2):
        if slow * window_s <= work_s <= fast * window_s:
            part = (work_s / window_s - slow) / (fast - slow)
            answers.append(window_s * (little + part * (much - little)))
    whole = window_s * (sum(idle_uw.values()) + chip_off) + min(answers)
    floor = of.floor([Load(1, work_s, platform.cpus)], window_s)
    assert floor is not None
    assert floor.energy_j * 1e6 == pytest.approx(whole)
    done = sum(
        state.busy_s * activity.instructions_per_us(platform.cluster(state.cluster), state.khz)
        for state in floor.states
    )
    assert done == pytest.approx(work_s * top)


def test_a_thread_is_on_one_cpu_at_a_time(platform: Platform, activity: Activity) -> None:
    of = machine(platform, activity)
    assert of.floor([Load(1, 1.01, platform.cpus)], 1.0) is None
    two, one = of.floor([Load(2, 1.01, platform.cpus)], 1.0), of.floor([Load(1, 1, (4,))], 1.0)
    assert two is not None
    assert one is not None
    little = of.floor([Load(1, 1, platform.cluster("little").cpus)], 1.0)
    assert little is None, "a little is slower"


def test_a_window_that_may_end_is_as_short_as_is_best(
    platform: Platform, activity: Activity
) -> None:
    of, load = machine(platform, activity), [Load(1, 0.3, platform.cpus)]
    whole = [of.floor(load, window_s) for window_s in (0.3, 0.4, 0.6, 1.0)]
    ends = of.floor(load, 1.0, may_end=True)
    assert ends is not None
    assert ends.energy_j <= min(floor.energy_j for floor in whole if floor)


def test_a_placement_takes_no_less_than_a_free_load(platform: Platform, activity: Activity) -> None:
    of = machine(platform, activity)
    free = of.floor([Load(2, 0.3, platform.cpus)], 1.0)
    assert free is not None
    for first in platform.cpus:
        for second in platform.cpus:
            placed = of.floor([Load(1, 0.15, (cpu,)) for cpu in (first, second)], 1.0)
            assert placed is not None
            assert placed.energy_j >= free.energy_j * (1 - 1e-9)


@pytest.mark.parametrize("power", ["published", "measured", "derived"])
def test_no_run_takes_less(
    power: str, platform: Platform, activity: Activity, derived: Callable[[Schedule], Derived]
) -> None:
    """Of bursts on each CPU at some clocks, the work that they are by their time."""
    for cpu in (0, 5):
        for khz in (opp.khz for opp in platform.clusters[cpu // 4].opps):
            clocks = {index: [(0, opp)] for index, opp in ((0, 450_000), (1, 600_000))}
            clocks[cpu // 4] = [(0, khz)]
            bursts = [Burst("decode-0", 10 * at * MS, cpu, 4 * MS) for at in range(20)]
            run = derived(Schedule(200 * MS, bursts, clocks))
            (work,) = (done for done in run.result.task_work_s.values() if done)
            of = machine(platform, activity, power)
            floor = of.floor([Load(1, work, platform.cpus)], run.result.window_s)
            assert floor is not None
            model = power_model(power, platform, activity)
            took = derive(run.run, platform, activity, model).result.energy_j.total
            assert floor.energy_j <= took
