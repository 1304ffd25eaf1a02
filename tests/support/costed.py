# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived runs with known results and costs, for the studies that compare engines."""

from __future__ import annotations

from typing import Any

from studies.agreement.runs import CostedRun


def costed(
    energy: float,
    fast_share: float,
    verdict: bool,
    parts: bool = True,
    variant: str = "cas",
    statement: str = "migrations > 1",
) -> CostedRun:
    """A run with so much energy (mJ) and share of the higher OPP.

    :param verdict: whether it has more than one migration.
    :param parts: whether it is gem5's, which says what each part of a run cost.
    """
    result: dict[str, Any] = {
        "energy_j": {"total": energy / 1000, "cluster": {"little": energy / 1000}},
        "residency": {"little": {"450000": 1 - fast_share, "950000": fast_share}},
        "opp_transitions_per_s": {"little": 10.0},
        "opp_requests_per_s": {"little": 12.0},
        "run_share": {"light": {"little": 1.0}},
        "cluster_busy": {"little": {"min": 0.1, "max": 0.4}},
        "migrations": 3 if verdict else 0,
        "latency_us": {"light": {"p50": 5.0, "p99": 9.0}},
        "missed_deadlines": 0,
        "window_s": 0.5,
        "expect": [{"statement": "migrations > 1", "value": 3, "holds": verdict}],
        "power_model": {"name": "published"},
    }
    model = [{"name": "little", "model": "ArmAtomicSimpleCPU"}]
    cell: dict[str, Any] = {
        "settings": {"engine": {"machine": {"clusters": model}}} if parts else {},
        "engine": "gem5" if parts else "qemu",
        "mode": "elided" if parts else "",
        "duration": "short",
        "expect": [{"variant": variant, "statement": statement, "source": "a test"}],
        "controls": {"speeds": "board"},
        "kernel": {"upstream": "6.12.1"},
        "engine_identity": {"version": "24.0"} if parts else {"qemu": {"version": "10.0"}},
    }
    host: dict[str, Any] = {"host_s": 9.0, "cpu_s": 2.0, "sim_s": 1.0, "machine": "a test"}
    if parts:
        host |= {"parts_cpu_s": {"boot": 100.0, "warmup": 6.0, "window": 10.0}}
    return CostedRun(result, cell, host)
