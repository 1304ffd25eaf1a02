# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons: the text as a person sees it, differences, and what may not be compared."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_json import differences_json, variant_json
from eascope.analysis.compare_json import summary as summary_of
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import Derived
from eascope.analysis.difference import difference, unpaired_difference
from eascope.analysis.known.findings import Finding
from eascope.analysis.statement import value_at
from eascope.analysis.statistics import ENOUGH
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from tests.support.stated import stated

GOLDEN = Path(__file__).parent / "golden"
Compared = Callable[[int], Comparison]


@pytest.mark.parametrize("seeds", [1, 2, 20])
def test_the_table_is_the_golden_text(platform: Platform, seeds: int) -> None:
    runs = {name: [stated(name, seed) for seed in range(seeds)] for name in ("mainline", "cas")}
    text = text_of(comparison(platform, runs))
    assert text == (GOLDEN / f"compare-{seeds}.txt").read_text()


def test_columns_are_aligned(compared: Compared) -> None:
    lines = text_of(compared(1)).splitlines()
    head = next(line for line in lines if "unit" in line)
    end = head.index("mainline") + len("mainline")
    row = next(line for line in lines if line.startswith("  total"))
    assert row[:end].endswith("207.24")
    assert all(line == line.rstrip() for line in lines)


def test_json_has_every_difference(compared: Compared) -> None:
    differences = differences_json(compared(1))
    total = next(entry for entry in differences if entry["measure"] == "energy_j.total")
    results = compared(1).results
    base = results["mainline"][0].energy_j.total
    energy = results["cas"][0].energy_j.total
    assert total["baseline_value"] == pytest.approx(base)
    assert total["difference"] == pytest.approx(energy - base)
    assert total["percent"] == pytest.approx(100 * (energy - base) / base)
    assert "confidence_95" not in total
    json.dumps(differences)


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
        made = stated(name, 0)
        result = dataclasses.replace(made.result, energy_per_work_j=energy_j, work=1.0)
        return dataclasses.replace(made, result=result)

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
    assert {key: summary[key] for key in result if key != "expect"} == {
        key: value for key, value in result.items() if key != "expect"
    }
    assert [entry["met"] for entry in summary["expect"]] == [False, True]


def test_summary_over_seeds_is_the_mean(compared: Compared) -> None:
    two_seeds = compared(2)
    totals = [two_seeds.results["cas"][seed].energy_j.total for seed in (0, 1)]
    assert summary_of(two_seeds, "cas")["energy_j"]["total"] == pytest.approx(sum(totals) / 2)
    assert summary_of(two_seeds, "cas")["seeds"] == [0, 1]


def test_few_seeds_get_no_test_and_many_get_an_interval(compared: Compared) -> None:
    assert "no test" in text_of(compared(2))
    assert "95 %" not in text_of(compared(2))
    text = text_of(compared(ENOUGH))
    assert "95 % interval" in text
    assert "the draws of seeds" in text
    entries = differences_json(compared(ENOUGH))
    assert all("confidence_95" in entry for entry in entries)


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
    assert "set otherwise" not in text_of(good)
    words = ("rate-limit-2000-us", "measured-speeds")
    (run,) = good.variants["cas"]
    changed = dataclasses.replace(run, cell=dataclasses.replace(run.cell, set_otherwise=words))
    text = text_of(comparison(good.platform, {"cas": [changed]}))
    assert text.splitlines()[2] == "set otherwise: rate limit 2000 us, measured speeds"


def test_nothing_in_common_is_refused(compared: Compared) -> None:
    good = compared(1)
    run = good.variants["cas"][0]
    changed = dataclasses.replace(run, cell=dataclasses.replace(run.cell, seed=5))
    with pytest.raises(EascopeError, match="mainline has no run of seed 5, but cas has"):
        comparison(good.platform, {"mainline": good.variants["mainline"], "cas": [changed]})
    with pytest.raises(EascopeError, match="at least one run"):
        comparison(good.platform, {"mainline": []})


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
    made = difference(base, [300.0] * 20)
    # The standard error of the baseline's mean is 2 / sqrt(19) = 0.46 %, that of 300 % is 1.38.
    low, high = made.in_percent() or (0.0, 0.0)
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


def test_findings_are_not_about_a_platform_file_of_ones_own(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {name: [stated(name, 0)] for name in ("mainline", "cas")}
    usual = comparison(platform, runs)
    known = {
        (verdict.variant, verdict.statement): Finding("known", usual.conditions)
        for verdict in usual.verdicts
    }
    monkeypatch.setattr("eascope.analysis.compare.findings", lambda *_: known)
    assert {verdict.finding for verdict in comparison(platform, runs).verdicts} == {"known"}
    own = {
        name: [dataclasses.replace(run, cell=dataclasses.replace(run.cell, own_platform=True))]
        for name, (run,) in runs.items()
    }
    assert {verdict.finding for verdict in comparison(platform, own).verdicts} == {""}
