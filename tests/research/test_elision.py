# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of elided and executed runs, and the cells that it is made of."""

from __future__ import annotations

from eascope.configs.activity import at_measured_speeds
from eascope.experiments.request import resolve
from research.elision import CASES, executable, record_of
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


def test_a_row_has_differences_and_how_much_less_processor_time() -> None:
    executed = changed(costed(100.0, 0.50, True), cpu_busy=(1.0, 0.5))
    elided = changed(costed(100.5, 0.53, True), window_cpu_s=2.5)
    record = record_of({"smoke": {"executed": executed, "elided": elided}}, "a test")
    (row,) = record["cases"]["rows"]
    # 10 processor s against 2.5, each of 0.5 simulated s
    assert row == ["smoke", 20, 60, 75.0, 0.5, 3.0, True, 20.0, 5.0, 4.0]
    assert record["origins"][0]["command"] == "a test"
