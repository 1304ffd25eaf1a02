# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends of intervals are printed as far as a run can have them; verdicts keep them as made."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_json import difference_json
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.measures import MEASURES
from eascope.analysis.ranges import range_of
from eascope.analysis.records.verdict import UNDECIDED, Effect, Verdict
from eascope.analysis.rows import RANGES
from eascope.analysis.statement import parse
from eascope.analysis.verdict_text import details, short
from eascope.configs.platform_file import load_platform
from tests.support.stated import stated


def verdict(statement: str, *effects: Effect) -> Verdict:
    return Verdict("cas", statement, "nobody", verdict=UNDECIDED, effects=effects)


def effect(low: float, high: float, unit: str = "%", *, relative: bool = False) -> Effect:
    stated = (95.0, None)
    return Effect(
        (low + high) / 2, low, high, stated, unit, relative, paired=False, correlation=None
    )


def test_every_share_is_at_most_all() -> None:
    shares = {
        measure.name for measure in MEASURES if re.match("share of|1 = all equal", measure.unit)
    }
    assert {name for name, (_, most) in RANGES.items() if most == 1} == {*shares, "eas"}
    assert set(RANGES) <= {measure.name for measure in MEASURES}


def test_a_share_ends_at_a_hundred_percent_in_texts_alone() -> None:
    result = verdict("run_share.capped.little > 95%", effect(84.6, 101.4))
    assert details(result).startswith("93.0 % (84.6 .. 100.0), claimed > 95 %")
    assert short(result) == "undecided: 93.0 % (84.6 .. 100.0)"
    assert result.effects[0].high == 101.4


def overutilized(shares: Mapping[str, Sequence[float]]) -> Comparison:
    """Runs that differ in this share, by variant and seed."""
    return comparison(
        load_platform("juno-r2"),
        {
            name: [
                replace(
                    run := stated(name, seed),
                    result=replace(run.result, overutilized_share=share, missed_deadlines=seed),
                )
                for seed, share in enumerate(of_variant)
            ]
            for name, of_variant in shares.items()
        },
    )


def test_a_difference_in_the_table_ends_where_a_variant_can_be() -> None:
    """0.5 % and 95 %: a variant with less than nothing, or more than all, is not possible."""
    few, most = [0.0] * 9 + [0.05], [1.0] * 9 + [0.5]
    for shares, end in ((few, "-0.5 .. "), (most, " .. +5.0")):
        compared = overutilized({"mainline": shares, "cas": shares[::-1]})
        line = compared.line("overutilized_share")
        assert line is not None
        result = line.differences["cas"]
        assert result.low is not None
        assert result.high is not None
        beyond = result.low if shares is few else result.high
        assert abs(beyond) > (0.5 if shares is few else 5.0)
        (row,) = [row for row in text_of(compared).splitlines() if "overutilized" in row]
        assert end in row
        low, high = difference_json(compared, line, "cas")["confidence_95"]
        value = low if shares is few else high
        assert value == pytest.approx(-0.005 if shares is few else 0.05)


def test_a_count_ends_at_zero() -> None:
    result = verdict("missed_deadlines < 1", effect(-0.1, 1.8, ""))
    assert "0.85 (0 .. 1.8)" in details(result)


def test_a_change_ends_at_minus_a_hundred_percent() -> None:
    text = "energy_j.total < energy_j.total[mainline]"
    assert "(-100.0 .. +8.4)" in details(verdict(text, effect(-111.5, 8.4, relative=True)))


def test_a_difference_of_shares_ends_where_one_is_all_and_one_nothing() -> None:
    text = "abs(work_share.big - work_share.big[mainline]) < 2%"
    result = verdict(text, effect(-130.0, 130.0, relative=True))
    assert "(-100.0 .. +100.0)" in details(result)
    counts = verdict("migrations > migrations[mainline]", effect(-7.0, 9.0, "", relative=True))
    assert "(-7 .. +9)" in details(counts), "a difference of counts may be below zero"


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("min(run_share.a.little, run_share.b.little) + 1", (1, 2)),
        ("2 * fairness", (0, 2)),
        ("migrations / 4", (0, math.inf)),
        ("fairness / completion_spread.a", (0, 1)),
        ("abs(fairness - 2)", (1, 2)),
        ("energy_j.total / energy_j.total[mainline] - 1", (-1, math.inf)),
        ("(fairness - 1) * migrations", (-math.inf, math.inf)),
    ],
)
def test_the_range_of_a_term(text: str, possible: tuple[float, float]) -> None:
    (part,) = parse(f"{text} > 0").parts
    assert range_of(part.left) == possible
