# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope ladder``: which kernels are built and run, and a real series from end to end."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.experiments.runs import cell as cells
from eascope.experiments.runs import pool
from eascope.experiments.runs.ladder import built
from eascope.experiments.runs.request import resolve
from eascope.host.dry import refuse
from eascope.host.proc import CommandFailed
from eascope.kernels.patching import PatchFailed
from eascope.kernels.trees import Tree
from eascope.kernels.variants import Kernel
from tests.support.campaigns import StandInRuns
from tests.support.cells import REQUEST, Artefacts
from tests.support.command import eascope, inside, json_inside, output_of
from tests.support.series import numbered, written

WHERE = ("--platform", "juno-r2", "--scenario", "smoke", "--seeds", "2")


@pytest.fixture
def command(
    tmp_path: Path, artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """Four patches: the first has no code, the third does not build."""

    def kernel(spec: Kernel) -> Any:
        made = artefacts.kernel(spec)
        if spec.name == "idea-3":
            refuse("kernel idea-3")
            raise CommandFailed(["make"], 2, "fair.c:3: error: no\nmore", "kernel build")
        made.code = "base" if spec.name == "idea-1" else spec.name
        made.image = tmp_path / f"image-{spec.name}"
        made.image.write_text(spec.name)
        return made

    monkeypatch.setattr(cells, "_kernel", kernel)
    return ("ladder", str(numbered(tmp_path / "idea", 4)), *WHERE)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> StandInRuns:
    """Runs without an engine."""
    made = StandInRuns()
    monkeypatch.setattr(pool, "execute", lambda cell, advance: made(cell))
    return made


def test_what_changes_code_is_run_once(command: tuple[str, ...], runs: StandInRuns) -> None:
    record = json_inside(*command)
    assert sorted(runs.cells) == [
        (name, seed) for name in ("base", "idea", "idea-2") for seed in (0, 1)
    ]
    assert [(step["variant"], step["not_run"]) for step in record["steps"]] == [
        ("base", ""),
        ("idea-1", "changes no code"),
        ("idea-2", ""),
        ("idea-3", "does not build: fair.c:3: error: no"),
        ("idea", ""),
    ]
    assert [{*step["against"]} for step in record["steps"]] == [
        *(set(), set(), {"base"}, set(), {"idea-2", "base"})
    ]
    runs.cells.clear()
    text = output_of(*command)
    assert text.splitlines()[0] == record["answer"]
    assert runs.cells == []


def test_what_would_be_run_is_planned(command: tuple[str, ...], runs: StandInRuns) -> None:
    plan = json_inside(*command[:-2], "--seeds", "1", "--dry-run")
    assert [(cell["variant"], cell["state"]) for cell in plan["cells"]] == [
        *((name, "to run") for name in ("base", "idea-1", "idea-2")),
        *(("idea-3", "unknown"), ("idea", "to run")),
    ]
    assert "kernel idea-3" in [each["what"] for each in plan["to_build"]]
    assert runs.cells == []


def test_a_patch_that_does_not_apply_ends_it(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No later step could be built. To another commit of a tree the base series may apply again."""

    def kernel(spec: Kernel) -> Any:
        raise PatchFailed("idea/0001.patch does not apply\nhunk")

    monkeypatch.setattr(cells, "_kernel", kernel)
    names = resolve(REQUEST)
    of_tree = replace(names, kernel=replace(names.kernel, tree=Tree("mine", Path())))
    assert built(of_tree) == ("", "does not build: idea/0001.patch does not apply")
    done = inside(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "0001.patch does not apply" in done.stderr


@pytest.mark.long
@pytest.mark.guest
def test_a_real_series(tmp_path: Path) -> None:
    """A comment, then twice the clock: the second is the first to change energy."""
    series = str(written(tmp_path / "idea"))
    ladder, bisect = (
        [name, series, *WHERE[:4], "--json", *more]
        for name, more in (("ladder", ["--seeds", "10"]), ("bisect", ["--energy", "+2%"]))
    )
    done = eascope_building(*ladder)
    steps = done["steps"]
    assert [step["not_run"] for step in steps] == ["", "changes no code", "", ""]
    assert steps[2]["against"]["base"]["effect"] > 2
    found = eascope_building(*bisect)
    assert (found["step"], found["below"]) == (2, 1)
    runs = found["diff"].split()[2:]
    assert "first difference" in eascope("diff", *runs).stdout


def eascope_building(*arguments: str) -> Any:
    """What a command that may build kernels prints as JSON."""
    done = inside(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
