# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU names."""

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform

CPUS = {
    "any": (0, 1, 2, 3, 4, 5),
    "little": (0, 1, 2, 3),
    "little:*": (0, 1, 2, 3),
    "little:0-1": (0, 1),
    "little:3-3": (3,),
    "big:1": (5,),
    "big:*,little:2": (2, 4, 5),
    "little:1, big:0": (1, 4),
    "!big:0": (0, 1, 2, 3, 5),
    "!big": (0, 1, 2, 3),
    "any,!little:1-2": (0, 3, 4, 5),
    "!little, !big:1": (4,),
    "largest": (4, 5),
    "largest:0": (4,),
    "any,!largest": (0, 1, 2, 3),
}
WRONG: list[str | int] = [
    *("litle:0", "prime", "little:4", "little:2-4", "little:1-0", "little:-1", "big:one", "any:0"),
    *("", "big,", "little:0,little:0-1", "any,big", 4, "little,!big:0", "!any", "!little,!big"),
    *("!!big:0", "!big:7", "largets", "big:0,largest:0"),
]


def test_cpu_names(juno: Platform) -> None:
    assert {name: juno.resolve(name) for name in CPUS} == CPUS


@pytest.mark.parametrize("name", WRONG)
def test_wrong_cpu_names_are_one_line(
    juno: Platform, name: str, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(CpuNameError) as caught:
        juno.resolve(name)
    assert str(caught.value) == snapshot
    assert caught.value.exit_code == 2
