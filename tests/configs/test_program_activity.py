# SPDX-License-Identifier: GPL-2.0-or-later
"""What cores make of a program's own code: the file."""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_activity import FOLDER, load_program, program_path
from tests.support.program_figures import BIG, LITTLE, NAME, RECORD, SLOW
from tests.support.refusals import refusal


def _write(platform: Platform, folder: Path, record: object) -> Path:
    path = program_path(platform, NAME, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def test_an_instruction_takes_cycles_and_memory_time(juno: Platform, tmp_path: Path) -> None:
    assert load_program(juno, NAME, tmp_path) is None
    path = _write(juno, tmp_path, RECORD)
    assert path == tmp_path / "programs" / "juno-r2" / "sysbench-cpu.json"
    figures = load_program(juno, NAME, tmp_path)
    assert figures is not None
    little, big = figures.clusters
    assert (little.name, big.name) == ("little", "big")
    assert [sample.khz for sample in little.samples] == [450_000, 800_000]
    assert little.ns(450_000) == pytest.approx(900 / 600 / 0.45, rel=0.001)
    assert little.ns(800_000) == pytest.approx(1280 / 800 / 0.8, rel=0.03)
    assert big.ns(600_000) == 2.5
    assert figures.provenance["mode"] == "detailed"


def _little(**change: object) -> dict[str, Any]:
    return {"clusters": {"little": LITTLE | change, "big": BIG}}


WRONG: dict[str, dict[str, Any]] = {
    "another platform": {"platform": "pixel6"},
    "another program": {"program": "pgbench"},
    "no provenance": {"provenance": {}},
    "no samples": _little(samples={}),
    "a clock without an OPP": _little(samples={"450001": SLOW}),
    "too many cycles": _little(cycles=1.6),
}


def test_a_wrong_file_is_one_line(
    juno: Platform, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lines = {}
    for case, change in WRONG.items():
        _write(juno, tmp_path, RECORD | change)
        lines[case] = refusal(load_program, juno, NAME, tmp_path).removeprefix(str(tmp_path))
    assert lines == snapshot


def test_committed_files_are_of_platforms_and_programs_that_exist() -> None:
    for path in sorted((ACTIVITY / FOLDER).glob("*/*")):
        assert load_program(load_platform(path.parent.name), path.stem) is not None, path
