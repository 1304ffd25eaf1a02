# SPDX-License-Identifier: GPL-2.0-or-later
"""What a scenario says of noise is checked: one line for what cannot be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.scenarios import SECOND, check_refused, write

PRELUDE = "loops = 2\nrun_us = 5\nperiod_us = 2000\n[[task.phase]]\nrun_us = 5\nperiod_us = 2000"
WRONG = {
    "no such clock": ({"task": 'clock = "lunar"'}, ["task[0].clock", "'lunar'", "vsync"]),
    "spread of no work": (
        {"task": "work_cv = 0.1", "phase": "runtime_us = 5\nsleep_us = 5"},
        ["task[0].work_cv", "run_us or run_instructions"],
    ),
    "a clock without periods": (
        {"task": 'clock = "audio"', "phase": "run_us = 5\nsleep_us = 5"},
        ["task[0].clock", "period_us in every phase"],
    ),
    "vsync too often": (
        {"task": 'clock = "vsync"', "phase": "run_us = 5\nperiod_us = 900"},
        ["task[0].clock", "1000 us or more"],
    ),
    "meeting at random": (
        {
            "task": 'clock = "exponential"',
            "phase": 'run_us = 5\nperiod_us = 2000\nmeet = "x"',
            "more": SECOND + 'run_us = 5\nmeet = "x"',
        },
        ["task[0].clock", "exact or vsync with meet"],
    ),
    "a prelude": (
        {"task": "work_cv = 0.1", "phase": PRELUDE},
        ["task[0].work_cv", "phases that repeat"],
    ),
    "a prelude of whom it meets": (
        {
            "task": "work_cv = 0.1",
            "phase": 'run_us = 5\nmeet = "x"',
            "more": SECOND + 'loops = 2\nrun_us = 5\n[[task.phase]]\nrun_us = 1\nmeet = "x"',
        },
        ["task[0].work_cv", "of b, which it meets"],
    ),
    "too many turns": (
        {"task": "work_cv = 0.1\nrepeat = 2", "phase": "loops = 1001\nrun_us = 5"},
        ["task[0].work_cv", "up to 1000 turns", "1001"],
    ),
    "a name that others have": (
        {"more": SECOND.replace('"b"', '"bg3"') + "run_us = 5"},
        ["task[1].name", "'bg3'", "bg or stir"],
    ),
    "too many threads": ({"task": "count = 94"}, ["94 threads and 6 others", "up to 99"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_file_gets_one_line(case: str, tmp_path: Path, juno: Platform) -> None:
    arguments, words = WRONG[case]
    path = write(tmp_path, **arguments)
    check_refused(path, juno, words)


def test_background_is_one_of_two(tmp_path: Path, juno: Platform) -> None:
    path = Path(write(tmp_path))
    text = path.read_text()
    assert load_scenario(str(path), juno).background == "none"
    path.write_text('background = "phone"\n' + text)
    with pytest.raises(RequestError, match=r"x.toml: background = 'phone': .*board"):
        load_scenario(str(path), juno)
