# SPDX-License-Identifier: GPL-2.0-or-later
"""Records as an engine's run has them, for tests that care for a few of their fields."""

from dataclasses import replace
from typing import Any

from eascope.analysis.records.cell import (
    LOOPS_WORK,
    CellRecord,
    ControlsRecord,
    EnergyModelRecord,
    EngineSettings,
    IdentityRecord,
    Inputs,
    KernelRecord,
    ReplicateRecord,
    Settings,
    TaskRecord,
    UclampRange,
    WindowRecord,
)
from eascope.analysis.records.result import Energy, PowerModelRecord, Result
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.records import HostRecord
from eascope.kernels.provenance import KernelProvenance
from eascope.rootfs.provenance import (
    CompiledPrograms,
    CopyDigest,
    DebianPackage,
    ImageProvenance,
    WheelProgram,
)


def task_record(name: str, *threads: str, period_us: int | None = None) -> TaskRecord:
    """A task; without names its one thread is called as it is."""
    return TaskRecord(
        name=name,
        threads=threads or (name,),
        period_us=period_us,
        deadline_us=period_us,
        work_us=None,
        turns=(),
        uclamp=UclampRange(None, None),
        cpus=None,
    )


def host_record(**changes: Any) -> HostRecord:
    """What a run of a second cost that took a second."""
    host = HostRecord(
        host_s=1.0, mips=1.0, sim_s=1.0, cpu_s=1.0, cpus=2, machine="x86_64", python="3.11.7"
    )
    return replace(host, **changes)


def image_provenance() -> ImageProvenance:
    """What a minimal guest image was made from."""
    return ImageProvenance(
        sha256="a" * 64,
        overlay={},
        agent=CompiledPrograms("gcc 12.2.0", "1" * 64, {"agent": "a" * 64}),
        busybox=DebianPackage("busybox-static", "1.37", "arm64", "b" * 64),
        rt_app=WheelProgram("a wheel", "c" * 64),
        trace_cmd=WheelProgram("a wheel", "d" * 64),
        programs={"launch": "e" * 64},
        copies={"rt-app-elided": CopyDigest("f" * 64)},
    )


def kernel_provenance(upstream: str) -> KernelProvenance:
    """What a kernel of Debian's source was made from."""
    return KernelProvenance(
        source=f"linux-source-{'.'.join(upstream.split('.')[:2])}",
        package_version=f"{upstream}-1",
        source_sha256="ab" * 32,
        source_tested=True,
        upstream=upstream,
        series=("base",),
        series_sha256="cd" * 32,
        config_sha256="ef" * 32,
        compiler="gcc 12.2.0",
    )


def kernel_record(name: str, upstream: str, **changes: Any) -> KernelRecord:
    """A kernel of Debian's source."""
    made_from = {**vars(kernel_provenance(upstream)), **changes}
    return KernelRecord(name=name, version=f"{upstream}-eascope-{name}", **made_from)


def controls_record(**changes: Any) -> ControlsRecord:
    """Controls as juno-r2 has them."""
    controls = ControlsRecord(
        hz=250,
        rate_limit_us=500,
        transition_latency_us=50,
        speeds="board",
        trace_events=("sched:sched_switch",),
        trace_kib_per_cpu=2048,
        others={"temperature_c": 25},
    )
    return replace(controls, **changes)


#: What a seed draws that sets nothing but when threads start, of a machine without any.
STARTS_ALONE = ReplicateRecord(
    noise=False,
    idle_us=0,
    rt_app_us=0,
    programs_us={},
    starts_us={},
    order=(),
    work_cv={},
    clocks={},
    others=(),
    background="",
    stir_ms=0,
    rng_seed="",
    threads_sha256="",
)


def cell_record(**changes: Any) -> CellRecord:
    """A cell of the fast engine on juno-r2, with the given fields changed."""
    cell = CellRecord(
        schema=1,
        simkey="ab" * 32,
        platform="juno-r2",
        variant="mainline",
        scenario="test/bursts",
        engine="qemu",
        mode="",
        seed=0,
        duration="short",
        elide=True,
        kernel=kernel_record("base", "6.12.95"),
        energy_model=EnergyModelRecord("published", {}, "published", {}),
        declares={"eas": True},
        switches=(),
        initramfs=image_provenance(),
        digests={"image": "a" * 64, "script": "b" * 64},
        inputs=Inputs("", "", ""),
        set_otherwise=(),
        controls=controls_record(),
        tasks=(),
        programs=(),
        window=WindowRecord(500, 1000),
        expect=(),
        borrowed=(),
        assumed=(),
        engine_identity=IdentityRecord("qemu", "1:10.0.0"),
        engine_traits=QemuEngine().traits,
        settings=Settings(EngineSettings(), "", True, 1024),
        replicate=STARTS_ALONE,
        work=LOOPS_WORK,
    )
    return replace(cell, **changes)


def result_record(**changes: Any) -> Result:
    """A result that has no more than it must, with the given fields changed."""
    result = Result(
        engine="qemu",
        power_model=PowerModelRecord("published", "published power", ()),
        window_s=1.0,
        energy_j=Energy(1.0, {}, {}, {}, {}),
        residency={},
        opp_transitions_per_s={},
        opp_requests_per_s={},
        mean_mhz={},
        top_opp={},
        cpu_busy=(),
        cluster_busy={},
        work_share={},
        speed={},
        run_share={},
        cpu_share={},
        latency_us={},
        wakeups={},
        migrations=0,
        expect=(),
    )
    return replace(result, **changes)
