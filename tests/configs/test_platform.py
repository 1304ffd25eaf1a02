# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms: what juno-r2 says, its arithmetic, and CPU names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import CAPACITY_SCALE, Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.configs.source import KINDS, kind
from eascope.host.errors import RequestError

COEFFICIENT = {"little": 140, "big": 450}


def test_juno_r2_is_four_littles_and_two_bigs(juno: Platform) -> None:
    little, big = juno.clusters
    assert (little.name, little.core.name, little.cpus) == ("little", "cortex-a53", (0, 1, 2, 3))
    assert (big.name, big.core.name, big.cpus) == ("big", "cortex-a72", (4, 5))
    assert juno.cpus == (0, 1, 2, 3, 4, 5)
    assert juno.largest is big
    assert [juno.cluster_of(cpu).name for cpu in juno.cpus] == ["little"] * 4 + ["big"] * 2
    assert (little.capacity_dmips_mhz, big.capacity_dmips_mhz) == (485, 1024)
    with pytest.raises(KeyError, match="no CPU 6"):
        juno.cluster_of(6)


def test_kernel_capacities_are_383_and_1024(juno: Platform) -> None:
    assert juno.capacities == (383, 383, 383, 383, 1024, 1024)
    # The kernel's own steps, in its units: raw x kHz, scaled by the largest, truncated.
    raw = [485 * 950_000] * 4 + [1024 * 1_200_000] * 2
    assert juno.capacities == tuple((value << 10) // max(raw) for value in raw)


def test_a_faster_little_can_be_the_largest(edited: Callable[..., Path]) -> None:
    platform = load_platform(edited(("capacity_dmips_mhz = 485", "capacity_dmips_mhz = 2048")))
    assert platform.largest.name == "little"
    assert platform.capacities[:4] == (CAPACITY_SCALE,) * 4
    assert platform.capacities[4] == 1024 * 1_200_000 * 1024 // (2048 * 950_000) == 646


@pytest.mark.parametrize("name", ["little", "big"])
def test_busy_power_is_c_f_v_squared(juno: Platform, name: str) -> None:
    for opp in juno.cluster(name).opps:
        milliwatts = COEFFICIENT[name] * opp.khz / 1e3 * (opp.uv / 1e6) ** 2 / 1e3
        assert opp.power_uw == round(milliwatts, 1) * 1000
        assert f"C = {COEFFICIENT[name]} uW/MHz/V^2" in opp.power_source


def test_idle_states(juno: Platform) -> None:
    for cluster, wfi_uw in zip(juno.clusters, (5_900, 20_600), strict=True):
        wfi, sleep, together = cluster.idle_states
        assert (wfi.name, wfi.power_uw, wfi.power_state) == ("wfi", wfi_uw, "clk_gated")
        assert sleep.name == "cpu-sleep-0"
        assert (sleep.entry_us, sleep.exit_us, sleep.residency_us) == (300, 1200, 2000)
        assert (sleep.power_uw, sleep.power_state) == (0, "off")
        assert together.name == "cluster-sleep-0"
        assert cluster.cluster_sleep == 2
        assert (together.entry_us, together.exit_us, together.residency_us) == (400, 1200, 2500)
        assert (together.power_uw, together.power_state) == (0, "off")
    assert [cluster.shared_off_uw for cluster in juno.clusters] == [15_800, 30_200]


def test_every_figure_has_a_source_of_a_known_kind(juno: Platform) -> None:
    assert len(juno.figures) > 25
    for figure in juno.figures:
        assert kind(figure.source) in KINDS, figure


def test_nothing_of_juno_is_another_boards(juno: Platform) -> None:
    """Its cluster rails were measured (shared parts, busy CPUs, WFI)."""
    assert not juno.borrowed
    assert [cluster.shared_on_uw for cluster in juno.clusters] == [
        (30_500, 49_400, 73_500),
        (36_000, 54_700, 77_600),
    ]


def test_rate_limit_is_not_below_the_latency(juno: Platform) -> None:
    assert juno.rate_limit_us >= juno.transition_latency_us > 0


@pytest.mark.parametrize(
    ("name", "latency_us", "rate_limit_us"), [("juno-r2", 2920, 4000), ("pixel6", 500, 7500)]
)
def test_boards_let_a_thread_change_frequencies(
    name: str, latency_us: int, rate_limit_us: int
) -> None:
    platform = load_platform(name)
    board = platform.board_dvfs
    assert board is not None
    assert (board.transition_latency_us, board.rate_limit_us) == (latency_us, rate_limit_us)
    assert not board.fast_switch
    assert set(board.sources) == {"transition_latency_us", "rate_limit_us", "fast_switch"}
    # By default they all do it alike, and fast.
    assert platform.fast_switch
    assert (platform.transition_latency_us, platform.rate_limit_us) == (50, 500)


def test_caches(juno: Platform) -> None:
    sizes = [[cache.size_kib for cache in cluster.caches] for cluster in juno.clusters]
    assert sizes == [[32, 32, 1024], [48, 32, 2048]]
    assert [cache.sets for cache in juno.clusters[1].caches] == [256, 256, 2048]


@pytest.mark.parametrize(
    ("name", "cpus"),
    [
        ("any", (0, 1, 2, 3, 4, 5)),
        ("little", (0, 1, 2, 3)),
        ("little:*", (0, 1, 2, 3)),
        ("little:0", (0,)),
        ("little:0-1", (0, 1)),
        ("little:3-3", (3,)),
        ("big", (4, 5)),
        ("big:1", (5,)),
        ("big:*,little:2", (2, 4, 5)),
        ("little:1, big:0", (1, 4)),
    ],
)
def test_cpu_names(juno: Platform, name: str, cpus: tuple[int, ...]) -> None:
    assert juno.resolve(name) == cpus


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("litle:0", "did you mean little?"),
        ("prime", "any, little, little:*, little:0-3, big, big:*, big:0-1"),
        ("little:4", "little:0 to little:3"),
        ("little:2-4", "little:0 to little:3"),
        ("little:1-0", "little:0 to little:3"),
        ("little:-1", "little:0-3"),
        ("big:one", "big:0-1"),
        ("any:0", "any, little"),
        ("", "any, little"),
        ("0", "any, little"),
        ("big,", "any, little"),
        ("little:0,little:0-1", "every CPU named once"),
        ("any,big", "every CPU named once"),
        (4, "any, little"),
    ],
)
def test_wrong_cpu_names_are_one_line(juno: Platform, name: str, allowed: str) -> None:
    with pytest.raises(CpuNameError) as caught:
        juno.resolve(name)
    message = str(caught.value)
    assert "\n" not in message
    assert repr(name) in message
    assert allowed in caught.value.allowed
    assert allowed in message
    assert caught.value.exit_code == 2


def test_list_has_juno_r2_with_its_summary(juno: Platform) -> None:
    assert ("juno-r2", juno.summary) in list_platforms()


def test_unknown_platform_offers_the_nearest() -> None:
    with pytest.raises(
        RequestError, match=r"unknown platform 'juno-r1' \(did you mean juno-r2\?\)"
    ):
        load_platform("juno-r1")


def test_unknown_cluster_offers_the_nearest(juno: Platform) -> None:
    with pytest.raises(RequestError, match=r"did you mean big\?"):
        juno.cluster("bigs")


def test_opp_by_frequency(juno: Platform) -> None:
    assert juno.cluster("big").opp(1_000_000).power_uw == 364_500
    with pytest.raises(KeyError, match="no OPP of 999999 kHz"):
        juno.cluster("big").opp(999_999)


def test_digest_changes_with_figures_not_with_comments(
    juno: Platform, edited: Callable[..., Path]
) -> None:
    assert load_platform(edited(("# Arm Juno r2", "# The board"))).digest == juno.digest
    assert load_platform(edited(("power_uw = 42_400", "power_uw = 42_401"))).digest != juno.digest


def test_a_platform_from_a_file_of_the_user(one_cluster: Path) -> None:
    platform = load_platform(str(one_cluster))
    assert platform.capacities == (1024,)
    assert platform.temperature_c == 40.5
    assert platform.resolve("only:0") == (0,)
    assert platform.borrowed == ()
