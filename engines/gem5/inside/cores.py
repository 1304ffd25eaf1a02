# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs from settings. Only gem5's embedded Python can import this."""

from __future__ import annotations

from typing import Any, cast

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

from eascope.engines.gem5.inside.request import (
    MinorUnit,
    O3Unit,
    PipelineSettings,
    PredictorSettings,
)


def cpu_class(model: str) -> Any:
    """gem5's class ``model``."""
    return getattr(m5.objects, model)


def configure(cpu: Any, pipeline: PipelineSettings) -> None:
    """Give ``cpu`` the parameters, units, predictor and TLBs of ``pipeline``."""
    for name, value in pipeline["parameters"].items():
        setattr(cpu, name, value)
    cpu.branchPred = _predictor(pipeline["predictor"])
    cpu.mmu.itb.size = pipeline["tlbs"]["itlb"]
    cpu.mmu.dtb.size = pipeline["tlbs"]["dtlb"]
    if pipeline["predictor"]["kind"] == "TournamentBP":
        minor = cast("list[MinorUnit]", pipeline["units"])
        cpu.executeFuncUnits = MinorFUPool(funcUnits=[_minor_unit(unit) for unit in minor])
    else:
        o3 = cast("list[O3Unit]", pipeline["units"])
        cpu.fuPool = FUPool(FUList=[_o3_unit(unit) for unit in o3])


def _predictor(settings: PredictorSettings) -> Any:
    shared = {
        "btb": SimpleBTB(numEntries=settings["btb_entries"]),
        "ras": ReturnAddrStack(numEntries=settings["return_stack_entries"]),
        "globalPredictorSize": settings["entries"],
        "choicePredictorSize": settings["entries"],
    }
    if settings["kind"] == "BiModeBP":
        return BiModeBP(**shared)
    return TournamentBP(
        localPredictorSize=settings["entries"], localHistoryTableSize=settings["entries"], **shared
    )


def _minor_unit(unit: MinorUnit) -> Any:
    classes = MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in unit["operations"]])
    timing = MinorFUTiming(srcRegsRelativeLats=[unit["relative"]], extraAssumedLat=unit["assumed"])
    return MinorFU(
        opClasses=classes, opLat=unit["latency"], issueLat=unit["issue"], timings=[timing]
    )


def _o3_unit(unit: O3Unit) -> Any:
    operations = [
        OpDesc(opClass=name, opLat=latency, pipelined=pipelined)
        for name, latency, pipelined in unit["operations"]
    ]
    return FUDesc(opList=operations, count=unit["count"])
