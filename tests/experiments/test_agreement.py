"""The page that puts gem5 beside the fast engine, from results with known differences."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.agreement import ENGINES, Ran, page, requests, residency_points


def ran(energy: float, fast_share: float, verdict: bool, parts: bool = True) -> Ran:
    """A run with so much energy (mJ) and share of the higher OPP."""
    result: dict[str, Any] = {
        "energy_j": {"total": energy / 1000, "cluster": {"little": energy / 1000}},
        "residency": {"little": {"450000": 1 - fast_share, "950000": fast_share}},
        "opp_transitions_per_s": {"little": 10.0},
        "opp_requests_per_s": {"little": 12.0},
        "run_share": {"light": {"little": 1.0}},
        "cluster_busy": {"little": {"min": 0.1, "max": 0.4}},
        "migrations": 3,
        "latency_us": {"light": {"p50": 5.0, "p99": 9.0}},
        "missed_deadlines": 0,
        "window_s": 0.5,
        "expect": [{"statement": "migrations > 1", "value": 3, "holds": verdict}],
        "power_model": {"name": "published"},
    }
    model = [{"name": "little", "model": "ArmAtomicSimpleCPU"}]
    settings = {"engine": {"machine": {"clusters": model}}} if parts else {}
    cell = {"window": {"warmup_ms": 300}, "settings": settings, "engine": "gem5"}
    host: dict[str, Any] = {"host_s": 9.0, "cpu_s": 2.0, "sim_s": 1.0}
    if parts:
        host |= {"parts_cpu_s": {"boot": 100.0, "warmup": 6.0, "window": 10.0}}
    return Ran(result, cell, host)


def test_differences_goals_and_cost() -> None:
    side = {
        "fast": ran(110.0, 0.5, True, parts=False),
        "elided": ran(100.0, 0.51, True),
        "elided-detailed": ran(108.0, 0.55, False),
    }
    text = page({("smoke", "cas"): side}, "measured on a test")
    assert "| smoke | cas | elided | +10.0 % * | 1.0 | the same | 20.0 (2.00) |" in text
    assert "| smoke | cas | elided-detailed | +1.9 % | 5.0 * | differ * | 20.0 (2.00) |" in text
    assert "| energy, total (mJ) | 110.0 | 100.0 | -9.1 % | 108.0 | -1.8 % |" in text
    assert "| little at 950 MHz (%) | 50.0 | 51.0 | +1.0 | 55.0 | +5.0 |" in text
    assert "| processor s per simulated s | 2.00 | 20.0 | 10 x | 20.0 | 10 x |" in text
    assert "* gem5 in mode `elided`: little ArmAtomicSimpleCPU" in text
    assert "* measured on a test" in text


def test_residency_is_the_largest_share_that_differs() -> None:
    points = residency_points(ran(1, 0.5, True).result, ran(1, 0.8, True).result)
    assert points == {"little": pytest.approx(0.3)}


def test_the_set_has_both_modes_and_the_fast_engine() -> None:
    wanted = requests(["smoke"], [column for column, _, _ in ENGINES])
    assert set(wanted) == {("smoke", "mainline"), ("smoke", "cas")}
    modes = {(one.engine, one.mode) for sides in wanted.values() for one in sides.values()}
    assert modes == {("qemu", None), ("gem5", "elided"), ("gem5", "elided-detailed")}
