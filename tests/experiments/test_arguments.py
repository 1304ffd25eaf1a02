# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of command-line options."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from eascope.experiments.arguments import count, natural


@pytest.mark.parametrize(
    ("kind", "text", "allowed"),
    [
        *(
            (count, text, "from 1 to 1000")
            for text in ("0", "-3", "1001", str(2**70), "ten", "1.5")
        ),
        *((natural, text, "from 0") for text in ("-1", str(2**63), "ten")),
    ],
)
def test_a_refused_argument_states_what_is_allowed(
    kind: Callable[[str], int], text: str, allowed: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        kind(text)
    assert str(caught.value) == f"{text!r}: allowed: an integer {allowed}"


def test_integers_in_range_are_accepted() -> None:
    assert (count("1"), count("1000"), natural("0")) == (1, 1000, 0)
