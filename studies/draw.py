# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.draw``: every page of ``docs/results`` from its record and notes, no runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.results.agreement import Agreement
from analysis.results.comparisons import Comparisons
from analysis.results.elision import Elision
from analysis.results.first_figure import FirstFigure
from analysis.results.origin import RESULTS, ResultRecord
from analysis.results.wakeup_cost import WakeUpCost
from host.cache import write_atomic
from host.errors import unknown
from host.proc import Ending, say
from studies import characterisation_page, elision_page, first_figure_page, wakeup_page
from studies.agreement import page as agreement_page
from studies.notes import NOTES, PAGES, page_of
from studies.pages import page as comparisons_page
from studies.power_validation import validation


@dataclass(frozen=True)
class Drawing:
    """How a page is drawn: what its record is, and the parts that its notes set in place."""

    kind: type[ResultRecord]
    parts: Callable[[Any], Mapping[str, str]]


DRAWINGS: Mapping[str, Drawing] = {
    "engine-agreement": Drawing(Agreement, agreement_page.parts),
    "engine-agreement-measured": Drawing(Agreement, agreement_page.parts),
    "elision": Drawing(Elision, elision_page.parts),
    **{
        name: Drawing(Comparisons, comparisons_page.parts)
        for name in ("uclamp", "clamps", "clamps-weight", "eas-pixel6", "eas-juno-r2", "controls")
    },
    "wakeup-cost": Drawing(WakeUpCost, wakeup_page.parts),
    "first-figure": Drawing(FirstFigure, first_figure_page.parts),
}


#: Pages whose figures are committed elsewhere: the power models' records.
ELSEWHERE: Mapping[str, Callable[[], Mapping[str, str]]] = {
    characterisation_page.NAME: characterisation_page.parts,
    validation.NAME: validation.parts,
}
#: The page that names all others, with their answers.
INDEX = "README"
ALL = (*DRAWINGS, *ELSEWHERE, INDEX)


def index(results: Path = RESULTS) -> dict[str, str]:
    """What every page says in a line, by page and part; and energy by page, scenario, variant."""
    parts: dict[str, str] = {}
    for name, drawing in DRAWINGS.items():
        record = drawing.kind.read(results / f"{name}.json")
        shown = dict(drawing.parts(record))
        if isinstance(record, Comparisons):
            shown |= comparisons_page.changes(record)
        parts |= {f"{name}/{part}": text for part, text in shown.items()}
    for name, shown_by in ELSEWHERE.items():
        parts |= {f"{name}/{part}": text for part, text in shown_by().items()}
    return {part: text for part, text in parts.items() if "\n" not in text}


def drawn(name: str, results: Path = RESULTS) -> str:
    """The page ``name`` as its committed record and notes have it.

    :raises EascopeError: one line, when the record or the notes are damaged.
    """
    if name == INDEX:
        return page_of(name, index(results), results / NOTES.name, some=True)
    if name in ELSEWHERE:
        return page_of(name, ELSEWHERE[name](), results / NOTES.name)
    drawing = DRAWINGS[name]
    record = drawing.kind.read(results / f"{name}.json")
    return page_of(name, drawing.parts(record), results / NOTES.name)


def save(name: str, record: ResultRecord, folder: Path | None = None) -> Path:
    """Write the record ``name`` and draw its page; both below ``folder`` when it is given.

    :returns: the page.
    """
    text = page_of(name, DRAWINGS[name].parts(record))
    record.write((folder or RESULTS) / f"{name}.json")
    page = (folder or PAGES) / f"{name}.md"
    write_atomic(page, text.encode())
    return page


def main(arguments: list[str] | None = None) -> int:
    """Draw the named pages, by default all."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.draw",
        description=main.__doc__,
        epilog="example: python -m studies.draw engine-agreement",
    )
    parser.add_argument("page", nargs="*", help=", ".join(ALL))
    options = parser.parse_args(arguments)
    with Ending() as ending:
        for name in options.page:
            if name not in ALL:
                raise unknown("page", name, ALL)
        for name in options.page or ALL:
            write_atomic(PAGES / f"{name}.md", drawn(name).encode())
            say(f"  {PAGES / f'{name}.md'}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
