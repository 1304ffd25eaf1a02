# SPDX-License-Identifier: GPL-2.0-or-later
"""Platform pixel6: the seed's OPP and capacity table, its arithmetic, and what it borrows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from eascope.configs.activity import check_capacity, load_activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.source import KINDS, kind
from eascope.engines.qemu.board import BOARD
from eascope.host.errors import RequestError
from eascope.rootfs.elide import TURN_INSTRUCTIONS
from tests.support.dts import decompile

#: kHz and capacity of every OPP, as the EAS rework's discussion lists them.
TABLE = {
    "little": """300000:26 574000:50 738000:65 930000:82 1098000:97 1197000:106 1328000:117
        1401000:124 1598000:141 1704000:151 1803000:160""",
    "mid": """400000:88 553000:122 696000:153 799000:176 910000:201 1024000:226 1197000:264
        1328000:293 1491000:329 1663000:367 1836000:405 1999000:441 2130000:470 2253000:498""",
    "big": """500000:182 851000:311 984000:359 1106000:404 1277000:466 1426000:521 1582000:578
        1745000:637 1826000:667 2048000:748 2188000:799 2252000:823 2401000:877 2507000:916
        2630000:961 2704000:988 2802000:1024""",
}

#: dynamic-power-coefficient of gs101.dtsi, uW/MHz/V^2.
COEFFICIENT = {"little": 70, "mid": 284, "big": 650}

#: Juno r0, from juno-sched-energy.dtsi: WFI over busy power at the lowest OPP, by cluster.
BORROWED = {"little": Fraction(6, 33), "mid": Fraction(15, 168), "big": Fraction(15, 168)}

#: cluster_power and cpu_active of Android's power_profile of a gs101 phone, mA at 3.85 V.
CLUSTER_MA = {"little": 0.24, "mid": 3.23, "big": 5.94}
CHIP_MA = 12.37


@pytest.fixture(scope="module")
def pixel6() -> Platform:
    return load_platform("pixel6")


def table(name: str) -> list[tuple[int, int]]:
    pairs = (entry.split(":") for entry in TABLE[name].split())
    return [(int(first), int(second)) for first, second in pairs]


def em_performance(platform: Platform, name: str) -> list[int]:
    """Capacity of each OPP as the kernel's energy model has it (em_init_performance)."""
    cluster = platform.cluster(name)
    capacity = platform.capacities[cluster.cpus[0]]
    return [capacity * opp.khz // cluster.max_khz for opp in cluster.opps]


def test_four_littles_two_mids_two_bigs(pixel6: Platform) -> None:
    assert [(cluster.name, cluster.core.name, cluster.cpus) for cluster in pixel6.clusters] == [
        ("little", "cortex-a55", (0, 1, 2, 3)),
        ("mid", "cortex-a76", (4, 5)),
        ("big", "cortex-x1", (6, 7)),
    ]
    assert pixel6.largest.name == "big"
    assert pixel6.capacities == (160, 160, 160, 160, 498, 498, 1024, 1024)


@pytest.mark.parametrize("name", TABLE)
def test_opps_and_capacities_are_the_sources(pixel6: Platform, name: str) -> None:
    opps = pixel6.cluster(name).opps
    performances = [
        (opp.khz, performance)
        for opp, performance in zip(opps, em_performance(pixel6, name), strict=True)
    ]
    assert performances == table(name)


@pytest.mark.parametrize("name", TABLE)
def test_busy_power_is_c_f_v_squared(pixel6: Platform, name: str) -> None:
    for opp in pixel6.cluster(name).opps:
        milliwatts = COEFFICIENT[name] * opp.khz / 1e3 * (opp.uv / 1e6) ** 2 / 1e3
        assert opp.power_uw == round(milliwatts, 1) * 1000
        assert f"C = {COEFFICIENT[name]} uW/MHz/V^2" in opp.power_source


@pytest.mark.parametrize("name", TABLE)
def test_no_opp_is_inefficient(pixel6: Platform, name: str) -> None:
    """The kernel skips an OPP whose cost (power over performance) is not below a faster one's."""
    costs = [
        10 * opp.power_uw // performance
        for opp, performance in zip(
            pixel6.cluster(name).opps, em_performance(pixel6, name), strict=True
        )
    ]
    assert costs == sorted(set(costs))


@pytest.mark.parametrize("name", TABLE)
def test_borrowed_ratios(pixel6: Platform, name: str) -> None:
    cluster = pixel6.cluster(name)
    wfi = float(cluster.opps[0].power_uw * BORROWED[name])
    assert cluster.idle_states[0].power_uw == pytest.approx(wfi, abs=60)


@pytest.mark.parametrize("name", TABLE)
def test_a_cluster_that_is_on_adds_the_profiles_current(pixel6: Platform, name: str) -> None:
    cluster = pixel6.cluster(name)
    assert len(set(cluster.shared_on_uw)) == 1
    assert cluster.shared_on_uw[0] == pytest.approx(CLUSTER_MA[name] * 3850, abs=0.51)
    assert cluster.shared_off_uw == 0


def test_one_shared_part_serves_the_chip(pixel6: Platform) -> None:
    assert pixel6.shared is not None
    assert pixel6.shared.on_uw == pytest.approx(CHIP_MA * 3850, abs=0.51)
    assert pixel6.shared.off_uw == 0
    assert pixel6.energy_parts == ("little", "mid", "big", "chip")
    assert load_platform("juno-r2").energy_parts == ("little", "big")


def test_idle_states_are_those_of_gs101(pixel6: Platform) -> None:
    states = {
        cluster.name: [
            (state.name, state.entry_us, state.exit_us, state.residency_us)
            for state in cluster.idle_states
        ]
        for cluster in pixel6.clusters
    }
    assert states == {
        "little": [("wfi", 1, 1, 1), ("c2", 70, 160, 2000)],
        "mid": [("wfi", 1, 1, 1), ("c2", 150, 190, 2500)],
        "big": [("wfi", 1, 1, 1), ("c2", 235, 220, 3500)],
    }
    assert {cluster.idle_states[1].power_uw for cluster in pixel6.clusters} == {0}


def test_borrowed_lists_idle_power_and_nothing_else(pixel6: Platform) -> None:
    lines = [line for line in pixel6.borrowed if "borrowed from Juno r0" in line]
    assert [" ".join(line.split()[:3]) for line in lines] == [
        f"{cluster}: {part}" for cluster in TABLE for part in ("wfi power", "c2 power")
    ]
    for figure in pixel6.figures:
        assert kind(figure.source) in KINDS, figure


def test_assumed_activity_follows_the_capacities(pixel6: Platform) -> None:
    activity = load_activity(pixel6)
    check_capacity(pixel6, activity)
    assert [activity.ipc(cluster) for cluster in pixel6.clusters] == [1.0, 2.48, 4.096]
    assert [line.split(":")[0] for line in activity.assumed] == ["little", "mid", "big"]
    assert activity.turn_instructions == TURN_INSTRUCTIONS


def test_cpu_names_of_three_clusters(pixel6: Platform) -> None:
    assert pixel6.resolve("mid:1,big") == (5, 6, 7)
    with pytest.raises(RequestError, match="did you mean mid"):
        pixel6.resolve("midd:0")


def test_device_tree_has_three_clusters(pixel6: Platform) -> None:
    tree = decompile(device_tree(pixel6, BOARD))
    assert list(tree.at("cpus/cpu-map").children) == ["cluster0", "cluster1", "cluster2"]
    capacities = [tree.at(f"cpus/cpu@{cpu}").cells("capacity-dmips-mhz")[0] for cpu in pixel6.cpus]
    assert capacities == [250] * 4 + [620] * 2 + [1024] * 2
    for cluster in pixel6.clusters:
        opps = tree.at(f"opp-table-{cluster.name}")
        assert len(opps.children) == len(table(cluster.name))
        for opp in cluster.opps:
            node = opps.at(f"opp-{opp.khz}000")
            assert node.cells("opp-microvolt") == [opp.uv]
            assert node.cells("opp-microwatt") == [opp.power_uw]
    # the third cell's CPU mask: the timer's interrupt goes to all eight
    assert tree.at("timer").cells("interrupts")[2] == 0xFF04
