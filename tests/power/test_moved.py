# SPDX-License-Identifier: GPL-2.0-or-later
"""A metered rail moved to another program: hand-made counts, powers and ratios."""

import pytest

from eascope.configs.program_events import ClusterEvents, OppEvents
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE
from eascope.power.moved import dynamic, dynamic_of, moved

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
