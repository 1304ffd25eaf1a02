# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of gem5's statistics make the columns of a row, for each CPU model.

A column is a sum of terms (statistic, part of it, factor). Statistics are named from their CPU or,
for the shared part, from their cluster. Events carry McPAT's names (``power-models/derived``), so
that energy is a sum over columns; where a model does not count an event, the factors say by what it
is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eascope.engines.gem5.inside.operations import FLOAT_GROUPS, LOADS, STORES


class Term(NamedTuple):
    """``factor`` times a statistic; of a vector its total, or the parts that are named."""

    stat: str
    parts: tuple[str, ...] = ()
    factor: float = 1.0


Columns = Mapping[str, tuple[Term, ...]]

#: What every row has, in this order, before the events. Times in ns, frequency in kHz, supply in
#: uV; energy (pJ) is that of the memory, in its row alone.
FIXED = (
    *("cluster", "cpu", "t0_ns", "t1_ns", "khz", "uv", "cycles", "instructions"),
    *("on_ns", "gated_ns", "off_ns", "dram_pj"),
)
#: Power states as gem5 orders them.
POWER_STATES = ("UNDEFINED", "ON", "CLK_GATED", "SRAM_RETENTION", "OFF")
RESIDENCY = "power_state.pwrStateResidencyTicks"

_MIX = "commitStats0.committedInstType"
_FLOATS = tuple(name for names in FLOAT_GROUPS.values() for name in names)


def _committed(*classes: str, factor: float = 1.0) -> Term:
    return Term(_MIX, classes, factor)


def _sum(*stats: str) -> tuple[Term, ...]:
    return tuple(Term(stat) for stat in stats)


_DATA_HITS = ("mmu.dtb.readHits", "mmu.dtb.writeHits")
_DATA_MISSES = ("mmu.dtb.readMisses", "mmu.dtb.writeMisses")

#: Events that both detailed models count in the same way.
_BOTH: Columns = {
    "core.cycles": _sum("numCycles"),
    "core.branch_instructions": _sum("branchPred.BTBLookups"),
    "core.function_calls": _sum("branchPred.ras.pushes"),
    "BTB.read_accesses": _sum("branchPred.BTBLookups"),
    "BTB.write_accesses": _sum("branchPred.BTBUpdates"),
    # Sums of gem5's have all three kinds; the one TLB sees fetches alone, the other none.
    "itlb.total_accesses": _sum("mmu.itb.instHits", "mmu.itb.instMisses"),
    "itlb.total_misses": _sum("mmu.itb.instMisses"),
    "dtlb.total_accesses": _sum(*_DATA_HITS, *_DATA_MISSES),
    "dtlb.total_misses": _sum(*_DATA_MISSES),
    "icache.read_accesses": _sum("icache.overallAccesses"),
    "icache.read_misses": _sum("icache.overallMisses"),
    "dcache.read_accesses": _sum(
        "dcache.ReadReq.accesses", "dcache.SoftPFReq.accesses", "dcache.LoadLockedReq.accesses"
    ),
    "dcache.write_accesses": _sum("dcache.WriteReq.accesses", "dcache.StoreCondReq.accesses"),
    # McPAT charges a fill to a write miss alone.
    "dcache.write_misses": _sum("dcache.overallMisses"),
}

#: MinorCPU counts operations by class when they commit, and no accesses to registers.
_MINOR: Columns = {
    **_BOTH,
    "core.total_instructions": _sum("commitStats0.numOps", "executeStats0.numDiscardedOps"),
    "core.branch_mispredictions": _sum("branchPred.condIncorrect"),
    "core.load_instructions": (_committed(*LOADS),),
    "core.store_instructions": (_committed(*STORES),),
    "core.ialu_accesses": (_committed("IntAlu"),),
    "core.cdb_alu_accesses": (_committed("IntAlu"),),
    "core.mul_accesses": (_committed("IntMult", "IntDiv"),),
    "core.cdb_mul_accesses": (_committed("IntMult", "IntDiv"),),
    "core.fpu_accesses": (_committed(*_FLOATS),),
    "core.cdb_fpu_accesses": (_committed(*_FLOATS),),
    # Estimates: 1.5 reads and 0.8 writes of an operation, 2 and 1 of a floating-point one.
    "core.int_regfile_reads": (Term("commitStats0.numOps", (), 1.5),),
    "core.int_regfile_writes": (Term("commitStats0.numOps", (), 0.8),),
    "core.float_regfile_reads": (_committed(*_FLOATS, factor=2.0),),
    "core.float_regfile_writes": (_committed(*_FLOATS),),
}

#: O3CPU counts what is executed, wrong paths included.
_O3: Columns = {
    **_BOTH,
    "core.total_instructions": _sum("decode.decodedInsts"),
    "core.branch_mispredictions": _sum("commit.branchMispredicts"),
    "core.load_instructions": _sum("executeStats0.numLoadInsts"),
    # gem5's numStoreInsts is this difference, computed anew with every reading.
    "core.store_instructions": (
        Term("executeStats0.numMemRefs"),
        Term("executeStats0.numLoadInsts", (), -1.0),
    ),
    "core.ROB_reads": _sum("rob.reads"),
    "core.ROB_writes": _sum("rob.writes"),
    "core.rename_reads": _sum("rename.intLookups"),
    "core.rename_writes": _sum("rename.renamedOperands"),
    "core.fp_rename_reads": _sum("rename.fpLookups", "rename.vecLookups"),
    "core.inst_window_reads": _sum("intInstQueueReads"),
    "core.inst_window_writes": _sum("intInstQueueWrites"),
    "core.inst_window_wakeup_accesses": _sum("intInstQueueWakeupAccesses"),
    "core.fp_inst_window_reads": _sum("fpInstQueueReads", "vecInstQueueReads"),
    "core.fp_inst_window_writes": _sum("fpInstQueueWrites", "vecInstQueueWrites"),
    "core.fp_inst_window_wakeup_accesses": _sum(
        "fpInstQueueWakeupAccesses", "vecInstQueueWakeupAccesses"
    ),
    "core.int_regfile_reads": _sum("executeStats0.numIntRegReads"),
    "core.int_regfile_writes": _sum("executeStats0.numIntRegWrites"),
    "core.float_regfile_reads": _sum("executeStats0.numFpRegReads", "executeStats0.numVecRegReads"),
    "core.float_regfile_writes": _sum(
        "executeStats0.numFpRegWrites", "executeStats0.numVecRegWrites"
    ),
    # Multiplications and the additions of addresses are in it. Only vectors would tell them apart,
    # which gem5's power expressions cannot read; a multiplication more or less is some 20 pJ.
    "core.ialu_accesses": _sum("intAluAccesses"),
    "core.cdb_alu_accesses": _sum("intAluAccesses"),
    "core.fpu_accesses": _sum("fpAluAccesses", "vecAluAccesses"),
    "core.cdb_fpu_accesses": _sum("fpAluAccesses", "vecAluAccesses"),
}

#: Events of a cluster's L2, in the row of its shared part.
L2: Columns = {
    "L2.read_accesses": _sum("l2.overallAccesses"),
    "L2.write_accesses": _sum("l2.WritebackDirty.accesses"),
    "L2.read_misses": _sum("l2.overallMisses"),
}

#: Commands that reach a cache of ours, so that may be in its sums over commands.
_SUMMED: Mapping[str, tuple[str, ...]] = {
    "icache": ("ReadReq",),
    "dcache": ("ReadReq", "WriteReq", "WriteLineReq", "SoftPFReq", "SoftPFExReq"),
    "l2": ("ReadReq", "ReadExReq", "ReadCleanReq", "ReadSharedReq"),
}
#: Commands whose accesses are read alone.
_ALONE: Mapping[str, tuple[str, ...]] = {
    "dcache": ("ReadReq", "SoftPFReq", "LoadLockedReq", "WriteReq", "StoreCondReq"),
    "l2": ("WritebackDirty",),
}
#: Commands that would belong to the sums above and do not reach these caches: a prefetcher's are
#: not counted by its own cache, L1s ask the L2 for a line by other commands than the CPU asked
#: them, and keep clean lines to themselves. Rows do not read them;
#: `engines.gem5.inside.probes.unread` looks that they are zero.
ABSENT: Mapping[str, tuple[str, ...]] = {
    "icache": ("SoftPFReq", "HardPFReq"),
    "dcache": ("ReadExReq", "ReadCleanReq", "ReadSharedReq", "HardPFReq"),
    "l2": ("WriteReq", "WriteLineReq", "SoftPFReq", "SoftPFExReq", "HardPFReq", "WritebackClean"),
}


def _formulas() -> dict[str, tuple[str, ...]]:
    formulas = {}
    for cache, commands in _SUMMED.items():
        misses = tuple(f"{cache}.{command}.misses" for command in commands)
        hits = tuple(f"{cache}.{command}.hits" for command in commands)
        formulas[f"{cache}.overallMisses"] = misses
        formulas[f"{cache}.overallAccesses"] = (*hits, *misses)
    for cache, commands in _ALONE.items():
        for command in commands:
            name = f"{cache}.{command}"
            formulas[f"{name}.accesses"] = (f"{name}.hits", f"{name}.misses")
    return formulas


#: Formulas of gem5's caches, and the vectors of which they are sums. gem5 computes a formula for
#: every requestor and command anew, which takes tens of times as long as to read the vectors.
FORMULAS: Mapping[str, tuple[str, ...]] = _formulas()

EVENTS: Mapping[str, Columns] = {"ArmMinorCPU": _MINOR, "ArmO3CPU": _O3}


def cpu_events(model: str) -> Columns:
    """Events of one CPU of gem5's class ``model``; none of the models that have no pipeline."""
    return EVENTS.get(model, {})


def event_columns(models: Sequence[str]) -> list[str]:
    """All events that rows of a machine with these CPU models have, in one order."""
    names: dict[str, None] = {}
    for model in models:
        names |= dict.fromkeys(cpu_events(model))
    if names:
        names |= dict.fromkeys(L2)
    return list(names)
