# SPDX-License-Identifier: GPL-2.0-or-later
"""Replicates: the same draws for every variant and engine, all of them in record and key."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.records.cell import CellRecord
from eascope.configs.activity import Activity
from eascope.configs.devicetree import RNG_SEED
from eascope.configs.platform import Platform
from eascope.experiments.controls import Controls
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.scenario.others import (
    BACKGROUND_SHARE,
    BACKGROUND_THREADS,
    BACKGROUND_WORK_US,
    STIR_MS,
    STIR_WORK_US,
    others,
)
from eascope.experiments.scenario.replicate import start_within_us
from eascope.experiments.scenario_file import load_scenario
from tests.support.cells import Artefacts, prepared
from tests.support.scenarios import SECOND, write

VIDEO = "eas/video-playback"


def test_variants_engines_and_durations_have_the_same_draws(artefacts: Artefacts) -> None:
    drawn = prepared(scenario=VIDEO, seed=3).record.replicate
    assert drawn
    for changes in ({"variant": "cas"}, {"engine": "gem5"}, {"full": True}, {"elide": False}):
        assert prepared(scenario=VIDEO, seed=3, **changes).record.replicate == drawn, changes
    assert prepared(scenario=VIDEO, seed=4).record.replicate != drawn


def test_the_record_has_what_was_drawn(artefacts: Artefacts) -> None:
    record = prepared(scenario=VIDEO, seed=3).record
    drawn = record.replicate
    assert drawn
    assert CellRecord.decode(json.loads(record.to_bytes()), "cell.json").replicate == drawn
    assert (drawn.noise, drawn.background, drawn.stir_ms) == (True, "board", STIR_MS)
    assert drawn.work_cv == {"decode": 0.15, "render": 0.15}
    assert drawn.clocks == {"decode": "vsync", "render": "vsync", "audio": "audio"}
    assert set(drawn.starts_us) == {"decode0", "decode1", "render", "audio"}
    assert len(drawn.order) == 4 + 6 + BACKGROUND_THREADS
    assert 0 <= drawn.idle_us <= 10_000_000
    assert len(bytes.fromhex(drawn.rng_seed)) == 64


def test_nothing_but_starts_is_drawn_without_noise(artefacts: Artefacts) -> None:
    cell = prepared(scenario=VIDEO, seed=3, controls=Controls(noise=False))
    drawn = cell.record.replicate
    assert drawn
    assert max(drawn.starts_us.values()) <= 16_000
    assert drawn.order == ("decode0", "decode1", "render", "audio")
    assert (drawn.idle_us, drawn.stir_ms, drawn.rng_seed) == (0, 0, "")
    assert drawn.others == ()
    assert cell.record.set_otherwise == ("no-noise",)
    assert cell.simkey != prepared(scenario=VIDEO, seed=3).simkey


@pytest.mark.parametrize("engine", ["qemu", "gem5"])
def test_the_kernel_gets_the_seed_after_the_boot(artefacts: Artefacts, engine: str) -> None:
    """Runs of one machine go on from one boot, so what the seed draws comes after it."""
    cell = prepared(seed=3, engine=engine)
    drawn = cell.record.replicate
    assert drawn
    assert RNG_SEED in cell.inputs()["machine.dts"].decode()
    assert cell.machine.dtb == prepared(seed=4, engine=engine).machine.dtb
    line = f"write /dev/urandom {drawn.rng_seed}"
    lines = cell.machine.script.decode().splitlines()
    assert lines.index("barrier") < lines.index(line) < lines.index("start")


def test_the_machine_idles_and_is_stirred_before_the_warm_up(artefacts: Artefacts) -> None:
    cell = prepared(scenario=VIDEO, seed=3)
    drawn = cell.record.replicate
    assert drawn
    lines = cell.machine.script.decode().splitlines()
    begins = lines.index("barrier")
    tracing = "write /sys/kernel/tracing/tracing_on 1"
    assert lines[begins + 1 : begins + 6] == [
        f"write /dev/urandom {drawn.rng_seed}",
        f"sleep-us {drawn.idle_us}",
        tracing,
        "trace-state",
        f"sleep-us {drawn.rt_app_us}",
    ]
    start = lines.index("start")
    assert lines[start - 2] == f"sleep-us {(500 + STIR_MS) * 1000}"
    stirs = [name for name in json.loads(cell.inputs()["rt-app.json"])["tasks"] if "stir" in name]
    assert len(stirs) == 6


def test_programs_without_a_background_wait_until_the_stirring_is_over(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    text = Path("experiments/scenarios/eas/sched-pipe.toml").read_text()
    path = tmp_path / "x.toml"
    path.write_text(text.replace('background = "board"\n', ""))
    lines = prepared(scenario=str(path)).machine.script.decode().splitlines()
    assert lines[lines.index("start") - 2] == "wait rt-app"
    assert "kill rt-app" not in lines
    lines = prepared(scenario="eas/sched-pipe").machine.script.decode().splitlines()
    assert "wait rt-app" not in lines
    assert lines[lines.index("stop") + 2] == "kill rt-app"


def test_others_have_an_rt_app_of_their_own_where_the_tasks_end_counts(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    """Else nobody would see the end: a board's background never ends."""
    path = write(
        tmp_path,
        phase="loops = 5\nrun_us = 100\nperiod_us = 1000",
        window='warmup_ms = 200\nuntil = "tasks-end"',
    )
    lines = prepared(scenario=path).machine.script.decode().splitlines()
    spawn = [line.split()[1] for line in lines if line.startswith("spawn ")]
    assert spawn == ["rt-app", "others"]
    start, stop = lines.index("start"), lines.index("stop")
    assert lines[start - 2] == "wait others"
    assert lines[start + 1 : stop] == ["wait rt-app"]
    Path(path).write_text('background = "board"\n' + Path(path).read_text())
    cell = prepared(scenario=path)
    lines = cell.machine.script.decode().splitlines()
    assert "wait others" not in lines
    assert lines[lines.index("stop") + 2] == "kill others"
    assert cell.record.replicate
    tasks = [json.loads(cell.inputs()[f"{name}.json"])["tasks"] for name in spawn]
    assert sorted(cell.record.replicate.order) == sorted(key for part in tasks for key in part)


@pytest.mark.parametrize(
    ("task", "phase", "within_us"),
    [
        ("", "run_us = 100\nperiod_us = 1000", 1_000),
        ("", "run_us = 100_000\nsleep_us = 1", 100_001),
        ("", "run_us = 100_000", 100_000),
        ("", "loops = 50\nrun_us = 100_000\nsleep_us = 1", 100_001),
        ("", "loops = 4\nrun_us = 3\nperiod_us = 900\n[[task.phase]]\nrun_us = 7_000", 900),
        (
            'repeat = "forever"',
            "loops = 30\nrun_us = 300\nsleep_us = 700\n[[task.phase]]\nloops = 1\nrun_us = 30_000",
            60_000,
        ),
        ("start_within_us = 77", "run_us = 100\nperiod_us = 1000", 77),
        ("", 'wait = "b"\nrun_us = 100', 0),
    ],
)
def test_starts_are_uniform_over_the_tasks_own_period(
    task: str, phase: str, within_us: int, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task=task, phase=phase, more=SECOND + "run_us = 5\nperiod_us = 1000")
    scenario = load_scenario(path, juno)
    assert start_within_us(scenario.tasks[0]) == within_us
    starts = [
        compile_scenario(scenario, juno, juno_activity, seed).replicate.starts_us["a"]
        for seed in range(60)
    ]
    assert max(starts) <= within_us
    for quarter in range(4 if within_us else 0):
        low = quarter * (within_us + 1) / 4
        assert 4 <= sum(low <= start < low + (within_us + 1) / 4 for start in starts) <= 28


def test_a_prelude_begins_after_the_stirring(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    phase = "loops = 4\nrun_us = 3\nperiod_us = 900\n[[task.phase]]\nrun_us = 7_000"
    path = write(tmp_path, phase=phase, more=SECOND + "run_us = 5\nperiod_us = 1000")
    workload = compile_scenario(load_scenario(path, juno), juno, juno_activity, 0)
    threads = json.loads(workload.document)["tasks"]
    starts = workload.replicate.starts_us
    assert threads["a"]["delay"] == STIR_MS * 1000 + starts["a"]
    assert threads["b"]["delay"] == starts["b"]


@pytest.mark.parametrize("noise", [True, False])
def test_what_ends_with_the_window_begins_with_it(
    noise: bool, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """All of its work is measured, and none of it is done before START."""
    path = write(
        tmp_path,
        phase="loops = 4\nrun_us = 3\nperiod_us = 900",
        window='warmup_ms = 250\nuntil = "tasks-end"',
    )
    workload = compile_scenario(load_scenario(path, juno), juno, juno_activity, 0, noise=noise)
    starts = workload.replicate.starts_us
    before_us = (250 + (STIR_MS if noise else 0)) * 1000
    assert json.loads(workload.document)["tasks"]["a"]["delay"] == before_us + starts["a"]


@pytest.mark.parametrize("seed", range(3))
def test_a_boards_background_uses_the_documented_share(
    seed: int, juno: Platform, juno_activity: Activity
) -> None:
    threads = [
        thread
        for name, thread in others("board", juno, juno_activity, seed).items()
        if name.startswith("bg")
    ]
    assert len(threads) == BACKGROUND_THREADS
    little = juno.cluster("little")
    ipc = juno_activity.ipc(little)
    rate = ipc * little.max_khz / (1000 * juno_activity.iteration_instructions)
    share = 0.0
    for thread in threads:
        assert thread.endless
        assert "cpus" not in thread.entry()
        busy = [value / rate for kind, value in thread.events if kind == "run"]
        rest = [value for kind, value in thread.events if kind == "sleep"]
        assert BACKGROUND_WORK_US[0] - 1 <= min(busy) <= max(busy) <= BACKGROUND_WORK_US[1] + 1
        share += sum(busy) / (sum(busy) + sum(rest))
    assert share == pytest.approx(float(BACKGROUND_SHARE), rel=0.01)


def test_each_cpu_is_stirred_for_a_second(juno: Platform, juno_activity: Activity) -> None:
    threads = others("none", juno, juno_activity, 0)
    assert [thread.cpu for thread in threads.values()] == list(juno.cpus)
    for thread in threads.values():
        cluster = juno.cluster_of(thread.cpu or 0)
        rate = juno_activity.ipc(cluster) * cluster.max_khz / 1000
        busy = [
            value * juno_activity.iteration_instructions / rate
            for kind, value in thread.events
            if kind == "run"
        ]
        rest = [value for kind, value in thread.events if kind == "sleep"]
        assert STIR_WORK_US[0] - 1 <= min(busy) <= max(busy) <= STIR_WORK_US[1] + 1
        assert sum(busy) + sum(rest) == pytest.approx(STIR_MS * 1000, rel=1e-3)
        assert not thread.endless


def test_controls_change_no_draw(artefacts: Artefacts) -> None:
    plain = prepared(scenario=VIDEO).record.replicate
    controls = replace(Controls(), rate_limit_us=2000, speeds="measured")
    changed = prepared(scenario=VIDEO, controls=controls).record.replicate
    assert plain
    assert changed
    assert changed.starts_us == plain.starts_us
    assert changed.order == plain.order
