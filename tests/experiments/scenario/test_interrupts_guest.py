# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of interrupts in a real guest: known times, and what the scheduler makes of them."""

import re
from pathlib import Path

import pytest

from eascope.experiments.scenario.names import ROOT
from tests.support.command import ran
from tests.support.linux import events
from tests.support.scenarios import write

pytestmark = [pytest.mark.guest, pytest.mark.kernels("base+io+irq")]

#: With a task that waits for a device a scenario has the kernel of the test of devices, which is
#: built once for both.
DEVICE = """
[[task]]
name = "device"
cpus = "little:3"
[[task.phase]]
run_us = 50
io_us = 50_000
"""
#: A task on a CPU with interrupts, one beside it, and two idle CPUs with others.
MORE = """
[[task]]
name = "b"
cpus = "big:1"
[[task.phase]]
run_us = 3_000
period_us = 10_000
[[interrupt]]
name = "nic"
cpus = "big:0"
period_us = 1_000
work_us = 200
[[interrupt]]
name = "disk"
cpus = "little:0-1"
period_us = 5_000
work_us = 500
start_us = 2_500
"""


@pytest.mark.parametrize("engine", ["qemu", pytest.param("gem5", marks=pytest.mark.gem5)])
def test_interrupts_take_their_time_and_no_task_works_in_it(engine: str, tmp_path: Path) -> None:
    """Works of 30 % end as such; a CPU is busy for its interrupts, which are no task's energy."""
    scenario = write(
        tmp_path,
        task='cpus = "big:0"',
        phase="run_us = 3_000\nperiod_us = 10_000",
        more=MORE + DEVICE,
        window="warmup_ms = 300\nshort_ms = 1_000\nfull_ms = 1_000",
    )
    printed = ran(scenario, "--no-noise", "--engine", engine)
    came = printed["interrupts"]
    assert came["nic"]["count"] + came["nic"]["missed"] == pytest.approx(1000, abs=3)
    assert came["disk"]["count"] + came["disk"]["missed"] == pytest.approx(400, abs=3)
    assert printed["interrupt_share"] == pytest.approx({"nic": 0.2, "disk": 0.1}, rel=0.02)
    assert [printed["speed"][task] for task in "ab"] == pytest.approx([0.3, 0.3], rel=0.02)


def test_a_task_leaves_a_cpu_that_interrupts_have_made_too_small(tmp_path: Path) -> None:
    """As the scenario states. The capacity falls by the interrupts' share.

    update_irq_load_avg() takes their time as just before it, so an idle CPU's falls by more.
    """
    file = tmp_path / "interrupted-big.toml"
    file.write_text(
        (ROOT / "eas/interrupted-big.toml").read_text().replace("[window]", DEVICE + "[window]")
    )
    printed = ran(file, "--events", "lisa__sched_cpu_capacity")
    assert [each["met"] for each in printed["expect"]] == [True]
    capacities: dict[int, list[int]] = {4: [], 5: []}
    for event in events(Path(printed["run"]) / "trace.dat"):
        if found := re.search(r"cpu=([45]) capacity=(\d+)", event.text):
            capacities[int(found[1])].append(int(found[2]))
    # The last update that the trace has, of an average that still falls.
    assert 0.7 * 1024 < capacities[4][-1] < 0.83 * 1024
    assert capacities[5][-1] > 0.95 * 1024
