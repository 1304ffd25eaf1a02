# SPDX-License-Identifier: GPL-2.0-or-later
"""What a stranger meets first: workflows, forms, news fragments."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.repo import REPO

GITHUB = REPO / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def test_the_workflow_runs_what_there_is() -> None:
    (ci,) = map(read, WORKFLOWS)
    # YAML takes the key "on" for true.
    assert {"push", "pull_request"} <= {*ci[True]}
    assert ci["permissions"] == {"contents": "read"}
    steps = [step for job in ci["jobs"].values() for step in job["steps"]]
    text = "\n".join(step.get("run", "") for step in steps)
    assert ".ci/run" in text.splitlines()
    targets = re.findall(r"^([\w-]+):", (REPO / "Makefile").read_text(), re.MULTILINE)
    assert {*re.findall(r"\bmake ([\w-]+)", text.replace("git make", ""))} <= {*targets}
    for name in re.findall(r"-f (\S+)", text):
        assert (REPO / name).is_file()
    assert all(
        re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step
    )


@pytest.mark.skipif(not shutil.which("actionlint"), reason="actionlint is not on PATH")
def test_workflows_pass_actionlint() -> None:
    done = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_can_be_shown(path: Path) -> None:
    """Keys that GitHub needs; every part has a name of its own."""
    form = read(path)
    assert all(form[key] for key in ("name", "description", "labels"))
    parts = form["body"]
    assert {part["type"] for part in parts} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert len({part["id"] for part in parts}) == len(parts)
    assert all(part["attributes"]["label"] for part in parts)
    assert any(part.get("validations", {}).get("required") for part in parts)


def test_every_news_fragment_is_in_the_next_changelog() -> None:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    for fragment in (REPO / "changelog.d").glob("*.md"):
        assert fragment.read_text().strip().splitlines()[0] in done.stdout, fragment.name


def test_renames_have_three_columns() -> None:
    """`old | new | refused from`: what the readers' errors and people look up."""
    lines = (REPO / "BREAKING_CHANGES.md").read_text().splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    assert rows[0] == [" old ", " new ", " refused from "]
    assert all(len(row) == 3 for row in rows)
