# SPDX-License-Identifier: GPL-2.0-or-later
"""Functional units of the detailed CPU models, made from a core's structure and its pipeline."""

from __future__ import annotations

from typing import TypeAlias

from eascope.configs.core import Core
from eascope.configs.pipeline import Pipeline
from eascope.engines.gem5.inside.operations import FLOAT_GROUPS, LOADS, STORES, SYSTEM
from eascope.engines.gem5.inside.request import MinorUnit, O3Unit

#: Class, latency, and whether it is pipelined.
UnitOperation: TypeAlias = list[str | int | bool]
#: Latency of an access to a system register, as in gem5's O3_ARM_v7a.py.
SYSTEM_CYCLES = 3


def minor_units(core: Core, pipeline: Pipeline) -> list[MinorUnit]:
    """MinorCPU's units."""
    cycles = {name: figure.value for name, figure in pipeline.latencies.items()}
    memory = {name: figure.value for name, figure in pipeline.memory_pipelines.items()}

    def unit(
        operations: tuple[str, ...],
        latency: int,
        issue: int = 1,
        relative: int = 0,
        assumed: int = 0,
    ) -> MinorUnit:
        return {
            "operations": list(operations),
            "latency": latency,
            "issue": issue,
            "relative": relative,
            "assumed": assumed,
        }

    units = [
        unit(("IntAlu",), cycles["integer"], relative=cycles["integer_forwarding"])
        for _ in range(core.structure["integer_alus"].value)
    ]
    units += (
        unit(("IntMult",), cycles["multiply"])
        for _ in range(core.structure["integer_multipliers"].value)
    )
    units.append(unit(("IntDiv",), cycles["divide"], issue=cycles["divide"]))
    for name, operations in FLOAT_GROUPS.items():
        alone = name in ("fp_divide", "fp_sqrt")
        count = 1 if alone else core.structure["fp_units"].value
        issue = cycles[name] if alone else 1
        units += (unit(operations, cycles[name], issue=issue) for _ in range(count))
    for name, operations in (
        ("load", LOADS),
        ("store", STORES),
        ("load_store", LOADS + STORES),
    ):
        for _ in range(memory[name]):
            units.append(unit(operations, 1, relative=1, assumed=cycles["load"] - 1))
    units.append(unit(SYSTEM, 1))
    return units


def o3_units(core: Core, pipeline: Pipeline) -> list[O3Unit]:
    """O3CPU's units, those that the core has."""
    cycles = {name: figure.value for name, figure in pipeline.latencies.items()}
    memory = {name: figure.value for name, figure in pipeline.memory_pipelines.items()}
    structure = core.structure

    def unit(count: int, operations: list[UnitOperation]) -> O3Unit:
        return {"count": count, "operations": operations}

    address = cycles["load"] - pipeline.caches["l1d"].value
    loads: list[UnitOperation] = [[name, address, True] for name in LOADS]
    stores: list[UnitOperation] = [[name, address, True] for name in STORES]
    floats: list[UnitOperation] = [
        [operation, cycles[name], name not in ("fp_divide", "fp_sqrt")]
        for name, operations in FLOAT_GROUPS.items()
        for operation in operations
    ]
    system: list[UnitOperation] = [[name, SYSTEM_CYCLES, True] for name in SYSTEM]
    complex_integer: list[UnitOperation] = [
        ["IntMult", cycles["multiply"], True],
        ["IntDiv", cycles["divide"], False],
        *system,
    ]
    units = [
        unit(structure["integer_alus"].value, [["IntAlu", cycles["integer"], True]]),
        unit(structure["integer_multipliers"].value, complex_integer),
        unit(structure["fp_units"].value, floats),
        unit(memory["load"], loads),
        unit(memory["store"], stores),
        unit(memory["load_store"], loads + stores),
    ]
    return [entry for entry in units if entry["count"]]
