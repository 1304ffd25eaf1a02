# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants of the EAS rework: which switch each of them turns, and that a guest proves it."""

from __future__ import annotations

from eascope.configs.platform import Platform
from eascope.kernels.state import state_expectations
from eascope.kernels.variants import Declared, load_kernels, load_variants

FILES = "/sys/kernel/debug/sched/eascope"

#: feec_mode, eas_push, eas_group_filter, feec_pd_opp.
POINTS = {
    "feec-a": (0, 0, 0, 0),
    "feec-a-ou4": (0, 0, 0, 0),
    "feec-a1": (0, 0, 1, 0),
    "feec-b": (1, 0, 1, 0),
    "feec-b-v5": (1, 0, 1, 0),
    "feec-c": (1, 2, 1, 0),
    "feec-d": (1, 1, 1, 0),
    "feec-d-ou2": (1, 1, 1, 0),
    "feec-d-ou4": (1, 1, 1, 0),
    "feec-d-ou8": (1, 1, 1, 0),
    "feec-d-ou16": (1, 1, 1, 0),
    "feec-b-headroom": (2, 0, 1, 0),
    "feec-b-pd-opp": (1, 0, 1, 1),
    "feec-b-plus": (2, 0, 1, 1),
    "feec-b-plus-guard50": (2, 0, 1, 1),
    "feec-b-plus-guard200": (2, 0, 1, 1),
    "feec-b-plus-guard400": (2, 0, 1, 1),
    "feec-b-plus-guard-max": (2, 0, 1, 1),
    "feec-c-plus": (2, 2, 1, 1),
    "feec-d-plus": (2, 1, 1, 1),
    "push-only": (0, 1, 1, 0),
    "push-only-misfit": (0, 2, 1, 0),
}
#: feec_guard_min and feec_guard_pct of mode 2.
GUARDS = {
    "guard50": (4, 50),
    "guard200": (16, 200),
    "guard400": (32, 400),
    "guard-max": (1024, 100),
}
#: eas_push_min_interval_us and eas_push_batch: the source's (always, all that wait), and ours.
SOURCE, OURS = (0, 0), (3000, 1)


def expected(name: str) -> dict[str, int]:
    """The files that ``name`` writes, and what into them."""
    mode, push, group_filter, pd_opp = POINTS[name]
    files = {"feec_mode": mode, "feec_pd_opp": pd_opp}
    files |= {"eas_push": push, "eas_group_filter": group_filter}
    if name.endswith("-v5"):
        files["feec_v5"] = 1
    if mode == 2:
        guard = GUARDS.get(name.removeprefix("feec-b-plus-"), (8, 100))
        files |= dict(zip(("feec_guard_min", "feec_guard_pct"), guard, strict=True))
    if push:
        paces = OURS if name.endswith("-plus") else SOURCE
        files |= dict(zip(("eas_push_min_interval_us", "eas_push_batch"), paces, strict=True))
    if "-ou" in name:
        files["ou_delay_us"] = 1000 * int(name.rpartition("-ou")[2])
    return files


def test_points_are_distinguished_by_switches_alone() -> None:
    variants = load_variants()
    assert {name for name, variant in variants.items() if variant.kernel == "feec"} == set(POINTS)
    for name in POINTS:
        switches = {path: value for path, value in variants[name].switches}
        assert switches == {f"{FILES}/{file}": str(value) for file, value in expected(name).items()}
        assert not variants[name].boot
        assert variants[name].declares == Declared(True, "schedutil")
    points = [tuple(sorted(expected(name).items())) for name in POINTS]
    assert len(set(points)) == len(points), "two names for one point"


def test_the_headroom_and_the_domains_opp_are_two_parts() -> None:
    """B+ differs from B in two things, and there is a point with each of them alone."""
    parts = [dict(load_variants()[name].switches) for name in ("feec-b-headroom", "feec-b-pd-opp")]
    whole = dict(load_variants()["feec-b-plus"].switches)
    plain = dict(load_variants()["feec-b"].switches)
    for part in parts:
        changed = {path for path in plain if part[path] != plain[path]}
        assert len(changed) == 1
        assert all(part[path] == whole[path] for path in changed)


def test_what_stands_for_a_posting_names_it() -> None:
    for name in ("feec-a", "feec-b", "feec-c", "feec-d"):
        variant = load_variants()[name]
        assert "[PATCH 0/7 v5]" in variant.source
        assert "lore.kernel.org" in variant.source
        assert variant.deviations, name


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
