# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.draw``: every page of ``docs/results`` from its record and notes, no runs.

It also draws parts of the README (`studies.front`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from analysis.results.origin import RESULTS, ResultRecord
from host.cache import write_atomic
from host.errors import unknown
from host.proc import Ending, say
from host.version import from_changed_checkout
from studies import front
from studies.agreement import page as agreement
from studies.axes import page as axes
from studies.characterisation import page as characterisation
from studies.cluster_power import page as cluster_power
from studies.drawing import Drawing
from studies.elision import page as elision
from studies.first_figure import page as first_figure
from studies.hardware import page as hardware
from studies.memory_time import page as memory_time
from studies.noise import page as noise
from studies.notes import NOTES, PAGES, page_of
from studies.pages import page as pages
from studies.power_validation import page as power_validation
from studies.program_speed import page as program_speed
from studies.releases import page as releases
from studies.reliability import page as reliability
from studies.samples import page as samples
from studies.scale import page as scale
from studies.wakeup_cost import page as wakeup_cost

#: Pages of records, in the order of their list.
_EVERY: Mapping[str, Drawing] = {
    **agreement.DRAWINGS,
    **elision.DRAWINGS,
    **pages.DRAWINGS,
    **wakeup_cost.DRAWINGS,
    **first_figure.DRAWINGS,
    **releases.DRAWINGS,
    **axes.DRAWINGS,
    **hardware.DRAWINGS,
    **noise.DRAWINGS,
    **memory_time.DRAWINGS,
    **program_speed.DRAWINGS,
    **cluster_power.DRAWINGS,
    **samples.CAMPAIGNS,
    **samples.DRAWINGS,
    **scale.DRAWINGS,
    **reliability.DRAWINGS,
}
#: Those whose record is there.
DRAWINGS: Mapping[str, Drawing] = {
    name: drawing for name, drawing in _EVERY.items() if (RESULTS / f"{name}.json").is_file()
}
#: Those that nobody has made yet: no page of the repository is drawn from them.
PLANNED = tuple(name for name in _EVERY if name not in DRAWINGS)
#: Pages whose figures are committed elsewhere: the power models' records.
ELSEWHERE: Mapping[str, Callable[[], Mapping[str, str]]] = {
    characterisation.NAME: characterisation.parts,
    power_validation.NAME: power_validation.parts,
}
#: The page that names all others, with their answers.
INDEX = "README"
ALL = (*DRAWINGS, *ELSEWHERE, INDEX)
#: The name by which the README is drawn.
FRONT = "front"


def index(results: Path = RESULTS) -> dict[str, str]:
    """One-line parts of every page, by page and part; and energy by page, scenario, variant."""
    parts: dict[str, str] = {}
    for name, drawing in DRAWINGS.items():
        record = drawing.kind.read(results / f"{name}.json")
        shown = {**drawing.parts(record), **drawing.also(record)}
        parts |= {f"{name}/{part}": text for part, text in shown.items()}
    for name, shown_by in ELSEWHERE.items():
        parts |= {f"{name}/{part}": text for part, text in shown_by().items()}
    parts["starts-alone"] = _starts_alone(results)
    return {part: text for part, text in parts.items() if "\n" not in text}


def _starts_alone(results: Path) -> str:
    """The pages whose records state that seeds drew only starts."""
    older = [
        f"[{name}]({name}.md)"
        for name, drawing in DRAWINGS.items()
        if drawing.kind.read(results / f"{name}.json").replicates is False
    ]
    return ", ".join(older) or "none"


def drawn(name: str, results: Path = RESULTS) -> str:
    """The page ``name`` as its committed record and notes have it.

    :raises EascopeError: one line, when the record or the notes are damaged.
    """
    if name == INDEX:
        return page_of(name, {}, results / NOTES.name, also=index(results), planned=PLANNED)
    if name in ELSEWHERE:
        return page_of(name, ELSEWHERE[name](), results / NOTES.name)
    record = DRAWINGS[name].kind.read(results / f"{name}.json")
    return _page(name, record, results / NOTES.name)


def _page(name: str, record: ResultRecord, notes: Path) -> str:
    """The page of a record and of the notes below ``notes``."""
    drawing = _EVERY[name]
    return page_of(name, drawing.parts(record), notes, also=drawing.also(record))


def save(name: str, record: ResultRecord, folder: Path | None = None) -> Path:
    """Write the record ``name`` and draw its page; both below ``folder`` when it is given.

    Prints a warning if the record comes from a checkout with changes: nobody else has its code.

    :returns: the page.
    """
    text = _page(name, record, NOTES)
    made_with = record.origin.versions.get("eascope", "")
    if from_changed_checkout(made_with):
        say(f"warning: {name}.json: eascope {made_with}: commit the changes, then make it again")
    record.write((folder or RESULTS) / f"{name}.json")
    page = (folder or PAGES) / f"{name}.md"
    write_atomic(page, text.encode())
    _draw_figures(name, record, page.with_suffix(""))
    return page


def _draw_figures(name: str, record: ResultRecord, folder: Path) -> None:
    """Write the drawings of the page ``name``, if it has any."""
    draw = _EVERY[name].draw
    if draw is not None:
        draw(record, folder)


def main(arguments: list[str] | None = None) -> int:
    """Draw the named pages (default: all)."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.draw",
        description=main.__doc__,
        epilog="example: python -m studies.draw engine-agreement",
    )
    names = (*ALL, FRONT)
    parser.add_argument("page", nargs="*", help=", ".join(names))
    options = parser.parse_args(arguments)
    with Ending() as ending:
        for name in options.page:
            if name not in names:
                raise unknown("page", name, names)
        for name in options.page or names:
            if name == FRONT:
                page, text = front.README, front.drawn(front.README.read_text(encoding="utf-8"))
            else:
                page, text = PAGES / f"{name}.md", drawn(name)
            write_atomic(page, text.encode())
            if name in DRAWINGS:
                record = DRAWINGS[name].kind.read(RESULTS / f"{name}.json")
                _draw_figures(name, record, page.with_suffix(""))
            say(f"  {page}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
