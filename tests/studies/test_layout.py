# SPDX-License-Identifier: GPL-2.0-or-later
"""Every study is laid out as the room's README says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import studies
from studies.draw import DRAWINGS, ELSEWHERE, PLANNED

ROOM = Path(studies.__file__).parent
#: What a study may have.
LAYOUT = {"__init__", "__main__", "plan", "run", "record", "page"}
#: Further files of a study that measures by programs of its own, or whose page has many parts.
PARTS = {
    "campaigns": {
        *("cells", "figures", "numbers", "shipped", "views"),
        *("opps", "topologies", "errors", "limits", "variants"),
    },
    "pages": {"conditions"},
    "scale": {"schedule"},
    "power_validation": {"calibrated", "figures", "others", "scaling", "stated", "tables"},
}
#: What studies share.
SHARED = {
    *("__init__", "authors", "command", "costed", "draw", "drawing", "front", "notes", "patches"),
    *("versions", "measured", "origins"),
}
STUDIES = sorted(path.parent for path in ROOM.glob("*/__init__.py"))


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_a_study_has_the_files_of_the_layout(folder: Path) -> None:
    names = {path.stem for path in folder.glob("*.py")}
    assert names <= LAYOUT | PARTS.get(folder.name, set())
    assert names & {"record", "page"}
    assert f"`{folder.name}/`" in (ROOM / "README.md").read_text()


def test_nothing_but_what_studies_share_lies_beside_them() -> None:
    assert {path.stem for path in ROOM.glob("*.py")} == SHARED


def test_every_page_is_stated_by_one_study() -> None:
    stated = [
        name
        for folder in STUDIES
        if (folder / "page.py").is_file()
        for name in getattr(import_module(f"studies.{folder.name}.page"), "DRAWINGS", ())
    ]
    assert sorted(stated) == sorted([*DRAWINGS, *PLANNED])
    assert not DRAWINGS.keys() & ELSEWHERE.keys()
