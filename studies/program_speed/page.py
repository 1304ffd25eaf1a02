# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on programs' speed: the comparison, and every program's measured figures."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.results.program_speed import ProgramRate, ProgramSpeeds, WholeRun
from configs.activity import ACTIVITY, load_activity
from configs.platform import Platform
from configs.platform_file import load_platform
from configs.program_activity import (
    FOLDER,
    ClusterProgram,
    ProgramActivity,
    ProgramSamples,
    load_program,
)
from host.table import Column, Table
from studies.drawing import Drawing
from studies.patches import origin_words
from studies.program_speed.plan import GOAL_PERCENT, NAME


def parts(record: ProgramSpeeds) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    known = list(_known())
    worst = max(abs(each.percent) for each in record.programs)
    met = "met" if worst <= GOAL_PERCENT else "missed"
    widest = max(
        samples.interval
        for _, figures in known
        for cluster in figures.clusters
        for samples in cluster.samples
    )
    return {
        "worst": f"{worst:.1f} %",
        "goal": f"{GOAL_PERCENT} %, which is {met}",
        "differences": ", ".join(f"{e.cluster} {e.percent:+.1f} %" for e in record.programs),
        "without": ", ".join(f"{e.cluster} {_at_kernels(e):+.1f} %" for e in record.programs),
        "widest": f"{100 * widest:.1f} %",
        "conditions": "\n".join(
            [
                f"* Platform {record.platform}, variant {record.variant}, short form of "
                f"`{record.scenario}`, without noise; gem5 in mode `{record.mode}`.",
                f"* gem5 took {record.cpu_s[1]:.0f} processor seconds for {record.sim_s:.3f} s of "
                f"window and what comes before it, the fast engine {record.cpu_s[0]:.1f}.",
                f"* {origin_words(record.origin)}",
                *(f"* {remark}" for remark in record.origin.remarks),
            ]
        ),
        "table": _table(record).markdown(),
        "figures": _figures(known).markdown(),
        "slower": _against_system(known),
        "whole": _whole(record.whole),
        "measures": _measures(record.whole).markdown(),
    }


def _table(record: ProgramSpeeds) -> Table:
    columns = (
        *(Column("program", "left"), Column("cluster", "left")),
        *(Column("fast engine", unit="1/s"), Column("gem5", unit="1/s"), Column("difference")),
        Column("the fast engine's rate", "left"),
        Column("difference at the kernel's rate"),
    )
    rows = [
        (
            *(f"{each.run}, events", each.cluster, f"{each.fast:.1f}", f"{each.gem5:.1f}"),
            f"{each.percent:+.1f} %{'' if abs(each.percent) <= GOAL_PERCENT else ' *'}",
            "measured for the program" if each.own_figures else "the kernel's",
            f"{_at_kernels(each):+.1f} %",
        )
        for each in record.programs
    ]
    return Table(columns, tuple(rows))


def _at_kernels(compared: ProgramRate) -> float:
    """The difference from gem5 at the kernel's rate, in per cent."""
    return 100 * (compared.at_kernels / compared.gem5 - 1)


def _whole(run: WholeRun) -> str:
    fast, gem5 = run.cpu_s
    return (
        f"gem5 ran the short form of `{run.scenario}` in mode `{run.mode}` to its end: "
        f"{run.sim_s:.1f} simulated seconds, its boot among them, in {gem5:.0f} processor seconds "
        f"after the boot. The fast engine took {fast:.1f}."
    )


def _measures(run: WholeRun) -> Table:
    columns = (Column(f"{run.program} prints", "left"), Column("fast engine"), Column("gem5"))
    rows = [
        (name.replace("_us", ", us"), f"{fast:.1f}", f"{gem5:.1f}")
        for name, (fast, gem5) in run.measures.items()
    ]
    return Table(columns, tuple(rows))


def _known() -> Iterator[tuple[Platform, ProgramActivity]]:
    """All committed figures, by platform and program."""
    for path in sorted((ACTIVITY / FOLDER).glob("*/*.json")):
        platform = load_platform(path.parent.name)
        figures = load_program(platform, path.stem)
        if figures is not None:
            yield platform, figures


def _figures(known: list[tuple[Platform, ProgramActivity]]) -> Table:
    """A line for each program and cluster."""
    columns = (
        *(Column("program", "left"), Column("platform", "left"), Column("cluster", "left")),
        *(Column("cycles"), Column("memory", unit="ns"), Column("IPC, slowest OPP")),
        *(Column("IPC, fastest OPP"), Column("IPC of the kernel's code"), Column("samples")),
        Column("widest 95 % interval"),
        Column("farthest from the fit"),
    )
    rows = []
    for platform, figures in known:
        activity = load_activity(platform)
        for cluster, of in zip(platform.clusters, figures.clusters, strict=True):
            slow, fast = (
                each.instructions / each.cycles for each in (of.samples[0], of.samples[-1])
            )
            rows.append(
                (
                    *(figures.program, platform.name, cluster.name),
                    *(f"{of.cycles:.3f}", f"{of.memory_ns:.3f}", f"{slow:.3f}", f"{fast:.3f}"),
                    *(f"{activity.system_ipc(cluster):.3f}", str(sum(s.count for s in of.samples))),
                    f"+-{100 * max(s.interval for s in of.samples):.1f} %",
                    f"{100 * max(abs(_from_fit(of, s)) for s in of.samples):.1f} %",
                )
            )
    return Table(columns, tuple(rows))


def _from_fit(of: ClusterProgram, samples: ProgramSamples) -> float:
    """How much longer the fit takes than the samples did, relative to them."""
    fitted = of.ns(samples.khz) * samples.khz / 1e6
    return fitted * samples.instructions / samples.cycles - 1


def _against_system(known: list[tuple[Platform, ProgramActivity]]) -> str:
    """Least and greatest ratio of a program's rate to the kernel's, at the fastest OPP."""
    ratios = [
        of.samples[-1].instructions
        / of.samples[-1].cycles
        / load_activity(platform).system_ipc(cluster)
        for platform, figures in known
        for cluster, of in zip(platform.clusters, figures.clusters, strict=True)
    ]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


DRAWINGS = {NAME: Drawing(ProgramSpeeds, parts)}
