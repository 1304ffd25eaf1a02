# SPDX-License-Identifier: GPL-2.0-or-later
"""What a visitor looks for at the top: ARCHITECTURE, CITATION, CHANGELOG, README."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from tests import layers
from tests.support.markdown import ROOT


def test_architecture_has_the_table_of_imports() -> None:
    assert layers.markdown() in (ROOT / "ARCHITECTURE.md").read_text(), (
        "put in what python -m tests.layers --markdown prints"
    )


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
