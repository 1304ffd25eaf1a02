# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's figures: their file, and a table for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.program_activity import SCHEMA, ProgramActivity, program_path
from eascope.experiments.characterisation.program_time import ProgramTime
from eascope.experiments.characterisation.record import write_measured
from eascope.host.table import Column, Table

CONDITIONS = (
    "user space of a copy of the program, alone on the first CPU of the cluster, shared libraries "
    "included; copies on all clusters at once, on gem5's detailed cores, tracing off"
)


def write_program(
    platform: Platform,
    program: str,
    measured: Sequence[ProgramTime],
    provenance: Mapping[str, str],
    directory: Path = ACTIVITY,
) -> Path:
    """Write the file below the activity files' ``directory``; the same figures stay as they are."""
    path = program_path(platform, program, directory)
    figures = {
        "conditions": CONDITIONS,
        "clusters": {item.cluster: _entry(item) for item in measured},
    }
    head = {"schema": SCHEMA, "platform": platform.name, "program": program}
    return write_measured(path, head, provenance, figures)


def _entry(measured: ProgramTime) -> dict[str, Any]:
    return {
        "cycles": measured.cycles,
        "memory_ns": measured.memory_ns,
        "samples": {
            str(sample.khz): {
                "count": sample.count,
                "instructions": sample.instructions,
                "cycles": sample.cycles,
                "interval": sample.interval,
            }
            for sample in measured.samples
        },
    }


def program_table(figures: ProgramActivity) -> Table:
    """A line for each cluster and OPP."""
    columns = (
        *(Column("cluster", "left"), Column("OPP", unit="MHz"), Column("samples")),
        *(Column("IPC"), Column("95 % interval", unit="%"), Column("fitted IPC")),
    )
    rows = []
    for cluster in figures.clusters:
        for sample in cluster.samples:
            fitted = 1e6 / (cluster.ns(sample.khz) * sample.khz)
            rows.append(
                (
                    *(cluster.name, f"{sample.khz / 1000:g}", str(sample.count)),
                    f"{sample.instructions / sample.cycles:.3f}",
                    *(f"+-{100 * sample.interval:.1f}", f"{fitted:.3f}"),
                )
            )
    return Table(columns, tuple(rows))


def program_text(figures: ProgramActivity) -> str:
    """The table and the two parts of an instruction's time."""
    columns = (Column("cluster", "left"), Column("cycles"), Column("memory", unit="ns"))
    parts = [
        (cluster.name, f"{cluster.cycles:.3f}", f"{cluster.memory_ns:.3f}")
        for cluster in figures.clusters
    ]
    return "\n".join(
        [
            f"instructions per cycle of {figures.program} in user space",
            program_table(figures).text(),
            "",
            "time of an instruction: cycles / f + memory, fitted over all OPPs",
            Table(columns, tuple(parts)).text(),
        ]
    )
