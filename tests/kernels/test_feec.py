# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants of the EAS rework: which switch each of them turns, and that a guest proves it."""

from __future__ import annotations

from configs.platform import Platform
from kernels.variants import load_kernels, load_variants, state_expectations

FILES = "/sys/kernel/debug/sched/eascope"

#: feec_mode, eas_push, eas_group_filter, feec_pd_opp (which is 0 where a variant does not say).
POINTS = {
    "feec-a": (0, 0, 0, 0),
    "feec-a1": (0, 0, 1, 0),
    "feec-b": (1, 0, 1, 0),
    "feec-c": (1, 2, 1, 0),
    "feec-d": (1, 1, 1, 0),
    "feec-b-plus": (2, 0, 1, 1),
    "feec-d-plus": (2, 1, 1, 1),
    "push-only": (0, 1, 1, 0),
}


def test_points_are_told_apart_by_switches_alone() -> None:
    variants = load_variants()
    assert {name for name, one in variants.items() if one.kernel == "feec"} == set(POINTS)
    for name, (mode, push, group_filter, pd_opp) in POINTS.items():
        switches = dict(variants[name].switches)
        assert switches.pop(f"{FILES}/feec_mode") == str(mode), name
        assert switches.pop(f"{FILES}/eas_push") == str(push), name
        assert switches.pop(f"{FILES}/eas_group_filter") == str(group_filter), name
        assert switches.pop(f"{FILES}/feec_pd_opp", "0") == str(pd_opp), name
        assert not switches
        assert not variants[name].boot
        assert dict(variants[name].declares) == {"eas": True, "governor": "schedutil"}


def test_kernel_is_base_and_its_queue() -> None:
    assert load_kernels()["feec"].series == ("base", "feec")


def test_switches_are_read_back(juno: Platform) -> None:
    lines = state_expectations(load_variants()["feec-d-plus"], juno)
    assert ("contains", f"{FILES}/variant", "kernel=feec queue=") in lines
    for name, value in (("feec_mode", 2), ("feec_pd_opp", 1), ("eas_push", 1)):
        assert ("expect", f"{FILES}/{name}", str(value)) in lines


def test_counters_are_reset_by_a_switch_and_not_read_back(juno: Platform) -> None:
    cas = load_variants()["cas"]
    assert f"{FILES}/stats" in dict(cas.switches)
    assert not any(
        line[:2] == ("expect", f"{FILES}/stats") for line in state_expectations(cas, juno)
    )
