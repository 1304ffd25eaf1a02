# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures: every key of ``result.json`` that is computed from a run, and its inputs.

A measure is a function that `registry.measure` decorates. ``python -m eascope.analysis.measures``
writes their table into ``docs/reference/measures.md``.
"""

from __future__ import annotations

from eascope.analysis.measures import cpus, energy, interrupts, kernel, stages, tasks, thread_jobs
from eascope.analysis.measures.registry import REGISTERED, Measure

__all__ = ["MEASURES", "cpus", "energy", "interrupts", "kernel", "stages", "tasks", "thread_jobs"]

MEASURES: tuple[Measure, ...] = tuple(REGISTERED)
