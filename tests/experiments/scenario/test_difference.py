# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios that name a base and state what differs."""

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.rtapp.own import text_of
from eascope.experiments.scenario.names import names, path_of
from eascope.experiments.scenario.reading import read_scenario
from eascope.experiments.scenario_file import load_scenario
from eascope.host.strict import read_toml
from tests.support.refusals import refusal

JUNO = load_platform("juno-r2")
BY_DIFFERENCE = [name for name in names() if "base" in read_toml(path_of(name)).data]
#: What a difference can state: another key, a task's, a new task, a whole list, less.
OWN = """\
base = "eas/video-playback"
summary = "own"
remove = ["task.audio", "source_conditions.kernel", "frames"]
[source_conditions]
fair_server = false
[task.render]
uclamp = { min = 60 }
[[task.render.phase]]
run_us = 5_000
period_us = 16_667
[task.more]
[[task.more.phase]]
run_us = 100
period_us = 1_000
[group.mine]
latency_nice = 3
"""


@pytest.mark.parametrize("name", BY_DIFFERENCE)
def test_a_difference_is_the_scenario_that_a_complete_file_gives(name: str, tmp_path: Path) -> None:
    """With the same digest, which keys of runs and records have; a run's folder has this file."""
    path = tmp_path / "whole.toml"
    path.write_text(text_of(path_of(name)))
    assert "base" not in read_toml(path).data
    conditions = read_scenario(path_of(name)).data.get("source_conditions", {})
    platform = load_platform(conditions.get("platform", "juno-r2"))
    own = load_scenario(name, platform)
    assert replace(load_scenario(str(path), platform), name=own.name, path=own.path) == own


def test_a_difference_changes_what_it_states_and_nothing_else(tmp_path: Path) -> None:
    (path := tmp_path / "own.toml").write_text(OWN)
    base, own = load_scenario("eas/video-playback", JUNO), load_scenario(str(path), JUNO)
    assert [task.name for task in own.tasks] == ["decode", "render", "more"]
    assert (own.tasks[0], own.window, own.work) == (base.tasks[0], base.window, base.work)
    assert own.tasks[1].attributes.uclamp_min == 60
    assert (own.tasks[1].clock, own.tasks[1].phases[0].run_us) == ("vsync", 5_000)
    assert [group.name for group in own.groups] == ["mine"]
    assert (own.frames, own.summary) == (None, "own")
    assert (had := base.source_conditions)
    assert (has := own.source_conditions)
    assert (had.controls.fair_server, has.controls.fair_server) == (True, False)
    assert (has.controls.switches, has.platform) == ((), had.platform)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"eas/video-playback"', '"eas/vide-playback"', ["base = 'eas/vide", "did you mean eas/v"]),
        ('"eas/video-playback"', '"own.toml"', ["does not have this one as its base"]),
        ('summary = "own"', "", ["summary is missing"]),
        ("task.audio", "task.adio", ["remove = 'task.adio'", "audio"]),
        (
            "[task.render]",
            "task.render = 3\n[x]",
            ["task.render = 3", "a table of the keys that differ"],
        ),
        (
            "[task.render]",
            '[task.render]\nname = "x"',
            ["task.render.name = 'x'", "its name is render"],
        ),
        ('"frames"', '"window"', ["window is missing"]),
        (
            "[task.render]\nuclamp",
            "[task.decoed]\nuclamp",
            ["unknown task 'decoed' (did you mean de"],
        ),
        ("run_us = 100\n", "runus = 100\n", ["task[2].phase[0].runus = 100", "no such key"]),
        (
            "[task.render]",
            "[work]\ncounted = 'turns.x'\n[task.render]",
            ["work.counted = 'turns.x'"],
        ),
        (
            "period_us = 16_667\n",
            "",
            ["task[1].clock (inherited from eas/video-playback) = 'vsync'"],
        ),
    ],
)
def test_a_wrong_difference_is_one_line(
    old: str, new: str, words: list[str], tmp_path: Path
) -> None:
    (path := tmp_path / "own.toml").write_text(OWN.replace(old, new, 1))
    line = refusal(load_scenario, str(path), JUNO)
    assert line.startswith(f"{path}: ")
    assert not [word for word in words if word not in line], line


def test_a_recording_is_beside_the_file_that_names_it(tmp_path: Path) -> None:
    for folder in ("base", "own"):
        (tmp_path / folder).mkdir()
    whole = 'summary = "s"\nsource = "s"\nloads = "l"\nrecording = "x.bursts"\n'
    (tmp_path / "base/x.toml").write_text(whole)
    (path := tmp_path / "own/y.toml").write_text('summary = "y"\nbase = "../base/x.toml"\n')
    assert "a scenario without recording" in refusal(load_scenario, str(path), JUNO)
