# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on scale: the parts for its notes."""

from __future__ import annotations

from analysis.results.measured import FigureRecord
from host.table import Table
from studies.drawing import Drawing
from studies.origins import origins
from studies.scale.plan import (
    COMMAND_S,
    CORES_OF_DEMO,
    DEMO_S,
    EFFICIENCY,
    GAIN,
    NAME,
    PLAN_MB,
    PLAN_S,
)
from studies.scale.schedule import CELLS, CORES, SPREAD, cost_of, filled

#: Measurements of parts with two variants, and their scenarios.
_OF_TWO = {"video": "eas/video-playback", "spike": "uclamp/frequency-spike"}


def parts(record: FigureRecord) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    cost = cost_of(record)
    days = CELLS / record.figure("boot", "cells") * record.figure("boot", "shared_s") / 86_400
    return {
        "table": _table(record).markdown(),
        "demo": _demo(record),
        "gain": f"{_gain(record, 'boot'):.2f} times",
        "video": _video(record),
        "cells": f"{CELLS:,}".replace(",", " "),
        "part": f"{record.figure('boot', 'cells'):.0f}",
        "days": f"{days:.1f} days",
        "left": f"{CELLS * cost.kib / 1024**2:.0f} GiB in "
        f"{CELLS * cost.files // 10**6} million files",
        "mixed": f"{min(_mixed(record)):g} to {max(_mixed(record)):g} s",
        "seconds": ",".join(f"{each:g}" for each in _mixed(record)),
        "schedule": _schedule(record).markdown(),
        "origins": origins("measurement", record).markdown(),
    }


def _gain(record: FigureRecord, name: str) -> float:
    """How many times as long the runs take when each boots."""
    return record.figure(name, "alone_s") / record.figure(name, "shared_s")


def _table(record: FigureRecord) -> Table:
    figure = record.figure
    cells = f"{figure('plan', 'cells'):,.0f}".replace(",", " ")
    many = f"{figure('boot', 'cells'):.0f}"
    rows = [
        (
            f"plan {cells} cells",
            f"{figure('plan', 'plan_s'):.1f} s, {figure('memory', 'plan_mib'):.0f} MiB",
            f"{PLAN_S} s, {PLAN_MB} MB{_met(_plan_is_small(record))}",
            "plan, memory",
        ),
        *(
            (
                f"`eascope {verb}` of {cells} finished cells, with Python's start",
                f"{figure('commands', f'{verb}_s'):.1f} s",
                f"{COMMAND_S} s{_met(figure('commands', f'{verb}_s') <= COMMAND_S)}",
                "commands",
            )
            for verb in ("status", "sweep")
            if f"{verb}_s" in record.measured["commands"].figures
        ),
        ("a cell's simkey", f"{figure('plan', 'simkey_ms'):.0f} ms", "", "plan"),
        (f"a part of {many} cells of `smoke`", f"{figure('boot', 'shared_s'):.1f} s", "", "boot"),
        (
            f"the same {many} cells when each boots by itself",
            f"{figure('boot', 'alone_s'):.1f} s: one boot is {_gain(record, 'boot'):.2f} times "
            "faster",
            f"{GAIN} times{_met(_gain(record, 'boot') >= GAIN)}",
            "boot",
        ),
        ("a part of one cell of `smoke`", f"{figure('part', 'shared_s'):.1f} s", "", "part"),
        *(
            (
                f"a part of {figure(name, 'cells'):.0f} cells of `{scenario}`, two variants",
                f"{figure(name, 'shared_s'):.1f} s",
                "",
                name,
            )
            for name, scenario in _OF_TWO.items()
        ),
        *_demo_rows(record),
        (
            f"{figure('two_jobs', 'cells'):.0f} equal cells with `-j 2` on two cores, wall time "
            "compared with `-j 1`",
            f"{figure('two_jobs', 'efficiency_percent'):.0f} % parallel efficiency",
            f"{EFFICIENCY} %{_met(figure('two_jobs', 'efficiency_percent') >= EFFICIENCY)}",
            "two_jobs",
        ),
        (
            f"{figure('sweep', 'cells'):.0f} cells of `smoke` in {figure('sweep', 'parts'):.0f} "
            "parts, everything included",
            f"{figure('sweep', 'all_s'):.0f} s, {figure('sweep', 'simulation_s'):.0f} s of them "
            "for the simulations",
            "",
            "sweep",
        ),
        (
            "a finished run of `smoke` with its derived tables",
            f"{figure('run', 'files'):.0f} files in {figure('run', 'folders'):.0f} folders, "
            f"{figure('run', 'kib'):.0f} KiB",
            "",
            "run",
        ),
    ]
    return Table.of(("what", "measured", "goal", "measurement"), rows, left=4)


def _met(met: object) -> str:
    return ": met" if met else ": missed"


def _plan_is_small(record: FigureRecord) -> bool:
    mb = record.figure("memory", "plan_mib") * 1024**2 / 1e6
    return record.figure("plan", "plan_s") <= PLAN_S and mb <= PLAN_MB


def _demo_rows(record: FigureRecord) -> list[tuple[str, ...]]:
    if "demo" not in record.measured:
        return []
    figure = record.figure
    runs = f"{figure('demo', 'runs'):.0f}"
    whole = (
        f"`eascope compare` of the demo with {runs} runs, the whole command",
        f"{figure('demo', 'shared_s'):.1f} s",
        f"{DEMO_S} s of wall time on two cores{_met(_demo_s(record) <= DEMO_S)}",
        "demo",
    )
    if "alone_s" not in record.measured["demo"].figures:
        return [whole]
    alone = (
        f"the same {runs} runs when each boots by itself",
        f"{figure('demo', 'alone_s'):.1f} s: one boot for each machine is "
        f"{_gain(record, 'demo'):.2f} times faster",
        "",
        "demo",
    )
    return [whole, alone]


def _demo_s(record: FigureRecord) -> float:
    """Wall seconds if both cores worked on the command all the time: it cannot take less."""
    return record.figure("demo", "shared_s") / CORES_OF_DEMO


def _demo(record: FigureRecord) -> str:
    """Whether the demo meets its goal."""
    if "demo" not in record.measured:
        return f"The goal of {DEMO_S} s of wall time for the demo's twenty runs was not measured."
    least = _demo_s(record)
    words = (
        f"The demo's {record.figure('demo', 'runs'):.0f} runs take "
        f"{record.figure('demo', 'shared_s'):.1f} processor seconds, so two cores that are always "
        f"busy would take {least:.1f} s. "
    )
    if least > DEMO_S:
        return f"{words}The goal of {DEMO_S} s of wall time is missed."
    real = least / (record.figure("two_jobs", "efficiency_percent") / 100)
    return (
        f"{words}Wall time was not measured, because the host had other work. At the parallel "
        f"efficiency of two jobs below it would be {real:.1f} s: "
        f"{'nothing shows that' if real > DEMO_S else 'by that'} the goal of {DEMO_S} s is met."
    )


def _video(record: FigureRecord) -> str:
    """The gain of one boot for a longer scenario, by what a boot costs `smoke`."""
    many = record.figure("boot", "cells") - 1
    boot_s = (record.figure("boot", "alone_s") - record.figure("boot", "shared_s")) / many
    shared = record.figure("video", "shared_s")
    boots = record.figure("video", "cells") - record.figure("video", "variants")
    return f"{(shared + boots * boot_s) / shared:.1f} times"


def _mixed(record: FigureRecord) -> list[float]:
    return list(record.measured["mixed"].figures.values())


def _schedule(record: FigureRecord) -> Table:
    """How parts fill cores, by simulation."""
    cost = cost_of(record)
    kinds = {"`smoke`": (CORES, [cost.each_s]), "mixed": (CORES[1:], _mixed(record))}
    rows = []
    for kind, (numbers, means) in kinds.items():
        for cores in numbers:
            ways = filled(CELLS, cores, means, SPREAD, cost.start_s).ways
            most = max(CELLS * cost.files / done.end_s for done in ways.values())
            shown = (f"{done.end_s / 3600:.2f}, {100 * done.busy:.0f} %" for done in ways.values())
            rows.append((str(cores), kind, *shown, f"{most:.0f}"))
    heads = ("Snakemake: hours, cores busy", "array: hours, cores busy", "files/s")
    return Table.of(("cores", "cells", *heads), rows, left=2)


DRAWINGS = {NAME: Drawing(FigureRecord, parts)}
