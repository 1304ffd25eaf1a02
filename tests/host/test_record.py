# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading and writing records: the same bytes, and one line for whatever is damaged."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.host.errors import EascopeError
from eascope.host.record import REST, Record, RecordError, child, json_key, load_json


@dataclass(frozen=True)
class Part(Record):
    """A part of `Whole`."""

    at: int
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class Whole(Record):
    """One field of each kind."""

    name: str
    share: float
    on: bool
    parts: tuple[Part, ...]
    pair: tuple[str, int]
    by_name: Mapping[str, float]
    nothing: int | None
    either: float | tuple[float, ...]
    absent: int | None = None
    empty: Mapping[str, int] = field(default_factory=dict)


GIVEN: dict[str, Any] = {
    "name": "ü",
    "share": 1,
    "on": False,
    "parts": [{"at": 3, "what": {"deep": [1, None]}}],
    "pair": ["a", 2],
    "by_name": {"b": 0.5},
    "nothing": None,
    "either": [1.5, 2],
}


def written(folder: Path, content: bytes) -> Path:
    path = folder / "record.json"
    path.write_bytes(content)
    return path


def test_read_and_written_again_is_the_same_bytes(tmp_path: Path) -> None:
    content = json.dumps(GIVEN, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    record = Whole.read(written(tmp_path, content))
    assert record.parts[0].others == {"what": {"deep": [1, None]}}
    assert record.absent is None
    record.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == content


def test_a_field_is_written_only_where_it_is_not_the_default() -> None:
    given = {**GIVEN, "absent": 0, "empty": {"x": 1}}
    assert Whole.decode(given, "f").encode() == given


@dataclass(frozen=True, kw_only=True)
class Named(Record):
    """Keys that no field can be called by, and typed ones that the class does not name."""

    rt_app: str = field(metadata=json_key("rt-app"))
    others: Mapping[str, Part] = field(metadata=REST)
    prepared: int = field(default=0, metadata=json_key("with"))


def test_a_field_may_have_another_key(snapshot: SnapshotAssertion) -> None:
    content = {"rt-app": "x", "copy-1": {"at": 1}, "with": 2}
    record = Named.decode(content, "f")
    assert record == Named(rt_app="x", others={"copy-1": Part(1)}, prepared=2)
    assert record.encode() == content
    assert child(record, "rt-app") == "x"
    assert Named.decode({"rt-app": "x"}, "f").encode() == {"rt-app": "x"}
    for wrong in ({"rt_app": "x"}, {"rt-app": 1}, {"rt-app": "x", "copy-1": {"at": "1"}}):
        with pytest.raises(RecordError) as caught:
            Named.decode(wrong, "f")
        assert str(caught.value) == snapshot(name=json.dumps(wrong))


WRONG: tuple[dict[str, Any], ...] = (
    *({"name": 5}, {"share": True}, {"on": 0}, {"parts": {}}, {"parts": [[]]}, {"nothing": 1.5}),
    *({"parts": [{"at": "x"}]}, {"parts": [{}]}, {"pair": ["a"]}, {"by_name": {"b": "c"}}),
    *({"either": "x"}, {"more": 1}),
)


def test_a_wrong_value_is_one_line(snapshot: SnapshotAssertion) -> None:
    lines = {}
    for change in WRONG:
        with pytest.raises(RecordError) as caught:
            Whole.decode({**GIVEN, **change}, "f")
        lines[json.dumps(change)] = str(caught.value)
    assert lines == snapshot


DAMAGE = (
    *(b"", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"name": "\\ud800"}', b"[" * 100_000),
    *(b'{"a":' * 900 + b"1" + b"}" * 900, b'{"name": 1' + b"0" * 5000 + b"}", b'{"share": 1e999}'),
    *(b'{"share": NaN}', b'{"name": "a", "name": "b"}', b'{"name": "a"'),
)


@pytest.mark.parametrize("content", DAMAGE)
def test_damage_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    with pytest.raises(EascopeError, match=rf"{path}.*\Z"):
        Whole.read(path)


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    """A pipe without a writer must not be waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("pipe", "circle", "absent", "."):
        with pytest.raises(RecordError) as caught:
            load_json(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_child_sees_what_the_file_has() -> None:
    record = Whole.decode(GIVEN, "f")
    assert child(child(record, "by_name"), "b") == 0.5
    assert child(child(record, "pair"), "1") == 2
    for value, key in ((record, "absent"), (record, "encode"), (record.pair, "2"), (1, "x")):
        with pytest.raises(KeyError):
            child(value, key)
