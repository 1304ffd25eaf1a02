# SPDX-License-Identifier: GPL-2.0-or-later
"""Uclamp sum aggregation: which switches its variants turn, and what its kernel is made of."""

from __future__ import annotations

from eascope.configs.platform import Platform
from eascope.kernels.kconfig import fragment_text, options
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import Declared, load_kernels, load_variants

FILES = "/sys/kernel/debug/sched/eascope"
FEATURES = "/sys/kernel/debug/sched/features"

RFC = "NO_FEEC_BUSY_UNCLAMPED"

#: uclamp_wait, uclamp_wait_deadband (None: not written), features written.
POINTS: dict[str, tuple[int, int | None, set[str]]] = {
    "uclamp-sum": (0, None, {RFC}),
    "sum-busy-unclamped": (0, None, {"FEEC_BUSY_UNCLAMPED"}),
    "sum-spare0": (0, None, {RFC, "FEEC_SPARE0"}),
    "uclamp-sum-tristate": (0, None, {RFC, "UCLAMP_FITS_TRISTATE"}),
    "uclamp-sum-no-headroom": (0, None, {RFC, "UCLAMP_NO_HEADROOM"}),
    "uclamp-sum-ou-unclamped": (0, None, {RFC, "UCLAMP_OU_UNCLAMPED"}),
    "uclamp-sum-fixed": (2, 128, {RFC}),
    "uclamp-sum-fixed-w64": (2, 64, {RFC}),
    "uclamp-sum-fixed-w0": (2, 0, {RFC}),
    "uclamp-sum-ou": (1, 128, {RFC}),
}


def test_points_are_told_apart_by_switches_alone() -> None:
    variants = load_variants()
    assert {name for name, variant in variants.items() if variant.kernel == "sum"} == set(POINTS)
    for name, (mode, deadband, features) in POINTS.items():
        wanted = {(f"{FILES}/uclamp_wait", str(mode))}
        if deadband is not None:
            wanted.add((f"{FILES}/uclamp_wait_deadband", str(deadband)))
        wanted |= {(FEATURES, feature) for feature in features}
        assert set(variants[name].switches) == wanted, name
        assert not variants[name].boot
        assert variants[name].declares == Declared(True, "schedutil")


def test_kernel_is_base_and_its_queue_without_buckets() -> None:
    kernel = load_kernels()["sum"]
    assert kernel.series == ("base", "sum")
    assert options(fragment_text(kernel))["UCLAMP_BUCKETS_COUNT"] == "n"
    assert options(fragment_text(load_kernels()["base"]))["UCLAMP_BUCKETS_COUNT"] == "5"


def test_kernel_and_switches_are_read_back(juno: Platform) -> None:
    lines = state_expectations(load_variants()["uclamp-sum-fixed-w64"], juno)
    assert ("contains", f"{FILES}/variant", "kernel=sum queue=") in lines
    assert ("expect", f"{FILES}/uclamp_wait", "2") in lines
    assert ("expect", f"{FILES}/uclamp_wait_deadband", "64") in lines
