# SPDX-License-Identifier: GPL-2.0-or-later
"""The device tree, decompiled by dtc and checked node by node against the platform."""

import subprocess
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.devicetree import FLAVOURS, device_tree, device_tree_source, opps_of
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.layout import LAYOUT as GEM5_LAYOUT
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.registry import ENGINES, get_engine
from eascope.host.errors import EascopeError, RequestError
from tests.support.dts import Node, decompile


@pytest.fixture(scope="module")
def tree(juno: Platform) -> Node:
    return decompile(device_tree(juno, LAYOUT))


def test_root_has_these_nodes_and_no_others(tree: Node) -> None:
    assert set(tree.children) == {
        "aliases",
        "chosen",
        "memory@40000000",
        "cpus",
        "opp-table-little",
        "opp-table-big",
        "energy-ctrl@b000000",
        "interrupt-controller@8000000",
        "timer",
        "uart-clock",
        "serial@9000000",
        "psci",
        "eascope",
    }
    gic = tree.at("interrupt-controller@8000000")
    assert tree.cells("interrupt-parent") == [gic.phandle]
    assert tree.cells("#address-cells") == tree.cells("#size-cells") == [2]
    assert tree.strings("model") == ["eascope juno-r2"]


def test_chosen_has_console_and_64_fixed_bytes_of_seed(tree: Node) -> None:
    chosen = tree.at("chosen")
    assert chosen.strings("stdout-path") == ["serial0:115200n8"]
    assert tree.at("aliases").strings("serial0") == ["/serial@9000000"]
    text = chosen.properties["rng-seed"]
    if text.startswith("["):
        seed = bytes.fromhex(text.strip("[]").replace(" ", ""))
    else:
        seed = b"".join(cell.to_bytes(4, "big") for cell in chosen.cells("rng-seed"))
    assert len(seed) == 64
    assert seed.hex().startswith("d44667b6a7b31e30")
    assert set(chosen.properties) == {"stdout-path", "rng-seed"}


def test_memory(tree: Node) -> None:
    memory = tree.at("memory@40000000")
    assert memory.strings("device_type") == ["memory"]
    assert memory.cells("reg") == [0, 0x4000_0000, 0, 0x4000_0000]


def test_cpu_map_has_one_cluster_per_cluster(tree: Node) -> None:
    cpu_map = tree.at("cpus/cpu-map")
    clusters = {
        name: [core.cells("cpu")[0] for core in cluster.children.values()]
        for name, cluster in cpu_map.children.items()
    }
    handles = [tree.at(f"cpus/cpu@{cpu}").phandle for cpu in range(6)]
    assert clusters == {"cluster0": handles[:4], "cluster1": handles[4:]}
    for cluster in cpu_map.children.values():
        assert list(cluster.children) == [f"core{n}" for n in range(len(cluster.children))]


@pytest.mark.parametrize("cpu", range(6))
def test_cpu(tree: Node, cpu: int) -> None:
    node = tree.at(f"cpus/cpu@{cpu}")
    little = cpu < 4
    name = "little" if little else "big"
    assert node.strings("device_type") == ["cpu"]
    assert node.strings("compatible") == ["arm,cortex-a53" if little else "arm,cortex-a72"]
    assert node.cells("reg") == [cpu]
    assert node.strings("enable-method") == ["psci"]
    assert node.cells("capacity-dmips-mhz") == [485 if little else 1024]
    assert node.cells("operating-points-v2") == [tree.at(f"opp-table-{name}").phandle]
    ectrl = tree.at("energy-ctrl@b000000").phandle
    assert node.cells("performance-domains") == [ectrl, 0 if little else 1]
    assert node.cells("next-level-cache") == [tree.at(f"cpus/l2-cache-{name}").phandle]
    sleep = tree.at(f"cpus/idle-states/{name}-cpu-sleep-0")
    together = tree.at(f"cpus/idle-states/{name}-cluster-sleep-0")
    assert node.cells("cpu-idle-states") == [sleep.phandle, together.phandle]
    caches = [
        node.cells(f"{side}-cache-{figure}")[0]
        for side in "id"
        for figure in ("size", "line-size", "sets")
    ]
    if little:
        assert caches == [0x8000, 64, 256, 0x8000, 64, 128]
    else:
        assert caches == [0xC000, 64, 256, 0x8000, 64, 256]


@pytest.mark.parametrize(
    ("name", "size", "sets"), [("little", 1 << 20, 1024), ("big", 2 << 20, 2048)]
)
def test_l2(tree: Node, name: str, size: int, sets: int) -> None:
    node = tree.at(f"cpus/l2-cache-{name}")
    assert node.strings("compatible") == ["cache"]
    assert node.properties["cache-unified"] == ""
    assert node.cells("cache-level") == [2]
    assert node.cells("cache-size") == [size]
    assert node.cells("cache-line-size") == [64]
    assert node.cells("cache-sets") == [sets]


@pytest.mark.parametrize("name", ["little", "big"])
def test_idle_states(tree: Node, name: str) -> None:
    assert set(tree.at("cpus/idle-states").children) == {
        f"{cluster}-{state}-sleep-0"
        for cluster in ("little", "big")
        for state in ("cpu", "cluster")
    }
    takes = {"little": ((22, 14), (114, 20)), "big": ((18, 15), (195, 22))}[name]
    for state, entry, residency in (("cpu-sleep-0", 300, 2000), ("cluster-sleep-0", 400, 2500)):
        node = tree.at(f"cpus/idle-states/{name}-{state}")
        assert node.strings("compatible") == ["gem5,idle-state"]
        assert node.strings("idle-state-name") == [state]
        assert node.cells("entry-latency-us") == [entry]
        assert node.cells("exit-latency-us") == [1200]
        assert node.cells("min-residency-us") == [residency]
        if state == "cpu-sleep-0":  # who is the last of the cluster makes no difference
            assert (*node.cells("gem5,entry-us"), *node.cells("gem5,exit-us")) == takes[0]
            assert "gem5,last-entry-us" not in node.properties
        else:
            last, first = node.cells("gem5,last-entry-us"), node.cells("gem5,first-exit-us")
            assert (*last, *first) == takes[1]


@pytest.mark.parametrize(
    ("name", "opps"),
    [
        (
            "little",
            [
                (450_000_000, 820_000, 42_400),
                (800_000_000, 900_000, 90_700),
                (950_000_000, 1_000_000, 133_000),
            ],
        ),
        (
            "big",
            [
                (600_000_000, 820_000, 181_500),
                (1_000_000_000, 900_000, 364_500),
                (1_200_000_000, 1_000_000, 540_000),
            ],
        ),
    ],
)
def test_opp_table(tree: Node, name: str, opps: list[tuple[int, int, int]]) -> None:
    table = tree.at(f"opp-table-{name}")
    assert table.strings("compatible") == ["operating-points-v2"]
    assert table.properties["opp-shared"] == ""
    assert list(table.children) == [f"opp-{hertz}" for hertz, _, _ in opps]
    for hertz, microvolt, microwatt in opps:
        node = table.at(f"opp-{hertz}")
        high, low = node.cells("opp-hz")
        assert (high << 32 | low) == hertz
        assert node.cells("opp-microvolt") == [microvolt]
        assert node.cells("opp-microwatt") == [microwatt]


def test_energy_ctrl(tree: Node) -> None:
    node = tree.at("energy-ctrl@b000000")
    assert node.strings("compatible") == ["arm,gem5-energy-ctrl"]
    assert node.cells("reg") == [0, 0x0B00_0000, 0, 0x1000]
    assert node.cells("#performance-domain-cells") == [1]
    assert node.cells("gem5,rate-limit-us") == [500]


@pytest.mark.parametrize("layout", [LAYOUT, GEM5_LAYOUT])
def test_a_machine_without_fast_switch_says_that_requests_are_waited_for(
    juno: Platform, layout: Layout
) -> None:
    name = f"energy-ctrl@{layout.energy_ctrl:x}"
    fast, waits = (
        decompile(device_tree(replace(juno, fast_switch=fast_switch), layout))
        for fast_switch in (True, False)
    )
    assert waits.at(name).properties.pop("gem5,wait-for-transition") == ""
    assert waits == fast


def test_only_a_package_with_a_budget_says_that_it_may_grant_less(wide: Platform) -> None:
    name = f"energy-ctrl@{LAYOUT.energy_ctrl:x}"
    with_budget, without = (
        decompile(device_tree(replace(wide, package_budget=budget), LAYOUT))
        for budget in (wide.package_budget, None)
    )
    assert with_budget.at(name).properties.pop("gem5,may-grant-less") == ""
    assert with_budget == without


def test_floors_are_rows_of_domains_and_khz(pixel6: Platform) -> None:
    name = f"energy-ctrl@{LAYOUT.energy_ctrl:x}"
    with_floors, without = (
        decompile(device_tree(replace(pixel6, floors=floors), LAYOUT))
        for floors in (pixel6.floors, ())
    )
    cells = with_floors.at(name).cells("gem5,clock-floors")
    assert cells[:4] == [1, 553_000, 0, 574_000]
    assert cells[-4:] == [2, 2_630_000, 0, 1_401_000]
    del with_floors.at(name).properties["gem5,clock-floors"]
    assert with_floors == without


def test_interrupts_timer_and_console(tree: Node) -> None:
    gic = tree.at("interrupt-controller@8000000")
    assert gic.strings("compatible") == ["arm,cortex-a15-gic"]
    assert gic.cells("#interrupt-cells") == [3]
    assert "interrupt-controller" in gic.properties
    assert gic.cells("reg") == [0, 0x0800_0000, 0, 0x10000, 0, 0x0801_0000, 0, 0x10000]
    timer = tree.at("timer")
    assert timer.strings("compatible") == ["arm,armv8-timer"]
    assert "always-on" in timer.properties
    six_cpus = 0x3F04
    assert timer.cells("interrupts") == [
        cell for ppi in (13, 14, 11, 10) for cell in (1, ppi, six_cpus)
    ]
    uart = tree.at("serial@9000000")
    assert uart.strings("compatible") == ["arm,pl011", "arm,primecell"]
    assert uart.cells("reg") == [0, 0x0900_0000, 0, 0x1000]
    assert uart.cells("interrupts") == [0, 1, 4]
    clock = tree.at("uart-clock")
    assert uart.cells("clocks") == [clock.phandle] * 2
    assert uart.strings("clock-names") == ["uartclk", "apb_pclk"]
    assert clock.strings("compatible") == ["fixed-clock"]
    assert clock.cells("clock-frequency") == [24_000_000]


def test_more_than_eight_cpus_have_a_gicv3(wide: Platform) -> None:
    """QEMU counts 16 CPUs by Aff0, as many as one software-generated interrupt can have."""
    tree = decompile(device_tree(wide, LAYOUT))
    gic = tree.at("interrupt-controller@8000000")
    assert gic.strings("compatible") == ["arm,gic-v3"]
    assert gic.cells("#interrupt-cells") == [3]
    assert gic.cells("reg") == [0, 0x0800_0000, 0, 0x10000, 0, 0x080A_0000, 0, 0xF6_0000]
    assert tree.at("timer").cells("interrupts") == [
        cell for ppi in (13, 14, 11, 10) for cell in (1, ppi, 4)
    ]
    cpus = tree.at("cpus")
    numbers = [*range(16), *range(0x100, 0x108)]
    assert [name for name in cpus.children if name.startswith("cpu@")] == [
        f"cpu@{mpidr:x}" for mpidr in numbers
    ]
    assert [cpus.at(f"cpu@{mpidr:x}").cells("reg") for mpidr in numbers] == [
        [mpidr] for mpidr in numbers
    ]


def test_gem5s_gicv3_is_that_of_vexpress_gem5_v2(wide: Platform) -> None:
    """Its MPIDRs are a socket and the CPU's number: Aff0 goes beyond 15."""
    tree = decompile(device_tree(wide, GEM5_LAYOUT))
    gic = tree.at("interrupt-controller@2c000000")
    assert gic.strings("compatible") == ["arm,gic-v3"]
    assert gic.cells("reg") == [0, 0x2C00_0000, 0, 0x10000, 0, 0x2C01_0000, 0, 0x100_0000]
    cpus = tree.at("cpus")
    assert [cpus.at(f"cpu@{cpu:x}").cells("reg") for cpu in wide.cpus] == [[n] for n in range(24)]


def test_psci_and_transport(tree: Node) -> None:
    assert tree.at("psci").strings("compatible") == ["arm,psci-0.2"]
    assert tree.at("psci").strings("method") == ["hvc"]
    assert tree.at("eascope").strings("compatible") == ["eascope,transport-hint"]


@pytest.fixture(scope="module")
def gem5_tree(juno: Platform) -> Node:
    return decompile(device_tree(juno, GEM5_LAYOUT))


def test_gem5_starts_its_cpus_from_a_spin_table(gem5_tree: Node, juno: Platform) -> None:
    assert "psci" not in gem5_tree.children
    wanted = {f"cpu@{n:x}": n for n in (0, 1, 2, 3, 0x104, 0x105)}
    cpus = gem5_tree.at("cpus")
    assert {name for name in cpus.children if name.startswith("cpu@")} == set(wanted)
    for name, mpidr in wanted.items():
        assert cpus.at(name).cells("reg") == [mpidr]
        assert cpus.at(name).strings("enable-method") == ["spin-table"]
        assert cpus.at(name).cells("cpu-release-addr") == [0, 0x87FF_FFF8]
    assert "/memreserve/ 0x87fff000 0x1000;" in device_tree_source(juno, GEM5_LAYOUT)


def test_gem5_has_the_addresses_of_vexpress_gem5_v1(gem5_tree: Node) -> None:
    assert gem5_tree.at("memory@80000000").cells("reg") == [0, 0x8000_0000, 0, 0x4000_0000]
    gic = gem5_tree.at("interrupt-controller@2c001000")
    assert gic.cells("reg") == [0, 0x2C00_1000, 0, 0x1000, 0, 0x2C00_2000, 0, 0x1000]
    uart = gem5_tree.at("serial@1c090000")
    assert uart.cells("reg") == [0, 0x1C09_0000, 0, 0x1000]
    assert uart.cells("interrupts") == [0, 5, 4]
    ectrl = gem5_tree.at("energy-ctrl@10000000")
    assert ectrl.cells("reg") == [0, 0x1000_0000, 0, 0x1000]
    assert gem5_tree.at("eascope").strings("compatible") == ["eascope,transport-m5ops"]


def test_only_gem5_is_asked_to_quiesce(gem5_tree: Node, tree: Node) -> None:
    assert gem5_tree.at("energy-ctrl@10000000").properties["gem5,quiesce"] == ""
    assert "gem5,quiesce" not in tree.at("energy-ctrl@b000000").properties


def test_gem5_and_the_fast_engine_have_the_same_cpus_and_opps(gem5_tree: Node, tree: Node) -> None:
    def facts(root: Node, cpu: str) -> dict[str, str]:
        engine = {"reg", "enable-method", "cpu-release-addr", "phandle"}
        handles = {"operating-points-v2", "performance-domains", "next-level-cache"}
        handles |= {"cpu-idle-states"}
        node = root.at(f"cpus/{cpu}")
        return {k: v for k, v in node.properties.items() if k not in engine | handles}

    for ours, theirs in (("cpu@0", "cpu@0"), ("cpu@104", "cpu@4")):
        assert facts(gem5_tree, ours) == facts(tree, theirs)
    for name in ("little", "big"):
        tables = [root.at(f"opp-table-{name}") for root in (gem5_tree, tree)]
        assert list(tables[0].children) == list(tables[1].children)


def test_nocap_is_std_without_capacities(juno: Platform, tree: Node) -> None:
    nocap = decompile(device_tree(juno, LAYOUT, "nocap"))
    for cpu in range(6):
        assert "capacity-dmips-mhz" not in nocap.at(f"cpus/cpu@{cpu}").properties
    stripped = deepcopy(tree)
    for cpu in range(6):
        del stripped.at(f"cpus/cpu@{cpu}").properties["capacity-dmips-mhz"]
    assert nocap == stripped


def test_opp2_is_std_with_the_slowest_and_the_fastest_opp(juno: Platform, tree: Node) -> None:
    opp2 = decompile(device_tree(juno, LAYOUT, "opp2"))
    opps_by_cluster = {
        cluster.name: list(opp2.at(f"opp-table-{cluster.name}").children)
        for cluster in juno.clusters
    }
    assert opps_by_cluster == {
        "little": ["opp-450000000", "opp-950000000"],
        "big": ["opp-600000000", "opp-1200000000"],
    }
    for name, opps in opps_by_cluster.items():
        for opp in opps:
            assert opp2.at(f"opp-table-{name}/{opp}") == tree.at(f"opp-table-{name}/{opp}")
    for node in ("cpus/cpu@0", "cpus/cpu@4"):
        assert set(opp2.at(node).properties) == set(tree.at(node).properties)


def test_opps_of_a_flavour(juno: Platform, one_cluster: Path) -> None:
    little = juno.cluster("little")
    assert opps_of(little) == opps_of(little, "nocap") == little.opps
    assert opps_of(little, "opp2") == (little.opps[0], little.opps[-1])
    (only,) = load_platform(one_cluster).clusters
    assert opps_of(only, "opp2") == only.opps


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_same_bytes_every_time(flavour: str) -> None:
    first = device_tree(load_platform("juno-r2"), LAYOUT, flavour)
    assert first == device_tree(load_platform("juno-r2"), LAYOUT, flavour)


@pytest.mark.parametrize("layout", [get_engine(name).layout for name in ENGINES], ids=ENGINES)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_dtc_has_no_complaint(juno: Platform, flavour: str, layout: Layout) -> None:
    done = subprocess.run(
        ["dtc", "-I", "dts", "-O", "dtb", "-o", "/dev/null", "-"],
        input=device_tree_source(juno, layout, flavour).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""


def test_on_gem5_clusters_are_sockets(juno: Platform) -> None:
    """Its CPUs say that they have no caches: the scheduler's domain MC is made of sockets then."""
    cpus = decompile(device_tree(juno, GEM5_LAYOUT)).at("cpus")
    sockets = cpus.at("cpu-map").children
    assert list(sockets) == ["socket0", "socket1"]
    cpus_of_sockets = [
        [core.cells("cpu")[0] for core in socket.at("cluster0").children.values()]
        for socket in sockets.values()
    ]
    handles = [cpus.at(f"cpu@{mpidr:x}").phandle for mpidr in (0, 1, 2, 3, 0x104, 0x105)]
    assert cpus_of_sockets == [handles[:4], handles[4:]]


@pytest.mark.parametrize("layout", [LAYOUT, GEM5_LAYOUT], ids=["qemu", "gem5"])
def test_one_last_cache_is_behind_every_l2(layout: Layout) -> None:
    """With ``llc = "all"``; and no socket makes a domain of its own on gem5."""
    cpus = decompile(device_tree(load_platform("pixel6"), layout)).at("cpus")
    last = cpus.at("l3-cache")
    assert last.cells("cache-level") == [3]
    for name in ("little", "mid", "big"):
        assert cpus.at(f"l2-cache-{name}").cells("next-level-cache") == [last.phandle]
    assert list(cpus.at("cpu-map").children) == ["cluster0", "cluster1", "cluster2"]


def test_a_last_cache_per_cluster_has_nothing_behind_it(juno: Platform) -> None:
    cpus = decompile(device_tree(juno, LAYOUT)).at("cpus")
    assert "l3-cache" not in cpus.children
    assert "next-level-cache" not in cpus.at("l2-cache-big").properties


def test_one_cluster_with_wfi_only_has_no_idle_states_node(one_cluster: Path) -> None:
    cpus = decompile(device_tree(load_platform(one_cluster), LAYOUT)).at("cpus")
    assert "idle-states" not in cpus.children
    assert "cpu-idle-states" not in cpus.at("cpu@0").properties
    assert list(cpus.at("cpu-map").children) == ["cluster0"]


def test_unknown_flavour_offers_the_nearest(juno: Platform) -> None:
    with pytest.raises(RequestError, match=r"flavour 'nocaps' \(did you mean nocap\?\)"):
        device_tree(juno, LAYOUT, "nocaps")


def test_without_dtc_the_package_is_named(
    juno: Platform, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EascopeError, match="apt-get install device-tree-compiler"):
        device_tree(juno, LAYOUT)


def test_three_clusters(pixel6: Platform) -> None:
    tree = decompile(device_tree(pixel6, LAYOUT))
    assert list(tree.at("cpus/cpu-map").children) == ["cluster0", "cluster1", "cluster2"]
    capacities = [tree.at(f"cpus/cpu@{cpu}").cells("capacity-dmips-mhz")[0] for cpu in pixel6.cpus]
    assert capacities == [250] * 4 + [620] * 2 + [1024] * 2
    # the third cell's CPU mask: the timer's interrupt goes to all eight
    assert tree.at("timer").cells("interrupts")[2] == 0xFF04
