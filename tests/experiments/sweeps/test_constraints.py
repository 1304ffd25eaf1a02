# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints compare names and values, and nothing else."""

import pytest

from eascope.experiments.sweeps.constraints import AsIs, read_constraint
from eascope.host.errors import RequestError, shown
from tests.support.refusals import refusal

VALUES = {"little.cpus": 4, "big.cpus": 2, "variant": "cas", "controls.rate_limit_us": 500}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("little.cpus + big.cpus <= 8", True),
        ("little.cpus * 2 - 1 == 7 and variant == 'cas'", True),
        ("1 < big.cpus < 2", False),
        ("variant in ['mainline', 'feec-a'] or big.cpus / 2 == 1", True),
        ("not variant == 'cas'", False),
        ("variant not in ('mainline',)", True),
        ("controls.rate_limit_us > -1", True),
    ],
)
def test_what_holds(text: str, holds: bool) -> None:
    assert read_constraint(text).holds(VALUES) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "little.cpus <=",
        "f(1)",
        "__import__('os')",
        "variant[0] == 'c'",
        "(lambda: 1)()",
        "x := 3",
        "2 ** 9999999",
        "'a' % 1",
        "None",
        "1" * 500,
        "(" * 300,
        "1 + 1",
        "'a'",
        "3",
        "not 1",
        "variant == 'cas' or 1",
        "-big.cpus",
        "[big.cpus]",
        "9223372036854775808 > 1",
        "1e999 > 1",
        f"{'9' * 320} / 2 > 1",
    ],
)
def test_what_is_no_constraint(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: names of axes") as wrong:
        read_constraint(text)
    assert "\n" not in str(wrong.value)


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(RequestError, match=r"unknown name 'litle.cpus' \(did you mean little.cpus"):
        read_constraint("litle.cpus == 1").holds(VALUES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variant < 3", "<: variant = 'cas': allowed: numbers"),
        ("variant + 1 > 2", "+: variant = 'cas': allowed: numbers"),
        ("variant * 999999999999 == 1", "*: variant = 'cas': allowed: numbers"),
        ("'a' * 9999999999 == 'b'", "*: 'a': allowed: numbers"),
        ("-variant == 1", "-: variant = 'cas': allowed: numbers"),
        ("(big.cpus > 1) + 1 == 2", "+: big.cpus > 1 = True: allowed: numbers"),
        ("variant", "variant = 'cas': allowed: a comparison with it"),
        ("not big.cpus", "big.cpus = 2: allowed: a comparison with it"),
        ("2 in big.cpus", "in: big.cpus = 2: allowed: a list such as [2, 4]"),
        ("1 / 0 == 1", "division by zero: allowed: numbers that can be divided"),
        ("* ".join(["9000000000000000000"] * 18) + " / 2 > 1", "allowed: numbers that can be div"),
    ],
)
def test_operands_that_do_not_go_together(text: str, message: str) -> None:
    wrong = refusal(read_constraint(text).holds, VALUES)
    assert wrong.startswith(f"constraint {shown(text)}: ")
    assert message in wrong


def test_truth_is_a_value() -> None:
    assert read_constraint("full").holds({"full": True})
    assert read_constraint("not full and True").holds({"full": False})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("little.cpus + big.cpus <= 6", True),
        ("little.cpus + big.cpus <= 5", False),
        ("little.cpus == 4", True),
        ("little.cpus == 'as is'", True),
        ("little.cpus != 2", True),
        ("4 == little.cpus", True),
        ("little.cpus in [4, 6]", True),
        ("little.cpus in [2, 'as is']", True),
        ("little.cpus not in [2]", True),
        ("big.opps == 'as is'", True),
        ("big.opps == 'every 2nd'", False),
        ("little.cpus == little.cpus", True),
    ],
)
def test_as_is_stands_for_the_number_of_the_base(text: str, holds: bool) -> None:
    values = {"little.cpus": AsIs(4, "juno-r2"), "big.cpus": 2, "big.opps": AsIs(None, "juno-r2")}
    assert read_constraint(text).holds(values) is holds


def test_as_is_where_the_base_has_no_number() -> None:
    assert refusal(read_constraint("big.opps < 3").holds, {"big.opps": AsIs(None, "juno-r2")}) == (
        "constraint 'big.opps < 3': <: big.opps = 'as is', and juno-r2 has no number there; "
        "write big.opps == 'as is' or ..., so that such cells are kept"
    )
