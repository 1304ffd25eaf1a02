# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel is given of power: the choice, its figures, and what is refused."""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.engines.qemu.layout import LAYOUT
from eascope.host.errors import RequestError
from eascope.power.given import DEFAULT_MODEL, as_given, given_model, given_record
from eascope.power.level import load_level
from tests.support.refusals import refusal


def powers(platform: Platform, name: str) -> list[int]:
    return [opp.power_uw for opp in platform.cluster(name).opps]


def test_the_usual_model_is_the_platforms(juno: Platform) -> None:
    model = given_model("published")
    assert model == DEFAULT_MODEL
    assert model.is_default
    assert as_given(juno, model) == juno
    assert given_model("published", ["big=+0%"]) == DEFAULT_MODEL


def test_an_error_scales_one_cluster(juno: Platform) -> None:
    model = given_model("published", ["big=+20%"])
    platform = as_given(juno, model)
    assert model.words == "published, big +20 %"
    assert powers(platform, "little") == powers(juno, "little")
    assert powers(platform, "big") == [217_800, 437_400, 648_000]
    assert device_tree_source(platform, LAYOUT) == device_tree_source(juno, LAYOUT).replace(
        "<181500>", "<217800>"
    ).replace("<364500>", "<437400>").replace("<540000>", "<648000>")
    # What a run's energy is computed from does not change.
    assert platform.digest == juno.digest
    assert [c.shared_on_uw for c in platform.clusters] == [c.shared_on_uw for c in juno.clusters]


def test_the_derived_model(juno: Platform) -> None:
    platform = as_given(juno, given_model("derived", ["little=-50%"]))
    for cluster in juno.clusters:
        level = load_level(cluster.core.name)
        scale = 0.5 if cluster.name == "little" else 1.0
        expected = [
            round(level.opp_microwatt(opp.khz, opp.uv, juno.temperature_c) * scale)
            for opp in cluster.opps
        ]
        assert powers(platform, cluster.name) == expected


def test_the_order_of_errors_does_not_matter() -> None:
    model = given_model("derived", ["big=+20%", "little=-10.5%"])
    assert model == given_model("derived", ["little=-10.5%", "big=+20%"])
    assert model.words == "derived, big +20 %, little -10.5 %"


def test_record_has_every_figure(juno: Platform) -> None:
    record = given_record(juno, given_model("published", ["big=+20%"]))
    assert record["words"] == "published, big +20 %"
    assert record["errors_percent"] == {"big": 20.0}
    assert record["opp_microwatt"]["big"] == {
        "600000": 217_800,
        "1000000": 437_400,
        "1200000": 648_000,
    }


BAD = [
    "derrived",
    *("published 20%", "published big=20%%", "published big=20", "published big=20%"),
    *("published big=+20", "published big=nan%", "published big=-100%", "published big=+901%"),
    *("published big=+1% big=+2%", "published bgi=+1%"),
]


def test_bad_choices(juno: Platform, snapshot: SnapshotAssertion) -> None:
    def choice(source: str, *errors: str) -> None:
        as_given(juno, given_model(source, errors))

    assert {words: refusal(choice, *words.split()) for words in BAD} == snapshot


def test_a_power_that_the_kernel_does_not_take(juno: Platform) -> None:
    little, big = juno.clusters
    hot = replace(big, opps=tuple(replace(opp, power_uw=opp.power_uw * 20) for opp in big.opps))
    with pytest.raises(RequestError, match=r"big at 1000000 kHz would have 65610000 uW: allowed"):
        as_given(replace(juno, clusters=(little, hot)), given_model("published", ["big=+800%"]))
