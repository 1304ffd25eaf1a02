# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files that are right but for what a test puts into them."""

from collections.abc import Iterable
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.experiments.scenario_file import load_scenario
from tests.support.refusals import refusal

GOOD = """
summary = "s"
source = "here"
loads = "as they are"
[[task]]
name = "a"
{task}
[[task.phase]]
{phase}
{more}
[window]
{window}
"""

PHASE = "run_us = 100\nperiod_us = 1000"

WINDOW = "warmup_ms = 200\nshort_ms = 20\nfull_ms = 30"


def write(
    folder: Path, task: str = "", phase: str = PHASE, more: str = "", window: str = WINDOW
) -> str:
    path = folder / "x.toml"
    path.write_text(GOOD.format(task=task, phase=phase, more=more, window=window))
    return str(path)


SECOND = '[[task]]\nname = "b"\n[[task.phase]]\n'


def check_refused(path: str, platform: Platform, words: Iterable[str]) -> None:
    """Loading ``path`` gives one line that names the file and has ``words``."""
    line = refusal(load_scenario, path, platform)
    assert line.startswith(path + ": ")
    for word in words:
        assert word in line, line
