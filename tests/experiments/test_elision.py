"""The page that puts elided beside executed runs, and the cells that it is made of."""

from __future__ import annotations

from experiments.cell import Request, find
from experiments.elision import SCENARIOS, VARIANT, executable, page
from tests.experiments.test_agreement import ran


def test_cells_run_at_what_atomic_cpus_execute() -> None:
    """One instruction per cycle on every core type, and windows short enough to execute."""
    for scenario in SCENARIOS:
        names = find(Request("juno-r2", VARIANT, scenario, "gem5"))
        made = executable(names)
        assert {cluster.ipc for cluster in made.activity.clusters} == {1.0}
        assert made.activity.digest != names.activity.digest
        window = made.scenario.window
        lengths = (10, 30) if scenario == "busy" else (20, 60)
        assert (window.warmup_ms, window.length_ms(False)) == lengths
        assert made.scenario.tasks == names.scenario.tasks


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
