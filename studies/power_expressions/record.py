# SPDX-License-Identifier: GPL-2.0-or-later
"""The record: energy of each workload kernel, by rows and by expressions of gem5."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from configs.platform import Cluster, Platform
from engines.gem5.expressions import expressions
from engines.gem5.provider import find_gem5, version
from engines.records import START
from experiments.characterisation.guest import FIRST_MARK, KERNELS
from experiments.characterisation.measure import request, run_kernels
from host.cache import sha256_file
from host.errors import EascopeError
from power.events import EventPower, load_events
from power.records import ExpressionsRecord, KernelExpression

_BEGIN = "Begin Simulation Statistics"


def statistics(text: str) -> list[dict[str, float]]:
    """Each of the dumps in gem5's text: scalars by name."""
    return [
        {
            match[1]: float(match[2])
            for line in part.splitlines()
            if (match := re.match(r"(\S+)\s+([-\d.e+]+)\s", line))
        }
        for part in text.split(_BEGIN)[1:]
    ]


def compare(
    cluster: Cluster,
    power: EventPower,
    rows: Sequence[Mapping[str, float]],
    marks: Mapping[int, int],
    dumps: Sequence[Mapping[str, float]],
) -> list[KernelExpression]:
    """Every kernel between its marks, billed both ways.

    :param dumps: gem5's statistics at each mark in the window, since its begin.
    :raises EascopeError: when marks and dumps do not belong together.
    """
    inside = [number for number in marks if number != START]
    if len(dumps) != len(inside):
        raise EascopeError(f"{cluster.name}: {len(dumps)} dumps of gem5 at {len(inside)} marks")
    model = f"system.cluster_{cluster.name.replace('-', '_')}.cpus.power_model.dynamicPower"
    spent_j = {
        number: dump[model] * dump["simTicks"] / dump["simFreq"]
        for number, dump in zip(inside, dumps, strict=True)
    }
    compared = []
    for place, kernel in enumerate(KERNELS):
        first = FIRST_MARK + 2 * place
        begin, end = marks[first], marks[first + 1]
        own = [
            row
            for row in rows
            if row["cpu"] == 0 and int(row["t0_ns"]) >= begin and int(row["t1_ns"]) <= end
        ]
        instructions = sum(row["instructions"] for row in own)
        seconds = (end - begin) * 1e-9
        by_rows = sum(power.dynamic_w(row, 1.0, row["uv"] / 1e6) for row in own)
        by_expression = spent_j[first + 1] - spent_j[first]
        compared.append(
            KernelExpression(
                kernel=kernel,
                instructions=round(instructions),
                ipc=float(f"{instructions / seconds / cluster.max_khz / 1e3:.4g}"),
                rows_pj=float(f"{by_rows / instructions * 1e12:.6g}"),
                expression_pj=float(f"{by_expression / instructions * 1e12:.6g}"),
            )
        )
    return compared


def measure(platform: Platform, cluster: Cluster) -> ExpressionsRecord:
    """Run the kernels on a core of ``cluster``; the record that is committed.

    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    fastest = replace(cluster, opps=cluster.opps[-1:])
    clusters = tuple(
        fastest if other.name == cluster.name else other for other in platform.clusters
    )
    alone = replace(platform, clusters=clusters)
    asked = request(alone, fastest)
    asked["text_at_marks"] = True
    asked["power"] = expressions(asked["machine"], platform.temperature_c)
    with tempfile.TemporaryDirectory(prefix="eascope-expressions-") as name:
        folder = Path(name)
        rows, marks = run_kernels(asked, folder, cluster.name)
        dumps = statistics((folder / "stats.txt").read_text(encoding="utf-8"))
    power = load_events(cluster.core.name)
    return ExpressionsRecord(
        schema=1,
        core=cluster.core.name,
        model=asked["machine"]["clusters"][0]["model"],
        platform=platform.name,
        khz=fastest.max_khz,
        gem5=version(find_gem5()),
        gem5_sha256=sha256_file(find_gem5()),
        command="make power-expressions",
        kernels=tuple(compare(fastest, power, rows, marks, dumps)),
    )
