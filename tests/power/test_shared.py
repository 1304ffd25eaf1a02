# SPDX-License-Identifier: GPL-2.0-or-later
"""The shared part billed otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eascope.configs.activity import Activity
from eascope.configs.billing import ChipShared
from eascope.configs.knobs import STATED
from eascope.configs.platform import Platform
from eascope.engines.records import SHARED_PART
from eascope.host.errors import RequestError
from eascope.power.billed import Interval, whole_component
from eascope.power.choice import power_model
from eascope.power.shared import with_shared

MS = 1_000_000
#: A shared part that was on in 3 of 10 ms, and a busy CPU.
PART = Interval(SHARED_PART, 5 * MS, 15 * MS, 450_000, 3 * MS)
BUSY = Interval(0, 0, 10 * MS, 450_000, 4 * MS, idle_ns=(6 * MS, 0, 0))


def test_published_energies(juno: Platform, juno_activity: Activity) -> None:
    little, model = juno.clusters[0], power_model("published", juno, juno_activity)
    shared = whole_component("shared")
    assert model.interval_fj(little, PART) == {shared: 3 * MS * 26_000 + 7 * MS * 17_000}
    assert with_shared(model, "off").interval_fj(little, PART) == {shared: 3 * MS * 26_000}
    assert with_shared(model, "zero").interval_fj(little, PART) == {shared: 0}


@pytest.mark.parametrize("power", ["published", "derived"])
@pytest.mark.parametrize("shared", ["off", "zero"])
def test_of_every_model_the_shared_part_alone_changes(
    juno: Platform, juno_activity: Activity, power: str, shared: str
) -> None:
    little, model = juno.clusters[0], power_model(power, juno, juno_activity)
    other = with_shared(model, shared)
    assert other.interval_fj(little, BUSY) == model.interval_fj(little, BUSY)
    stated = sum(model.interval_fj(little, PART).values())
    on = sum(model.interval_fj(little, replace(PART, t1_ns=PART.t0_ns + 3 * MS)).values())
    assert sum(other.interval_fj(little, PART).values()) == (on if shared == "off" else 0)
    assert stated > on > 0
    assert set(other.interval_fj(little, PART)) == set(model.interval_fj(little, PART))
    assert other.digest != model.digest
    assert other.name == f"{power}, shared part {shared}"


def test_as_stated_is_the_model_itself(juno: Platform, juno_activity: Activity) -> None:
    model = power_model("published", juno, juno_activity)
    assert with_shared(model, STATED) is model
    with pytest.raises(RequestError, match=r"unknown shared power 'of'.*did you mean off"):
        with_shared(model, "of")


def test_the_chips_part_follows(juno: Platform, juno_activity: Activity) -> None:
    chip = replace(juno, shared=ChipShared(40_000, 5_000, "assumed: for a test"))
    model, shared = power_model("published", chip, juno_activity), whole_component("shared")
    assert model.chip_fj(3 * MS, 7 * MS) == {shared: 3 * MS * 40_000 + 7 * MS * 5_000}
    assert with_shared(model, "off").chip_fj(3 * MS, 7 * MS) == {shared: 3 * MS * 40_000}
    assert with_shared(model, "zero").chip_fj(3 * MS, 7 * MS) == {shared: 0}
