# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions in words; how records are written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.known.conditions import NO_CONTROLS, control_words
from eascope.analysis.known.origin import record_bytes
from eascope.experiments.controls import Controls
from eascope.host.record import RecordError
from tests.support.agreement import MEASURED


def test_speeds_and_seeds_are_no_controls_among_others() -> None:
    for controls in (Controls(), Controls(noise=False), Controls(speeds="measured")):
        assert control_words(tuple(controls.words), controls.speeds) == NO_CONTROLS
    both = Controls(rate_limit_us=2000, speeds="measured")
    assert control_words(tuple(both.words), both.speeds) == "rate limit 2000 us"


def test_a_control_is_known_by_what_it_is_and_not_by_the_end_of_its_words() -> None:
    assert control_words(("bus-speeds",), "board") == "bus speeds"


def test_a_written_record_keeps_all_digits(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    (first, *other_cells) = MEASURED.cells
    exact = replace(first, times={"z": 1 / 3, "a": 2.0})
    record = replace(MEASURED, cells=(exact, *other_cells))
    record.write(path)
    assert type(record).read(path) == record
    assert '"times": {"z": 0.3333333333333333, "a": 2.0}' in path.read_text()


def test_a_missing_key_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    MEASURED.write(path)
    data = json.loads(path.read_text())
    del data["cells"][1]["samples"]["fast"]["cpu_s_per_s"]
    path.write_text(json.dumps(data))
    with pytest.raises(RecordError) as error:
        type(MEASURED).read(path)
    assert str(error.value) == (
        f"{path}: cells.1.samples.fast.cpu_s_per_s is missing: allowed: a number"
    )


def test_no_number_that_json_has_not(tmp_path: Path) -> None:
    cells = (replace(MEASURED.cells[0], times={"elided": float("nan")}),)
    with pytest.raises(ValueError, match="JSON"):
        replace(MEASURED, cells=cells).write(tmp_path / "record.json")
    assert not list(tmp_path.iterdir())


def test_a_row_is_a_line() -> None:
    rows = [[1, [0.5] * 200], [2, None]]
    record = {"cells": {"columns": ["seed", "values"], "rows": rows}, "note": {"a": {"b": 1}}}
    text = record_bytes(record).decode()
    assert json.loads(text) == record
    assert "\n   [2, null]\n" in text
    assert text.count("\n") == 12
