# SPDX-License-Identifier: GPL-2.0-or-later
"""The action and the GitLab job: `eascope check` in the container, its table as a comment."""

import argparse
import ast
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from eascope.experiments.cli.verbs import make_parser
from tests.support.markdown import PARSER
from tests.support.repo import REPO

ACTION = yaml.safe_load((REPO / "action.yml").read_text())
PAGE = REPO / "docs/recipes/check-a-series.md"
STEPS = ACTION["runs"]["steps"]
SERIES = "A..B"
TABLE = "Simulated: Linux\n\n  juno-r2  better"
#: Stands for docker and gh: notes each word that it is given, and answers as docker should.
NOTING = """#!/bin/sh
printf '%s\\n' "${0##*/}" "$@" >> "$NOTES"
[ "$1" != run ] || { printf '%s' "$SAID"; echo "eascope: error: why" >&2; exit "$CODE"; }
"""


def check_options() -> set[str]:
    """Names of the options of ``eascope check``, and of what it checks."""
    (verbs,) = (
        action
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    actions = verbs.choices["check"]._actions
    return {
        name.removeprefix("--") for each in actions for name in each.option_strings or [each.dest]
    }


def of_page() -> Any:
    """The YAML that the recipe prints: the workflow and the GitLab job."""
    return [yaml.safe_load(token.content) for token in PARSER.parse(PAGE.read_text()) if token.info]


@pytest.fixture
def step(tmp_path: Path) -> Any:
    """Run a step's script as GitHub does, with stand-ins for docker and gh."""
    for name in ("docker", "gh"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(NOTING)
        program.chmod(0o755)
    files = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    environment = {
        **os.environ,
        **files,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "NOTES": str(tmp_path / "notes"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_WORKSPACE": "/there",
        "GITHUB_ACTION_PATH": str(REPO),
        "GITHUB_REPOSITORY": "jo/linux",
    }

    def run(number: int, code: int = 0, **inputs: str) -> tuple[int, list[str]]:
        said = json.dumps({"table": TABLE}) if code != 2 else ""
        known = {name: inputs.get(name, "") for name in STEPS[number].get("env", {})}
        known |= {"SAID": said, "CODE": str(code), "DATA": str(tmp_path / "data")}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[number]["run"]]
        (tmp_path / "notes").write_text("")
        done = subprocess.run(command, env=environment | known, check=False, capture_output=True)
        return done.returncode, (tmp_path / "notes").read_text().splitlines()

    return run


def test_inputs_are_options_of_check() -> None:
    assert {*ACTION["inputs"]} - {"token"} <= check_options()
    assert all(each["description"] for each in (ACTION, *ACTION["inputs"].values()))
    used = {name for each in STEPS for name in re.findall(r"inputs\.([\w-]+)", str(each))}
    assert used == {*ACTION["inputs"]}, "each is used, and no other"
    # In a script an input would be code.
    assert not [each for each in STEPS if "${{" in each.get("run", "")]
    assert all(each.get("shell") == "bash" or "uses" in each for each in STEPS)


def test_the_container_is_built_of_what_there_is(step: Any) -> None:
    code, (docker, build, *words) = step(0)
    assert (code, docker, build) == (0, "docker", "build")
    assert Path(words[words.index("-f") + 1]).is_file()
    assert words[-1] == str(REPO)


@pytest.mark.parametrize("given", [{}, {"PLATFORMS": "juno-r2", "SEEDS": "3", "SCENARIOS": "s,t"}])
def test_the_action_runs_eascope_check(step: Any, tmp_path: Path, given: dict[str, str]) -> None:
    code, (docker, run, *words) = step(1, SERIES=SERIES, **given)
    assert (code, docker, run) == (0, "docker", "run")
    said = words[words.index("eascope") + 1 :]
    options = make_parser().parse_args(said)
    usual = make_parser().parse_args(["check", SERIES])
    assert (said[0], options.series, options.json) == ("check", SERIES, True)
    assert options.platforms == given.get("PLATFORMS", usual.platforms)
    assert options.scenarios == given.get("SCENARIOS", usual.scenarios)
    assert options.seeds == int(given.get("SEEDS", usual.seeds))
    assert f"/there:{options.tree}:ro" in words
    assert f"{tmp_path / 'data'}:/data" in words
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == f"```\n{TABLE}\n```\n"
    assert TABLE in (tmp_path / "GITHUB_OUTPUT").read_text()
    code, words = step(2, NUMBER="7")
    assert (code, words[:4]) == (0, ["gh", "pr", "comment", "7"])
    body = Path(words[words.index("--body-file") + 1]).read_text()
    assert body == f"```\n{TABLE}\n```\n"


@pytest.mark.parametrize(("code", "says"), [(2, "eascope: error: why"), (1, TABLE)])
def test_what_fails_is_the_comment_too(step: Any, tmp_path: Path, code: int, says: str) -> None:
    """A wrong series, and a verdict for which --fail-on asks."""
    assert step(1, code, SERIES=SERIES, FAIL_ON="worse")[0] == code
    assert (tmp_path / "comment.md").read_text() == f"```\n{says}\n```\n"


def test_the_printed_workflow_gives_inputs_that_there_are() -> None:
    workflow, _ = of_page()
    _, last = workflow["jobs"]["eascope"]["steps"]
    assert {*last["with"]} <= {*ACTION["inputs"]}
    assert workflow["permissions"]["pull-requests"] == "write"


def test_the_gitlab_job_runs_eascope_check() -> None:
    _, job = of_page()
    containerfile = (REPO / "Containerfile").read_text()
    program, *words = shlex.split(job["eascope"]["script"][-1])
    assert f'ENTRYPOINT ["{program}"]' in containerfile
    output = words.pop()
    options = make_parser().parse_args(words)
    assert (words[0], options.platforms) == ("check", "juno-r2")
    assert output.removeprefix(">") in job["eascope"]["artifacts"]["paths"]
    (comment,) = job["eascope"]["after_script"]
    python, *code, end = comment.splitlines()
    assert python == f"{Path(program).with_name('python')} - <<'{end}'"
    ast.parse("\n".join(code))
