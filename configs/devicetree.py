# SPDX-License-Identifier: GPL-2.0-or-later
"""The device tree: a function of (platform, layout, flavour), the same bytes every time."""

from __future__ import annotations

import hashlib

from eascope.configs.core import Cache
from eascope.configs.layout import Layout
from eascope.configs.platform import Cluster, Opp, Platform
from eascope.host.errors import unknown
from eascope.host.proc import need, run

#: Flavours: what a variant may ask of the device tree.
FLAVOURS = {
    "std": "everything that the platform states",
    "nocap": "without capacity-dmips-mhz: the kernel takes all CPUs for equal",
    "opp2": "with two OPPs per cluster, the slowest and the fastest, and turbo OPPs",
}

_INDENT = "    "


def opps_of(cluster: Cluster, flavour: str = "std") -> tuple[Opp, ...]:
    """The OPPs, ascending, that a guest sees with this flavour of device tree.

    The engine's controller has all OPPs of the platform; the kernel requests only those of its
    device tree.
    """
    if flavour != "opp2":
        return cluster.opps
    ends = (cluster.min_khz, cluster.max_khz)
    return tuple(opp for opp in cluster.opps if opp.turbo or opp.khz in ends)


#: What the kernel's random numbers begin with, 64 bytes in hexadecimal; a seed's draw comes after
#: the boot, which runs share.
RNG_SEED = hashlib.sha512(b"eascope rng-seed 1").hexdigest()


def device_tree(platform: Platform, layout: Layout, flavour: str = "std") -> bytes:
    """The flattened device tree (DTB).

    :param layout: where the machine has its devices, which the engine simulates.
    :raises RequestError: an unknown flavour.
    :raises EascopeError: when dtc is not installed or fails.
    """
    source = device_tree_source(platform, layout, flavour)
    dtc = need("dtc", "device-tree-compiler")
    return run([dtc, "-I", "dts", "-O", "dtb", "-o", "-", "-"], stdin=source.encode(), label="dtc")


def device_tree_source(platform: Platform, layout: Layout, flavour: str = "std") -> str:
    """The device tree's source text; see `device_tree`."""
    if flavour not in FLAVOURS:
        raise unknown("device-tree flavour", flavour, FLAVOURS)
    body = [
        f'model = "eascope {platform.model}";',
        f'compatible = "{layout.compatible}";',
        "interrupt-parent = <&gic>;",
        "#address-cells = <2>;",
        "#size-cells = <2>;",
        *_node("aliases", [f'serial0 = "/serial@{layout.uart:x}";']),
        # Nothing in a deterministic machine is random: without the seed the first getrandom() waits
        # for the kernel's jitter collector. The engine adds bootargs and the initrd's range.
        *_node("chosen", ['stdout-path = "serial0:115200n8";', f"rng-seed = [{RNG_SEED}];"]),
        *_node(
            f"memory@{layout.ram:x}",
            ['device_type = "memory";', _reg(layout.ram, platform.memory_mib << 20)],
        ),
        *_cpus(platform, flavour, layout),
        *[line for cluster in platform.clusters for line in _opp_table(cluster, flavour)],
        *_energy_ctrl(platform, layout),
        *_machine(platform, layout),
        *_node("eascope", [f'compatible = "{layout.transport}";']),
    ]
    head = ["/dts-v1/;", *_reserved(layout), ""]
    return "\n".join([*head, *_node("/", body)]) + "\n"


def _reserved(layout: Layout) -> list[str]:
    """The spin table's page: the other CPUs wait for its word, so the kernel must not use it."""
    if not layout.release_address:
        return []
    return [f"/memreserve/ {layout.release_address & ~0xFFF:#x} 0x1000;"]


def _node(name: str, body: list[str], label: str = "") -> list[str]:
    """A node's lines, with its body indented."""
    head = f"{label}: {name}" if label else name
    return [f"{head} {{", *[_INDENT + line for line in body], "};"]


def _reg(address: int, size: int) -> str:
    """A reg of two address cells and two size cells."""
    cells = (address >> 32, address & 0xFFFF_FFFF, size >> 32, size & 0xFFFF_FFFF)
    return "reg = <" + " ".join(f"{cell:#x}" for cell in cells) + ">;"


def _cpus(platform: Platform, flavour: str, layout: Layout) -> list[str]:
    """/cpus: topology, CPUs, idle states and the clusters' L2 caches."""
    body = ["#address-cells = <1>;", "#size-cells = <0>;", *_cpu_map(platform, layout)]
    gic = layout.gic(len(platform.cpus))
    for cluster in platform.clusters:
        for cpu in cluster.cpus:
            body += _cpu(cluster, cpu, gic.mpidr(cluster.index, cpu), flavour, layout)
    idle = [line for cluster in platform.clusters for line in _idle_states(cluster)]
    if idle:
        body += _node("idle-states", idle)
    for cluster in platform.clusters:
        below = ["next-level-cache = <&l3>;"] if platform.one_llc else []
        figures = _cache(cluster.l2, "") + below
        body += _shared_cache(f"l2-cache-{cluster.name}", 2, figures, _label("l2", cluster))
    if platform.one_llc:
        # The kernel asks who shares the cache, not how large it is.
        figures = _cache(platform.l3.cache, "") if platform.l3 else []
        body += _shared_cache("l3-cache", 3, figures, "l3")
    return _node("cpus", body)


def _cpu_map(platform: Platform, layout: Layout) -> list[str]:
    """/cpus/cpu-map: clusters and their cores."""
    lines = []
    for cluster in platform.clusters:
        cores = []
        for number, cpu in enumerate(cluster.cpus):
            cores += _node(f"core{number}", [f"cpu = <&cpu{cpu}>;"])
        if layout.clusters_are_sockets and not platform.one_llc:
            # gem5's CLIDR_EL1 says that there are no caches, so the kernel does not learn who
            # shares an L2: it takes the CPUs of one socket for those of domain MC then.
            lines += _node(f"socket{cluster.index}", _node("cluster0", cores))
        else:
            lines += _node(f"cluster{cluster.index}", cores)
    return _node("cpu-map", lines)


def _shared_cache(name: str, level: int, figures: list[str], label: str) -> list[str]:
    head = ['compatible = "cache";', f"cache-level = <{level}>;", "cache-unified;"]
    return _node(name, head + figures, label)


def _label(kind: str, cluster: Cluster, number: int | None = None) -> str:
    """A dtc label of a cluster's node; labels have no dashes."""
    name = f"{kind}_{cluster.name.replace('-', '_')}"
    return name if number is None else f"{name}_{number}"


def _cache(cache: Cache, prefix: str) -> list[str]:
    """A cache's figures; ``prefix`` is ``i-``, ``d-`` or empty."""
    return [
        f"{prefix}cache-size = <{cache.size_kib * 1024}>;",
        f"{prefix}cache-line-size = <{cache.line_bytes}>;",
        f"{prefix}cache-sets = <{cache.sets}>;",
    ]


def _cpu(cluster: Cluster, cpu: int, mpidr: int, flavour: str, layout: Layout) -> list[str]:
    body = [
        'device_type = "cpu";',
        f'compatible = "{cluster.core.compatible}";',
        f"reg = <{mpidr:#x}>;",
        f'enable-method = "{layout.enable_method}";',
    ]
    if layout.release_address:
        high, low = layout.release_address >> 32, layout.release_address & 0xFFFF_FFFF
        body.append(f"cpu-release-addr = <{high:#x} {low:#x}>;")
    if flavour != "nocap":
        body.append(f"capacity-dmips-mhz = <{cluster.capacity_dmips_mhz}>;")
    body += [
        f"operating-points-v2 = <&{_label('opp', cluster)}>;",
        f"performance-domains = <&ectrl {cluster.index}>;",
        f"next-level-cache = <&{_label('l2', cluster)}>;",
        *_cache(cluster.core.l1i, "i-"),
        *_cache(cluster.core.l1d, "d-"),
    ]
    states = [f"<&{_label('idle', cluster, n)}>" for n in range(1, len(cluster.idle_states))]
    if states:
        body.append(f"cpu-idle-states = {', '.join(states)};")
    return _node(f"cpu@{mpidr:x}", body, f"cpu{cpu}")


def _idle_states(cluster: Cluster) -> list[str]:
    """The cluster's states from number 1; WFI is state 0 of every kernel driver, by itself."""
    lines: list[str] = []
    for number, state in enumerate(cluster.idle_states[1:], start=1):
        body = [
            'compatible = "gem5,idle-state";',
            f'idle-state-name = "{state.name}";',
            f"entry-latency-us = <{state.entry_us}>;",
            f"exit-latency-us = <{state.exit_us}>;",
            f"min-residency-us = <{state.residency_us}>;",
            f"gem5,entry-us = <{state.takes.entry_us}>;",
            f"gem5,exit-us = <{state.takes.exit_us}>;",
        ]
        if state.takes.by_cluster:
            body += [
                f"gem5,last-entry-us = <{state.takes.last_entry_us}>;",
                f"gem5,first-exit-us = <{state.takes.first_exit_us}>;",
            ]
        lines += _node(f"{cluster.name}-{state.name}", body, _label("idle", cluster, number))
    return lines


def _opp_table(cluster: Cluster, flavour: str) -> list[str]:
    body = ['compatible = "operating-points-v2";', "opp-shared;"]
    for opp in opps_of(cluster, flavour):
        hertz = opp.khz * 1000
        body += _node(
            f"opp-{hertz}",
            [
                f"opp-hz = /bits/ 64 <{hertz}>;",
                f"opp-microvolt = <{opp.uv}>;",
                f"opp-microwatt = <{opp.power_uw}>;",
                *(["turbo-mode;"] if opp.turbo else []),
            ],
        )
    return _node(f"opp-table-{cluster.name}", body, _label("opp", cluster))


def _energy_ctrl(platform: Platform, layout: Layout) -> list[str]:
    """The DVFS controller; a domain's id is the cluster's index."""
    body = [
        'compatible = "arm,gem5-energy-ctrl";',
        _reg(layout.energy_ctrl, 0x1000),
        "#performance-domain-cells = <1>;",
        f"gem5,rate-limit-us = <{platform.rate_limit_us}>;",
    ]
    if not platform.fast_switch:
        body.append("gem5,wait-for-transition;")
    if any(cluster.boost for cluster in platform.clusters):
        body.append("gem5,boost;")
    if platform.package_budget:
        body.append("gem5,may-grant-less;")
    if platform.floors:
        index = {cluster.name: cluster.index for cluster in platform.clusters}
        cells = ", ".join(
            f"<{index[f.of]} {f.at_khz} {index[f.on]} {f.khz}>" for f in platform.floors
        )
        body.append(f"gem5,clock-floors = {cells};")
    if layout.quiesce:
        body.append("gem5,quiesce;")
    return _node(f"energy-ctrl@{layout.energy_ctrl:x}", body, "ectrl")


def _machine(platform: Platform, layout: Layout) -> list[str]:
    """Interrupt controller, timer, console and how CPUs start."""
    controller = layout.gic(len(platform.cpus))
    distributor, per_cpu = controller.parts
    gic = [
        f'compatible = "{controller.compatible}";',
        "#interrupt-cells = <3>;",
        "#address-cells = <0>;",
        "interrupt-controller;",
        f"{_reg(*distributor)[:-2]} {_reg(*per_cpu).removeprefix('reg = <')}",
    ]
    # Third cell: active high level, and for a GICv2 which CPUs see the per-CPU interrupt.
    seen_by = (1 << len(platform.cpus)) - 1 if controller.version == 2 else 0
    flags = seen_by << 8 | 4
    timer = [
        'compatible = "arm,armv8-timer";',
        "interrupts = " + ", ".join(f"<1 {ppi} {flags:#x}>" for ppi in layout.timer_ppis) + ";",
        "always-on;",
    ]
    clock = [
        'compatible = "fixed-clock";',
        "#clock-cells = <0>;",
        f"clock-frequency = <{layout.uart_hz}>;",
    ]
    uart = [
        'compatible = "arm,pl011", "arm,primecell";',
        _reg(layout.uart, 0x1000),
        f"interrupts = <0 {layout.uart_spi} 4>;",
        "clocks = <&uart_clock>, <&uart_clock>;",
        'clock-names = "uartclk", "apb_pclk";',
    ]
    psci = []
    if layout.psci_method:
        body = ['compatible = "arm,psci-0.2";', f'method = "{layout.psci_method}";']
        psci = _node("psci", body)
    return [
        *_node(f"interrupt-controller@{distributor[0]:x}", gic, "gic"),
        *_node("timer", timer),
        *_node("uart-clock", clock, "uart_clock"),
        *_node(f"serial@{layout.uart:x}", uart),
        *psci,
    ]
