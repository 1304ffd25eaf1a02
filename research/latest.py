# SPDX-License-Identifier: GPL-2.0-or-later
"""The site's page ``latest``, from records alone: ``eascope check``'s table by variant; its feed.

The name of a variant is its anchor, which therefore stays.
"""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT
from eascope.analysis.reply import BETTER, LEGEND, SAME, UNTESTED, WORSE, text_of
from eascope.kernels.releases import DEFAULT, number
from research.draw import RECORD, Row, change, records_of, studies, template
from research.plan import ROOT, SOURCE, STUDIES

PAGE, FEED = "latest.md", "latest.atom"
_ATOM = "http://www.w3.org/2005/Atom"


def write(folder: Path) -> list[dict[str, str]]:
    """Write both into a folder of the site's pages; the navigation's entry."""
    records = {
        study: records_of(STUDIES / study)["record"]
        for study in studies()
        if (STUDIES / study / RECORD).is_file()
    }
    (folder / "docs" / PAGE).write_text(page(records))
    (folder / "docs" / FEED).write_bytes(feed({name: committed(name) for name in records}))
    return [{"Latest": f"docs/{PAGE}"}]


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """The page, from records by study."""
    releases: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for study, record in records.items():
        found: dict[str, list[Row]] = {}
        for cell in record.get("cells", ()):
            if cell["variant"] != cell["baseline"]:
                found.setdefault(f"{cell['variant']} against {cell['baseline']}", []).append(cell)
        for title, cells in found.items():
            release = cells[0]["variant"].partition("@")[2] or DEFAULT
            seeds = record["seeds"]
            table = {"study": study, "seeds": seeds, "text": _text(cells, seeds)}
            releases.setdefault(release, {}).setdefault(title, []).append(table)
    newest_first = sorted(releases.items(), key=lambda item: number(item[0]), reverse=True)
    return template(PAGE).render(releases=newest_first, legend=LEGEND)


def _text(cells: Sequence[Row], seeds: int) -> str:
    rows: list[tuple[str, list[str]]] = []
    notes: list[str] = []
    for cell in cells:
        checked = cell.get("checked") or [*_by_energy(cell, seeds)]
        setup = " (setup of its source)" if cell["conditions"] == SOURCE else ""
        rows.append((cell["scenario"] + setup, [cell["platform"][:9], *checked[:4]]))
        notes += checked[4:]
    return text_of(rows, notes)


def _by_energy(cell: Row, seeds: int) -> Iterator[str]:
    """The columns from energy on, of a record that has no others."""
    low, high = cell["low"], cell["high"]
    seen = None not in (low, high) and not low <= 0 <= high
    word = (WORSE if low > 0 else BETTER) if seen else SAME
    yield change(cell) + "*" * seen
    yield from "--"
    yield UNTESTED if low is None or seeds < ENOUGH_FOR_VERDICT else f"{word} (energy)"


def committed(study: str) -> tuple[str, str]:
    """Commit and date of a study's record; both empty before it is committed."""
    command = ["git", "log", "-1", "--format=%H %cI", "--", str(STUDIES / study / RECORD)]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    commit, _, date = found.strip().partition(" ")
    return commit, date


def feed(commits: Mapping[str, tuple[str, str]]) -> bytes:
    """Atom, the newest first; its links are relative to it.

    :param commits: `committed` by study; a record that is not committed has no entry.
    """
    entries = sorted(((date, name, at) for name, (at, date) in commits.items() if at), reverse=True)
    root = ET.Element("feed", xmlns=_ATOM)
    _atom(root, "records of eascope", "feed", entries[0][0] if entries else "1970-01-01T00:00:00Z")
    ET.SubElement(ET.SubElement(root, "author"), "name").text = "eascope"
    for date, name, commit in entries:
        entry = ET.SubElement(root, "entry")
        _atom(entry, name, f"{name}@{commit}", date)
        ET.SubElement(entry, "link", href=f"results/{name}.html")
        ET.SubElement(entry, "summary").text = f"Record of commit {commit}"
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _atom(element: ET.Element, title: str, of: str, updated: str) -> None:
    """What feeds and entries must have."""
    ET.SubElement(element, "title").text = title
    ET.SubElement(element, "id").text = uuid.uuid5(uuid.NAMESPACE_URL, f"eascope:{of}").urn
    ET.SubElement(element, "updated").text = updated
