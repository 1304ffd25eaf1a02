# SPDX-License-Identifier: GPL-2.0-or-later
"""What a visitor looks for at the top: ARCHITECTURE, CITATION, CHANGELOG, README."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from tests import layers
from tests.support.markdown import ROOT


def test_architecture_has_table_and_drawing_of_imports() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for part in (layers.markdown(), layers.drawing()):
        assert part in page, "put in what python -m tests.layers --markdown prints"


def rooms() -> list[str]:
    """The folders at the top that git knows, without hidden ones."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    folders = {name.split("/")[0] for name in tracked.split("\0") if "/" in name}
    return sorted(name for name in folders if not name.startswith("."))


def test_architecture_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert sorted(re.findall(r"^\| `([\w-]+)/` \|", text, re.MULTILINE)) == rooms()


@pytest.mark.parametrize("room", rooms())
def test_a_room_has_a_page_that_names_only_what_is_there(room: str) -> None:
    """The first column of its table of files has paths of the room."""
    text = (ROOT / room / "README.md").read_text()
    tables = re.findall(r"^\| (?:here \||file \| does).*\n\|.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [row.split("|")[1] for table in tables for row in table.splitlines()]
    paths = [path for row in rows for path in re.findall(r"`([\w./-]+)`", row)]
    # Where NAME stands for many, their folder is there.
    fixed = [
        path.partition("NAME")[0].rpartition("/")[0] if "NAME" in path else path for path in paths
    ]
    assert [path for path in fixed if not (ROOT / room / path).exists()] == []


def unnamed(page: str, modules: list[str]) -> list[str]:
    """Modules that a page names neither by their path in the room nor by a folder of theirs."""
    names = set(re.findall(r"`([\w./-]+)`", page))
    folders = tuple(name for name in names if name.endswith("/"))
    return [name for name in modules if name not in names and not name.startswith(folders)]


@pytest.mark.parametrize("room", sorted({name.split(".")[0] for name in layers.ROOMS}))
def test_a_room_has_a_page_that_names_every_module(room: str) -> None:
    modules = [
        path.relative_to(ROOT / room).as_posix()
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    assert modules
    assert unnamed((ROOT / room / "README.md").read_text(), modules) == []


def test_a_module_that_no_page_names_is_shown() -> None:
    page = "| `a.py`, `tables/` | a |"
    assert unnamed(page, ["a.py", "b.py", "tables/c.py", "other/a.py"]) == ["b.py", "other/a.py"]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_that_a_page_names_are_there(page: str) -> None:
    """A path has a slash and an end; NAME and patterns stand for files of the reader."""
    named = re.findall(r"`([\w.-]+/[\w./-]*\w(?:\.\w+)?)`", (ROOT / page).read_text())
    paths = [path for path in named if "NAME" not in path and "." in path.rpartition("/")[2]]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_list_of_pages_leads_to_every_room() -> None:
    text = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(r"\]\(\.\./([\w-]+)/README\.md\)", text))
    assert linked == set(rooms()) - {"docs"}


@pytest.mark.parametrize("folder", ["concepts", "recipes", "reference", "results"])
def test_the_list_of_pages_leads_to_every_page(folder: str) -> None:
    text = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(rf"\]\({folder}/([\w-]+\.md)\)", text))
    assert linked == {path.name for path in (ROOT / "docs" / folder).glob("*.md")}


def test_every_phony_target_is_a_target_and_is_described() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    described = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert sorted(phony.split()) == sorted(described)


def test_the_citation_says_what_the_package_says() -> None:
    """The keys that CFF 1.2.0 requires; no identifier that nobody has registered."""
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    fields = dict(re.findall(r'^([\w-]+): "?([^"\n]+)"?$', "\n".join(lines), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert fields["cff-version"] == "1.2.0"
    assert fields["title"] == project["name"]
    assert fields["version"] == project["version"]
    assert fields["license"] == "GPL-2.0-or-later" == project["license"]["text"]
    assert fields["message"]
    assert "authors:" in lines
    assert not {"doi", "url", "repository-code"} & set(fields)


def test_the_changelog_begins_with_the_package_s_version() -> None:
    """Each version once, with a date or `unreleased`; only the newest may be unreleased."""
    text = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    entries = [
        re.fullmatch(r"(\d+\.\d+\.\d+) - (unreleased|\d{4}-\d\d-\d\d)", head) for head in heads
    ]
    assert all(entries), heads
    versions = [entry[1] for entry in entries if entry]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert versions[0] == project["version"]
    assert len(set(versions)) == len(versions)
    assert "unreleased" not in [entry[2] for entry in entries[1:] if entry]
