"""Uclamp sum aggregation: which switches its variants turn, and what its kernel is made of."""

from __future__ import annotations

from configs.platform import Platform
from kernels.build import fragment_text, options
from kernels.variants import load_kernels, load_variants, state_expectations

FEATURES = "/sys/kernel/debug/sched/features"

#: Of each variant of the kernel: features written, in order.
POINTS = {
    "uclamp-sum": (),
    "sum-spare0": ("FEEC_SPARE0",),
}


def test_points_are_told_apart_by_switches_alone() -> None:
    variants = load_variants()
    assert {name for name, one in variants.items() if one.kernel == "sum"} == set(POINTS)
    for name, features in POINTS.items():
        assert variants[name].switches == tuple((FEATURES, feature) for feature in features)
        assert not variants[name].boot
        assert dict(variants[name].declares) == {"eas": True, "governor": "schedutil"}


def test_kernel_is_base_and_its_queue_without_buckets() -> None:
    kernel = load_kernels()["sum"]
    assert kernel.series == ("base", "sum")
    assert options(fragment_text(kernel))["UCLAMP_BUCKETS_COUNT"] == "n"
    assert options(fragment_text(load_kernels()["base"]))["UCLAMP_BUCKETS_COUNT"] == "5"


def test_the_kernel_is_proven_in_the_guest(juno: Platform) -> None:
    lines = state_expectations(load_variants()["uclamp-sum"], juno)
    path = "/sys/kernel/debug/sched/eascope/variant"
    assert ("contains", path, "kernel=sum queue=") in lines
