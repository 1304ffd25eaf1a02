# SPDX-License-Identifier: GPL-2.0-or-later
"""LKP's workloads of rt-app: each loads on every platform, and says what its file says."""

import tomllib

import pytest

from eascope.configs.inherit import activity_of
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.rtapp.json_file import read
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario.rtapp_grammar import RtAppFile
from eascope.experiments.scenario_file import load_scenario
from tests.support.repo import REPO

FOLDER = REPO / "experiments/scenarios/lkp"
#: Threads, and seconds of the file's duration.
FACTS = {
    "browser-long": (9, 600),
    "browser-short": (9, 6),
    "mp3-long": (5, 600),
    "mp3-short": (5, 6),
    "spreading-tasks": (2, 60),
}


def file_of(name: str) -> RtAppFile:
    return read(name, tomllib.loads((FOLDER / f"{name}.toml").read_text())["rt_app"])


def test_there_are_five() -> None:
    assert {name for name in names() if name.startswith("lkp/")} == {f"lkp/{n}" for n in FACTS}


@pytest.mark.parametrize("platform", [name for name, _ in list_platforms()])
@pytest.mark.parametrize("name", FACTS)
def test_each_loads_and_compiles_on_every_platform(name: str, platform: str) -> None:
    threads, seconds = FACTS[name]
    board = load_platform(platform)
    scenario = load_scenario(f"lkp/{name}", board)
    assert sum(task.count for task in scenario.tasks) == threads
    assert scenario.window.full_ms == seconds * 1000
    for seed in (1, 2):
        workload = compile_scenario(scenario, board, activity_of(board), seed)
        comms = [comm for record in workload.tasks for comm in record.threads]
        assert len({*comms}) == threads
        assert all(len(comm) <= 15 for comm in comms)


@pytest.mark.parametrize("name", ["browser", "mp3"])
def test_long_and_short_differ_in_their_length_alone(name: str) -> None:
    assert [task.says for task in file_of(f"{name}-long").tasks] == [
        task.says for task in file_of(f"{name}-short").tasks
    ]


def test_nothing_of_them_is_ignored() -> None:
    assert not [note for name in FACTS for note in file_of(name).notes if "gnored" in note]
