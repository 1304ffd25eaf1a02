# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants of the push mechanism: which switch each of them turns, and on which release."""

from __future__ import annotations

from eascope.configs.platform import Platform
from eascope.kernels.guest_files import FEATURES
from eascope.kernels.naming import kernel_named, releases_of, variant_named
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import Declared, load_variants

#: FAIR_PUSH_STUCK, FAIR_PUSH_IDLE.
POINTS = {
    "push-v8-off": (False, False),
    "push-v8": (True, True),
    "push-v8-stuck": (True, False),
}


def words(name: str) -> list[str]:
    """The features of ``name`` as it writes them."""
    features = ("FAIR_PUSH_STUCK", "FAIR_PUSH_IDLE")
    pairs = zip(features, POINTS[name], strict=True)
    return [feature if on else f"NO_{feature}" for feature, on in pairs]


def test_points_are_distinguished_by_switches_alone() -> None:
    variants = load_variants()
    assert {name for name, variant in variants.items() if variant.kernel == "push"} == set(POINTS)
    for name in POINTS:
        assert variants[name].switches == tuple((FEATURES, word) for word in words(name))
        assert not variants[name].boot
        assert variants[name].declares == Declared(True, "schedutil")


def test_push_is_a_queue_of_release_7_3_alone() -> None:
    for name in POINTS:
        assert releases_of(load_variants()[name]) == ["7.3"]
    assert kernel_named("push@7.3").series == ("base", "push")


def test_switches_are_read_back(juno: Platform) -> None:
    for name in POINTS:
        _, variant = variant_named(f"{name}@7.3")
        lines = state_expectations(variant, juno)
        assert [line[2] for line in lines if line[:2] == ("word", FEATURES)] == words(name)


def test_what_stands_for_a_posting_names_it_and_what_is_not_known() -> None:
    variant = load_variants()["push-v8"]
    assert "[PATCH 0/6 v8]" in variant.source
    assert sum("could not be found" in deviation for deviation in variant.deviations) >= 5
