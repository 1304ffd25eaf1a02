# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on both engines: what is run, and what is made of what they print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.renew.costed import CostedRun
from eascope.experiments.request import resolve
from research.program_speed import FAST, MEASURE, REFERENCE, SCENARIO, rates, request
from tests.support.costed import costed


def test_both_engines_run_the_same_programs_alone_on_each_cluster(juno: Platform) -> None:
    fast, gem5 = (resolve(request(SCENARIO, *engine)) for engine in (FAST, REFERENCE))
    assert fast.engine.name == FAST[0]
    assert (gem5.engine.name, gem5.engine.mode) == REFERENCE
    assert fast.scenario == gem5.scenario
    cpus = [program.cpus for program in fast.scenario.programs]
    assert cpus == [(cluster.cpus[0],) for cluster in juno.clusters]


def test_a_row_has_both_rates_and_their_differences() -> None:
    names = resolve(request(SCENARIO, *FAST))

    def printed(events: float) -> CostedRun:
        run = costed(1.0, 0.5, True)
        programs = {program.name: {MEASURE: events} for program in names.scenario.programs}
        return replace(run, result=replace(run.result, program=programs))

    rows = list(rates(names, printed(930.0), printed(1000.0), printed(870.0)))
    assert [row[1] for row in rows] == [cluster.name for cluster in names.platform.clusters]
    for row in rows:
        assert row[0] == "sysbench-cpu"
        assert row[3:6] == [930.0, 870.0, 1000.0]
        assert row[6:] == pytest.approx([-7.0, -13.0])
