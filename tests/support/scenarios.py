# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files that are right but for what a test puts into them."""

from __future__ import annotations

from pathlib import Path

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
