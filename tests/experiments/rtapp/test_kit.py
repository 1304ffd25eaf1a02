# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's kit: what it says, and that its script computes our measures."""

import json
import os
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from eascope.analysis.tables.latency import latency, percentile
from eascope.analysis.window import Window
from eascope.experiments.rtapp import board
from tests.support.command import json_inside, output_of, ran, refused
from tests.support.waiting import call

TASKS = {"a": ["a0", "a1"], "b": ["a_long_thread_name"]}


@pytest.mark.parametrize("name", ["uclamp/frequency-spike", "lkp/mp3-short"])
def test_a_kit_is_written(name: str, tmp_path: Path) -> None:
    made = json_inside("scenario", "kit", name, "--platform", "juno-r2", "--out", f"{tmp_path}/kit")
    folder = Path(made["folder"])
    facts = json.loads((folder / "kit.json").read_text())
    tasks = json.loads((folder / facts["json"]).read_text())["tasks"]
    assert {key for keys in facts["tasks"].values() for key in keys} == {*tasks}
    assert facts["clusters"] == {"little": [0, 1, 2, 3], "big": [4, 5]}
    page = (folder / "README.md").read_text()
    assert "| big | 4, 5 | 1024 | 1200 |" in page
    expected = output_of("scenario", "export", name, "--rt-app")
    assert json.loads(expected)["tasks"] == tasks
    compile((folder / "board.py").read_text(), "board.py", "exec")
    assert "already exists" in refused("scenario", "kit", name, "--out", str(folder))


def test_the_page_has_every_statement(tmp_path: Path) -> None:
    name = "eas/misfit-ramp"
    output_of("scenario", "kit", name, "--out", str(tmp_path / "kit"))
    page = (tmp_path / "kit/README.md").read_text()
    assert "`feec-c`: `active_balances_per_s < active_balances_per_s[feec-d]`" in page
    assert page.count("* `feec-c`: ") == 3


def test_programs_alone_have_no_kit(tmp_path: Path) -> None:
    out = str(tmp_path / "kit")
    assert "it has no tasks" in refused("scenario", "kit", "eas/sched-pipe", "--out", out)
    assert not (tmp_path / "kit").exists()


@pytest.mark.parametrize("seed", range(20))
def test_latencies_are_those_of_the_measure(seed: int) -> None:
    """Of random events: preempted, woken twice, woken while it goes to sleep, other threads."""
    draw = random.Random(seed)
    threads = {1: "a0", 2: "a1", 3: "a_long_thread_n", 4: "other"}
    switches: list[dict[str, Any]] = []
    wakes: list[dict[str, Any]] = []
    times = sorted(draw.sample(range(10_000), 400))
    for time in times:
        pid, other = draw.sample(list(threads), 2)
        if draw.random() < 0.4:
            wakes.append({"t_ns": time, "pid": pid, "comm": threads[pid], "cpu": 0})
        else:
            switches.append(
                {
                    **{"t_ns": time, "cpu": 0, "prev_pid": pid, "prev_comm": threads[pid]},
                    **{"prev_state": draw.choice([0, 1, 256]), "next_pid": other},
                    "next_comm": threads[other],
                }
            )
    tables = {"sched_switch": pl.DataFrame(switches), "sched_waking": pl.DataFrame(wakes)}
    trace = cast(Any, SimpleNamespace(table=tables.__getitem__))
    window = Window(1_000, 9_000, 0)
    ours = latency(trace, window, {"a0": "a", "a1": "a", "a_long_thread_n": "b"})
    events = [
        event
        for row in switches
        for event in (
            (row["prev_pid"], row["t_ns"], board.LEAVES, row["prev_comm"], row["prev_state"] & 255),
            (row["next_pid"], row["t_ns"], board.ENTERS, row["next_comm"], 0),
        )
    ]
    events += [(row["pid"], row["t_ns"], board.WOKEN, row["comm"], 0) for row in wakes]
    theirs = board.latencies(cast(Any, events), TASKS, (1_000, 9_000))
    assert {*theirs} == {"a", "b"}
    for task, values in theirs.items():
        expected = ours.filter(pl.col("task") == task)["latency_ns"].to_list()
        assert sorted(values) == sorted(expected)
        for share in board.SHARES.values():
            assert board.percentile(values, share) == percentile(expected, share)


@pytest.mark.guest
@pytest.mark.long
def test_lisa_computes_our_measures_of_our_trace(tmp_path: Path) -> None:
    """In a Python that has LISA as a kit's page installs it: its packages are older than ours."""
    if not (python := os.environ.get("LISA_PYTHON")):
        pytest.skip("LISA_PYTHON does not name a Python with LISA")
    name = "uclamp/frequency-spike"
    ours = ran(name, "--source-conditions")
    output_of("scenario", "kit", name, "--out", f"{tmp_path}/kit")
    command = [python, f"{tmp_path}/kit/board.py", f"{ours['run']}/trace.dat"]
    done = call(command, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    theirs = {path: float(value) for path, value in map(str.split, done.stdout.splitlines())}
    mhz = {f"mean_mhz.{cluster}": value for cluster, value in ours["mean_mhz"].items()}
    latencies = {
        f"latency_us.{task}.{part}": value
        for task, values in ours["latency_us"].items()
        for part, value in values.items()
    }
    assert theirs.keys() == mhz.keys() | latencies.keys()
    assert {path: theirs[path] for path in latencies} == pytest.approx(latencies, abs=0.1)
    # The trace has requests. What they became, and when, is known to the engine alone.
    assert {path: theirs[path] for path in mhz} == pytest.approx(mhz, rel=1e-3)


def test_the_mean_frequency_is_by_time() -> None:
    changes = [(2.0, 4, 600_000), (5.0, 5, 1_200_000), (20.0, 4, 100), (0.5, 0, 400_000)]
    clusters = {"little": [0, 1], "big": [4, 5], "none": [9]}
    means = board.mean_mhz(changes, clusters, (1.0, 9.0))
    assert means == {"little": 400.0, "big": 900.0}


def test_threads_are_known_as_rt_app_and_linux_name_them() -> None:
    names = ("a0", "a0-0", "a1-12", "a_long_thread_n", "a01", "rt-app", "a")
    found = [board.task_of(name, TASKS) for name in names]
    assert found == ["a", "a", "a", "b", None, None, None]
