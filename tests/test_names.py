# SPDX-License-Identifier: GPL-2.0-or-later
"""One name is one concept: no two public classes are called alike."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.layers import ROOT, read_tree


def classes(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Public name -> files that define a class or an alias of a type called so at their top."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for node in ast.parse(path.read_bytes(), str(path)).body:
            match node:
                case ast.ClassDef(name=name):
                    pass
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                    pass
                case _:
                    continue
            if not name.startswith("_"):
                places[name].append(path.relative_to(ROOT).as_posix())
    return places


@cache
def product() -> dict[str, list[str]]:
    """What `classes` finds in all modules but tests."""
    return classes(ROOT / file for file in read_tree().modules.values())


def helpers() -> list[Path]:
    return [ROOT / "tests" / "layers.py", *sorted((ROOT / "tests" / "support").glob("*.py"))]


def test_a_public_class_has_a_name_of_its_own() -> None:
    known = product()
    assert len(known) > 200
    assert {name: places for name, places in known.items() if len(places) > 1} == {}


def test_a_helper_of_tests_takes_no_name_of_the_product() -> None:
    assert product().keys() & classes(helpers()).keys() == set()


def test_aliases_count_as_classes_and_private_names_do_not(tmp_path: Path) -> None:
    table, rows = ROOT / "host" / "table.py", ROOT / "analysis" / "rows.py"
    assert classes([table])["Row"] == ["host/table.py"], "an alias"
    assert classes([table, table, rows])["Table"] == ["host/table.py"] * 2
    assert all(name[0] != "_" for name in product())
