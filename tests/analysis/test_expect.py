# SPDX-License-Identifier: GPL-2.0-or-later
"""Expectations: what may be said, what it means, and what is refused with which words."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.derive import met_by_run
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.result import Energy, Judged
from eascope.analysis.statement import Absent, parse, value_at
from eascope.host.errors import RequestError
from tests.support.records import cell_record, result_record
from tests.support.refusals import refusal

RESULT: dict[str, Any] = {
    "energy_j": {"total": 2.0, "cluster": {"little": 1.5, "big": 0.5}},
    "latency_us": {"decode-0": {"p95": 40.0}},
    "cpu_busy": [0.25, 0.75],
    "residency": {"little": {"450000": 0.9}},
    "missed_deadlines": 0,
    "eas": True,
}


def met(text: str) -> bool:
    return parse(text).evaluate(lambda path, _variant: value_at(RESULT, path))[1]


MET = (
    *("energy_j.total == 2", "energy_j.total <= 2", "missed_deadlines == 0", "eas == 1"),
    *('latency_us."decode-0".p95 < 50', "cpu_busy.1 - cpu_busy.0 == 50%"),
    *("residency.little.450000 > 85%", "1 + 2 * 3 == 7 and energy_j.total > 0"),
    *("(1 + 2) * 3 == 9 and energy_j.total > 0", "-energy_j.total < 0"),
    *("energy_j.total / 4 == 5e-1", "min(1, 2, energy_j.total) == 1"),
    "max(energy_j.cluster.little, energy_j.cluster.big) == 1.5",
    "abs(energy_j.cluster.big - energy_j.cluster.little) == 1",
    *("share(energy_j.total > 1) > 0", "1 < energy_j.total < 3", "(eas == true)"),
)
NOT_MET = (
    *("1 < energy_j.total < 2", "3 < energy_j.total < 4"),
    *("energy_j.total < 2", "energy_j.total != 2", "energy_j.total > 1 and energy_j.total < 1"),
    "share(energy_j.total > 3) > 0 and energy_j.total > 1",
)


def test_statements() -> None:
    assert [text for text in (*MET, *NOT_MET) if met(text)] == list(MET)


def test_a_statement_lists_its_paths_and_variants() -> None:
    statement = parse("energy_j.total[cas] > energy_j.total[mainline] * 101%")
    assert statement.variants == ("cas", "mainline")
    assert statement.paths == ("energy_j.total",)
    assert parse("energy_j.total[uclamp-sum.v2] > 1").variants == ("uclamp-sum.v2",)
    assert parse("energy_j.total > energy_j.total[cas@7.3]").variants == ("cas@7.3",)


BAD = (
    *("", "energy_j.total", "energy_j.total >", "energy_j.total = 3", "energy_j.total => 3"),
    *("1 < 2", "energy_j. > 2", "energy_j.total > 2 or missed_deadlines == 0"),
    *("energy_j.total > (2", "energy_j.total[] > 2", "energy_j.total[cas > 2"),
    *("__import__('os').system('true') > 0", "open('x') > 0", "exec(1) > missed_deadlines"),
    *("abs(1, 2) < missed_deadlines", "min(missed_deadlines) < 1", "lambda: 1 > 0"),
    *("energy_j.total > 2; import os", 'latency_us."decode.p95 > 1', "share(energy_j.total) > 0"),
    *("share(1 > 0) > 0", "share(energy_j.total > 1)", "0 < share(energy_j.total > 1)"),
    "share(energy_j.total > 1) > missed_deadlines",
    "share(share(energy_j.total > 1) > 0) > 0",
    *("missed_deadlines == 'none'", "not energy_j.total > 2", "(energy_j.total > 2", "1e999 > eas"),
    *("(share(energy_j.total > 1)) * 2 > 1", "(eas and energy_j.total > 2)", "eas and eas > 2"),
    "energy_j.total in [1, 2]",
)


def test_bad_statements_are_refused_in_one_line(snapshot: SnapshotAssertion) -> None:
    lines = {}
    for text in BAD:
        with pytest.raises(RequestError) as caught:
            parse(text)
        lines[text] = str(caught.value)
    assert caught.value.exit_code == 2
    assert lines == snapshot


def test_statements_that_are_too_deep() -> None:
    assert refusal(parse, "(" * 390 + "eas > 1").endswith("allowed: fewer parentheses")
    assert refusal(parse, "+".join(["eas"] * 101) + " > 1").endswith("up to 400 characters")
    assert met("+".join(["1"] * 195) + " > eas")


def test_absent_measures() -> None:
    for path in (("energy_j", "gpu"), ("cpu_busy", "7"), ("energy_j",), ("cpu_busy", "x")):
        with pytest.raises(Absent):
            value_at(RESULT, path)
    with pytest.raises(Absent):
        met("energy_j.total / missed_deadlines > 1")


def test_a_run_judges_only_statements_about_its_own_variant() -> None:
    cell = cell_record(
        variant="cas",
        expect=(
            Expectation("cas", "missed_deadlines == 0", "s"),
            Expectation("cas", "energy_j.total > energy_j.total[mainline]", "s"),
            Expectation("cas", "frames_dropped == 0", "s"),
            Expectation("mainline", "missed_deadlines == 0", "s"),
            Expectation("cas", "energy_j.total[cas] > 3", "s"),
        ),
    )
    result = result_record(energy_j=Energy(2.0, {}, {}, {}, {}), missed_deadlines=0)
    assert met_by_run(cell, result) == (
        Judged("missed_deadlines == 0", value=0.0, met=True),
        Judged("energy_j.total[cas] > 3", value=2.0, met=False),
    )
