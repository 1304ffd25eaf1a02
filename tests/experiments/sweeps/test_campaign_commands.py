# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on campaigns: wrong requests end with one line and leave nothing; JSON is printed."""

import json
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.sweeps.part import SCHEMA, read_part, run_part
from eascope.experiments.sweeps.session import executor_of
from eascope.host.cache import artefact, runs_root, write_atomic
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts
from tests.support.command import json_inside, output_of, refused
from tests.support.refusals import refusal

ONE_OFF = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]
MEASURED = ["--measure", "energy_j.total"]


@pytest.fixture
def done(artefacts: Artefacts, juno: Platform) -> None:
    """The campaign `ONE_OFF` is done."""
    run_part(part_of(surveyed(campaign())), StandInRuns())


@pytest.mark.parametrize("command", ["plan", "status", "table", "sweep", "verify", "status alone"])
@pytest.mark.parametrize("below", ["", "runs"])
def test_runs_that_are_no_folder(
    artefacts: Artefacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    below: str,
) -> None:
    (file := tmp_path / "file").write_text("")
    monkeypatch.setenv("EASCOPE_RUNS", str(file / below))
    words = (
        [command, *ONE_OFF] if command not in ("verify", "status alone") else command.split()[:1]
    )
    line = refused(*words)
    assert line.startswith(f"EASCOPE_RUNS {file / below}: ")
    assert "not a directory" in line.lower()


def test_outputs_of_a_table_that_are_no_files(
    done: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "work" / "folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    for option in ("--figure", "--out"):
        for name in ("", "nowhere/x", "folder", "folder/", "new/"):
            more = ["--against", "variant", *MEASURED, option, name]
            assert refused("table", *ONE_OFF, *more) == (
                f"{option} {name!r}: expected a file in an existing directory"
            )
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["folder"]


def test_a_table_as_json(done: None) -> None:
    printed = json_inside("table", *ONE_OFF, *MEASURED)
    assert (printed["done"], printed["failed"], printed["missing"]) == (2, 0, 0)
    first, second = printed["table"]
    assert (first["variant"], first["seed"], first["measure"]) == (
        *("mainline", 0),
        "energy_j.total",
    )
    assert isinstance(second["value"], float)
    (row,) = json_inside("table", *ONE_OFF, *MEASURED, "--against", "variant")["table"]
    assert row["difference"] == pytest.approx(second["value"] - first["value"])
    assert (row["against"], row["seeds"], row["low"]) == ("mainline", 1, None)


def test_a_script_as_json(artefacts: Artefacts, juno: Platform, tmp_path: Path) -> None:
    script = tmp_path / "cells.sh"
    command = ["sweep", *ONE_OFF, "--script", str(script), "--json"]
    printed = json.loads(output_of(*command))
    assert (printed["script"], printed["cells"], printed["parts"]) == (str(script), 2, 1)
    (part,) = (runs_root() / "campaigns").glob("*/sessions/*/parts/0.json")
    run_part(read_part(part), StandInRuns())
    script.unlink()
    printed = json.loads(output_of(*command))
    assert (printed["script"], printed["cells"], printed["parts"]) == (None, 0, 0)
    assert not script.exists()


def test_push_into_a_place_that_cannot_be_written(
    artefacts: Artefacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    artefact("one", {"a": 1}, lambda work: write_atomic(work / "file", b"x"))
    line = refused("cache", "push", "/proc/x")
    assert line == (
        "cache push /proc/x: /proc: No such file or directory; expected a writable directory"
    )
    (tmp_path / "file").write_text("")
    assert "expected a writable directory" in refused("cache", "push", str(tmp_path / "file" / "x"))


def part(**changes: object) -> dict[str, object]:
    point = {"labels": {}, "platform": "juno-r2", "variant": "cas", "scenario": "smoke"}
    groups = [{"point": point, "seeds": [0]}]
    fields = {"schema": SCHEMA, "campaign": "x", "file": "f", "job": "y", "groups": groups}
    return {**fields, **changes}


def test_a_part_that_is_not_readable(artefacts: Artefacts, tmp_path: Path) -> None:
    assert refused("part", str(tmp_path / "0.json")).endswith("0.json: is missing")
    (tmp_path / "0.json").write_bytes(b"\xff")
    assert "not readable as JSON" in refused("part", str(tmp_path / "0.json"))


def point(**changes: object) -> dict[str, object]:
    """A part whose one point has ``changes``."""
    own = {"labels": {}, "platform": "juno-r2", "variant": "cas", "scenario": "smoke", **changes}
    return part(groups=[{"point": own, "seeds": [0]}])


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
        (point(platform="nowhere"), "f: cell : unknown platform 'nowhere': allowed: "),
        (point(platform=""), "f: cell : unknown platform '': allowed: "),
        (point(overrides={"little.cpus": [3]}), "little.cpus = [3]: allowed: an integer in 0..32"),
        (
            point(overrides={"little": {"cpus": 3}}),
            "little = {'cpus': 3}: allowed: a key of little",
        ),
        (point(overrides={"": None}), "override '': '' is no cluster of juno-r2 and no key"),
        (point(controls={"no_such": 1}), "controls: "),
        (point(billing={"no_such": 1}), "billing: "),
        (point(mode="no-such"), "mode 'no-such': engine qemu has no modes; --engine gem5 has"),
        (point(em_error=["x"]), "--em-error 'x': allowed: CLUSTER=PERCENT%"),
    ],
)
def test_a_file_that_is_no_part(
    artefacts: Artefacts,
    tmp_path: Path,
    content: object,
    message: str,
) -> None:
    (path := tmp_path / "0.json").write_text(json.dumps(content))
    assert message in refused("part", str(path)).removeprefix(f"{path}: ")
    assert not [file for file in runs_root().rglob("*") if file.is_file()]


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
    assert refusal(executor_of, str(tmp_path)) == (
        f"--profile {tmp_path}: {tmp_path / 'config.yaml'}: byte 0 is not UTF-8"
    )
