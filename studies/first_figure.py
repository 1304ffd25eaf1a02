# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.first_figure``: video playback with and without EAS, record and page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from analysis.compare import Comparison, Line
from analysis.records.verdict import ENOUGH_FOR_VERDICT
from analysis.results.first_figure import ComparedMeasure, FirstFigure
from analysis.results.origin import RUNS, Origin
from analysis.statistics import ENOUGH
from host.proc import Ending, say
from studies.draw import save
from studies.pages.pages import Page, PageGroup
from studies.pages.run import compare
from studies.versions import versions_of

NAME = "first-figure"
GROUP = PageGroup("eas/video-playback", ("mainline", "cas"))
PAGE = Page(NAME, "juno-r2", (GROUP,))
#: What the page shows: a measure's name, where it is in ``result.json``, whether per cent of it
#: say something.
MEASURES = (
    ("energy: total (mJ)", ("energy_j", "total"), True),
    ("energy: little (mJ)", ("energy_j", "cluster", "little"), True),
    ("energy: big (mJ)", ("energy_j", "cluster", "big"), True),
    ("energy by component: active (mJ)", ("energy_j", "component", "active"), True),
    ("energy by component: idle exit (mJ)", ("energy_j", "component", "idle_exit"), True),
    ("energy by component: shared (mJ)", ("energy_j", "component", "shared"), True),
    ("placement: work on little (%)", ("work_share", "little"), False),
    ("migrations", ("migrations",), False),
    ("lateness after the timer: render p95 (us)", ("lateness_us", "render", "p95"), True),
    ("missed deadlines: all tasks", ("missed_deadlines",), False),
)


def record_of(compared: Comparison, command: str) -> FirstFigure:
    """The record of the comparison."""
    baseline, variant = compared.names
    cells = [run.cell for runs in compared.variants.values() for run in runs]
    return FirstFigure(
        origin=Origin(command, RUNS, versions_of(cells)),
        platform=compared.platform.name,
        scenario=compared.cell.scenario,
        baseline=baseline,
        variant=variant,
        seeds=len(compared.seeds),
        window_s=compared.variants[baseline][0].result.window_s,
        measures=tuple(_measures(compared, variant)),
    )


def _measures(compared: Comparison, variant: str) -> Iterator[ComparedMeasure]:
    for name, path, relative in MEASURES:
        line = _line(compared, path)
        base, mean = line.mean(compared.baseline), line.mean(variant)
        difference = line.differences[variant]
        if base is None or mean is None or difference.low is None or difference.high is None:
            raise ValueError(f"{name}: not measured with {ENOUGH} seeds or more")
        yield ComparedMeasure(
            name,
            base,
            mean,
            difference.absolute,
            difference.percent if relative else None,
            difference.low,
            difference.high,
        )


def _line(compared: Comparison, path: tuple[str, ...]) -> Line:
    return next(
        line for line in compared.lines if line.row.path == path and not line.row.per_second
    )


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.first_figure",
        description=main.__doc__,
        epilog="example: python -m studies.first_figure --folder /tmp/page",
    )
    parser.add_argument("--folder", type=Path, help="where to write instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        compared = compare([PAGE], ENOUGH_FOR_VERDICT, full=False)[NAME, GROUP]
        record = record_of(compared, "python -m studies.first_figure")
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
