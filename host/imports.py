# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own Python files: what they import, and a digest of what they do, from their text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from eascope.host.cache import digest_of

#: The folder of the rooms: the checkout, or what is installed of it.
REPO = Path(__file__).resolve().parent.parent
PACKAGE = "eascope"
#: The folder that the package lies in; not resolved, for in a checkout the rooms are links.
PACKAGES = Path(__file__).absolute().parents[2]


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
    """The files below ``root``, the rooms' folder, that importing ``name`` runs.

    They are those of its packages, and its own. `eascope` itself runs nothing.
    """
    package, *parts = name.split(".")
    if package != PACKAGE:
        return
    folder = root
    for part in parts:
        module = folder / f"{part}.py"
        folder = folder / part
        init = folder / "__init__.py"
        if init.is_file():
            yield init
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


def code_digest(paths: Iterable[Path]) -> str:
    """A digest of what the code in ``paths`` does.

    It covers syntax trees without comments, docstrings, and the folders of imported files. So
    neither a comment nor a moved file changes a key, on any version of Python.
    """
    return digest_of({"code": sorted(_tree_digest(path.read_bytes()) for path in paths)})


@cache
def _tree_digest(text: bytes) -> str:
    words: list[str] = []
    _words(ast.parse(text), words)
    return sha256("\n".join(words).encode()).hexdigest()


def _words(value: object, words: list[str]) -> None:
    """Append a node's kind and fields; fields that are empty are not in every version of Python."""
    if isinstance(value, ast.AST):
        words.append(type(value).__name__)
        for name in value._fields:
            inner = getattr(value, name, None)
            if name == "body" and isinstance(inner, list):
                inner = inner[1:] if _has_docstring(value) else inner
            if isinstance(value, ast.ImportFrom) and name == "module":
                inner = str(inner).rpartition(".")[2]
            if inner is not None and inner != []:
                words.append(name)
                _words(inner, words)
        words.append(")")
    elif isinstance(value, list):
        for item in value:
            _words(item, words)
        words.append("]")
    else:
        words.append(repr(value))


def _has_docstring(node: ast.AST) -> bool:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
