# SPDX-License-Identifier: GPL-2.0-or-later
"""``--power``: the platform's default, what it offers, and a refusal that says so."""

from __future__ import annotations

import pytest

from eascope.configs.activity import load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.records import SHARED_PART
from eascope.host.errors import RequestError
from eascope.power.billed import Component, Interval, StatedPower
from eascope.power.choice import power_model, power_of
from eascope.power.model import DerivedPower


@pytest.fixture(scope="module")
def pixel6() -> Platform:
    return load_platform("pixel6")


def test_nobody_asks_the_platform_says(pixel6: Platform) -> None:
    assert power_of(pixel6) == "wattson"
    assert power_of(load_platform("juno-r2")) == "measured"
    assert power_model(None, pixel6, load_activity(pixel6)).name == "wattson"


def test_what_a_platform_does_not_offer_is_refused_with_what_it_does() -> None:
    for name in ("profile", "wattson"):
        with pytest.raises(RequestError) as caught:
            power_of(load_platform("juno-r2"), name)
        assert (
            str(caught.value)
            == f"--power {name}: juno-r2 offers measured (default), published, derived"
        )


def test_every_offer_is_a_model_of_that_name_and_key(pixel6: Platform) -> None:
    activity = load_activity(pixel6)
    models = [power_model(name, pixel6, activity) for name in pixel6.billing.offers]
    assert [model.name for model in models] == list(pixel6.billing.offers)
    assert len({model.digest for model in models}) == len(models)
    assert isinstance(models[-1], DerivedPower)


def test_a_busy_cpu_is_billed_its_table(pixel6: Platform) -> None:
    big = pixel6.cluster("big")
    top = Interval(big.cpus[0], 0, 1000, 2_802_000, active_ns=1000)
    active = Component("active", "active")
    expected = {"published": 2_032_000, "profile": 978_863, "measured": 1_371_000}
    for name, power in expected.items():
        model = StatedPower(pixel6, name)
        assert model.interval_fj(big, top)[active] == 1000 * power
        assert model.busy_microwatt(big, 2_802_000) == power


def test_measured_power_holds_the_shared_parts(pixel6: Platform) -> None:
    """Whole-device power less idle: the cluster's part must not be billed twice."""
    big = pixel6.cluster("big")
    shared = Interval(SHARED_PART, 0, 1000, 2_802_000, active_ns=600)
    model = StatedPower(pixel6, "measured")
    assert set(model.interval_fj(big, shared).values()) == {0}
    assert any("not billed apart" in note for note in model.notes)
    assert any("interpolated at 738, 1098, 1328, 1598 MHz" in note for note in model.notes)
    assert set(StatedPower(pixel6, "profile").interval_fj(big, shared).values()) != {0}
