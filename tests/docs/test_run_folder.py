# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the run folder lists what the folders of a run and of a comparison hold."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from eascope.analysis.figures import write
from eascope.analysis.records.cell import CELL, CellRecord
from eascope.analysis.robust import AtValue, Robust
from eascope.experiments.cli.main import main
from eascope.experiments.scenario_names import ROOT as SCENARIOS
from tests.support.compared import compared_runs
from tests.support.markdown import ROOT

PAGE = (ROOT / "docs" / "reference" / "run-folder.md").read_text()
NAMED = re.compile(r"`([^`]+)`")


def section(title: str) -> list[list[str]]:
    """The rows below the heading that contains ``title``, as lists of their cells."""
    _, _, rest = PAGE.partition(title)
    body = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("| `")]
    assert rows, title
    return rows


def names(title: str, presence: str = "") -> set[str]:
    """What the first column names; only in rows whose second column is ``presence``, if given."""
    return {
        name
        for row in section(title)
        if not presence or row[1].strip() == presence
        for name in NAMED.findall(row[0])
    }


def test_a_name_is_listed_once() -> None:
    for title in (
        "## Files of a run",
        "## `cell.json`",
        "## Files below `inputs/`",
        "## Files below `derived/",
        "## Files of a comparison",
    ):
        listed = [name for row in section(title) for name in NAMED.findall(row[0])]
        assert len(listed) == len(set(listed))


@pytest.mark.guest
def test_the_files_of_a_run_are_those_that_the_page_lists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path))
    options = ["--platform", "juno-r2", "--variant", "mainline", "--scenario", "smoke"]
    assert main(["run", *options]) == 0
    (run,) = (path for path in tmp_path.iterdir() if re.fullmatch("[0-9a-f]{64}", path.name))
    files = {path.name for path in run.iterdir()}
    always = names("## Files of a run", "always")
    sometimes = {"rt-app.log", "trace.dat", "done", "derived"}
    assert sometimes <= names("## Files of a run")
    assert files == always | sometimes
    always_there = {field.name for field in fields(CellRecord) if field.default is MISSING}
    keys = set(json.loads((run / "cell.json").read_bytes()))
    assert always_there <= keys <= names("## `cell.json`")
    assert {path.name for path in (run / "inputs").iterdir()} == names("## Files below `inputs/`")
    (derived,) = (run / "derived").iterdir()
    listed = names("## Files below `derived/")
    assert {path.name for path in derived.iterdir()} == listed - {CELL}
    own = tmp_path / "mine.toml"
    own.write_bytes((SCENARIOS / "smoke.toml").read_bytes())
    assert main(["run", *options[:-1], str(own)]) == 0
    (shared,) = (path for path in (run / "derived").iterdir() if path != derived)
    assert {path.name for path in shared.iterdir()} == listed


def test_every_key_of_a_cell_is_listed() -> None:
    assert names("## `cell.json`") == {field.name for field in fields(CellRecord)}


def test_every_figure_of_a_comparison_is_listed(tmp_path: Path) -> None:
    """Without derived power, so without the energy stack."""
    compared = compared_runs(tmp_path / "runs", 1)
    value = AtValue("power", "derived", "assumed", 0, compared)
    write(compared, tmp_path / "figures", Robust(compared, [value]))
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    listed = {name for name in names("## Files of a comparison") if name.endswith((".svg", ".pdf"))}
    assert listed - drawn == {"stack.svg", "stack.pdf"}
    assert drawn < listed, "the stack and nothing else is missing"


@pytest.mark.guest
@pytest.mark.kernels("feec")
def test_the_files_of_a_comparison_are_those_that_the_page_lists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "compared"
    options = ["--platform", "juno-r2", "--scenario", "smoke", "--power", "derived"]
    variants = ["feec-a", "feec-b"]
    assert main(["compare", *variants, *options, "--decisions", "--out", str(folder)]) == 0
    listed = {
        name.replace("VARIANT", variant)
        for name in names("## Files of a comparison")
        for variant in variants
    } - {"axes.svg", "axes.pdf"}
    assert {path.name for path in folder.iterdir()} == listed
