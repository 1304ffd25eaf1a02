# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages about unknown names: the names near it, and all of them where they are few."""

from __future__ import annotations

import pytest

from eascope.host.errors import MOST_LISTED, nearest, unknown
from eascope.kernels.variants import load_catalogue

LISTING = "eascope list variants"
MANY = sorted(load_catalogue().variants)


def test_few_names_are_listed() -> None:
    message = str(unknown("engine", "quemu", ["qemu", "gem5"], "eascope list engines"))
    assert message == "unknown engine 'quemu' (did you mean qemu?): allowed: gem5, qemu"


def test_of_many_names_the_nearest_are_shown() -> None:
    assert len(MANY) > MOST_LISTED
    message = str(unknown("variant", "mainlin", MANY, LISTING))
    assert message == (
        "unknown variant 'mainlin' (did you mean mainline?): "
        "all are listed by: eascope list variants"
    )
    assert "feec-d" not in message
    nothing_near = str(unknown("variant", "xyz", MANY, LISTING))
    assert nothing_near == "unknown variant 'xyz': all are listed by: eascope list variants"


def test_an_error_without_a_list_command_names_all_choices() -> None:
    assert all(name in str(unknown("page", "x", MANY)) for name in MANY)


@pytest.mark.parametrize(
    ("name", "most", "words"),
    [
        ("feec-e", 3, " (did you mean feec-d, feec-c or feec-b?)"),
        ("feec-e", 1, " (did you mean feec-d?)"),
        ("mainlin", 3, " (did you mean mainline?)"),
        ("", 3, ""),
    ],
)
def test_names_that_are_as_near(name: str, most: int, words: str) -> None:
    assert nearest(name, MANY, most) == words
