# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons: the text as a person sees it, differences, and what may not be compared."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison, against_source, by_variant, comparison, paired
from eascope.analysis.compare_json import differences_json, variant_json
from eascope.analysis.compare_json import summary as summary_of
from eascope.analysis.compare_text import text
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import Derived
from eascope.analysis.difference import Difference, difference, unpaired_difference
from eascope.analysis.glance import glance
from eascope.analysis.null import Null
from eascope.analysis.records.cell import SourceConditionsRecord
from eascope.analysis.statement import value_at
from eascope.analysis.statistics import ENOUGH
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from tests.support.records import cell_record
from tests.support.stated import stated

GOLDEN = Path(__file__).parent / "golden"
Compared = Callable[[int], Comparison]


@pytest.mark.parametrize("seeds", [1, 2, 20])
def test_the_table_is_the_golden_text(platform: Platform, seeds: int) -> None:
    runs = {name: [stated(name, seed) for seed in range(seeds)] for name in ("mainline", "cas")}
    text = text_of(comparison(platform, runs))
    assert text == (GOLDEN / f"compare-{seeds}.txt").read_text()


def test_json_has_the_units_of_the_result(platform: Platform) -> None:
    """One unit per measure: a value in ``differences`` is that at its path in ``mean``."""
    runs = {name: [stated(name, seed) for seed in range(ENOUGH)] for name in ("mainline", "cas")}
    two_variants = comparison(platform, runs)
    mean = variant_json(two_variants, "cas")["mean"]
    units = {}
    for entry in differences_json(two_variants):
        path, _, per = entry["measure"].partition(" / ")
        value = value_at(mean, path.split("."))
        assert entry["value"] == pytest.approx(value / (mean[per] if per else 1))
        assert entry["value"] - entry["baseline_value"] == pytest.approx(entry["difference"])
        low, high = entry["confidence_95"]
        assert low - 1e-9 <= entry["difference"] <= high + 1e-9
        units[entry["measure"].partition(".")[0], bool(per)] = entry["unit"]
    assert units == {
        ("energy_j", False): "J",
        ("energy_j", True): "W",
        ("work_share", False): "1",
        ("cpu_busy", False): "1",
        ("migrations", False): "1",
        ("mean_mhz", False): "MHz",
        ("residency", False): "1",
        ("opp_transitions_per_s", False): "1/s",
        ("latency_us", False): "us",
        ("deadlines", False): "1",
        ("missed_deadlines", False): "1",
    }


def test_json_says_what_energy_per_work_is_of(platform: Platform) -> None:
    def run(name: str, energy_j: float) -> Derived:
        outcome = stated(name, 0)
        result = dataclasses.replace(outcome.result, energy_per_work_j=energy_j, work=1.0)
        return dataclasses.replace(outcome, result=result)

    both = comparison(platform, {"mainline": [run("mainline", 0.1)], "cas": [run("cas", 0.2)]})
    units = {entry["measure"]: entry["unit"] for entry in differences_json(both)}
    assert units["energy_per_work_j"] == "J for a unit of work"
    assert units["energy_j.total"] == "J"
    assert units["work"] == "1"


def test_json_has_every_seed(compared: Compared) -> None:
    variant = variant_json(compared(2), "cas")
    assert list(variant["seeds"]) == ["0", "1"]
    for seed, entry in variant["seeds"].items():
        assert entry["result"] == compared(2).results["cas"][int(seed)].encode()
        assert entry["run"] == str(compared(2).variants["cas"][int(seed)].run)


def test_a_measure_that_one_variant_lacks_has_no_difference(compared: Compared) -> None:
    line = next(line for line in compared(1).lines if line.row.path == ("overutilized_share",))
    assert line.mean("mainline") is not None
    assert line.mean("cas") is None
    assert line.differences == {}


def test_summary_of_one_seed_is_its_result(compared: Compared) -> None:
    summary = summary_of(compared(1), "cas")
    result = compared(1).results["cas"][0].encode()
    del result["expect"]
    assert summary.items() >= result.items()
    assert [entry["met"] for entry in summary["expect"]] == [False, True]


def test_summary_over_seeds_is_the_mean(compared: Compared) -> None:
    two_seeds = compared(2)
    totals = [two_seeds.results["cas"][seed].energy_j.total for seed in (0, 1)]
    assert summary_of(two_seeds, "cas")["energy_j"]["total"] == pytest.approx(sum(totals) / 2)
    assert summary_of(two_seeds, "cas")["seeds"] == [0, 1]


def test_few_seeds_get_no_interval_in_json(compared: Compared) -> None:
    assert all("confidence_95" not in entry for entry in differences_json(compared(2)))


def test_runs_that_differ_are_not_compared(compared: Compared) -> None:
    good = compared(1)
    run = good.variants["cas"][0]
    changes: tuple[tuple[str, Any], ...] = (
        ("engine", "gem5"),
        ("duration", "full"),
        ("elide", False),
        ("set_otherwise", ("measured-speeds",)),
    )
    for key, value in changes:
        changed = dataclasses.replace(run, cell=dataclasses.replace(run.cell, **{key: value}))
        with pytest.raises(EascopeError, match=f"{key} is"):
            comparison(good.platform, {"mainline": good.variants["mainline"], "cas": [changed]})
    with pytest.raises(EascopeError, match="is a run of cas, not of sum"):
        comparison(good.platform, {"mainline": good.variants["mainline"], "sum": [run]})


def test_the_head_lists_controls_that_are_not_the_default(compared: Compared) -> None:
    good = compared(1)
    assert "non-default settings" not in text_of(good)
    words = ("rate-limit-2000-us", "measured-speeds")
    (run,) = good.variants["cas"]
    changed = dataclasses.replace(run, cell=dataclasses.replace(run.cell, set_otherwise=words))
    text = text_of(comparison(good.platform, {"cas": [changed]}))
    assert text.splitlines()[2] == "non-default settings: rate_limit_us=2000, speeds=measured"


def test_paired_difference() -> None:
    paired = difference([1.0, 2.0, 3.0], [1.5, 2.5, 3.5])
    assert paired.absolute == pytest.approx(0.5)
    assert paired.percent == pytest.approx(25.0)
    assert (paired.low, paired.high, paired.clear) == (None, None, None)
    assert difference([0.0], [3.0]).percent is None
    with pytest.raises(ValueError, match="length"):
        difference([1.0], [])


def test_bootstrap_intervals() -> None:
    base = [100.0 + number for number in range(10)]
    shifted = [value + 2 + (-1) ** number * 0.5 for number, value in enumerate(base)]
    paired = difference(base, shifted)
    assert paired.low is not None
    assert paired.high is not None
    assert 1.5 < paired.low < 2.0 < paired.high < 2.5
    assert paired.clear is True
    assert difference(base, shifted) == paired  # the same values, the same interval
    noise = [value + (-1) ** number for number, value in enumerate(base)]
    assert difference(base, noise).clear is False


def test_samples_that_are_no_pairs() -> None:
    unpaired = unpaired_difference([1.0, 3.0], [2.5, 2.5, 2.5])
    assert unpaired.percent == pytest.approx(25.0)
    assert (unpaired.low, unpaired.high) == (None, None)
    with pytest.raises(ValueError, match="empty"):
        unpaired_difference([1.0], [])
    with pytest.raises(ValueError, match="not positive"):
        unpaired_difference([1.0, 0.0], [3.0])


def test_intervals_of_samples_that_are_no_pairs() -> None:
    base = [100.0 + (-1) ** number for number in range(10)]
    # The standard error of either mean is 1 / sqrt(n - 1): 0.33 and 0.23, together 0.40 % of 100.
    unpaired = unpaired_difference(base, [105.0 + (-1) ** number for number in range(20)])
    assert unpaired.low == pytest.approx(5 - 2.26 * 0.40, abs=0.1)
    assert unpaired.high == pytest.approx(5 + 2.26 * 0.40, abs=0.1)
    assert unpaired_difference(base, base[:9]).low is None


def test_the_interval_in_percent_knows_that_the_baseline_varies() -> None:
    """A variant of three times the baseline, which varies by 2 %: so does the ratio."""
    base = [100.0 + 2 * (-1) ** number for number in range(20)]
    diff = difference(base, [300.0] * 20)
    # The standard error of the baseline's mean is 2 / sqrt(19) = 0.46 %, that of 300 % is 1.38.
    low, high = diff.in_percent() or (0.0, 0.0)
    assert low == pytest.approx(200 - 2.09 * 1.38, abs=0.2)
    assert high == pytest.approx(200 + 2.09 * 1.38, abs=0.2)
    noisy = [290.0 + number for number in range(20)]
    unpaired = unpaired_difference(base, noisy)
    ends = difference(base, noisy, aligned=False).in_percent()
    assert ends == pytest.approx((unpaired.low, unpaired.high))
    assert difference([0.0, 0.0, 3.0] * 4, [1.0] * 12).in_percent() is not None
    alone = difference([0.0] * 19 + [1.0], [1.0] * 20)
    assert alone.percent == pytest.approx(1900.0)
    assert alone.in_percent() is None


HAD = ("board-dvfs", "no-delay-dequeue")


SETUPS = [
    *(("juno-r2", HAD), ("juno-r2", (*HAD, "no-noise")), ("juno-r2", HAD[:1]), ("pixel6", HAD)),
    ("", HAD),
]


def test_it_says_whose_they_are(snapshot: SnapshotAssertion) -> None:
    said = []
    for platform, otherwise in SETUPS:
        had = SourceConditionsRecord("a list", platform, HAD)
        cell = cell_record(platform="juno-r2", set_otherwise=otherwise, source_conditions=had)
        said.append(against_source(cell))
    assert said == snapshot
    assert against_source(cell_record()) == "", "of a scenario that states none"


def difference_of(
    percent: float | None, ends: tuple[float, float] | None, low: float = -1.0
) -> Difference:
    """A difference whose absolute interval is (low, 9)."""
    return Difference(5.0, percent, low, 9.0, 100.0, 10, percent_ends=ends)


@pytest.mark.parametrize(
    ("difference", "floor", "clear"),
    [
        (difference_of(5.0, (1.0, 9.0)), None, True),
        (difference_of(5.0, (1.0, 9.0)), 4.0, True),
        (difference_of(5.0, (1.0, 9.0)), 5.0, False),
        (difference_of(-5.0, (-9.0, -1.0)), 4.0, True),
        # The interval of the ratio decides, not that of the difference.
        (difference_of(5.0, (-1.0, 9.0), low=1.0), None, False),
        # Percent of zero: there is no ratio, and no floor in percent.
        (difference_of(None, None, low=1.0), 4.0, True),
        (difference_of(None, None), None, False),
        (Difference(5.0, 5.0, None, None, 100.0, 2), None, False),
    ],
)
def test_a_clear_difference(difference: Difference, floor: float | None, clear: bool) -> None:
    assert difference.clear_above(floor) is clear


def compared(platform: Platform, seeds: int, again: int = 0) -> Comparison:
    """Made-up runs of two variants; the null is mainline's, with ``again`` other seeds."""
    runs = {name: [stated(name, seed) for seed in range(seeds)] for name in ("mainline", "cas")}
    result = comparison(platform, runs)
    double = [stated("mainline", seeds + seed) for seed in range(again)]
    return dataclasses.replace(result, null=Null("mainline", runs["mainline"], double))


def test_the_floor_is_the_far_end_of_the_interval(platform: Platform) -> None:
    """Energies rise by 0.5 mJ with each seed: the double's are 10 mJ higher on the mean."""
    both = compared(platform, 20, 20)
    row = both.total.row
    assert both.null is not None
    diff = both.null.difference(row)
    assert diff is not None
    assert diff.absolute == pytest.approx(10.0)
    assert diff.high is not None
    assert both.null.floor(row) == diff.high
    assert 11 < diff.high < 13
    assert not diff.paired


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
    assert "differences below it are not distinguishable from noise" in " ".join(text(both).split())
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


def runs(name: str, *seeds: int) -> list[Derived]:
    """Made-up runs of a variant, in this order."""
    return [stated(name, seed) for seed in seeds]


def test_the_order_of_runs_says_nothing(platform: Platform) -> None:
    result = paired({"mainline": runs("mainline", 0, 1, 2), "cas": runs("cas", 2, 0, 1)})
    assert [[run.cell.seed for run in item] for item in result.values()] == [[0, 1, 2]] * 2
    mixed = [*runs("mainline", 1), *runs("cas", 0, 1), *runs("mainline", 0)]
    in_order = comparison(platform, {"mainline": runs("mainline", 0, 1), "cas": runs("cas", 0, 1)})
    grouped = comparison(platform, by_variant((run.cell.variant, run) for run in mixed))
    assert grouped.seeds == [0, 1]
    assert grouped.names == ["mainline", "cas"]
    assert grouped.results == in_order.results


def test_a_run_without_a_partner_is_named(platform: Platform) -> None:
    mainline = runs("mainline", 0, 1, 2)
    for cas, words in (
        (runs("cas", 0, 3), "^mainline has no run of seed 3, but cas has"),
        (runs("cas", 1), "^cas has no run of seed 0, 2, but mainline has"),
    ):
        with pytest.raises(EascopeError, match=words):
            comparison(platform, {"mainline": mainline, "cas": cas})
    with pytest.raises(EascopeError, match="at least one run"):
        comparison(platform, {"mainline": []})


def test_a_seed_that_occurs_twice_is_refused() -> None:
    with pytest.raises(EascopeError, match="cas has seed 1 twice"):
        paired({"mainline": runs("mainline", 0, 1), "cas": runs("cas", 1, 0, 1)})


def test_a_seed_that_drew_something_else_is_refused() -> None:
    (run,) = runs("cas", 0)
    drew = replace(run.cell.replicate, idle_us=run.cell.replicate.idle_us + 1)
    other = replace(run, cell=replace(run.cell, replicate=drew))
    with pytest.raises(EascopeError, match="seed 0 drew another replicate"):
        paired({"mainline": runs("mainline", 0), "cas": [other]})
