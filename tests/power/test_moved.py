# SPDX-License-Identifier: GPL-2.0-or-later
"""A metered rail moved to another program: hand-made counts, powers and ratios."""

from dataclasses import replace

import pytest

from eascope.configs.activity import Activity
from eascope.configs.billing import MEASURED
from eascope.configs.platform import Platform
from eascope.configs.program_events import ClusterEvents, OppEvents
from eascope.host.errors import RequestError
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE
from eascope.power.moved import dynamic, dynamic_of, loop_dynamic, moved, moved_to_loop
from eascope.power.stated import StatedPower

LOADS, MISSES = "core.load_instructions", "L2.read_misses"


def test_the_static_part_stays_and_the_rest_is_moved() -> None:
    assert moved(50.0, 150.0, 1.3) == 180.0
    assert moved(50.0, 150.0, 0.0) == 50.0
    assert moved(50.0, 150.0, 1.0) == 150.0


def test_a_busy_cpu_has_its_clock_and_the_events_of_its_instructions() -> None:
    power = load_events("cortex-a7")
    # A billion cycles and a quarter of a billion instructions a second.
    got = dynamic(power, 1_000_000, 4.0, {LOADS: 0.5, CYCLE: 77.0})
    assert got.clock_w == pytest.approx(1e9 * power.pj(CYCLE, 1.0) * 1e-12)
    assert got.events_w == pytest.approx(0.25e9 * 0.5 * power.pj(LOADS, 1.0) * 1e-12)
    assert got.all_w == got.clock_w + got.events_w


def test_a_program_that_waits_has_fewer_events_a_cycle_at_a_faster_clock() -> None:
    power = load_events("cortex-a15")
    opps = tuple(OppEvents(khz, 1000, 2e6 / khz + 3, {LOADS: 0.5}) for khz in (500_000, 2_000_000))
    program = ClusterEvents("waits", "big", 2.0, 3.0, opps)
    slow, fast = (dynamic_of(power, program, khz) for khz in (500_000, 2_000_000))
    assert fast.clock_w == pytest.approx(4 * slow.clock_w)
    # 7 ns an instruction, then 4 ns.
    assert fast.events_w / slow.events_w == pytest.approx(7 / 4)
    assert dynamic_of(power, program, 1_000_000).events_w / slow.events_w == pytest.approx(7 / 5)


def _cycle_each(juno: Platform, loads: float) -> dict[str, ClusterEvents]:
    opps = (OppEvents(800_000, 1000, 1.25, {LOADS: loads}),)
    names = [cluster.name for cluster in juno.clusters]
    return {name: ClusterEvents("sysbench-cpu", name, 1.0, 0.0, opps) for name in names}


def test_a_busy_cpu_is_billed_for_the_loop_and_its_idle_power_stays(
    juno: Platform, juno_activity: Activity
) -> None:
    changed = moved_to_loop(juno, juno_activity, _cycle_each(juno, 0.25))
    little, before = changed.clusters[0], juno.clusters[0]
    power, wfi = load_events("cortex-a53"), before.idle_states[0].power_uw
    assert wfi == 5_900
    for place, opp in enumerate(little.opps):
        ours = loop_dynamic(power, before, juno_activity, opp.khz).all_w
        theirs = dynamic(power, opp.khz, 1e6 / opp.khz, {LOADS: 0.25}).all_w
        (old,) = (busy.power_uw[place] for busy in before.busy if busy.name == MEASURED)
        (new,) = (busy.power_uw[place] for busy in little.busy if busy.name == MEASURED)
        assert new == pytest.approx(wfi + (old - wfi) * ours / theirs, abs=1)
        assert StatedPower(changed, MEASURED).busy_microwatt(little, opp.khz) == new
    assert StatedPower(changed, MEASURED).digest != StatedPower(juno, MEASURED).digest
    assert [c.idle_states for c in changed.clusters] == [c.idle_states for c in juno.clusters]
    assert [c.opps for c in changed.clusters] == [c.opps for c in juno.clusters]


def test_an_idle_power_by_leakage_is_static_too(juno: Platform, juno_activity: Activity) -> None:
    leaking = replace(juno, idle=replace(juno.idle, leakage="derived"))
    rows = _cycle_each(juno, 0.25)
    for at in range(3):
        stated, derived = (
            moved_to_loop(platform, juno_activity, rows).clusters[0].busy[0].power_uw[at]
            for platform in (juno, leaking)
        )
        assert stated != derived


def test_a_faster_loop_draws_more(juno: Platform, juno_activity: Activity) -> None:
    faster = replace(
        juno_activity,
        clusters=tuple(replace(speed, ipc=1.5 * speed.ipc) for speed in juno_activity.clusters),
    )
    power, little = load_events("cortex-a53"), juno.clusters[0]
    one, other = (loop_dynamic(power, little, a, 800_000) for a in (juno_activity, faster))
    assert other.clock_w == one.clock_w
    assert other.events_w == pytest.approx(1.5 * one.events_w)


def test_without_measured_rails_or_counted_events_there_is_nothing_to_move(
    juno: Platform, juno_activity: Activity
) -> None:
    rows = _cycle_each(juno, 0.25)
    with pytest.raises(RequestError, match="measured is missing"):
        moved_to_loop(juno, replace(juno_activity, measured=()), rows)
    unmetered = replace(juno, billing=replace(juno.billing, offers=("published", "derived")))
    with pytest.raises(RequestError, match="offers no measured power"):
        moved_to_loop(unmetered, juno_activity, rows)
    with pytest.raises(RequestError, match="big: no events of what was metered"):
        moved_to_loop(juno, juno_activity, {"little": rows["little"]})
