# SPDX-License-Identifier: GPL-2.0-or-later
"""Device trees: juno-r2's as a whole and what others change, in __snapshots__; the rest by dtc."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import FLAVOURS, device_tree, device_tree_source, opps_of
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.layout import LAYOUT as GEM5_LAYOUT
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.registry import ENGINES, get_engine
from eascope.host.errors import EascopeError, RequestError

_PROPERTY = re.compile(r"([\w,.+?#-]+)(?: = (.*))?;")


@dataclass
class Node:
    """A node; property values are as dtc prints them, ``""`` for one without a value."""

    name: str
    properties: dict[str, str] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)

    def at(self, path: str) -> Node:
        """The node under this one at ``path`` (slashes between names)."""
        node = self
        for name in path.strip("/").split("/"):
            node = node.children[name]
        return node

    def cells(self, name: str) -> list[int]:
        """A property's cells."""
        return [int(cell, 0) for cell in self.properties[name].strip("<>").split()]

    def strings(self, name: str) -> list[str]:
        """A property's strings."""
        return self.properties[name].strip('"').split("\\0")

    @property
    def phandle(self) -> int:
        """What other nodes refer to this one by."""
        return self.cells("phandle")[0]


def decompile(blob: bytes) -> Node:
    """The root node of a device-tree blob, by way of dtc."""
    text = subprocess.run(
        ["dtc", "-I", "dtb", "-O", "dts", "-"], input=blob, capture_output=True, check=True
    ).stdout.decode()
    root = Node("")
    stack = [root]
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line == "/dts-v1/;" or line.startswith("/memreserve/"):
            continue
        if line.endswith("{"):
            node = Node(line.removesuffix("{").strip())
            stack[-1].children[node.name] = node
            stack.append(node)
        elif line == "};":
            stack.pop()
        else:
            property_line = _PROPERTY.fullmatch(line)
            assert property_line, f"not a property: {line}"
            value = (property_line[2] or "").replace('", "', "\\0")
            stack[-1].properties[property_line[1]] = value
    assert stack == [root], "unbalanced braces"
    return root.children["/"]


def source(name: str, layout: Layout = LAYOUT, flavour: str = "std", **other: Any) -> str:
    return device_tree_source(replace(load_platform(name), **other), layout, flavour)


def test_juno(snapshot: SnapshotAssertion) -> None:
    assert source("juno-r2") == snapshot


#: Trees before and after.
CHANGES: dict[str, Callable[[], tuple[str, str]]] = {
    "gem5": lambda: (source("juno-r2"), source("juno-r2", GEM5_LAYOUT)),
    "without capacities": lambda: (source("juno-r2"), source("juno-r2", flavour="nocap")),
    "two OPPs": lambda: (source("juno-r2"), source("juno-r2", flavour="opp2")),
    "requests are waited for": lambda: (source("juno-r2"), source("juno-r2", fast_switch=False)),
    "gem5 waits for requests": lambda: (
        source("juno-r2", GEM5_LAYOUT),
        source("juno-r2", GEM5_LAYOUT, fast_switch=False),
    ),
    "a package without a budget": lambda: (source("smp-24"), source("smp-24", package_budget=None)),
    "no floors": lambda: (source("pixel6"), source("pixel6", floors=())),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changes(case: str, snapshot: SnapshotAssertion) -> None:
    before, after = (text.splitlines() for text in CHANGES[case]())
    assert "\n".join([*unified_diff(before, after, n=1, lineterm="")][2:]) == snapshot


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


def test_opps_of_a_flavour(juno: Platform, one_cluster: Path) -> None:
    little = juno.cluster("little")
    assert opps_of(little) == opps_of(little, "nocap") == little.opps
    assert opps_of(little, "opp2") == (little.opps[0], little.opps[-1])
    (only,) = load_platform(one_cluster).clusters
    assert opps_of(only, "opp2") == only.opps


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


@pytest.mark.parametrize("layout", [LAYOUT, GEM5_LAYOUT], ids=["qemu", "gem5"])
def test_one_last_cache_is_behind_every_l2(layout: Layout) -> None:
    """With ``llc = "all"``; and no socket makes a domain of its own on gem5."""
    cpus = decompile(device_tree(load_platform("pixel6"), layout)).at("cpus")
    last = cpus.at("l3-cache")
    assert last.cells("cache-level") == [3]
    for name in ("little", "mid", "big"):
        assert cpus.at(f"l2-cache-{name}").cells("next-level-cache") == [last.phandle]
    assert list(cpus.at("cpu-map").children) == ["cluster0", "cluster1", "cluster2"]


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
