# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sweep says about the time that is left."""

from __future__ import annotations

import pytest

from eascope.experiments.sweeps.session import SweepProgress


@pytest.mark.parametrize(
    ("done", "failed", "spent_s", "words"),
    [
        (0, 0, 10.0, "[0/40] about 90 s left"),  # of the plan's 100 s
        (4, 0, 10.0, "[4/40] about 90 s left"),
        (9, 1, 50.0, "[10/40] 1 failed, about 2 min 30 s left"),  # by what has been done
        (1, 0, 200.0, "[1/40] about 2 h 10 min left"),  # the estimate was wrong
        (0, 0, 101.0, "[0/40] longer than was expected"),  # and nothing tells by how much
        (38, 2, 90.0, "[40/40] 2 failed, in 90 s"),
    ],
)
def test_what_is_left(done: int, failed: int, spent_s: float, words: str) -> None:
    assert SweepProgress(40, 100.0, terminal=False).words(done, failed, spent_s) == words
