# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope characterise``: measure the speed of gem5's detailed cores, or show it.

It has two parts: workload kernels, alone on a CPU (``configs/activity/PLATFORM.json``), and the
system code of a whole system (``configs/activity/system/PLATFORM.json``). With ``--program`` it
measures a program's own code instead (``configs/activity/programs/PLATFORM/PROGRAM.json``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.experiments.cli.output import print_json
from eascope.host.errors import RequestError
from eascope.host.proc import say
from eascope.host.strict import shown_path

if TYPE_CHECKING:
    from eascope.configs.platform import Platform

SUMMARY = "measure speeds of workload kernels, system code or a program on gem5's detailed cores"
EXAMPLE = "eascope characterise juno-r2 --show"

PARTS = {
    "kernels": "workload kernels on one CPU of each cluster, without an operating system",
    "system": "kernel, agent and rt-app without its busy loop, in one run of a whole system",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The platform, and which parts are measured or shown."""
    parser.add_argument("platform", metavar="P", help="platform, see: eascope list platforms")
    parser.add_argument(
        "--show", action="store_true", help="print the earlier measurements; measure nothing"
    )
    parts = "; ".join(f"{name}: {meaning}" for name, meaning in PARTS.items())
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--only", choices=PARTS, help=f"measure one part; {parts}")
    what.add_argument(
        "--program",
        metavar="NAME",
        help="measure the own code of a program that scenarios name, such as sysbench-cpu",
    )


def run(options: argparse.Namespace) -> int:
    """Measure the asked parts, write their files, and print them.

    :raises EascopeError: there is no gem5, or a part was not measured yet.
    """
    from eascope.configs.platform_file import load_platform

    parts = list(PARTS) if options.only is None else [options.only]
    platform = load_platform(options.platform)
    if options.program is not None:
        return _program(platform, options)
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


def _program(platform: Platform, options: argparse.Namespace) -> int:
    """Measure a program, unless its figures are only to be shown, and print them."""
    from eascope.configs.program_activity import load_program, program_path
    from eascope.experiments.characterisation.program import measure_program, sampled
    from eascope.experiments.characterisation.program_record import program_text

    kind = sampled(platform, options.program).kind
    path = program_path(platform, kind)
    if not options.show:
        say(f"if values differ, {shown_path(path)} will be written, and runs of {kind} simulated")
        _told(path, lambda: measure_program(platform, kind))
    figures = load_program(platform, kind)
    if figures is None:
        raise RequestError(
            f"{shown_path(path)} is missing: run eascope characterise {platform.name} --program "
            f"{kind} (needs gem5)"
        )
    if options.json:
        print_json({"program": kind, "clusters": [asdict(cluster) for cluster in figures.clusters]})
    else:
        print(program_text(figures))
    return 0


def _measure(platform: Platform, parts: Sequence[str]) -> None:
    """Measure the parts, and write those of their files whose figures differ."""
    from eascope.configs.activity import load_activity
    from eascope.configs.system_activity import system_path
    from eascope.engines.gem5.provider import find_gem5
    from eascope.experiments.characterisation.parts import measure_kernels, measure_system

    # A file that is wrong, or a missing gem5, ends the command before gem5 starts.
    activity = load_activity(platform).path
    find_gem5()
    where = {"kernels": activity, "system": system_path(platform, activity.parent)}
    names = " and ".join(shown_path(where[part]) for part in PARTS if part in parts)
    say(f"if values differ, {names} will be written, and results recomputed")
    for part, measure in (("kernels", measure_kernels), ("system", measure_system)):
        if part in parts:
            _told(where[part], partial(measure, platform))


def _told(path: Path, measure: Callable[[], object]) -> None:
    """Measure, and say whether that has changed the file of the figures."""
    before = _content(path)
    measure()
    words = "written" if _content(path) != before else "unchanged, not rewritten"
    say(f"{shown_path(path)}: {words}")


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _print_kernels(platform: Platform) -> tuple[dict[str, object], str]:
    """Speeds of the workload kernels, and the capacities that follow: JSON and text."""
    from eascope.configs.activity import load_activity
    from eascope.engines.timing.mixture import misses
    from eascope.experiments.characterisation.record import capacities, text, times

    activity = load_activity(platform)
    if not activity.measured:
        raise RequestError(
            f"{shown_path(activity.path)}: measured is missing: run eascope characterise "
            f"{platform.name} (needs gem5)"
        )
    record: dict[str, object] = {
        "kernels": [asdict(kernel) for kernel in activity.measured],
        "times": [asdict(time) for time in times(activity.measured)],
        "misses": {name: asdict(miss) for name, miss in misses(activity.measured).items()},
        "capacities": [capacity.encode() for capacity in capacities(platform, activity.measured)],
    }
    return record, text(platform, activity.measured)


def _print_system(platform: Platform) -> tuple[dict[str, object], str]:
    from eascope.configs.activity import load_activity
    from eascope.configs.system_activity import load_system, system_path
    from eascope.experiments.characterisation.system import system_text

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
