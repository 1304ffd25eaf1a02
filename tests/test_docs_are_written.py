# SPDX-License-Identifier: GPL-2.0-or-later
"""The product writes pages below ``docs/`` and reads none of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import pytest

from tests.layers import ROOT, read_tree

#: How functions and methods begin that open what they are given, or look into a folder.
READS = ("read", "load", "open", "parse", "glob", "rglob", "iterdir", "walk")


def folder_of_docs(value: str) -> bool:
    """Whether a text is the folder or a path below it, not a sentence about one."""
    return value == "docs" or (value.startswith("docs/") and " " not in value)


def mentions(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression has the folder of pages in it, or a name that stands for it."""
    return any(
        (
            (isinstance(part, ast.Constant) and isinstance(part.value, str))
            and folder_of_docs(part.value)
        )
        or (isinstance(part, ast.Name) and part.id in names)
        or (isinstance(part, ast.Attribute) and ast.unparse(part) in names)
        for part in ast.walk(node)
    )


def assigned(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names and the expressions that they are given; of tuples each by itself."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            for name, value in zip(names, values, strict=True):
                if isinstance(name, ast.Name):
                    yield name.id, value
        case ast.Assign(targets=targets, value=value):
            yield from ((name.id, value) for name in targets if isinstance(name, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def imported(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Names that an import gives, of which module and which member; without one, the module."""
    match node:
        case ast.Import(names=names):
            yield from ((each.asname or each.name, each.name, "") for each in names)
        case ast.ImportFrom(module=str() as module, names=names):
            for each in names:
                yield each.asname or each.name, module, each.name
                yield each.asname or each.name, f"{module}.{each.name}", ""


def names_of_docs(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """By file: names that stand for the folder of pages or a path below it, imported ones too."""
    names: dict[str, set[str]] = {file: set() for file in trees}
    grew = True
    while grew:
        grew = False
        for file, tree in trees.items():
            before = len(names[file])
            for node in ast.walk(tree):
                for name, module, member in imported(node):
                    known = names.get(f"{module.replace('.', '/')}.py", set())
                    if member:
                        names[file] |= {name} if member in known else set()
                    else:
                        names[file] |= {f"{name}.{each}" for each in known}
                for name, value in assigned(node):
                    if not isinstance(value, ast.Call | ast.Dict) and mentions(value, names[file]):
                        names[file].add(name)
            grew = grew or len(names[file]) > before
    return names


def reads(trees: Mapping[str, ast.Module]) -> list[str]:
    """Every call that reads something below ``docs/``: file, line, code."""
    calls = []
    for file, names in names_of_docs(trees).items():
        for node in ast.walk(trees[file]):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else ""
            called = function.id if isinstance(function, ast.Name) else called
            looked = [*node.args, *(each.value for each in node.keywords)]
            looked += [function.value] if isinstance(function, ast.Attribute) else []
            if called.startswith(READS) and any(mentions(each, names) for each in looked):
                calls.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
    return calls


def test_nothing_of_the_product_reads_docs() -> None:
    files = read_tree().modules.values()
    trees = {file: ast.parse((ROOT / file).read_bytes(), file) for file in files}
    assert len([names for names in names_of_docs(trees).values() if names]) >= 4
    assert reads(trees) == []


@pytest.mark.parametrize(
    "code",
    [
        'PAGE = ROOT / "docs" / "x.md"\ntext = PAGE.read_text()\n',
        'text = open("docs/reference/variants.md").read()\n',
        'def f(root):\n    page = root / "docs"\n    return load_json(page / "x.json")\n',
        "from a.notes import PAGES\ndef f():\n    return list((PAGES / 'a').glob('*.svg'))\n",
        "import a.notes as n\nrecord = load(n.PAGES / 'x.json')\n",
        "from a import notes\nrecord = Record.read(notes.PAGES / 'x.json')\n",
        "from a.notes import PAGES\npage, text = PAGES / 'x.md', ''\npage.read_text()\n",
    ],
)
def test_a_read_is_found(code: str) -> None:
    notes = 'PAGES = RESULTS.parent / "docs" / "results"\n'
    trees = {"a/notes.py": ast.parse(notes), "x.py": ast.parse(code)}
    assert [line.split(":")[0] for line in reads(trees)] in (["x.py"], ["x.py", "x.py"])


def test_a_page_may_be_written() -> None:
    code = (
        'PAGE = ROOT / "docs" / "x.md"\n'
        'PAGE.write_text(NOTES.read_text())\nsay("docs/x.md is written: read it")\n'
    )
    assert reads({"x.py": ast.parse(code)}) == []
