# SPDX-License-Identifier: GPL-2.0-or-later
"""Surveys of campaigns: what is checked before anything runs."""

from __future__ import annotations

import pytest

from host.errors import RequestError
from tests.support.campaigns import campaign, surveyed
from tests.support.cells import Artefacts


@pytest.mark.parametrize(
    ("power", "message"),
    [
        ("bad", "unknown power model 'bad': allowed: "),
        ("profile", "--power profile: juno-r2 offers published"),
    ],
)
def test_a_power_that_a_platform_does_not_offer(
    artefacts: Artefacts, power: str, message: str
) -> None:
    """Every cell would run, and then fail."""
    with pytest.raises(RequestError) as wrong:
        surveyed(campaign(power=power), look_up=False)
    begin = f"test.toml: power = '{power}': cell juno-r2, smoke, mainline: "
    assert str(wrong.value).startswith(begin + message)
