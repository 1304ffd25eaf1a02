# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks that wait for memory: the file's key, rt-app's processes, the script, what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.registry import ENGINES
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.runs.request import resolve
from eascope.experiments.scenario.model import MOST_MEMORY
from eascope.experiments.scenario.workload import Workload
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.cells import REQUEST, Artefacts, prepared
from tests.support.scenarios import PHASE, SECOND, check_refused, write

SECOND_WITH = SECOND.replace("[[task.phase]]", "memory = 0.3\n[[task.phase]]")

WRONG = {
    "all of it": ("memory = 1", "", ["task[0].memory", "= 1", f"0..{MOST_MEMORY}"]),
    "waits for a task of another share": (
        "",
        SECOND_WITH + 'wait = "a"\nrun_us = 5',
        ["task[1].memory", "0.3", "0, the memory of a, for which it waits"],
    ),
    "meets a task of another share": (
        "",
        SECOND_WITH + 'meet = ["there"]\nrun_us = 5',
        ["task[0].memory", "= 0.0", "0.3, the memory of b, for which it waits"],
    ),
    "too many shares": (
        "",
        "".join(
            f'[[task]]\nname = "t{n}"\nmemory = 0.{n}1\n[[task.phase]]\n{PHASE}\n'
            for n in range(1, 7)
        )
        + "".join(
            f'[[task]]\nname = "u{n}"\nmemory = 0.{n}2\n[[task.phase]]\n{PHASE}\n'
            for n in range(1, 3)
        ),
        ["task.memory", "up to 7 different shares besides 0"],
    ),
}


@pytest.mark.parametrize(("task", "more", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_share_is_one_line(
    tmp_path: Path, juno: Platform, task: str, more: str, words: list[str]
) -> None:
    phase = PHASE if "there" not in more else 'meet = ["there"]\n' + PHASE
    check_refused(write(tmp_path, task=task, phase=phase, more=more), juno, words)


def compiled(path: str, platform: Platform, activity: Activity, *, noise: bool) -> Workload:
    return compile_scenario(load_scenario(path, platform), platform, activity, 3, noise=noise)


@pytest.mark.parametrize("noise", [False, True])
def test_tasks_of_a_share_have_a_process_of_their_own(
    tmp_path: Path, juno: Platform, juno_activity: Activity, noise: bool
) -> None:
    """And the same jobs, starts and draws as without memory."""
    plain = compiled(write(tmp_path, more=SECOND + PHASE), juno, juno_activity, noise=noise)
    path = write(tmp_path, more=SECOND_WITH + PHASE)
    mixed = compiled(path, juno, juno_activity, noise=noise)
    assert list(mixed.documents) == ["rt-app", "memory1"]
    assert mixed.own == ("rt-app", "memory1")
    assert plain.own == ("rt-app",)
    tasks, of_rt_app = (json.loads(item.document)["tasks"] for item in (plain, mixed))
    of_memory = json.loads(mixed.documents["memory1"])["tasks"]
    assert tasks == of_rt_app | of_memory
    assert list(of_memory) == ["b"]
    assert mixed.replicate == replace(plain.replicate, others=mixed.replicate.others)
    (first, second), (_, before) = mixed.tasks, plain.tasks
    assert (first.memory, second.memory) == (0.0, 0.3)
    assert second.threads == ("b-0",)
    assert replace(second, memory=0.0, threads=before.threads) == before


def test_no_memory_is_no_key(
    artefacts: Artefacts, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """A share of 0 is the scenario without the key: the same run, byte for byte, and record."""
    plain = prepared(scenario=write(tmp_path))
    zero = prepared(scenario=write(tmp_path, task="memory = 0"))
    assert zero.simkey == plain.simkey
    assert zero.machine == plain.machine
    assert b"memory" not in plain.machine.script
    assert "memory" not in plain.record.tasks[0].encode()
    some = prepared(scenario=write(tmp_path, task="memory = 0.3"))
    assert some.simkey != plain.simkey


@pytest.mark.parametrize(
    ("engine", "copied"), [("qemu", ENGINES["qemu"].copy.path), ("gem5", ENGINES["gem5"].copy.path)]
)
def test_the_agent_makes_the_copy_before_the_workload(
    artefacts: Artefacts, tmp_path: Path, engine: str, copied: str
) -> None:
    path = write(tmp_path, task="memory = 0.3")
    lines = prepared(engine=engine, scenario=path).machine.script.decode().splitlines()
    order = [
        "mkdir /mem1",
        f"spawn copy1 /bin/busybox cp {copied} /mem1/rt-app",
        "wait copy1",
        next(line for line in lines if line.startswith("bytes /mem1/rt-app ")),
        "spawn memory1 /mem1/rt-app /tmp/memory1.json",
        "start",
        "stop",
        "kill memory1",
    ]
    places = [lines.index(line) for line in order]
    assert places == sorted(places)


def test_the_window_ends_with_the_tasks_of_every_process(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    phase = "loops = 3\n" + PHASE
    window = 'warmup_ms = 200\nuntil = "tasks-end"'
    path = write(tmp_path, phase=phase, more=SECOND_WITH + phase, window=window)
    lines = prepared(scenario=path).machine.script.decode().splitlines()
    inside = lines[lines.index("start") + 1 : lines.index("stop")]
    assert inside == ["wait rt-app", "wait memory1"]


@pytest.mark.parametrize(
    "changes", [{"elide": False}, {"engine": "gem5", "mode": "detailed"}], ids=["qemu", "gem5"]
)
def test_memory_that_would_be_executed_is_refused(tmp_path: Path, changes: dict[str, str]) -> None:
    path = write(tmp_path, task="memory = 0.3")
    with pytest.raises(RequestError, match=r"x\.toml: task\.memory: .*busy loops must be elided"):
        resolve(replace(REQUEST, scenario=path, **changes))  # type: ignore[arg-type]
