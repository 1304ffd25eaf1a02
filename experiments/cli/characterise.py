# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope characterise``: how fast gem5's detailed cores are, measured or as it was measured.

Two parts: workload kernels, alone on a CPU (``configs/activity/PLATFORM.json``), and the system
code of a whole system (``configs/activity/system/PLATFORM.json``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.cli.output import print_json
from host.errors import RequestError
from host.proc import Step, say
from host.strict import shown_path

if TYPE_CHECKING:
    from pathlib import Path

    from configs.platform import Platform
    from experiments.cell import Cell
    from experiments.request import Names

SUMMARY = "measure speeds on gem5's detailed cores: workload kernels, a whole system"
EXAMPLE = "eascope characterise juno-r2 --show"

PARTS = {
    "kernels": "workload kernels on one CPU of each cluster, without an operating system",
    "system": "kernel, agent and rt-app without its busy loop, in one run of a whole system",
}
#: The cell of the second part: on each platform it wakes tasks on every cluster.
SCENARIO, VARIANT, MODE = "eas/video-playback", "mainline", "elided-detailed"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The platform, and which parts are measured or shown."""
    parser.add_argument("platform", metavar="P", help="see: eascope list platforms")
    parser.add_argument(
        "--show", action="store_true", help="print what was measured before; measure nothing"
    )
    parts = "; ".join(f"{name}, {meaning}" for name, meaning in PARTS.items())
    parser.add_argument("--only", choices=PARTS, help=f"one part: {parts}")


def run(options: argparse.Namespace) -> int:
    """Measure, write the files of the parts that are asked for, print what is in them.

    :raises EascopeError: there is no gem5, or a part was not measured yet.
    """
    from configs.platform_file import load_platform

    parts = list(PARTS) if options.only is None else [options.only]
    platform = load_platform(options.platform)
    if not options.show:
        _measure(platform, parts)
    record: dict[str, object] = {}
    texts = []
    for part in parts:
        fields, text = _PRINTED[part](platform)
        record |= fields
        texts.append(text)
    if options.json:
        print_json(record)
    else:
        print("\n\n".join(texts))
    return 0


def _measure(platform: Platform, parts: Sequence[str]) -> None:
    """Measure the parts and write their files."""
    from configs.activity import load_activity
    from engines.gem5.provider import find_gem5

    load_activity(platform)  # a wrong file ends the command before gem5 starts
    find_gem5()
    for part, measure in (("kernels", _kernels), ("system", measure_system)):
        if part in parts:
            say(f"written to {shown_path(measure(platform))}")


def _print_kernels(platform: Platform) -> tuple[dict[str, object], str]:
    """Speeds of the workload kernels, and the capacities that they make: JSON and text."""
    from configs.activity import load_activity
    from experiments.characterise.record import capacities, text

    activity = load_activity(platform)
    if not activity.measured:
        raise RequestError(
            f"{shown_path(activity.path)}: measured is missing: run eascope characterise "
            f"{platform.name} (needs gem5)"
        )
    record: dict[str, object] = {
        "kernels": [asdict(kernel) for kernel in activity.measured],
        "capacities": capacities(platform, activity.measured),
    }
    return record, text(platform, activity.measured)


def _print_system(platform: Platform) -> tuple[dict[str, object], str]:
    """Speeds of everything but the busy loop: JSON and text."""
    from configs.activity import load_activity
    from configs.system_activity import load_system, system_path
    from experiments.characterise.system import system_text

    folder = load_activity(platform).path.parent
    system = load_system(platform, folder)
    if system is None:
        raise RequestError(
            f"{shown_path(system_path(platform, folder))} is missing (instructions per cycle of "
            f"system code): run eascope characterise {platform.name} (needs gem5)"
        )
    record: dict[str, object] = {"system": [asdict(cluster) for cluster in system.clusters]}
    return record, system_text(system.clusters)


_PRINTED: dict[str, Callable[[Platform], tuple[dict[str, object], str]]] = {
    "kernels": _print_kernels,
    "system": _print_system,
}


def _kernels(platform: Platform) -> Path:
    """The workload kernels on a CPU of each cluster, in minutes; the file that was written."""
    from experiments.characterise.guest import KERNELS
    from experiments.characterise.measure import measure, provenance
    from experiments.characterise.record import write

    instructions = 0.14e6 * len(KERNELS) * sum(len(cluster.opps) for cluster in platform.clusters)
    with (
        Step(f"gem5's detailed cores of {platform.name}", instructions / 0.1e6),
        ThreadPoolExecutor(2) as pool,
    ):
        parts = list(pool.map(lambda cluster: measure(platform, cluster, say), platform.clusters))
    measured = [entry for part, _ in parts for entry in part]
    return write(platform, measured, provenance(platform, parts[0][1]))


def system_names(platform: Platform) -> Names:
    """The cell in which system code is measured.

    It is the cell of ``--speeds measured``, where gem5's cores decide how fast loops are. Its key
    does not depend on the file that is made from it.

    :raises RequestError: as `resolve`, so when the busy loop itself was not measured.
    """
    from experiments.controls import Controls
    from experiments.request import Request, resolve

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
    """What the figures of ``cell``'s run depend on."""
    request, identity = cell.names.request, cell.record.engine_identity
    return {
        "gem5": identity.version,
        "gem5_sha256": str(identity.others["binary_sha256"]),
        "simkey": cell.simkey,
        "scenario": request.scenario,
        "variant": request.variant,
        "mode": cell.names.engine.mode,
        "seed": request.seed,
        "command": f"eascope characterise {request.platform}",
    }


def measure_system(platform: Platform, directory: Path | None = None) -> Path:
    """One run of a whole system, unless it is there already, in minutes; the file made from it.

    :param directory: the folder of activity files (the committed ones).
    :raises EascopeError: when the run failed, or a cluster executed too little.
    """
    import polars as pl

    from analysis.window import read_window
    from configs.activity import ACTIVITY
    from experiments.cell import prepare
    from experiments.characterise.system import evaluate, write_system
    from experiments.pool import run_all

    cell = prepare(system_names(platform))
    say(f"{SCENARIO} on gem5's detailed cores of {platform.name}")
    (folder,) = run_all([cell], lambda _, run: run.path)
    window = read_window(folder / "marks.json")
    counters = pl.read_parquet(folder / "counters.parquet")
    measured = evaluate(platform, counters, window.t0_ns, window.t1_ns)
    return write_system(platform, measured, system_provenance(cell), directory or ACTIVITY)
