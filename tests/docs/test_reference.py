# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference pages say what the code says: command line, environment; and all can be reached."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.__main__ import table
from eascope.configs.knobs import AXES, KNOBS
from eascope.experiments.cli import variants_page
from eascope.experiments.cli.reference import CONTROLS_PAGE, PAGE, controls_page, page
from eascope.experiments.cli.verbs import make_parser
from eascope.kernels.variants import load_catalogue
from tests.support.markdown import ROOT, links

REFERENCE = ROOT / "docs" / "reference"
ENVIRONMENT = REFERENCE / "environment.md"


def test_the_command_line_is_what_the_parsers_say() -> None:
    assert PAGE.read_text() == page(), "run: python -m eascope.experiments.cli.reference"


def test_the_controls_are_what_is_declared() -> None:
    text = CONTROLS_PAGE.read_text()
    assert text == controls_page(), "run: python -m eascope.experiments.cli.reference"
    for name in (*KNOBS, *AXES):
        assert f"\n| `{name}` |" in text, name


def test_the_variants_are_what_is_declared() -> None:
    text, shipped = variants_page.PAGE.read_text(), load_catalogue().shipped()
    assert text == variants_page.page(shipped), "run: python -m eascope.experiments.cli.reference"
    drawn = text.partition(variants_page.HEADING)[2]
    for variant in shipped:
        section = drawn.partition(f"\n### {variant.name}\n")[2].partition("\n### ")[0]
        for word in (
            variant.summary,
            *variant.deviations,
            *(value for _, value in variant.switches),
        ):
            assert word in section, variant.name


def test_every_command_has_a_section() -> None:
    commands = re.findall(r"^## `eascope ([\w ]+)`$", page(), re.MULTILINE)
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            make_parser().parse_args([*command.split(), "--help"])
        assert ended.value.code == 0
    assert {"run", "compare", "list", "status"} <= set(commands)


def product_files(pattern: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", pattern], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    names = [name for name in listed.split("\0") if name and not name.startswith("tests/")]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def variables_of(source: str) -> Iterator[str]:
    """Names that Python code asks ``os.environ`` or ``os.getenv`` for."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
                args=[name, *_],
            ):
                pass
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[name, *_]):
                pass
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=name):
                pass
            case _:
                continue
        value: object = None
        if isinstance(name, ast.Name):
            value = constants.get(name.id) or _imported(tree, name.id)
        elif isinstance(name, ast.Constant):
            value = name.value
        assert isinstance(value, str), ast.dump(node)
        yield value


def _imported(tree: ast.Module, name: str) -> object:
    """The value of ``name`` where ``tree`` imports it from a module; None where it does not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return getattr(importlib.import_module(node.module), alias.name)
    return None


def test_variables_are_found() -> None:
    source = 'A = "X"\nos.environ.get(A)\nos.environ["Y"]\nos.getenv("Z", "")\nother.get("W")\n'
    assert sorted(variables_of(source)) == ["X", "Y", "Z"]
    imported = "from eascope.kernels.provenance import KERNEL_SRC as K\nos.environ.get(K)\n"
    assert list(variables_of(imported)) == ["KERNEL_SRC"]


def test_every_environment_variable_is_listed() -> None:
    read = {name for path in product_files("*.py") for name in variables_of(path.read_text())}
    for path in product_files("*.c"):
        read |= set(re.findall(r'\bgetenv\("(\w+)"\)', path.read_text()))
    listed = re.findall(r"^\| `(\w+)` \|", ENVIRONMENT.read_text(), re.MULTILINE)
    assert sorted(read) == sorted(listed)


def test_every_page_is_linked_from_the_list_of_pages() -> None:
    """A page that the list does not lead to is not found."""
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / target.partition("#")[0]).resolve()
        for _, target in links(index.read_text())
        if "://" not in target
    }
    pages = {
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path != index and ".notes" not in path.name
    }
    # A page of results may be reached by the first page of results.
    results = ROOT / "docs" / "results"
    assert {path for path in pages if path.parent != results} <= linked


def test_the_page_of_measures_has_their_needs() -> None:
    markdown = table().markdown()
    assert markdown.count("| `") >= len(MEASURES)
    assert markdown in (REFERENCE / "measures.md").read_text(), "run eascope.analysis.measures"


def test_the_glossary_has_every_word_that_output_and_records_use() -> None:
    """Words of captions, tables and keys that a reader meets without an explanation."""
    text = (REFERENCE / "glossary.md").read_text()
    rows = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    assert len(rows) == len(set(rows)) + 1  # the heads of its two tables
    own, field = rows[1 : rows.index("word", 1)], rows[rows.index("word", 1) + 1 :]
    for words in (own, field):
        assert words == sorted(words, key=str.casefold), "a reader looks a word up by its letters"
    assert {
        *("akey", "billed", "board", "deadline", "finding", "frame", "headroom", "mixture", "mode"),
        *("noise floor", "record", "simkey", "stirring", "study", "verdict"),
    } <= set(rows)
