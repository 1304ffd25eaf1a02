# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of a run: a real one's files, and a gem5 run's, read and written again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Result
from eascope.configs.platform import Platform
from eascope.engines.gem5.settings import RUN_MODES, machine_settings
from eascope.engines.records import Failure, HostRecord, read_marks, write_marks
from eascope.host.errors import EascopeError
from eascope.host.record import Record
from eascope.host.sealed import Done

#: Files of a run on the fast engine.
RUN = Path(__file__).parent / "fixtures" / "run"
KINDS: dict[str, type[Record]] = {
    "cell.json": CellRecord,
    "result.json": Result,
    "host.json": HostRecord,
    "done": Done,
}
#: What damage may put in a value's place.
WRONG: tuple[Any, ...] = (None, True, -1, 2.5, "x", [], {}, [[]], [{}], {"x": []}, ["x", 1])


@pytest.mark.parametrize("name", KINDS)
def test_a_run_is_written_again_with_the_same_bytes(name: str) -> None:
    assert KINDS[name].read(RUN / name).to_bytes() == (RUN / name).read_bytes()


def test_marks_are_written_again_with_the_same_bytes(tmp_path: Path) -> None:
    write_marks(read_marks(RUN / "marks.json"), tmp_path / "marks.json")
    assert (tmp_path / "marks.json").read_bytes() == (RUN / "marks.json").read_bytes()


@pytest.mark.parametrize("mode", RUN_MODES)
def test_a_cell_of_gem5_is_written_again_with_the_same_bytes(
    platform: Platform, tmp_path: Path, mode: str
) -> None:
    content = json.loads((RUN / "cell.json").read_bytes())
    content |= {"engine": "gem5", "mode": mode}
    content["settings"]["engine"] = {"mode": mode, "machine": machine_settings(platform, mode)}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path = tmp_path / "cell.json"
    path.write_text(text)
    cell = CellRecord.read(path)
    assert cell.to_bytes() == path.read_bytes()
    machine = cell.settings.engine.machine
    assert machine is not None
    assert [cluster.name for cluster in machine.clusters] == ["little", "big"]


def test_a_host_record_of_gem5_is_written_with_the_same_bytes(tmp_path: Path) -> None:
    content = {
        "cpu_s": 1.5,
        "cpus": 2,
        "host_s": 2.0,
        "machine": "x86_64",
        "mips": 1.25,
        "parts_cpu_s": {"warmup": 0.5, "window": 1.0},
        "parts_s": {"boot": 0.0, "window": 1.1},
        "python": "3.11.7",
        "sim_s": 0.5,
    }
    path = tmp_path / "host.json"
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    assert HostRecord.read(path).to_bytes() == path.read_bytes()


def test_a_failure_is_written_again_with_the_same_bytes(tmp_path: Path) -> None:
    content = {"cause": "no simulated progress, 5 µs", "console_tail": [], "log_tail": ["x"]}
    path = tmp_path / "failed.json"
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    assert Failure.read(path).to_bytes() == path.read_bytes()


def test_a_cell_of_a_later_schema_is_one_line() -> None:
    content = json.loads((RUN / "cell.json").read_bytes()) | {"schema": 2, "more": 1}
    with pytest.raises(EascopeError) as caught:
        CellRecord.decode(content, "cell.json")
    assert str(caught.value) == "cell.json: schema = 2: allowed: 1, in this version of eascope"


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


@pytest.mark.parametrize("name", KINDS)
def test_any_damaged_value_is_one_line(name: str) -> None:
    """Each value is replaced by all of `WRONG`, and each key is left out."""
    content = json.loads((RUN / name).read_bytes())
    refused = 0
    for holder, key in places(content):
        right = holder[key]
        for wrong in WRONG:
            holder[key] = wrong
            refused += is_refused(KINDS[name], content)
        holder[key] = right
        if isinstance(holder, dict):
            del holder[key]
            refused += is_refused(KINDS[name], content)
            holder[key] = right
    assert refused > len(content)
    assert not is_refused(KINDS[name], content)


def is_refused(kind: type[Record], content: Any) -> bool:
    try:
        kind.decode(content, "f")
    except EascopeError as error:
        return "\n" not in str(error)
    return False
