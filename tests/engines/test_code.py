# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may know an engine by name, and which code a run's key has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from eascope.engines.registry import ENGINES
from eascope.host.imports import REPO, code_digest, imported_names


def modules(path: Path) -> Iterator[str]:
    """Our own modules that ``path`` imports; what every room needs of the host is left out."""
    for name in imported_names(path):
        below = name.removeprefix("eascope.")
        place = REPO / Path(*below.split("."))
        if place.with_suffix(".py").is_file() and not below.startswith("host."):
            yield below


@pytest.mark.parametrize("engine", ENGINES)
def test_the_code_that_makes_a_runs_files_is_in_its_key(engine: str) -> None:
    """With all that it imports, so code that moves to another file stays in the key.

    Settings are in the key as records, and what a simulator runs inside by its own digest; of the
    contract that code takes types.
    """
    code = ENGINES[engine].code
    room = f"engines.{engine}"
    known = {".".join(path.relative_to(REPO).with_suffix("").parts) for path in code}
    known |= {"engines.base", f"{room}.settings"}
    for path in code:
        others = {name for name in modules(path) if not name.startswith(f"{room}.inside.")}
        assert others <= known, path.name


@pytest.mark.parametrize("engine", ENGINES)
def test_every_file_of_the_code_changes_the_digest(engine: str) -> None:
    code = ENGINES[engine].code
    assert len({code_digest(code[:number]) for number in range(len(code) + 1)}) == len(code) + 1


def compared(path: Path) -> Iterator[int]:
    """Lines of a file that compare something with an engine's name."""
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                if isinstance(part, ast.Constant) and part.value in ENGINES:
                    yield node.lineno


def test_only_engines_know_an_engine_by_name() -> None:
    """Whoever needs to know what differs asks the contract, or the traits in a run's record."""
    rooms = {path.resolve() for path in (REPO / "eascope").iterdir() if path.is_dir()}
    rooms -= {REPO / "engines"}
    paths = [path for room in sorted(rooms) for path in sorted(room.rglob("*.py"))]
    assert len(paths) > 100
    places = [f"{path}:{line}" for path in paths for line in compared(path)]
    assert places == []
