# SPDX-License-Identifier: GPL-2.0-or-later
"""The two parts of ``eascope characterise``: each measures, and writes its file.

Workload kernels run alone on a CPU (``configs/activity/PLATFORM.json``). System code is measured in
an ordinary cell (``configs/activity/system/PLATFORM.json``).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from eascope.analysis.window import read_window
from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.engines.records import COUNTERS, MARKS
from eascope.experiments.characterisation.guest import KERNELS
from eascope.experiments.characterisation.measure import measure, provenance
from eascope.experiments.characterisation.record import write
from eascope.experiments.characterisation.system import evaluate, write_system
from eascope.experiments.controls import Controls
from eascope.experiments.runs.cell import Cell, prepare
from eascope.experiments.runs.pool import run_all
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.host.proc import Step, say

#: The cell of the second part: on each platform it wakes tasks on every cluster.
SCENARIO, VARIANT, MODE = "eas/video-playback", "mainline", "elided-detailed"
#: What a kernel executes at each OPP, and the speed of gem5's detailed cores, for the estimate.
KERNEL_INSTRUCTIONS, INSTRUCTIONS_PER_S = 0.14e6, 0.1e6


def measure_kernels(platform: Platform) -> Path:
    """The workload kernels on a CPU of each cluster, in minutes; the file that was written.

    :raises EascopeError: when a run does not end as it should.
    """
    opps = sum(len(cluster.opps) for cluster in platform.clusters)
    estimate_s = KERNEL_INSTRUCTIONS * len(KERNELS) * opps / INSTRUCTIONS_PER_S
    with (
        Step(f"gem5's detailed cores of {platform.name}", estimate_s),
        ThreadPoolExecutor(2) as pool,
    ):
        parts = list(pool.map(lambda cluster: measure(platform, cluster, say), platform.clusters))
    return write(platform, [entry for part in parts for entry in part], provenance(platform))


def system_names(platform: Platform) -> Resolved:
    """The cell in which system code is measured.

    It is the cell of ``--speeds measured``, where gem5's cores decide how fast loops are. Its key
    does not depend on the file that is made from it.

    :raises RequestError: as `resolve`, so when the busy loop itself was not measured.
    """
    controls = Controls(speeds="measured")
    return resolve(
        Request(
            platform=platform.name,
            variant=VARIANT,
            scenario=SCENARIO,
            engine="gem5",
            mode=MODE,
            controls=controls,
        )
    )


def system_provenance(cell: Cell) -> dict[str, str | int]:
    """The inputs of the figures of ``cell``'s run."""
    request, identity = cell.resolved.request, cell.record.engine_identity
    return {
        "gem5": identity.version,
        "gem5_sha256": str(identity.others["binary_sha256"]),
        "simkey": cell.simkey,
        "scenario": request.scenario,
        "variant": request.variant,
        "mode": cell.resolved.engine.mode,
        "seed": request.seed,
        "command": f"eascope characterise {request.platform}",
    }


def measure_system(platform: Platform, directory: Path = ACTIVITY) -> Path:
    """One run of a whole system, unless it is there already, in minutes; the file made from it.

    :raises EascopeError: when the run failed, or a cluster executed too little.
    """
    cell = prepare(system_names(platform))
    say(f"{SCENARIO} on gem5's detailed cores of {platform.name}")
    (folder,) = run_all([cell], lambda _, run: run.path)
    window = read_window(folder / MARKS)
    counters = pl.read_parquet(folder / COUNTERS)
    measured = evaluate(platform, counters, window.t0_ns, window.t1_ns)
    return write_system(platform, measured, system_provenance(cell), directory)
