# SPDX-License-Identifier: GPL-2.0-or-later
"""Every scenario file, on every board: it loads, it compiles, and it expects what can be judged."""

import json
from typing import Any

import pytest

from eascope.configs.activity import Activity
from eascope.configs.inherit import activity_of
from eascope.configs.platform import Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.runs.request import _check_expected
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from eascope.kernels.naming import variant_names
from eascope.kernels.variants import load_catalogue

#: Scenarios name the clusters of a big.LITTLE machine.
BOARDS = tuple(
    name
    for name, _ in list_platforms()
    if "little" in [cluster.name for cluster in load_platform(name).clusters]
)


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest) -> tuple[Platform, Activity]:
    platform = load_platform(request.param)
    return platform, activity_of(platform)


#: Name the second CPU of the big cluster, of which pixel9 has one.
TWO_BIGS = (
    *("eas/headroom-big", "latnice/idle-gating-marked"),
    *("boards/parallel-n", "boards/worker-moves"),
    *("uclamp/frequency-spike", "uclamp/frequency-spike-cpumax", "uclamp/frequency-spike-loops"),
)
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


#: Of these rt-app runs its own file, in which tasks may end (tests/experiments/rtapp/test_lkp.py).
LKP = "lkp/"


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith(LKP)])
def test_loads_and_compiles_for_two_seeds(name: str, board: tuple[Platform, Activity]) -> None:
    platform, activity = board
    if name in TWO_BIGS and len(platform.cluster("big").cpus) < 2:
        with pytest.raises(RequestError, match=r"(big|largest):(0-)?1"):
            load_scenario(name, platform)
        return
    scenario = load_scenario(name, platform)
    # A task that ends within the window would make the measured part two different ones.
    assert scenario.window.full_ms is None or all(task.endless for task in scenario.tasks)
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


def test_what_is_expected_is_of_variants_that_there_are() -> None:
    known = [*variant_names(), *load_catalogue().planned]
    for name in names():
        _check_expected(load_scenario(name, load_platform("pixel6")), known)


def test_a_phones_load_says_in_its_first_line_whether_its_level_is_known() -> None:
    for name in names():
        summary = load_scenario(name, load_platform("pixel6")).summary
        if "stand-in" in summary or name.partition("/")[0] in ("android", "memory", "ui"):
            known = "calibrated to the author's rail measurements" in summary
            assert summary.endswith("(absolute load unverified)") is not known, name
