# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON files as dataclasses: they come back as they were written, and wrong ones get one line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from host.errors import RequestError
from host.typed import read_record, write_record


@dataclass(frozen=True)
class Inner:
    """A part of the record."""

    name: str
    share: float


@dataclass(frozen=True)
class Outer:
    """A record with every kind of field."""

    count: int
    exact: bool
    limit: float | None
    ends: tuple[float, float]
    inner: tuple[Inner, ...]
    by_name: dict[str, Inner]
    note: str = ""


RECORD = Outer(3, True, None, (0.1, -2.0), (Inner("a", 1 / 3),), {"b": Inner("b", 2.5)}, "x")


def test_what_is_written_is_read_with_all_digits(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, RECORD)
    assert read_record(path, Outer) == RECORD
    assert '"ends": [0.1, -2.0]' in path.read_text()


def test_a_field_with_a_default_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, RECORD)
    data = json.loads(path.read_text())
    del data["note"]
    path.write_text(json.dumps(data))
    assert read_record(path, Outer).note == ""


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"count": None}, "count = None: allowed: an integer"),
        ({"count": True}, "count = True: allowed: an integer"),
        ({"exact": 1}, "exact = 1: allowed: true or false"),
        ({"limit": "1"}, "limit = '1': allowed: a finite number"),
        ({"ends": [1]}, "ends = [1]: allowed: a list of 2"),
        ({"inner": {}}, "inner = {}: allowed: a list"),
        ({"inner": [{"name": "a"}]}, "inner[0].share is missing: allowed: a finite number"),
        ({"by_name": {"b": 1}}, "by_name.b = 1: allowed: an object"),
        ({"nota": "x"}, "nota = 'x': allowed: no such key (did you mean note?); keys here: "),
    ],
)
def test_a_wrong_record_is_one_line(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    path = tmp_path / "record.json"
    write_record(path, RECORD)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RequestError) as error:
        read_record(path, Outer)
    assert str(error.value).startswith(f"{path}: {line}")
    assert "\n" not in str(error.value)


def test_a_missing_key_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, RECORD)
    data = json.loads(path.read_text())
    del data["count"]
    path.write_text(json.dumps(data))
    with pytest.raises(RequestError, match=r"record.json: count is missing: allowed: an integer$"):
        read_record(path, Outer)


def test_no_number_that_json_has_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_record(tmp_path / "record.json", Inner("a", float("nan")))
    assert not (tmp_path / "record.json").exists()
