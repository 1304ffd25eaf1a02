# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of ours that a Python file imports, read from its text without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent


def imported_names(path: Path) -> Iterator[str]:
    """Dotted names that ``path`` imports anywhere in it, absolute ones alone.

    ``from a import b`` gives ``a`` and ``a.b``, for b may be a module.
    """
    for node in _statements(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


#: Fields of a node that have statements, or parts of statements that have some.
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """``tree`` and all statements in it; expressions have none, and are most of a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in _BODIES:
            inner = getattr(node, field, ())
            waiting += inner if isinstance(inner, list) else ()


def files_of(name: str, root: Path = REPO) -> Iterator[Path]:
    """The files that importing ``name`` runs, below ``root``: its packages' and its own."""
    folder = root
    for part in name.split("."):
        module = folder / f"{part}.py"
        folder = folder / part
        package = folder / "__init__.py"
        if package.is_file():
            yield package
        elif module.is_file():
            yield module


def closure(paths: Iterable[Path], root: Path = REPO) -> set[Path]:
    """``paths`` and every file below ``root`` that they import, at once or by way of others."""
    files: set[Path] = set()
    names: set[str] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path not in files:
            files.add(path)
            new = set(imported_names(path)) - names
            names |= new
            waiting += [file for name in new for file in files_of(name, root)]
    return files
