# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.power_expressions``: gem5's own power expressions compared with our rows.

Rows read every statistic that bills an event. An expression of gem5's MathExprPowerModel reads only
scalars (`engines.gem5.expressions`), and MinorCPU's mix of instructions is not a scalar. Here both
bill the same run of each workload kernel, at the fastest OPP, so that no transition is billed. The
records are in ``power-models/expressions``.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.expressions import expressions
from eascope.engines.gem5.provider import find_gem5, version
from eascope.engines.records import START
from eascope.experiments.characterisation.guest import FIRST_MARK, KERNELS
from eascope.experiments.characterisation.measure import request, run_kernels
from eascope.host.cache import sha256_file
from eascope.host.errors import EascopeError
from eascope.host.proc import Ending
from eascope.power.events import EventPower, load_events
from eascope.power.mcpat import POWER_MODELS
from eascope.power.records import ExpressionsRecord, KernelExpression, ordered_json

RECORDS = POWER_MODELS / "expressions"
#: Which platform shows each core; a core is compared once.
PLATFORMS = ("juno-r2", "pixel6")

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
        command="python -m research.power_expressions",
        kernels=tuple(compare(fastest, power, rows, marks, dumps)),
    )


def main() -> int:
    """Measure every core of `PLATFORMS` and write its record."""
    with Ending() as ending:
        find_gem5()
        RECORDS.mkdir(exist_ok=True)
        for name in PLATFORMS:
            platform = load_platform(name)
            for cluster in platform.clusters:
                record = measure(platform, cluster)
                path = RECORDS / f"{record.core}.json"
                path.write_bytes(ordered_json(record))
                print(f"{path}: written")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
