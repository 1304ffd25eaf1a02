# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints compare names and values, and nothing else."""

from __future__ import annotations

import pytest

from experiments.sweeps.constraints import read_constraint
from host.errors import RequestError

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
    ],
)
def test_what_is_no_constraint(text: str) -> None:
    with pytest.raises(RequestError, match="allowed: names of axes") as wrong:
        read_constraint(text)
    assert "\n" not in str(wrong.value)


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(RequestError, match=r"unknown name 'litle.cpus' \(did you mean little.cpus"):
        read_constraint("litle.cpus == 1").holds(VALUES)


def test_operands_that_do_not_go_together() -> None:
    for text in ("variant < 3", "1 / 0 == 1"):
        with pytest.raises(RequestError, match=r"^constraint "):
            read_constraint(text).holds(VALUES)
