# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU names."""

import pytest

from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform


@pytest.mark.parametrize(
    ("name", "cpus"),
    [
        ("any", (0, 1, 2, 3, 4, 5)),
        ("little", (0, 1, 2, 3)),
        ("little:*", (0, 1, 2, 3)),
        ("little:0-1", (0, 1)),
        ("little:3-3", (3,)),
        ("big:1", (5,)),
        ("big:*,little:2", (2, 4, 5)),
        ("little:1, big:0", (1, 4)),
        ("!big:0", (0, 1, 2, 3, 5)),
        ("!big", (0, 1, 2, 3)),
        ("any,!little:1-2", (0, 3, 4, 5)),
        ("!little, !big:1", (4,)),
        ("largest", (4, 5)),
        ("largest:0", (4,)),
        ("any,!largest", (0, 1, 2, 3)),
    ],
)
def test_cpu_names(juno: Platform, name: str, cpus: tuple[int, ...]) -> None:
    assert juno.resolve(name) == cpus


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("litle:0", "did you mean little?"),
        ("prime", "any, little, little:*, little:0-3, big, big:*, big:0-1"),
        ("little:4", "little:0 to little:3"),
        ("little:2-4", "little:0 to little:3"),
        ("little:1-0", "little:0 to little:3"),
        ("little:-1", "little:0-3"),
        ("big:one", "big:0-1"),
        ("any:0", "any, little"),
        ("", "any, little"),
        ("big,", "any, little"),
        ("little:0,little:0-1", "every CPU named once"),
        ("any,big", "every CPU named once"),
        (4, "any, little"),
        ("little,!big:0", "! before one that is named"),
        ("!any", "leaves at least one CPU"),
        ("!little,!big", "leaves at least one CPU"),
        ("!!big:0", "any, little, little:*"),
        ("!big:7", "big:0 to big:1"),
        ("largets", "largest:0-1 (did you mean largest?)"),
        ("big:0,largest:0", "every CPU named once"),
    ],
)
def test_wrong_cpu_names_are_one_line(juno: Platform, name: str, allowed: str) -> None:
    with pytest.raises(CpuNameError) as caught:
        juno.resolve(name)
    message = str(caught.value)
    assert "\n" not in message
    assert repr(name) in message
    assert allowed in caught.value.allowed
    assert caught.value.exit_code == 2
