# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints are statements about axes: numbers, texts, and "as is"."""

from syrupy.assertion import SnapshotAssertion

from eascope.experiments.sweeps.constraints import AsIs, read_constraint
from tests.support.refusals import refusal

VALUES: dict[str, float | str] = {
    "little.cpus": 4,
    "big.cpus": 2,
    "variant": "cas",
    "big.idle_states.cpu-sleep-0.exit_us": 500,
    "controls.fair_server": True,
}
HOLDS = (
    *("little.cpus + big.cpus <= 8", "little.cpus * 2 - 1 == 7 and variant == 'cas'"),
    *("1 < big.cpus < 3", "variant in ['mainline', 'feec-a'] or big.cpus / 2 == 1"),
    *("variant not in ['mainline']", "not variant == 'feec-a'", "not (big.cpus > 2 or 4 > 5)"),
    *("big.cpus in [2]", "little.cpus in [big.cpus, 4]", "variant != 2", "-big.cpus > -3"),
    *('big.idle_states."cpu-sleep-0".exit_us > 499', "controls.fair_server == True"),
    "(big.cpus + 1) * 2 == 6 and (variant == 'x' or big.cpus > 1) and 2 < (big.cpus + 1)",
    *("variant == 'cas' or prime.cpus == 1", "max(little.cpus, big.cpus) <= 400%"),
)
HOLDS_NOT = (
    *("1 < big.cpus < 2", "not variant == 'cas'", "variant in ['mainline', 4]", "variant == 'Cas'"),
    *("variant == 2", "little.cpus not in [2, 4]", "controls.fair_server == false"),
    "variant == 'x' and prime.cpus == 1",
)


def test_what_holds() -> None:
    held = [text for text in (*HOLDS, *HOLDS_NOT) if read_constraint(text).holds(VALUES)]
    assert held == list(HOLDS)


NO_CONSTRAINTS = (
    *("", "little.cpus <=", "f(1)", "__import__('os')", "(lambda: 1)()"),
    *("x := 3", "2 ** 9999999", "'a' % 1", "None", "1 + 1", "'a'", "not big.cpus"),
    *("variant == 'cas' or 1", "-big.cpus", "[big.cpus]", "9223372036854775808 > big.cpus"),
    *(
        "1e999 > big.cpus",
        "'a' == 'a'",
        "variant < 'm'",
        "'a' * big.cpus == 'b'",
        "variant == 'cas",
    ),
    # As it was written before there was one grammar.
    *('variant == "cas"', "variant in ('mainline', 'cas')", "'c' in variant", "full"),
    *("(big.cpus > 1) + 1 == 2", "big.cpus in [2, ]", "True", "big.cpus in []"),
)


def test_what_is_no_constraint(snapshot: SnapshotAssertion) -> None:
    assert {text: refusal(read_constraint, text) for text in NO_CONSTRAINTS} == snapshot


WRONG_OF_A_CELL = (
    *("litle.cpus == 1", "variant[0] == 'c'", "variant < 3", "3 > variant + 1", "-variant == 1"),
    *("big.opps < 3", "1 / (big.cpus - 2) == 1"),
)


def test_values_that_do_not_fit(snapshot: SnapshotAssertion) -> None:
    values = {**VALUES, "big.opps": "as is"}
    wrong = {text: refusal(read_constraint(text).holds, values) for text in WRONG_OF_A_CELL}
    assert wrong == snapshot


AS_IS = (
    *("little.cpus + big.cpus <= 6", "little.cpus == 4", "little.cpus == 'as is'"),
    *("little.cpus != 2", "4 == little.cpus", "'as is' == little.cpus", "little.cpus in [4, 6]"),
    *("little.cpus in [2, 'as is']", "little.cpus not in [2]", "big.opps == 'as is'"),
    *("little.cpus == little.cpus", "little.cpus == big.opps"),
)
NOT_AS_IS = (
    *("little.cpus + big.cpus <= 5", "big.opps == 'every 2nd'", "little.cpus != 'as is'"),
    *("little.cpus != 4", "little.cpus == prime.cpus"),
)


def test_as_is_stands_for_the_number_of_the_base() -> None:
    base: dict[str, float | str] = {"little.cpus": AsIs(4), "prime.cpus": AsIs(1)}
    values = base | {"big.cpus": 2, "big.opps": "as is"}
    held = [text for text in (*AS_IS, *NOT_AS_IS) if read_constraint(text).holds(values)]
    assert held == list(AS_IS)
