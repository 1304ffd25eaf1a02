# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged runs, and folders that cannot be written: named, and no command about others stops."""

import json
from pathlib import Path

import pytest

from eascope.engines.records import FAILED, HOST
from eascope.experiments.cli.main import main
from eascope.experiments.runs import pool
from eascope.experiments.runs.inputs import FOLDER, MACHINE
from eascope.experiments.runs.pool import estimate_s
from eascope.experiments.runs.store import Run, all_runs, execute
from eascope.experiments.runs.writable import check_runs, check_runs_place, check_writable
from eascope.host.errors import EascopeError, RequestError
from eascope.host.sealed import DONE
from tests.support.cells import Artefacts
from tests.support.command import COMPARE, RUN, json_inside, output_of, refused
from tests.support.fake import badly, cell

GOOD, BAD = "ab" * 32, "cd" * 32
TEXTS = {
    "empty": "",
    "a list": "[]",
    "a number": "7",
    "nothing": "null",
    "half": '{"simkey": "ab',
    "nested": "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "digits": '{"host_s": ' + "9" * 5000 + "}",
    "twice": '{"cause": "a", "cause": "b"}',
    "not UTF-8": '{"cause": "\udcff"}',
    "wrong types": json.dumps(
        {key: [] for key in ("simkey", "platform", "engine", "seed", "host_s", "sim_s", "cause")}
        | {"elide": {}, "mips": "fast", "files": 3}
    ),
}


def damage(path: Path, text: str) -> None:
    path.chmod(0o644)
    path.write_text(text, errors="surrogateescape")


def listed() -> dict[str, dict[str, str]]:
    return {Path(entry["run"]).name: entry for entry in json_inside("status")}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["cell.json", HOST, DONE])
def test_a_damaged_run_is_broken_and_blocks_nothing(
    name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    execute(cell(key=GOOD))
    bad = execute(cell(key=BAD))
    expected = estimate_s([cell(key="ef" * 32)])
    damage(bad.path / name, TEXTS[text])
    assert estimate_s([cell(key="ef" * 32)]) == expected
    runs = listed()
    assert runs[GOOD]["state"] == "done"
    assert runs[BAD]["state"] == "broken"
    assert f"{BAD}/{name}" in runs[BAD]["cause"]
    assert "\n" not in runs[BAD]["cause"]
    assert main(["status"]) == 0
    assert main(["verify", BAD]) == (0 if name == HOST else 1)
    assert main(["verify", GOOD]) == 0
    assert main(["show", BAD]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("text", TEXTS)
def test_a_damaged_failure_is_broken(text: str) -> None:
    with pytest.raises(EascopeError, match="guest panic"):
        execute(cell(badly, key=BAD))
    damage(Run(all_runs()[0].path).path / FAILED, TEXTS[text])
    entry = listed()[BAD]
    assert entry["state"] == "broken"
    assert f"{BAD}/{FAILED}" in entry["cause"]
    assert main(["verify", BAD]) == 1
    assert main(["show", BAD]) == 1
    assert execute(cell(key=BAD)).state == "done", "it is tried again as every failed run"


def test_the_folder_of_runs_is_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EASCOPE_RUNS")
    assert output_of("status") == f"0 runs in {tmp_path / 'runs'}\n"


@pytest.mark.parametrize("text", ["", "{}", "junk", '{"files": {}}', None])
def test_a_broken_run_is_broken_to_every_command(text: str | None) -> None:
    """An empty or strange ``done``, or no record of the machine: verify finds both, too."""
    run = execute(cell(key=BAD))
    path = run.path / DONE if text is not None else run.path / FOLDER / MACHINE
    path.chmod(0o644)
    path.unlink()
    if text is not None:
        path.write_text(text)
    entry = listed()[BAD]
    assert entry["state"] == "broken"
    assert entry["cause"].startswith(f"{path}: ")
    (shown,) = json_inside("show", BAD)
    assert (shown["state"], shown["cause"]) == ("broken", entry["cause"])
    assert BAD in output_of("verify", BAD, code=1)
    assert execute(cell(key=BAD)).fresh, "it is run again as every broken run"
    assert listed()[BAD]["state"] == "done"


def test_a_run_of_neither_mark_says_so() -> None:
    run = execute(cell(key=BAD))
    (run.path / DONE).unlink()
    assert listed()[BAD]["cause"] == f"neither {DONE} nor {FAILED} exists"


#: No folder can be made there, by root neither, and no permission says so.
NOWHERE = Path("/proc")


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("where", ["x", "x/y"])
def test_figures_that_cannot_be_written_anywhere(
    artefacts: Artefacts, where: str, more: list[str]
) -> None:
    line = refused(*COMPARE, "--out", str(NOWHERE / where), *more)
    assert line.startswith(f"--out {NOWHERE / where}: {NOWHERE}: ")
    assert line.endswith("; expected a writable directory")


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("command", [RUN, COMPARE])
@pytest.mark.parametrize("below", ["", "runs"])
def test_a_file_in_the_place_of_runs(
    artefacts: Artefacts,
    command: list[str],
    more: list[str],
    below: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("x")
    place = tmp_path / "file" / below
    monkeypatch.setenv("EASCOPE_RUNS", str(place))
    line = refused(*command, *more)
    assert line.startswith(f"EASCOPE_RUNS {place}: ")
    assert line.endswith("Not a directory; expected a writable directory")
    assert (tmp_path / "file").read_text() == "x"


def test_runs_that_are_missing_and_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that is there may have all runs, so it is refused when one is missing."""
    monkeypatch.setenv("EASCOPE_RUNS", str(NOWHERE))
    check_runs_place()
    with pytest.raises(RequestError, match=r"^EASCOPE_RUNS /proc: .*; expected a writable"):
        pool.run_all([cell()], lambda _, run: run)
    assert "runs missing" not in capsys.readouterr().err


def test_nothing_stays_where_something_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "not" / "yet"))
    check_runs()
    check_runs_place()
    check_writable("--out", tmp_path / "figures")
    check_writable("--out", tmp_path)
    assert list(tmp_path.iterdir()) == []
