# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on campaigns: wrong requests end with one line and leave nothing; JSON is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.cli.main import main
from eascope.experiments.sweeps.part import SCHEMA, read_part, run_part
from eascope.experiments.sweeps.session import executor_of
from eascope.host.cache import artefact, runs_root, write_atomic
from eascope.host.errors import RequestError
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts

ONE_OFF = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]
MEASURED = ["--measure", "energy_j.total"]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command refuses its arguments."""
    capsys.readouterr()
    assert main([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("eascope: error: ").strip()


@pytest.fixture
def done(artefacts: Artefacts, juno: Platform) -> None:
    """The campaign `ONE_OFF` is done."""
    run_part(part_of(surveyed(campaign())), StandInRuns())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "3"], "options: --platform is missing: allowed: names with commas"),
        (["--keep", "bogus"], "options: --platform is missing"),
        (["--set", "little.cpus=2"], "options: --platform is missing"),
        (["--reference", ""], "options: --platform is missing"),
        ([""], "unknown campaign ''"),
        (["", "--seeds", "3"], "--seeds: allowed: only without CAMPAIGN"),
        (["opp-sweep", "--variant", ""], "--variant: allowed: only without CAMPAIGN"),
    ],
)
def test_status_of_what_is_no_campaign(
    artefacts: Artefacts, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """It does not list all runs instead."""
    assert refused(capsys, "status", *arguments).startswith(message)


@pytest.mark.parametrize("command", ["plan", "status", "table", "sweep", "verify"])
@pytest.mark.parametrize("below", ["", "runs"])
def test_runs_that_are_no_folder(
    artefacts: Artefacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    below: str,
) -> None:
    (file := tmp_path / "file").write_text("")
    monkeypatch.setenv("EASCOPE_RUNS", str(file / below))
    line = refused(capsys, command, *(ONE_OFF if command != "verify" else []))
    assert line.startswith(f"EASCOPE_RUNS {file / below}: ")
    assert "allowed: a folder" in line


def test_status_of_runs_that_are_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "file"))
    assert "is no folder: allowed: a folder" in refused(capsys, "status")


def test_outputs_of_a_table_that_are_no_files(
    done: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "work" / "folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    for option in ("--figure", "--out"):
        for name in ("", "nowhere/x", "folder", "folder/", "new/"):
            more = ["--against", "variant", *MEASURED, option, name]
            assert refused(capsys, "table", *ONE_OFF, *more) == (
                f"{option} {name!r}: allowed: a file in an existing folder"
            )
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["folder"]


def test_a_table_as_json(done: None, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["table", *ONE_OFF, *MEASURED, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["done"], printed["failed"], printed["missing"]) == (2, 0, 0)
    first, second = printed["table"]
    assert (first["variant"], first["seed"], first["measure"]) == (
        *("mainline", 0),
        "energy_j.total",
    )
    assert isinstance(second["value"], float)
    assert main(["table", *ONE_OFF, *MEASURED, "--against", "variant", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["table"]
    assert row["difference"] == pytest.approx(second["value"] - first["value"])
    assert (row["against"], row["seeds"], row["low"]) == ("mainline", 1, None)


def test_a_script_as_json(
    artefacts: Artefacts, juno: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "cells.sh"
    command = ["sweep", *ONE_OFF, "--script", str(script), "--json"]
    assert main(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["script"], printed["cells"], printed["parts"]) == (str(script), 2, 1)
    (part,) = (runs_root() / "campaigns").glob("*/sessions/*/parts/0.json")
    run_part(read_part(part), StandInRuns())
    script.unlink()
    capsys.readouterr()
    assert main(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["script"], printed["cells"], printed["parts"]) == (None, 0, 0)
    assert not script.exists()


def test_a_script_without_a_name(artefacts: Artefacts, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty name ran the sweep."""
    assert refused(capsys, "sweep", *ONE_OFF, "--script", "") == (
        "--script '': allowed: a file in an existing folder"
    )


def test_push_into_a_place_that_cannot_be_written(
    artefacts: Artefacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    artefact("one", {"a": 1}, lambda work: write_atomic(work / "file", b"x"))
    line = refused(capsys, "cache", "push", "/proc/x")
    assert line == (
        "cache push /proc/x: /proc: No such file or directory: allowed: a folder that can be "
        "written"
    )
    (tmp_path / "file").write_text("")
    assert "allowed: a folder that can be written" in refused(
        capsys, "cache", "push", str(tmp_path / "file" / "x")
    )


def part(**changes: object) -> dict[str, object]:
    point = {"labels": {}, "platform": "juno-r2", "variant": "cas", "scenario": "smoke"}
    groups = [{"point": point, "seeds": [0]}]
    fields = {"schema": SCHEMA, "campaign": "x", "file": "f", "job": "y", "groups": groups}
    return {**fields, **changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "the content = []: allowed: an object"),
        ({}, "schema = None: allowed: 1, in this version of eascope"),
        (part(schema=99), "schema = 99: allowed: 1, in this version of eascope"),
        (part(campaign="../../x"), "campaign = '../../x': allowed: lower-case letters"),
        (part(job="../../y"), "job = '../../y': allowed: letters, digits, dots, dashes"),
        (part(job=".y"), "job = '.y': allowed: letters, digits, dots, dashes"),
        (part(job=""), "job = '': allowed: letters, digits, dots, dashes"),
        (part(groups=[]), "groups = []: allowed: groups with at least one seed"),
        (part(groups=[{"point": {"labels": {}}, "seeds": ["a"]}]), "groups.0.seeds.0 = 'a': allow"),
        (part(groups=[{"point": {"labels": {}}, "seeds": [-1]}]), "groups.0.seeds = -1: allowed: "),
        (part(more=1), "more = 1: allowed: no such key in this version"),
    ],
)
def test_a_file_that_is_no_part(
    artefacts: Artefacts,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: object,
    message: str,
) -> None:
    (path := tmp_path / "0.json").write_text(json.dumps(content))
    assert refused(capsys, "part", str(path)).startswith(f"{path}: {message}")
    assert not runs_root().exists()


def test_a_part_that_is_not_readable(
    artefacts: Artefacts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "part", str(tmp_path / "0.json")).endswith("0.json: is missing")
    (tmp_path / "0.json").write_bytes(b"\xff")
    assert "not readable as JSON" in refused(capsys, "part", str(tmp_path / "0.json"))


@pytest.mark.parametrize(
    "change",
    [
        {"platform": "nowhere"},
        {"platform": ""},
        {"overrides": {"little.cpus": [3]}},
        {"overrides": {"little": {"cpus": 3}}},
        {"overrides": {"": None}},
        {"controls": {"no_such": 1}},
        {"billing": {"no_such": 1}},
        {"mode": "no-such"},
        {"em_error": ["x"]},
    ],
)
def test_a_part_with_a_wrong_point(
    artefacts: Artefacts,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, object],
) -> None:
    point = {"labels": {}, "platform": "juno-r2", "variant": "cas", "scenario": "smoke", **change}
    (path := tmp_path / "0.json").write_text(
        json.dumps(part(groups=[{"point": point, "seeds": [0]}]))
    )
    refused(capsys, "part", str(path))


@pytest.mark.parametrize(
    ("text", "executor"),
    [
        ("executor: slurm\njobs: 3\n", "slurm"),
        ('executor: "kubernetes"\n', "kubernetes"),
        ("jobs: 3\nexecutor: 'google-batch'\n", "google-batch"),
        ('"executor": kubernetes\n', "kubernetes"),
        ("  executor: kubernetes\n", "kubernetes"),
        ("executor: local\n", ""),
        ("# executor: slurm\njobs: 3\n", ""),
    ],
)
def test_the_executor_of_a_profile(tmp_path: Path, text: str, executor: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    assert executor_of(str(tmp_path)) == executor


def test_a_profile_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(RequestError) as wrong:
        executor_of(str(tmp_path))
    assert str(wrong.value) == (
        f"--profile {tmp_path}: {tmp_path / 'config.yaml'}: byte 0 is not UTF-8: allowed: a "
        "profile of Snakemake"
    )
