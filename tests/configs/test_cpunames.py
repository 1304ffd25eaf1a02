# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU names that take CPUs away."""

from __future__ import annotations

import pytest

from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform


@pytest.mark.parametrize(
    ("name", "cpus"),
    [
        ("!big:0", (0, 1, 2, 3, 5)),
        ("!big", (0, 1, 2, 3)),
        ("any,!little:1-2", (0, 3, 4, 5)),
        ("big:*,!big:1", (4,)),
        ("!little, !big:1", (4,)),
        ("largest", (4, 5)),
        ("largest:0", (4,)),
        ("any,!largest", (0, 1, 2, 3)),
    ],
)
def test_taking_away(juno: Platform, name: str, cpus: tuple[int, ...]) -> None:
    assert juno.resolve(name) == cpus


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("little,!big:0", "! before one that is named"),
        ("!any", "leaves at least one CPU"),
        ("!little,!big", "leaves at least one CPU"),
        ("!huge:0", "any, little, little:*"),
        ("!!big:0", "any, little, little:*"),
        ("!big:7", "big:0 to big:1"),
        ("largets", "largest:0-1 (did you mean largest?)"),
        ("big:0,largest:0", "every CPU named once"),
    ],
)
def test_taking_away_what_is_not_there(juno: Platform, name: str, allowed: str) -> None:
    with pytest.raises(CpuNameError) as caught:
        juno.resolve(name)
    assert allowed in str(caught.value)
