# SPDX-License-Identifier: GPL-2.0-or-later
"""A place that nothing can be written into is refused before anything starts, with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.experiments import pool
from eascope.experiments.cli.main import main
from eascope.experiments.writable import check_out, check_runs, check_runs_place
from eascope.host.errors import RequestError
from tests.support.cells import Artefacts
from tests.support.command import COMPARE, RUN
from tests.support.fake import cell

#: No folder can be made there, by root neither, and no permission says so.
NOWHERE = Path("/proc")


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """What a command prints that is refused: one line."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("where", ["x", "x/y"])
def test_figures_that_cannot_be_written_anywhere(
    artefacts: Artefacts, where: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, [*COMPARE, "--out", str(NOWHERE / where), *more])
    assert line.startswith(f"eascope: error: --out {NOWHERE / where}: {NOWHERE}: ")
    assert line.endswith(": allowed: a folder that can be written\n")


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
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("x")
    place = tmp_path / "file" / below
    monkeypatch.setenv("EASCOPE_RUNS", str(place))
    line = refused(capsys, [*command, *more])
    assert line.startswith(f"eascope: error: EASCOPE_RUNS {place}: ")
    assert line.endswith("Not a directory: allowed: a folder that can be written\n")
    assert (tmp_path / "file").read_text() == "x"


def test_runs_that_are_missing_and_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that is there may have all runs, so it is refused when one is missing."""
    monkeypatch.setenv("EASCOPE_RUNS", str(NOWHERE))
    check_runs_place()
    with pytest.raises(RequestError, match=r"^EASCOPE_RUNS /proc: .*: allowed: a folder that can"):
        pool.run_all([cell()], lambda _, run: run)
    assert "runs to do" not in capsys.readouterr().err


def test_nothing_stays_where_something_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "not" / "yet"))
    check_runs()
    check_runs_place()
    check_out(tmp_path / "figures")
    check_out(tmp_path)
    assert list(tmp_path.iterdir()) == []
