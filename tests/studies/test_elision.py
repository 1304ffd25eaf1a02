# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that puts elided beside executed runs, and the cells that it is made of."""

from __future__ import annotations

from configs.activity import at_measured_speeds
from experiments.cell import find
from studies.elision import CASES, executable, page
from tests.studies.test_agreement import ran


def test_cells_run_at_what_gem5_executes() -> None:
    """The loop at the CPU model's own speed on every core type, windows short enough to execute."""
    for case in CASES:
        for elided in (False, True):
            request = case.request(elided)
            names = find(request)
            assert (names.engine.mode == "elided") == (not case.detailed)
            made = executable(names, case)
            if case.detailed:
                measured = at_measured_speeds(names.platform, names.activity)[1]
                assert made.activity.clusters == measured.clusters
            else:
                assert {one.ipc for one in made.activity.clusters} == {1.0}
            assert made.activity.digest != names.activity.digest
            assert made.platform == names.platform
            window = made.scenario.window
            assert (window.warmup_ms, window.length_ms(False)) == (case.warmup_ms, case.window_ms)
            assert made.scenario.tasks == names.scenario.tasks
        assert names.request.elide and not find(case.request(False)).request.elide


def test_page_says_differences_and_how_much_less_host_time() -> None:
    executed, elided = ran(100.0, 0.50, True), ran(100.5, 0.53, True)
    executed.result["cpu_busy"] = [1.0, 0.5]  # type: ignore[index]
    elided.host["parts_cpu_s"]["window"] = 2.5  # type: ignore[index]
    text = page(
        {"smoke": {"executed": executed, "elided": elided}}, "measured on a test", "**A note.**\n"
    )
    # 10 processor s against 2.5, each of 0.5 simulated s
    assert "| smoke | 75 % | +0.50 % | 3.00 * | the same | 20 | 5.0 | 4 * |" in text
    assert "**A note.**" in text
    executed.result["cpu_busy"] = [0.5, 0.4]  # type: ignore[index]
    asleep = page({"smoke": {"executed": executed, "elided": elided}}, "measured on a test")
    assert "| smoke | 45 % | +0.50 % | 3.00 * | the same | 20 | 5.0 | 4 |" in asleep
