# SPDX-License-Identifier: GPL-2.0-or-later
"""What a visitor looks for at the top: ARCHITECTURE, CITATION, CHANGELOG, README."""

from __future__ import annotations

import re
import subprocess
import tomllib

from tests import layers
from tests.support.markdown import ROOT


def test_architecture_has_the_table_of_imports() -> None:
    assert layers.markdown() in (ROOT / "ARCHITECTURE.md").read_text(), (
        "put in what python -m tests.layers --markdown prints"
    )


def test_architecture_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    listed = set(re.findall(r"^\| `([\w-]+)/` \|", text, re.MULTILINE))
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    folders = {name.split("/")[0] for name in tracked.split("\0") if "/" in name}
    assert listed == {name for name in folders if not name.startswith(".")}


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
