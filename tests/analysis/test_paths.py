# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths into ``result.json``: which can be a measure, and what is said of those that cannot."""

import re

import pytest

from eascope.analysis.paths import wrong_path

NAMED = {"task": ["ui", "hog", "pipe"], "program": ["pipe"], "group": ["root", "top-app"]}


@pytest.mark.parametrize(
    "path",
    [
        "energy_j.total",
        "energy_j.task.ui",
        "energy_j.group.top-app",
        "energy_j.task.(other)",
        "group_run_s.root",
        "energy_j.cluster_component.big.shared",
        "latency_us.ui.p95",
        "speed.pipe",
        "throughput.pipe",
        "cpu_busy.0",
        "cpu_share.hog.5",
        "run_share.hog.little",
        "residency.prime.450000",
        "deadlines.ui.missed",
        "cluster_busy.little.min",
        "memory_j.dram",
        "fairness",
        "eas",
    ],
)
def test_paths_of_measures_that_a_run_can_have_are_accepted(path: str) -> None:
    assert wrong_path(path.split("."), NAMED) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("energy_j", "energy_j is several numbers; choose one of them, such as energy_j."),
        ("energy_j.totel", "no 'totel' there: allowed: cluster, .*did you mean total"),
        ("latency_us.u1.p95", r"no 'u1' there: allowed: ui, hog, pipe \(did you mean ui\?\)"),
        ("latency_us.ui", "several numbers; choose one of them, such as latency_us.ui.max"),
        ("latency_us.ui.p96", "no 'p96' there: allowed: max, p50, p90, p95, p99"),
        ("energy_j.group.top", r"no 'top' there: allowed: root, top-app, .*did you mean top-app\?"),
        ("group_run_s.ui", "no 'ui' there: allowed: root, top-app"),
        ("throughput.ui", "no 'ui' there: allowed: pipe"),
        ("cpu_busy.big", "'big' is not an index; expected a number from 0"),
        ("mean_mhz", "several numbers; choose one of them, such as mean_mhz.NAME"),
        ("migrations.ui", "migrations is a number, without 'ui' below it"),
        ("engine", "no 'engine' there: allowed: activation_us, "),
        ("expect.0.met", "no 'expect' there"),
    ],
)
def test_paths_of_measures_that_no_run_can_have_are_refused(path: str, words: str) -> None:
    assert re.search(words, wrong_path(path.split("."), NAMED))
