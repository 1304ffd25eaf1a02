# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths into ``result.json``: which can be a measure, and what is said of those that cannot."""

from syrupy.assertion import SnapshotAssertion

from eascope.analysis.paths import wrong_path

NAMED = {"task": ["ui", "hog", "pipe"], "program": ["pipe"], "group": ["root", "top-app"]}


RIGHT = (
    *("energy_j.total", "energy_j.task.ui", "energy_j.group.top-app", "energy_j.task.(other)"),
    *("group_run_s.root", "energy_j.cluster_component.big.shared", "latency_us.ui.p95"),
    *("speed.pipe", "throughput.pipe", "cpu_busy.0", "cpu_share.hog.5", "run_share.hog.little"),
    *("residency.prime.450000", "deadlines.ui.missed", "cluster_busy.little.min"),
    *("memory_j.dram", "fairness", "eas"),
)
WRONG = (
    *("energy_j", "energy_j.totel", "latency_us.u1.p95", "latency_us.ui", "latency_us.ui.p96"),
    *("energy_j.group.top", "group_run_s.ui", "throughput.ui", "cpu_busy.big", "mean_mhz"),
    *("migrations.ui", "engine", "expect.0.met"),
)


def test_paths_of_measures_that_a_run_can_have_are_accepted() -> None:
    assert [path for path in RIGHT if wrong_path(path.split("."), NAMED)] == []


def test_paths_of_measures_that_no_run_can_have_are_refused(snapshot: SnapshotAssertion) -> None:
    """Of a list of all measures, the begin."""
    lines = {path: wrong_path(path.split("."), NAMED) for path in WRONG}
    assert {path: line[:140] for path, line in lines.items()} == snapshot
