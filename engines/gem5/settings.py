# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine's settings for gem5: a function of the platform and the mode.

They are plain data (JSON): part of every run's key, and all that ``run.py`` knows about the
platform. Parameter names of the CPU models are gem5's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from eascope.configs.core import Cache, Core
from eascope.configs.pipeline import Pipeline, load_pipeline
from eascope.configs.platform import L3, Cluster, Platform
from eascope.engines.gem5.boot import COUNTER_HZ
from eascope.engines.gem5.inside.request import (
    SCHEMA,
    CacheLevels,
    CacheSettings,
    Gem5ClusterSettings,
    MachineSettings,
    PipelineSettings,
    PredictorSettings,
    TlbSettings,
)
from eascope.engines.gem5.layout import DEVICE_TREE, LAYOUT
from eascope.engines.gem5.units import minor_units, o3_units
from eascope.engines.records import MEMORY_PART, NO_CLUSTER, START, STOP
from eascope.host.errors import unknown
from eascope.power.model import SHARED_PART

#: The mode of a boot to the agent's barrier.
BOOT = "boot"


@dataclass(frozen=True)
class Mode:
    """A mode of gem5.

    :param summary: for lists.
    :param cpu_words: what its CPUs are, for captions.
    :param caches: whether there are any.
    :param model: gem5's class of every CPU; empty where the core's pipeline says it.
    :param elided_host_s_per_s: host seconds per simulated second where busy loops are elided; None
        for a mode that executes them.
    """

    summary: str
    cpu_words: str
    caches: bool = True
    model: str = ""
    elided_host_s_per_s: float | None = None


#: The first one that a person may ask for is the default.
MODES = {
    BOOT: Mode(
        "atomic CPUs without caches, to the agent's barrier; then a checkpoint",
        cpu_words="atomic",
        caches=False,
        model="ArmAtomicSimpleCPU",
    ),
    "elided": Mode(
        "atomic CPUs without caches; busy loops stand still for the cycles they would take",
        cpu_words="atomic",
        caches=False,
        model="ArmAtomicSimpleCPU",
        elided_host_s_per_s=20.0,
    ),
    "elided-detailed": Mode(
        "Minor and O3 CPUs with caches; busy loops stand still likewise",
        cpu_words="detailed",
        elided_host_s_per_s=60.0,
    ),
    "timing": Mode(
        "timing CPUs (one instruction at a time) with caches",
        cpu_words="timing",
        model="ArmTimingSimpleCPU",
    ),
    "detailed": Mode("Minor and O3 CPUs with caches; everything is executed", cpu_words="detailed"),
}
#: What a person may ask for: not ``boot``, which the engine does by itself.
RUN_MODES = tuple(name for name in MODES if name != BOOT)
DEFAULT_MODE = RUN_MODES[0]
DETAILED_MODELS = {"minor": "ArmMinorCPU", "o3": "ArmO3CPU"}

#: gem5's classic caches have one line length for all.
LINE_BYTES = 64
#: Armv8.0: what the fast engine's CPUs are too, so both run the same code of one kernel. Pointer
#: authentication is there for O3CPU's sake. Debian's programs sign return addresses by hints, which
#: do nothing as long as a kernel does not turn signing on, and ours never do. Without FEAT_PAuth
#: gem5 24.0 leaves a hint's register unwritten: on O3CPU, which renames registers, the return
#: address is lost, and the program crashes.
EXTENSIONS = ("SECURITY", "LPAE", "VIRTUALIZATION", "FEAT_CRC32", "FEAT_PAuth")
#: Interconnect and devices; no platform states one.
SYSTEM_HZ = 1_000_000_000
#: 64 bits at 1600 MT/s, with the power figures that gem5 has from the maker's data sheet.
DRAM = "DDR3_1600_8x8"
#: Misses under way in an L3: as many as the L2s of two big cores have; no public figure.
L3_MSHRS = 64
#: gem5 is built for at most this many operations a cycle in a stage of O3CPU.
O3_MAX_WIDTH = 12


def machine_settings(platform: Platform, mode: str) -> MachineSettings:
    """All settings for gem5 from ``platform`` in ``mode``.

    Frequencies and voltages are in gem5's order: index 0 is the fastest OPP.

    :raises RequestError: an unknown mode, or a pipeline file that is missing or wrong.
    """
    if mode not in MODES:
        raise unknown("gem5 mode", mode, MODES)
    gic = LAYOUT.gic(len(platform.cpus))
    settings: MachineSettings = {
        "schema": SCHEMA,
        "platform": platform.name,
        "mode": mode,
        "memory_mode": "timing" if MODES[mode].caches else "atomic",
        "clusters": [_cluster(cluster, mode) for cluster in platform.clusters],
        "memory": {
            "base": LAYOUT.ram,
            "bytes": platform.memory_mib << 20,
            "device": DRAM,
            "line_bytes": LINE_BYTES,
        },
        "load": {"device_tree": DEVICE_TREE, "release": LAYOUT.release_address},
        "marks": {"start": START, "stop": STOP},
        "rows": {
            "shared_part": SHARED_PART,
            "memory_part": MEMORY_PART,
            "no_cluster": NO_CLUSTER,
        },
        "l3": _l3(platform.l3) if MODES[mode].caches and platform.l3 else None,
        "system_hz": SYSTEM_HZ,
        "transition_latency_ns": platform.transition_latency_us * 1000,
        "energy_ctrl": LAYOUT.energy_ctrl,
        "gic_distributor": gic.parts[0][0],
        "counter_hz": COUNTER_HZ,
        "extensions": list(EXTENSIONS),
    }
    if gic.version == 2:
        settings["gic_cpu_interface"] = gic.parts[1][0]
    else:
        settings["gic_redistributors"] = gic.parts[1][0]
    return settings


def has_pipelines(mode: str) -> bool:
    """Whether every CPU has a pipeline in ``mode``."""
    return not MODES[mode].model


def _cluster(cluster: Cluster, mode: str) -> Gem5ClusterSettings:
    descending = cluster.opps[::-1]
    pipeline = load_pipeline(cluster.core) if MODES[mode].caches else None
    detailed = pipeline if has_pipelines(mode) else None
    return {
        "name": cluster.name,
        "index": cluster.index,
        "cpus": list(cluster.cpus),
        "core": cluster.core.name,
        "model": DETAILED_MODELS[detailed.model] if detailed else MODES[mode].model,
        "clocks_hz": [opp.khz * 1000 for opp in descending],
        "volts": [opp.uv / 1e6 for opp in descending],
        "caches": _caches(cluster, pipeline) if pipeline else None,
        "pipeline": _pipeline(cluster.core, detailed) if detailed else None,
    }


def _pipeline(core: Core, pipeline: Pipeline) -> PipelineSettings:
    return _minor(core, pipeline) if pipeline.model == "minor" else _o3(core, pipeline)


def _caches(cluster: Cluster, pipeline: Pipeline) -> CacheLevels:
    structure, cycles = cluster.core.structure, pipeline.caches

    def cache(figures: Cache, mshrs: str, latency: str, prefetch: int) -> CacheSettings:
        return {
            "bytes": figures.size_kib * 1024,
            "ways": figures.ways,
            "cycles": cycles[latency].value,
            "mshrs": structure[mshrs].value,
            "write_buffers": structure["write_buffer_entries"].value,
            "prefetch": prefetch,
        }

    return {
        "l1i": cache(cluster.core.l1i, "icache_mshrs", "l1i", 0),
        "l1d": cache(cluster.core.l1d, "dcache_mshrs", "l1d", cycles["l1d_prefetch"].value),
        "l2": cache(cluster.l2, "l2_mshrs", "l2", cycles["l2_prefetch"].value),
    }


def _l3(l3: L3) -> CacheSettings:
    """The cache that all clusters share; it runs with the interconnect's clock."""
    return {
        "bytes": l3.cache.size_kib * 1024,
        "ways": l3.cache.ways,
        "cycles": max(1, round(l3.latency_ns * SYSTEM_HZ / 1e9)),
        "mshrs": L3_MSHRS,
        "write_buffers": L3_MSHRS,
        "prefetch": 0,
    }


def power_of_two(value: int) -> int:
    """The largest power of two that is not above ``value``: gem5's tables have no other sizes."""
    return 1 << value.bit_length() - 1


def _predictor(core: Core, kind: str) -> PredictorSettings:
    """Branch predictor; table sizes are rounded down to powers of two."""
    figures = core.structure
    entries = power_of_two(figures["predictor_entries"].value)
    return {
        "kind": kind,
        "entries": entries,
        "btb_entries": power_of_two(figures["btb_entries"].value),
        "return_stack_entries": figures["return_stack_entries"].value,
    }


def _tlbs(core: Core) -> TlbSettings:
    return {
        "itlb": core.structure["itlb_entries"].value,
        "dtlb": core.structure["dtlb_entries"].value,
    }


def _minor(core: Core, pipeline: Pipeline) -> PipelineSettings:
    """MinorCPU's parameters (in-order)."""
    structure = {name: figure.value for name, figure in core.structure.items()}
    ports = sum(figure.value for figure in pipeline.memory_pipelines.values())
    width = core.parameters["issue_width"].value
    return {
        "parameters": {
            "decodeInputWidth": core.parameters["decode_width"].value,
            "executeInputWidth": width,
            "executeIssueLimit": width,
            "executeMemoryIssueLimit": ports,
            "executeCommitLimit": structure["commit_width"],
            "executeMemoryCommitLimit": ports,
            "executeInputBufferSize": structure["decode_queue_entries"],
            "executeLSQStoreBufferSize": structure["store_queue_entries"],
            "executeBranchDelay": pipeline.stages["branch_delay"].value,
        },
        "units": minor_units(core, pipeline),
        "predictor": _predictor(core, "TournamentBP"),
        "tlbs": _tlbs(core),
    }


def _o3(core: Core, pipeline: Pipeline) -> PipelineSettings:
    """O3CPU's parameters (out-of-order)."""
    structure = {name: figure.value for name, figure in core.structure.items()}
    dispatch = core.parameters["dispatch_width"].value
    issue = min(core.parameters["issue_ports"].value, O3_MAX_WIDTH)
    return {
        "parameters": {
            "fetchWidth": structure["fetch_width"],
            # With less, straight code waits for the L1I at each part of a line.
            "fetchBufferSize": LINE_BYTES,
            "fetchQueueSize": structure["fetch_queue_entries"],
            "fetchToDecodeDelay": pipeline.stages["fetch_to_decode"].value,
            "decodeWidth": core.parameters["decode_width"].value,
            "decodeToRenameDelay": pipeline.stages["decode_to_rename"].value,
            "renameWidth": dispatch,
            "renameToIEWDelay": pipeline.stages["rename_to_issue"].value,
            "dispatchWidth": dispatch,
            "issueWidth": issue,
            "wbWidth": issue,
            "commitWidth": structure["commit_width"],
            "squashWidth": issue,
            "LQEntries": structure["load_queue_entries"],
            "SQEntries": structure["store_queue_entries"],
            # Bytes that do not overlap are no conflict. gem5's own 4 compares 16-byte blocks: a
            # load of the stack slot next to a store's then waits for that store, always.
            "LSQDepCheckShift": 0,
            "numIQEntries": structure["issue_queue_entries"] + structure["fp_issue_queue_entries"],
            "numROBEntries": structure["rob_entries"],
            "numPhysIntRegs": structure["physical_int_registers"],
            # Scalar floating point lives in gem5's vector registers on Arm.
            "numPhysVecRegs": structure["physical_fp_registers"],
        },
        "units": o3_units(core, pipeline),
        "predictor": _predictor(core, "BiModeBP"),
        "tlbs": _tlbs(core),
    }
