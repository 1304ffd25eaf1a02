# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine from settings: clusters, caches, memory, devices. Only gem5 can import this."""

from __future__ import annotations

from typing import Any

import m5
from m5.objects import (
    AddrRange,
    ArmFsLinux,
    ArmRelease,
    ArmSystem,
    BadAddr,
    Bridge,
    CpuCluster,
    DVFSHandler,
    IOXBar,
    L2XBar,
    MathExprPowerModel,
    MemCtrl,
    PowerModel,
    Root,
    SrcClockDomain,
    SystemXBar,
    Terminal,
    VExpress_GEM5_V1,
    VExpress_GEM5_V2,
    VncServer,
    VoltageDomain,
)

from eascope.engines.gem5.inside.caches import cache
from eascope.engines.gem5.inside.cores import configure, cpu_class
from eascope.engines.gem5.inside.request import (
    ClusterPower,
    Gem5ClusterSettings,
    Gem5Request,
    MachineSettings,
    MemorySettings,
)

#: A device tree has at most as many bytes; the guest image lies behind it.
DTB_BYTES = 0x20_0000


def build(request: Gem5Request) -> tuple[Any, list[Any]]:
    """Root and the clusters, in the settings' order.

    :param request: as ``run.py`` reads it.
    """
    settings = request["machine"]
    system = ArmSystem()
    system.voltage_domain = VoltageDomain(voltage="1.0V")
    system.clk_domain = SrcClockDomain(
        clock=f"{settings['system_hz']}Hz", voltage_domain=system.voltage_domain
    )
    system.mem_mode = settings["memory_mode"]
    system.cache_line_size = settings["memory"]["line_bytes"]
    system.release = ArmRelease(extensions=settings["extensions"])
    system.exit_on_work_items = True
    system.readfile = request["script"] or ""
    # Where nothing has caches nothing can be stale: a bus that looks after that only costs time.
    cached = settings["l3"] or any(stated["caches"] for stated in settings["clusters"])
    bus = SystemXBar if cached else IOXBar
    system.membus = bus(badaddr_responder=BadAddr(warn_access="warn"))
    system.membus.default = system.membus.badaddr_responder.pio
    system.system_port = system.membus.cpu_side_ports
    _memory(system, settings["memory"])
    clusters = [_cluster(system, stated) for stated in settings["clusters"]]
    _connect(system, settings, clusters)
    _devices(system, settings, clusters)
    _workload(system, request)
    for stated, cluster in zip(settings["clusters"], clusters, strict=True):
        if request.get("power"):
            _power(cluster, request["power"][stated["name"]])
    return Root(full_system=True, system=system), clusters


def _memory(system: Any, settings: MemorySettings) -> None:
    area = AddrRange(start=settings["base"], size=settings["bytes"])
    system.mem_ranges = [area]
    device = getattr(m5.objects, settings["device"])(range=area, enable_dram_powerdown=True)
    system.memory = MemCtrl(dram=device, port=system.membus.mem_side_ports)


def _cluster(system: Any, settings: Gem5ClusterSettings) -> Any:
    """CPUs with a clock and a supply of their own, as a child of ``system``."""
    cluster = CpuCluster()
    cluster.voltage_domain = VoltageDomain(voltage=[f"{volts}V" for volts in settings["volts"]])
    cluster.clk_domain = SrcClockDomain(
        clock=[f"{hertz}Hz" for hertz in settings["clocks_hz"]],
        voltage_domain=cluster.voltage_domain,
        domain_id=settings["index"],
    )
    cluster.generate_cpus(cpu_class(settings["model"]), len(settings["cpus"]))
    for cpu in cluster.cpus:
        cpu.power_state.default_state = "ON"
        if settings["pipeline"]:
            configure(cpu, settings["pipeline"])
    setattr(system, f"cluster_{settings['name'].replace('-', '_')}", cluster)
    return cluster


def _connect(system: Any, settings: MachineSettings, clusters: list[Any]) -> None:
    """CPUs to the memory bus, through caches where there are any."""
    bus = system.membus
    if settings["l3"]:
        system.l3 = cache(settings["l3"])
        system.l3_bus = L2XBar(width=64)
        system.l3.cpu_side = system.l3_bus.mem_side_ports
        system.l3.mem_side = system.membus.cpu_side_ports
        bus = system.l3_bus
    for stated, cluster in zip(settings["clusters"], clusters, strict=True):
        caches = stated["caches"]
        if not caches:
            for cpu in cluster.cpus:
                cpu.connectBus(system.membus)
            continue
        cluster.l2_bus = L2XBar(width=64)
        cluster.l2 = cache(caches["l2"])
        cluster.l2.power_state.default_state = "ON"
        for cpu in cluster.cpus:
            cpu.addPrivateSplitL1Caches(
                cache(caches["l1i"], is_read_only=True), cache(caches["l1d"])
            )
            cpu.connectCachedPorts(cluster.l2_bus.cpu_side_ports)
        cluster.l2.cpu_side = cluster.l2_bus.mem_side_ports
        cluster.l2.mem_side = bus.cpu_side_ports
        for part in (cluster.l2_bus, cluster.l2):
            part.clk_domain = cluster.clk_domain


def _devices(system: Any, settings: MachineSettings, clusters: list[Any]) -> None:
    """The board's devices, and the DVFS handler of its energy controller."""
    if "gic_redistributors" in settings:
        system.realview = VExpress_GEM5_V2()
        # Its redistributors would be twice as long, and do not say so.
        system.realview.gic.gicv4 = False
    else:
        system.realview = VExpress_GEM5_V1()
        system.gic_cpu_addr = system.realview.gic.cpu_addr
    system.realview.sys_counter.freqs = [settings["counter_hz"]]
    system.terminal = Terminal()
    system.vncserver = VncServer()
    system.iobus = IOXBar()
    system.iobridge = Bridge(delay="50ns")
    system.iobridge.cpu_side_port = system.membus.mem_side_ports
    system.iobridge.mem_side_port = system.iobus.cpu_side_ports
    system.dma_bridge = Bridge(delay="50ns", ranges=system.mem_ranges)
    system.dma_bridge.cpu_side_port = system.iobus.mem_side_ports
    system.dma_bridge.mem_side_port = system.membus.cpu_side_ports
    system.realview.attachOnChipIO(system.membus, system.iobridge)
    system.realview.attachIO(system.iobus)
    system.dvfs_handler = DVFSHandler(
        domains=[cluster.clk_domain for cluster in clusters],
        enable=True,
        transition_latency=f"{settings['transition_latency_ns']}ns",
        sys_clk_domain=system.clk_domain,
    )
    system.realview.energy_ctrl.dvfs_handler = system.dvfs_handler


def _power(cluster: Any, expressions: ClusterPower) -> None:
    """gem5's own power model of CPUs and L2, to be compared with our rows."""
    for part, model in [
        *zip(cluster.cpus, expressions["cpus"], strict=True),
        (cluster.l2, expressions["shared"]),
    ]:
        part.power_model = PowerModel(
            pm=[
                MathExprPowerModel(dyn=model["dynamic"], st=leakage)
                for leakage in model["static"].values()
            ],
            ambient_temp="25.0C",
            subsystem=cluster,
        )


def _workload(system: Any, request: Gem5Request) -> None:
    """Kernel, device tree and guest image; read when the machine boots, not when it is restored."""
    memory, load = request["machine"]["memory"], request["machine"]["load"]
    workload = ArmFsLinux(
        object_file=request["vmlinux"],
        dtb_filename=request["dtb"] or "",
        initrd_filename=request["initrd"] or "",
        command_line=request["cmdline"],
        boot_loader=[request["boot_loader"]],
        # The kernel's addresses begin at 0.
        load_addr_offset=memory["base"],
        dtb_addr=load["device_tree"],
        initrd_addr=load["device_tree"] + DTB_BYTES,
        cpu_release_addr=load["release"],
        on_panic="DumpDmesgAndExit",
        on_oops="DumpDmesgAndExit",
    )
    system.workload = workload
