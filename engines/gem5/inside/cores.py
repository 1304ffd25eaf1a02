# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs from settings. Only gem5's embedded Python can import this."""

from __future__ import annotations

from typing import Any

import m5
from m5.objects import (
    BiModeBP,
    FUDesc,
    FUPool,
    MinorFU,
    MinorFUPool,
    MinorFUTiming,
    MinorOpClass,
    MinorOpClassSet,
    OpDesc,
    ReturnAddrStack,
    SimpleBTB,
    TournamentBP,
)


def cpu_class(model: str) -> Any:
    """gem5's class ``model``."""
    return getattr(m5.objects, model)


def configure(cpu: Any, pipeline: dict[str, Any]) -> None:
    """Give ``cpu`` the parameters, units, predictor and TLBs of ``pipeline``."""
    for name, value in pipeline["parameters"].items():
        setattr(cpu, name, value)
    cpu.branchPred = _predictor(pipeline["predictor"])
    cpu.mmu.itb.size = pipeline["tlbs"]["itlb"]
    cpu.mmu.dtb.size = pipeline["tlbs"]["dtlb"]
    if pipeline["predictor"]["kind"] == "TournamentBP":
        cpu.executeFuncUnits = MinorFUPool(
            funcUnits=[_minor_unit(unit) for unit in pipeline["units"]]
        )
    else:
        cpu.fuPool = FUPool(FUList=[_o3_unit(unit) for unit in pipeline["units"]])


def _predictor(told: dict[str, Any]) -> Any:
    shared = {
        "btb": SimpleBTB(numEntries=told["btb_entries"]),
        "ras": ReturnAddrStack(numEntries=told["return_stack_entries"]),
        "globalPredictorSize": told["entries"],
        "choicePredictorSize": told["entries"],
    }
    if told["kind"] == "BiModeBP":
        return BiModeBP(**shared)
    return TournamentBP(
        localPredictorSize=told["entries"], localHistoryTableSize=told["entries"], **shared
    )


def _minor_unit(told: dict[str, Any]) -> Any:
    classes = MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in told["operations"]])
    timing = MinorFUTiming(srcRegsRelativeLats=[told["relative"]], extraAssumedLat=told["assumed"])
    return MinorFU(
        opClasses=classes, opLat=told["latency"], issueLat=told["issue"], timings=[timing]
    )


def _o3_unit(told: dict[str, Any]) -> Any:
    operations = [
        OpDesc(opClass=name, opLat=latency, pipelined=pipelined)
        for name, latency, pipelined in told["operations"]
    ]
    return FUDesc(opList=operations, count=told["count"])
