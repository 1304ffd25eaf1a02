# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a check: one word for each known answer, sizes, width."""

from dataclasses import replace

import pytest

from eascope.analysis.compare import comparison
from eascope.analysis.difference import difference
from eascope.analysis.null import Null
from eascope.analysis.records.result import Percentiles
from eascope.analysis.reply import (
    BETTER,
    MIXED,
    SAME,
    UNTESTED,
    WIDTH,
    WORSE,
    Change,
    Outcome,
    table,
)
from eascope.analysis.robust import AtValue
from eascope.configs.platform import Platform
from tests.support.outcomes import ENERGIES, P99, outcome, run


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"energy": 0.9}, BETTER),
        ({"p99": 0.8}, BETTER),
        ({"energy": 0.9, "late": -2.0}, BETTER),
        ({"energy": 1.1}, WORSE),
        ({"late": 2.0}, WORSE),
        ({"energy": 0.9, "p99": 1.2}, MIXED),
        ({"p99": 0.8, "late": 2.0}, MIXED),
        ({}, SAME),
        ({"energy": 0.9, "seeds": 19}, UNTESTED),
    ],
)
def test_the_word_is_of_all_changes(
    platform: Platform, changes: dict[str, float], word: str
) -> None:
    row = outcome(platform, **changes)  # type: ignore[arg-type]
    assert row.verdict == word == row.record()["verdict"] == row.cells()[-1]


def test_the_row_has_the_numbers(platform: Platform) -> None:
    row = outcome(platform, energy=0.9, p99=1.25, late=1.0)
    name, energy, p99, late, _ = map(str, row.cells())
    assert name == "juno-r2"
    assert energy == "-10.0 (-10.0..-10.0)*"
    assert (p99, late) == ("+25.0*", "+1.0*")
    assert row.record()["energy"]["measure"] == "energy_per_work_j"


def test_what_would_have_been_seen_is_half_the_interval(platform: Platform) -> None:
    row = outcome(platform)
    other = [energy * (1 + (seed * 7 % 5 - 2) / 2000) for seed, energy in enumerate(ENERGIES)]
    diff = difference(ENERGIES, other)
    assert diff.low is not None
    assert diff.high is not None
    half = 100 * (diff.high - diff.low) / 2 / diff.baseline
    assert row.energy.could == pytest.approx(max(half, 0.1))
    assert list(row.notes) == [
        "test/bursts, juno-r2: smallest detectable difference: "
        f"energy {max(half, 0.1):.1f} %, p99 0.1 %"
    ]


def test_the_size_that_is_seen_counts_that_several_measures_are_tested(platform: Platform) -> None:
    """A tail latency that changes by that much is starred; by its own interval, it is not."""

    def noisy(percent: float) -> Outcome:
        variants = dict(outcome(platform).comparison.variants)
        mine = variants["mine"]
        for seed, each in enumerate(mine):
            p99 = P99 * (1 + percent / 100 + (seed * 3 % 7 - 3) / 100)
            latency = {"decode": Percentiles(9.0, 9.0, 9.0, p99, 999.0)}
            mine[seed] = replace(each, result=replace(each.result, latency_us=latency))
        return Outcome(comparison(platform, {**variants, "mine": mine}))

    def p99(percent: float) -> Change:
        return next(each for each in noisy(percent).latencies if "decode" in each.about)

    quiet = p99(0.0)
    assert quiet.could is not None
    assert not quiet.seen
    ends = quiet.difference.in_percent()
    assert ends is not None
    own = (ends[1] - ends[0]) / 2
    assert quiet.could > 1.2 * own
    middle = quiet.difference.percent or 0.0
    assert p99(1.05 * quiet.could - middle).seen
    assert not p99(1.02 * own - middle).seen
    assert p99(1.02 * own - middle).difference.clear


def test_a_difference_that_no_digit_shows_is_none(platform: Platform) -> None:
    """Runs are exact, so that the interval of the least change can exclude zero."""
    row = outcome(platform, energy=0.99955)
    assert row.energy.difference.clear
    assert (row.verdict, str(row.cells()[1])[:5]) == (SAME, "+0.0 ")


def test_a_difference_below_the_noise_floor_is_not_seen(platform: Platform) -> None:
    """Equal kernels differ by up to 5 %, the series by 3 %."""
    row = outcome(platform, energy=0.97)
    assert row.verdict == BETTER
    again = [run("null", seed, 1.05, 1.0, 5.0) for seed in range(20)]
    first = row.comparison.variants["mainline"]
    noisy = Outcome(replace(row.comparison, null=Null("mainline", first, again)))
    assert noisy.verdict == SAME
    assert noisy.energy.could is not None
    assert noisy.energy.could > 5


def test_a_sign_that_depends_on_the_model_is_mixed(platform: Platform) -> None:
    row, other = outcome(platform, energy=0.9), outcome(platform, energy=1.1)
    value = AtValue("power", "derived", "", 0, other.comparison)
    torn = Outcome(replace(row.comparison, assumed=[value]))
    assert torn.verdict == MIXED
    (note,) = torn.notes
    assert "energy depends on power model (less as configured, more with derived)" in note


def test_each_further_variant_has_a_row(platform: Platform) -> None:
    two = outcome(platform, energy=0.9).comparison
    dear = [run("dear", seed, 1.1, 1.0, 5.0) for seed in range(20)]
    three = comparison(platform, {**two.variants, "dear": dear})
    assert [Outcome(three, name).verdict for name in ("mine", "dear")] == [BETTER, WORSE]


def test_a_task_without_change_is_not_shown_for_one_with(platform: Platform) -> None:
    row = outcome(platform, p99=0.8)
    for variant, runs in row.comparison.variants.items():
        still = {"audio": Percentiles(9.0, 9.0, 9.0, 500.0, 999.0)}
        for at, each in enumerate(runs):
            tasks = (*each.cell.tasks, replace(each.cell.tasks[0], name="audio"))
            result = replace(each.result, latency_us={**still, **each.result.latency_us})
            runs[at] = replace(each, result=result, cell=replace(each.cell, tasks=tasks))
        assert len(row.comparison.variants[variant]) == 20
    assert [change.about for change in row.latencies] == [
        "latency_us.decode.p99",
        "latency_us.audio.p99",
    ]


def test_the_table_is_fit_for_a_mail(platform: Platform) -> None:
    rows = [
        outcome(platform),
        outcome(platform, energy=0.001, p99=0.001, late=115.0),
        outcome(platform, energy=12.0, p99=12.0, late=115.0),
    ]
    text = table(rows)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("test/bursts\n") == 1, "one heading for a scenario's rows"
    assert text.count("juno-r2  ") == 3
