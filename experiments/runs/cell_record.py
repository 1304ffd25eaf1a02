# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a cell, ``cell.json``, made from the cell's parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from eascope.analysis.records.cell import (
    CELL,
    SCHEMA,
    CellRecord,
    ControlsRecord,
    EnergyModelRecord,
    IdentityRecord,
    Inputs,
    KernelRecord,
    Settings,
    SourceConditionsRecord,
    WindowRecord,
)
from eascope.engines.base import Identity
from eascope.experiments.runs.request import Resolved, without_rates
from eascope.experiments.scenario.model import Bind, Move, Write
from eascope.experiments.scenario.workload import FTRACE, Workload
from eascope.kernels.build import KernelArtefact
from eascope.kernels.state import cpu_list
from eascope.power.given import given_record
from eascope.rootfs.image import ImageArtefact


def cell_record(  # noqa: PLR0913 - all by keyword; each is a part of the record
    resolved: Resolved,
    *,
    image: KernelArtefact,
    guest: ImageArtefact,
    workload: Workload,
    events: Sequence[str],
    trace_kib: int,
    digests: dict[str, str],
    simkey: str,
    identity: Identity,
    settings: dict[str, Any],
) -> CellRecord:
    """``cell.json``: the inputs in words and digests.

    :param events: what the run records, as ``system:name``.
    :param trace_kib: ring buffer of a CPU for that.
    """
    request, platform, scenario = resolved.request, resolved.platform, resolved.scenario
    had = scenario.source_conditions
    return CellRecord(
        schema=SCHEMA,
        simkey=simkey,
        platform=platform.name,
        variant=resolved.variant.name,
        scenario=scenario.name,
        engine=request.engine,
        mode=resolved.engine.mode,
        seed=request.seed,
        duration="full" if request.full else "short",
        elide=request.elide,
        kernel=KernelRecord(
            name=resolved.variant.kernel, version=image.version, **vars(image.provenance)
        ),
        energy_model=EnergyModelRecord.decode(given_record(platform, request.energy_model), CELL),
        declares=asdict(resolved.variant.declares),
        switches=resolved.variant.switches,
        initramfs=guest.provenance,
        digests=digests,
        inputs=Inputs(platform.digest, resolved.activity.digest, scenario.digest),
        set_otherwise=tuple(request.controls.words),
        controls=_controls_record(resolved, image, events, trace_kib),
        tasks=(*workload.tasks, *(program.task() for program in scenario.programs)),
        programs=tuple(program.record(request.full) for program in scenario.programs),
        interrupts=scenario.interrupts,
        window=WindowRecord(
            scenario.window.warmup_ms,
            scenario.window.length_ms(request.full),
            scenario.window.mainline_ms,
            tuple(map(_event, scenario.writes)),
        ),
        expect=tuple(
            statement for statement in scenario.expect if statement.variant == resolved.variant.name
        ),
        work=scenario.work,
        own_platform=platform.own,
        # Of the scenario's source, whether this cell has them or not.
        source_conditions=None
        if had is None
        else SourceConditionsRecord(had.source, had.platform, tuple(had.controls.words)),
        frames=scenario.frames,
        borrowed=tuple(platform.borrowed),
        assumed=_assumed(resolved),
        engine_identity=IdentityRecord.decode(identity.encode(), CELL),
        engine_traits=resolved.engine.traits,
        settings=Settings.decode(settings, CELL),
        replicate=workload.replicate,
    )


def _event(event: Write | Move | Bind) -> str:
    if isinstance(event, Move):
        return f"{event.at_ms} {event.task} > {event.group.name}"
    if isinstance(event, Bind):
        return f"{event.at_ms} {event.thread} > {cpu_list(event.cpus)}"
    return f"{event.at_ms} {event.path}={event.value}"


def _assumed(resolved: Resolved) -> tuple[str, ...]:
    """Rates and times that were not measured; on gem5, CPU models decide most rates."""
    activity, idle = resolved.activity, resolved.platform.assumed_times
    if not resolved.engine.traits.stated_rates:
        return (*activity.assumed, *idle)
    programs = without_rates(resolved.scenario, resolved.platform, resolved.rates)
    return (*activity.assumed, *activity.assumed_system, *idle, *programs)


def _controls_record(
    resolved: Resolved, image: KernelArtefact, events: Sequence[str], trace_kib: int
) -> ControlsRecord:
    """The controls, from the cell's inputs; ``state.txt`` has the guest's."""
    request, platform = resolved.request, resolved.platform
    non_default = request.controls.values
    own = {entry.name for entry in fields(ControlsRecord)}
    return ControlsRecord(
        hz=_config_value(image.config, "HZ"),
        rate_limit_us=platform.rate_limit_us,
        transition_latency_us=platform.transition_latency_us,
        speeds=request.controls.speeds,
        trace_events=tuple(events),
        trace_kib_per_cpu=trace_kib,
        others={
            **{name: value for name, value in non_default.items() if name not in own},
            "trace_markers": f"rt-app: {FTRACE}",
            "temperature_c": platform.temperature_c,
        },
    )


def _config_value(config: Path, name: str) -> int:
    match = re.search(rf"^CONFIG_{name}=(\d+)$", config.read_text(), re.MULTILINE)
    if match is None:
        raise ValueError(f"{config}: CONFIG_{name} is not set")
    return int(match[1])
