# SPDX-License-Identifier: GPL-2.0-or-later
"""Every scenario file, on every board: it loads, it compiles, and it expects what can be judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eascope.analysis.statement import parse
from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.experiments.rtapp import compile_scenario
from eascope.experiments.scenario import Scenario
from eascope.experiments.scenario_file import load_scenario
from eascope.experiments.scenario_names import names
from eascope.host.errors import RequestError
from eascope.kernels.naming import variant_names
from eascope.kernels.variants import load_catalogue

#: Scenarios name the clusters of a big.LITTLE machine.
BOARDS = tuple(
    name
    for name, _ in list_platforms()
    if "little" in [cluster.name for cluster in load_platform(name).clusters]
)

#: What an expectation may be about: the first key of a measure's path.
MEASURES = {
    "activation_us",
    "cluster_busy",
    "cpu_busy",
    "cpu_share",
    "deadlines",
    "energy_j",
    "fairness",
    "frames",
    "latency_us",
    "mean_mhz",
    "migrations",
    "missed_deadlines",
    "opp_requests_per_s",
    "opp_transitions_per_s",
    "overutilized_share",
    "pushes_per_s",
    "residency",
    "response_us",
    "run_share",
    "speed",
    "throughput",
    "top_opp",
    "wakeups",
    "window_s",
    "work_share",
}
#: Measures whose second key is a task, a cluster.
OF_TASKS = {
    *("activation_us", "cpu_share", "deadlines", "latency_us", "response_us", "run_share"),
    *("speed", "throughput"),
}
OF_CLUSTERS = {
    *("cluster_busy", "mean_mhz", "opp_requests_per_s", "opp_transitions_per_s", "top_opp"),
    "work_share",
}


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest) -> tuple[Platform, Activity]:
    platform = load_platform(request.param)
    return platform, load_activity(platform)


def scenario_of(name: str, board: tuple[Platform, Activity]) -> Scenario:
    return load_scenario(name, board[0])


#: Compares core types, of which a platform of equal CPUs has one.
OF_TYPES = "programs/sysbench-clusters"
PROGRAMS = [name for name in names() if name.startswith("programs/") and name != OF_TYPES]


def test_a_scenario_of_core_types_is_refused_where_there_is_one_type(wide: Platform) -> None:
    with pytest.raises(RequestError, match="little:0") as caught:
        load_scenario(OF_TYPES, wide)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_on_24_equal_cpus(name: str, wide: Platform) -> None:
    scenario = load_scenario(name, wide)
    assert {cpu for program in scenario.programs for cpu in program.cpus or ()} <= set(wide.cpus)


@pytest.mark.parametrize("name", names())
def test_loads_and_compiles_for_two_seeds(name: str, board: tuple[Platform, Activity]) -> None:
    platform, activity = board
    scenario = load_scenario(name, platform)
    documents, orders = [], []
    for seed in (1, 2):
        workload = compile_scenario(scenario, platform, activity, seed)
        # Where the tasks' end is the window's, other threads have an input of their own.
        every: dict[str, Any] = {}
        for document in workload.documents.values():
            every |= json.loads(document)["tasks"]
        threads = [comm for record in workload.tasks for comm in record.threads]
        assert len(threads) == sum(task.count for task in scenario.tasks)
        comms = [*threads, *workload.replicate.others]
        assert len(set(comms)) == len(comms) == len(every)
        assert all(len(comm) <= 15 for comm in comms)
        documents.append(every)
        orders.append(workload.replicate.order)
    assert orders[0] != orders[1], "another seed makes threads in another order"
    for task in scenario.tasks:
        for key in (key for key in documents[0] if key.rstrip("0123456789") == task.name):
            first, second = (
                [
                    phase["run"]
                    for phase in document[key]["phases"].values()
                    if "run" in phase
                    for _ in range(abs(phase.get("loop", 1)))
                ]
                for document in documents
            )
            assert (first == second) is (task.work_cv == 0), key
            assert sum(first) == sum(second), "the mean is kept"


@pytest.mark.parametrize("name", names())
def test_a_shipped_scenario_has_summary_source_and_loads(
    name: str, board: tuple[Platform, Activity]
) -> None:
    scenario = scenario_of(name, board)
    assert 20 <= len(scenario.summary) <= 100
    assert len(scenario.source) >= 60
    assert len(scenario.loads) >= 60
    assert "\n" not in scenario.source + scenario.loads, "a line break that was not meant"
    assert "  " not in scenario.source + scenario.loads


@pytest.mark.parametrize("name", names())
def test_full_is_the_longer_one(name: str, board: tuple[Platform, Activity]) -> None:
    window = scenario_of(name, board).window
    short, full = window.length_ms(False), window.length_ms(True)
    assert (short is None) == (full is None)
    if short is not None and full is not None:
        assert short < full
        assert 500 <= short <= 5_000, "a short run is for a person who waits"


@pytest.mark.parametrize("name", names())
def test_expectations_can_be_judged(name: str, board: tuple[Platform, Activity]) -> None:
    """Variants that exist or are planned, measures that there are, tasks and clusters by name."""
    scenario = scenario_of(name, board)
    tasks = {task.name for task in scenario.tasks}
    tasks |= {program.name for program in scenario.programs}
    clusters = {cluster.name for cluster in board[0].clusters}
    variants = {*variant_names(), *load_catalogue().planned}
    for expect in scenario.expect:
        statement = parse(expect.statement)
        assert {expect.variant, *statement.variants} <= variants, expect
        assert len(expect.source) >= 15, expect
        for measure in statement.measures:
            head = measure.path[0]
            assert head in MEASURES, measure
            if head in OF_TASKS:
                assert measure.path[1] in tasks, measure
            if head in OF_CLUSTERS:
                assert measure.path[1] in clusters, measure


@pytest.mark.parametrize("name", names())
def test_nothing_ends_before_the_window_does(name: str, board: tuple[Platform, Activity]) -> None:
    """A task that ends within the window would make the measured part two different ones."""
    scenario = scenario_of(name, board)
    if scenario.window.full_ms is not None:
        assert all(task.endless for task in scenario.tasks)


def test_capacities_of_the_sources_board() -> None:
    """Relative clamps are the source's numbers on the source's board."""
    juno = load_platform("juno-r2")

    def clamps(name: str) -> set[tuple[int | None, int | None]]:
        tasks = load_scenario(name, juno).tasks
        return {(task.uclamp_min, task.uclamp_max) for task in tasks}

    assert clamps("uclamp/capped-tasks-spread") == {(None, 110)}
    assert clamps("uclamp/eight-capped-tasks") == {(None, 110)}
    assert clamps("uclamp/unpin-from-big") == {(None, 110)}
    assert clamps("uclamp/boosted-above-little") == {(383, 384)}
    assert clamps("uclamp/frequency-spike") == {(None, None), (None, 300)}
    assert clamps("eas/stuck-on-big") == {(None, 200)}
