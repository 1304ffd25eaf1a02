# SPDX-License-Identifier: GPL-2.0-or-later
"""Planned variants, and what of a guest's state depends on the device tree's flavour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.host.errors import RequestError
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import VARIANTS, load_catalogue, load_variants


def written(folder: Path, planned: str) -> Path:
    """A copy of the real file with another ``[planned]``."""
    text = VARIANTS.read_text().partition("[planned]")[0]
    path = folder / "variants.toml"
    path.write_text(text + planned)
    return path


def test_planned_are_no_variants() -> None:
    assert not set(load_catalogue().planned) & set(load_variants())


def test_without_the_table_nothing_is_planned(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    assert load_catalogue(path).planned == {}
    assert list(load_variants(path)) == list(load_variants())


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        ('[planned]\ncas = "again"', r"planned\.cas = 'again': allowed: a name .* no \[variant\]"),
        ('[planned]\n"Sum" = "by sum"', r"planned\.Sum = 'by sum': allowed: a name of lower-case"),
        ('[planned]\nsum = ""', r"planned\.sum = '': allowed: a non-empty string"),
    ],
)
def test_wrong_table_is_one_line(tmp_path: Path, planned: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        load_catalogue(written(tmp_path, planned))
    assert "\n" not in str(caught.value)


def test_the_expected_state_of_opp2_has_its_opps_alone(juno: Platform) -> None:
    def performance_states(flavour: str) -> list[str]:
        variant = replace(load_variants()["mainline"], dtb=flavour)
        return [
            line[1].rsplit("/", 2)[1]
            for line in state_expectations(variant, juno)
            if "/ps:" in line[1]
        ]

    assert performance_states("std") == [
        f"ps:{khz}" for khz in (450_000, 800_000, 950_000, 600_000, 1_000_000, 1_200_000)
    ]
    assert performance_states("opp2") == [
        f"ps:{khz}" for khz in (450_000, 950_000, 600_000, 1_200_000)
    ]
