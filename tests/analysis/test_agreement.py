# SPDX-License-Identifier: GPL-2.0-or-later
"""What captions say of an engine's error: the table of the committed page, in words."""

from __future__ import annotations

from pathlib import Path

from analysis.agreement import PAGE, agreed, engine_error
from studies.agreement.page import page
from tests.studies.test_agreement import ran


def test_the_table_that_the_page_has_is_the_one_that_is_read(tmp_path: Path) -> None:
    side = {
        "fast": {0: ran(110.0, 0.5, True, parts=False)},
        "elided": {0: ran(100.0, 0.51, True)},
        "elided-detailed": {0: ran(112.0, 0.55, False)},
    }
    made = tmp_path / "page.md"
    made.write_text(page({("smoke", "cas"): side, ("eas/game", "cas"): side}, "a test"))
    found = {(one.scenario, one.variant, one.mode): one.energy_percent for one in agreed(made)}
    assert found == {
        (scenario, "cas", mode): difference
        for scenario in ("smoke", "eas/game")
        for mode, difference in (("elided", 10.0), ("elided-detailed", -1.8))
    }
    assert engine_error("qemu", "smoke", made) == (
        "its energy within 10.0 % of gem5's in 2 cells of this scenario"
    )
    assert engine_error("qemu", "uclamp/S1", made) == (
        "its energy within 10.0 % of gem5's in 4 cells of other scenarios"
    )
    assert engine_error("gem5", "smoke", made) == "the reference engine"


def test_cells_with_most_starts_tell(tmp_path: Path) -> None:
    side = {
        "fast": {seed: ran(110.0, 0.5, True, parts=False) for seed in (0, 1)},
        "elided": {0: ran(100.0, 0.51, True), 1: ran(120.0, 0.51, True)},
        "elided-detailed": {0: ran(80.0, 0.55, False)},
    }
    made = tmp_path / "page.md"
    made.write_text(page({("smoke", "cas"): side}, "a test"))
    assert [one.starts for one in agreed(made)] == [2, 1]
    assert engine_error("qemu", "smoke", made) == (
        "its energy within 0.0 % of gem5's in 1 cell of this scenario (means over 2 starts)"
    )


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    missing = tmp_path / "no-page.md"
    assert engine_error("qemu", "smoke", missing) == (
        "its error against gem5 has not been measured yet"
    )


def test_the_committed_page_is_read_whole() -> None:
    lines = PAGE.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| scenario | "))
    rows = [line for line in lines[start + 2 : lines.index("", start)] if line.startswith("|")]
    assert len(agreed()) == len(rows) > 0
