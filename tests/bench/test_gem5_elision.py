# SPDX-License-Identifier: GPL-2.0-or-later
"""What eliding rt-app's busy loop saves on gem5: processor time of gem5, of the same window.

Executed against elided, and what is left against the fast engine on the same cell.
"""

import pytest

from eascope.experiments.renew.agreement import PLATFORM
from eascope.experiments.renew.costed import CostedRun
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.pool import run_all
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import Run
from research.elision import CASES, VARIANT, run
from tests.support.records import result_record

pytestmark = [pytest.mark.gem5, pytest.mark.guest, pytest.mark.long]


def test_elided_against_executed() -> None:
    """uclamp/frequency-spike on atomic CPUs: two CPUs of six busy, a minute and a half executed."""
    (case,) = (case for case in CASES if case.name == "uclamp/frequency-spike")
    side = run([case])[case.name]
    executed, elided = side["executed"], side["elided"]
    energy = [run.result.energy_j.total for run in (executed, elided)]
    assert energy[1] == pytest.approx(energy[0], rel=0.01)
    ratio = executed.host_s_per_s / elided.host_s_per_s
    print(
        f"{case.name}: executed {executed.host_s_per_s:.0f}, elided {elided.host_s_per_s:.1f} "
        f"processor s per simulated s: {ratio:.0f} times less"
    )


def test_six_busy_cpus_against_the_fast_engine() -> None:
    """busy, six CPUs that are 70 % busy, half a simulated second."""

    def after(cell: Cell, run: Run) -> CostedRun:
        short_ms = cell.resolved.scenario.window.short_ms
        assert short_ms
        window_s = short_ms / 1000
        return CostedRun(result_record(window_s=window_s), cell.record, run.host)

    cells = [
        prepare(resolve(Request(PLATFORM, VARIANT, "busy", name))) for name in ("qemu", "gem5")
    ]
    fast, elided = run_all(cells, after)
    assert fast.cell.elide
    assert elided.cell.elide
    print(
        f"busy: gem5, elided {elided.host_s_per_s:.1f} processor s per simulated s of the window, "
        f"fast engine {fast.host_s_per_s:.2f} of the whole run: "
        f"{elided.host_s_per_s / fast.host_s_per_s:.0f} times as much"
    )
