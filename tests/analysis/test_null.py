# SPDX-License-Identifier: GPL-2.0-or-later
"""The noise floor stands next to every difference, where it was measured."""

from __future__ import annotations

import dataclasses

import pytest

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_json import differences_json
from eascope.analysis.compare_text import text
from eascope.analysis.glance import glance
from eascope.analysis.null import Null
from eascope.configs.platform import Platform
from tests.support.stated import stated


def compared(platform: Platform, seeds: int, again: int = 0) -> Comparison:
    """Made-up runs of two variants; the null is mainline's, with ``again`` other seeds."""
    runs = {name: [stated(name, seed) for seed in range(seeds)] for name in ("mainline", "cas")}
    made = comparison(platform, runs)
    double = [stated("mainline", seeds + seed) for seed in range(again)]
    return dataclasses.replace(made, null=Null("mainline", runs["mainline"], double))


def test_the_floor_is_the_far_end_of_the_interval(platform: Platform) -> None:
    """Energies rise by 0.5 mJ with each seed: the double's are 10 mJ higher on the mean."""
    both = compared(platform, 20, 20)
    row = both.total.row
    assert both.null is not None
    made = both.null.difference(row)
    assert made is not None
    assert made.absolute == pytest.approx(10.0)
    assert made.high is not None
    assert both.null.floor(row) == made.high
    assert 11 < made.high < 13
    assert not made.paired


def test_the_noise_floor_without_an_interval_is_the_difference(platform: Platform) -> None:
    both = compared(platform, 2, 2)
    assert both.null is not None
    assert both.null.floor(both.total.row) == pytest.approx(1.0)


def test_the_noise_floor_stands_next_to_differences(platform: Platform) -> None:
    both = compared(platform, 20, 20)
    floor = both.null.floor(both.total.row) if both.null else None
    assert floor is not None
    rows = [line for line in text(both).splitlines() if line.startswith("  total")]
    assert rows[0].endswith(f" +-{floor:.2f}")
    assert "a smaller difference means nothing" in " ".join(text(both).split())
    energy = next(line for line in glance(both).splitlines() if line.startswith("energy, total"))
    assert energy.endswith(f" +-{floor:.2f}")
    (total,) = (e for e in differences_json(both) if e["measure"] == "energy_j.total")
    assert total["noise_floor"] == pytest.approx(floor / 1e3)
    words = answers(both)
    assert words[-1].startswith("noise floor, mainline against itself: +4.9 % (+3.9 .. +5.")
    assert words[-1].endswith("), 20 other seeds")
    assert answers(compared(platform, 1, 1))[-1].endswith("+0.2 %, another seed")


def test_no_noise_floor_is_printed_without_null(platform: Platform) -> None:
    plain = dataclasses.replace(compared(platform, 2), null=None)
    assert "noise floor" not in text(plain)
    assert "noise floor" not in glance(plain)
    assert all("noise_floor" not in entry for entry in differences_json(plain))
