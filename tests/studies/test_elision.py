# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of elided and executed runs, and the cells that it is made of."""

from __future__ import annotations

from pathlib import Path

from analysis.results.elision import ElisionComparison, executed_costs
from configs.activity import at_measured_speeds
from experiments.request import resolve
from studies.costed import CostedRun
from studies.elision.page import parts
from studies.elision.plan import CASES, executable
from studies.elision.record import record_of
from tests.support.costed import changed, costed


def test_cells_run_at_what_gem5_executes() -> None:
    """The loop at the CPU model's own speed on every core type, windows short enough to execute."""
    for case in CASES:
        for elided in (False, True):
            request = case.request(elided)
            names = resolve(request)
            assert (names.engine.mode == "elided") == (not case.detailed)
            cell = executable(names, case)
            if case.detailed:
                measured = at_measured_speeds(names.platform, names.activity)[1]
                assert cell.activity.clusters == measured.clusters
            else:
                assert {rates.ipc for rates in cell.activity.clusters} == {1.0}
            assert cell.activity.digest != names.activity.digest
            assert cell.platform == names.platform
            window = cell.scenario.window
            assert (window.warmup_ms, window.length_ms(False)) == (case.warmup_ms, case.window_ms)
            assert cell.scenario.tasks == names.scenario.tasks
        assert names.request.elide
        assert not resolve(case.request(False)).request.elide


def record(executed: CostedRun) -> ElisionComparison:
    """The record of a case that is elided at a quarter of the cost."""
    elided = changed(costed(100.5, 0.53, True), window_cpu_s=2.5)
    return record_of({"smoke": {"executed": executed, "elided": elided}}, "a test")


def executed(*busy: float) -> CostedRun:
    return changed(costed(100.0, 0.50, True), cpu_busy=busy)


def test_page_says_differences_and_how_much_less_processor_time() -> None:
    # 10 processor s against 2.5, each of 0.5 simulated s
    row = "+0.50 % | 3.00 * | the same | 20 | 5.0 | 4"
    assert f"| smoke | 75 % | {row} * |" in parts(record(executed(1.0, 0.5)))["cases"]
    assert f"| smoke | 45 % | {row} |" in parts(record(executed(0.5, 0.4)))["cases"]
    measures = parts(record(executed(1.0, 0.5)))["measures"]
    assert "| energy, total (mJ) | 100.0 | 100.5 | +0.5 % |" in measures
    assert "| processor s per simulated s | 20.00 | 5.0 | 1/4 |" in measures


def test_costs_of_executing_are_read_from_the_record(tmp_path: Path) -> None:
    record(executed(1.0, 0.5)).write(tmp_path / "elision.json")
    assert executed_costs(tmp_path / "elision.json") == {"smoke": 20.0}
    assert executed_costs()["busy"] > executed_costs()["smoke"] > 100
