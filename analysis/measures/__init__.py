# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures: every key of ``result.json`` that is computed from a run, and its inputs.

``python -m eascope.analysis.measures`` prints them as a Markdown table.
"""

from __future__ import annotations

from eascope.analysis.measures import cpus, energy, tasks, turns
from eascope.analysis.measures.registry import Measure

MEASURES: tuple[Measure, ...] = (
    *(energy.energy_j, energy.memory_j),
    *(cpus.residency, cpus.top_opp, cpus.mean_mhz),
    *(cpus.opp_transitions_per_s, cpus.opp_requests_per_s),
    *(cpus.cpu_busy, cpus.cluster_busy, cpus.work_share),
    *(cpus.overutilized_share, cpus.pushes_per_s, cpus.eas),
    *(tasks.latency_us, tasks.wakeups, tasks.migrations),
    *(tasks.run_share, tasks.cpu_share, tasks.speed, tasks.fairness, tasks.throughput),
    tasks.program,
    *(turns.activation_us, turns.lateness_us, turns.response_us),
    *(turns.turns, turns.deadlines, turns.missed_deadlines, turns.frames),
    *(turns.completion_s, turns.completion_spread),
)
