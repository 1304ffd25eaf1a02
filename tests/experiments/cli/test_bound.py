# SPDX-License-Identifier: GPL-2.0-or-later
"""What `eascope bound` prints of bounds that are known."""

from types import SimpleNamespace

from eascope.experiments.cli.bound import answer, table

BOUNDS = SimpleNamespace(
    variant_mj={"mainline": 200.0, "cas": 180.0},
    floor_mj=100.0,
    placement_mj=160.0,
    found=SimpleNamespace(folded=9, ran=9, complete=True),
    why="",
)


def test_bounds_are_printed_in_other_forms() -> None:
    told = answer(BOUNDS, "mainline")  # type: ignore[arg-type]
    shown = table(BOUNDS, "mainline", 3)  # type: ignore[arg-type]
    lines = shown.formatted("md", told).splitlines()
    assert lines[0] == (
        "mainline takes 1.25 times the energy of the best static placement found, and 2 times the "
        "floor (complete search: 9 placements, 9 run)."
    )
    assert lines[4].startswith("| floor | 100.0 | 50.0 |")
    assert [line.rpartition(",")[2] for line in shown.csv().splitlines()] == ["n", *"3333"]
    assert "\\toprule" in shown.formatted("latex")
