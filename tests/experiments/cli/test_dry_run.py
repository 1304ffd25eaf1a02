# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of a plan: a text or JSON."""

import json

import pytest

from tests.support.command import COMPARE, inside


def test_the_plan_is_printed_in_the_form_that_is_asked_for() -> None:
    plain, asked = (inside(*COMPARE, "--dry-run", *more) for more in ([], ["--format", "json"]))
    assert asked.returncode == plain.returncode == 0, asked.stderr
    assert plain.stdout.endswith("dry run: nothing written\n")
    assert {cell["variant"] for cell in json.loads(asked.stdout)["cells"]} == {"mainline", "cas"}


@pytest.mark.parametrize("form", ["md", "csv", "latex"])
@pytest.mark.parametrize("command", [COMPARE, ["ladder", "sum", *COMPARE[3:]]])
def test_a_plan_has_no_table(command: list[str], form: str) -> None:
    done = inside(*command, "--dry-run", "--format", form)
    assert done.returncode == 2
    assert f"--dry-run with --format {form}: allowed: text, json" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout
