# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.levels``: a rail's power with busy and with idle CPUs, beside its meter's.

Each figure of ``rail`` in ``boards/meter.toml`` is a run: its cluster at one clock, CPUs busy or in
one idle state. What is billed to the cluster is compared.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eascope.configs.overrides import overridden
from eascope.configs.platform_file import load_platform
from eascope.experiments.controls import Controls
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from research.draw import read
from research.plan import ROOT, STUDIES, plan_of
from research.run import study_command, table

STUDY = STUDIES / "boards"
COLUMNS = ("platform", "cluster", "khz", "state", "milliwatt", "ours")
#: Scenarios by state; every other state is the deepest idle state that CPUs may enter.
BUSY = {"one": "boards/busy-one", "all": "boards/busy-all"}
IDLE = "boards/idle"
CPU = "/sys/devices/system/cpu"


def request_of(row: Mapping[str, Any], folder: Path) -> Request:
    """The run of a figure: the cluster has this OPP alone, and deeper idle states are disabled.

    A limit of the policy would not do. The kernel takes it for pressure on the CPU's capacity, and
    wakes an idle CPU at each tick to balance; the meters' governor had none.
    """
    platform = load_platform(row["platform"])
    cluster = platform.cluster(row["cluster"])
    path = folder / f"{platform.name}-{cluster.name}-{row['khz']}.toml"
    only = {f"{cluster.name}.opps": [row["khz"]]}
    path.write_text(overridden(platform.name, platform, only).text)
    names = [state.name for state in cluster.idle_states]
    deepest = len(names) if row["state"] in BUSY else names.index(row["state"])
    disabled = tuple(
        (f"{CPU}/cpu{cpu}/cpuidle/state{number}/disable", "1")
        for cpu in cluster.cpus
        for number in range(deepest + 1, len(names))
    )
    controls = Controls(noise=False, switches=disabled)
    return Request(str(path), "mainline", BUSY.get(row["state"], IDLE), controls=controls)


def record_of(command: str) -> dict[str, Any]:
    """The record of every figure's run; executes missing runs."""
    rows = read(ROOT / plan_of(STUDY).records["meter"])["rail"]
    with tempfile.TemporaryDirectory(prefix="eascope-levels-") as folder:
        names = [resolve(request_of(row, Path(folder))) for row in rows]
        done = measured(names, derived_for)
    ours = [
        1000 * run.result.energy_j.cluster[row["cluster"]] / run.result.window_s
        for row, run in zip(rows, done, strict=True)
    ]
    levels = [[*row.values(), mw] for row, mw in zip(rows, ours, strict=True)]
    origin = origin_of(command, [run.cell for run in done])
    return {"origins": [origin.encode()], "levels": table(COLUMNS, levels)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the missing runs and write the record."""
    return study_command("levels", record_of, arguments, STUDY / "levels.json")


if __name__ == "__main__":
    sys.exit(main())
