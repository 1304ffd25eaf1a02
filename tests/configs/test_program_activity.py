# SPDX-License-Identifier: GPL-2.0-or-later
"""What cores make of a program's own code: the file."""

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_activity import FOLDER, load_program, program_path
from tests.support.program_figures import BIG, LITTLE, NAME, RECORD, SLOW
from tests.support.refusals import refusal


def _write(platform: Platform, folder: Path, record: object) -> Path:
    path = program_path(platform, NAME, folder)
    path.parent.mkdir(parents=True)
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"platform": "pixel6"}, "platform = 'pixel6': allowed: 'juno-r2', by the file's place"),
        ({"program": "pgbench"}, "program = 'pgbench': allowed: 'sysbench-cpu', by the file's"),
        ({"provenance": {}}, "provenance.gem5 is missing: allowed: a non-empty string"),
        (_little(samples={}), "clusters.little.samples = {}: allowed: tables named by the kHz"),
        (_little(samples={"450001": SLOW}), "clusters.little.samples"),
        (
            _little(cycles=1.6),
            "clusters.little.cycles = 1.6: allowed: such that an instruction takes 1.5 cycles at "
            "450000 kHz within 5%, as measured, and not 1.789",
        ),
    ],
)
def test_a_wrong_file_is_one_line(
    juno: Platform, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = _write(juno, tmp_path, RECORD | change)
    wrong = refusal(load_program, juno, NAME, tmp_path)
    assert wrong.startswith(f"{path}: ")
    assert message in wrong


def test_committed_files_are_of_platforms_and_programs_that_exist() -> None:
    for path in sorted((ACTIVITY / FOLDER).glob("*/*")):
        assert load_program(load_platform(path.parent.name), path.stem) is not None, path
