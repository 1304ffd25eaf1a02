# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are no TOML or JSON, or hardly: each one line that begins with the file."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.host.errors import RequestError, bad_input, one_line
from eascope.host.keys import Place
from eascope.host.strict import read_json, read_toml, toml_text
from tests.support.refusals import refusal

Reader = Callable[[Path], Place]

#: Content of a file, and who reads it. The lines are in __snapshots__.
CONTENT: dict[str, tuple[bytes, Reader]] = {
    "TOML nested too deeply": (b"a = " + b"[" * 20_000, read_toml),
    "JSON nested too deeply": (b'{"a":' + b"[" * 200_000, read_json),
    "a decimal of 5000 digits, TOML": (b"a = 1" + b"0" * 4999, read_toml),
    "a decimal of 5000 digits, JSON": (b'{"a": 1' + b"0" * 4999 + b"}", read_json),
    "a hexadecimal of 5000 digits": (b"a = [{b = 0x1" + b"0" * 4999 + b"}]", read_toml),
    "an integer of 65 bits": (b'{"a": 18446744073709551616}', read_json),
    "a date": (b"a = 1\n[t]\nb = [2020-01-01]", read_toml),
    "a time": (b"a = 07:32:00", read_toml),
    "not a number": (b"a.b = nan", read_toml),
    "infinite": (b'{"a": -Infinity}', read_json),
    "dotted too deeply": (b"a" + b".a" * 5000 + b" = 1", read_toml),
    "a key of 5000 characters": (b"k" * 5000 + b" = nan", read_toml),
    "TOML that is not UTF-8": (b"a = '\xff'", read_toml),
    "JSON that is not UTF-8": (b'{"a": "\xff"}', read_json),
    "JSON with a key twice": (b'{"a": {"b": 1, "b": 2}}', read_json),
    "a list for an object": (b"[1]", read_json),
    "half of an object": (b'{"a": ', read_json),
    "half of a table": (b"[a", read_toml),
}


@pytest.mark.parametrize("case", CONTENT)
def test_a_file_that_cannot_be_parsed_is_one_line(
    tmp_path: Path, case: str, snapshot: SnapshotAssertion
) -> None:
    content, read = CONTENT[case]
    path = tmp_path / "given"
    path.write_bytes(content)
    message = refusal(read, path)
    assert message.startswith(f"{path}: ")
    assert len(message) < len(str(path)) + 200
    assert message.removeprefix(f"{path}: ") == snapshot


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


NO_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a FIFO that nobody writes": (_fifo, "not a regular file"),
    "a symbolic link to itself": (_loop, "Too many levels of symbolic links"),
    "a directory": (Path.mkdir, "not a regular file"),
    "nothing": (lambda path: None, "No such file or directory"),
}


@pytest.mark.parametrize("case", NO_FILES)
@pytest.mark.parametrize("read", [read_toml, read_json])
def test_what_is_no_file_is_one_line(tmp_path: Path, case: str, read: Reader) -> None:
    make, words = NO_FILES[case]
    path = tmp_path / "given"
    make(path)
    assert refusal(read, path).startswith(f"{path}: {words}; expected a readable ")


@pytest.mark.parametrize("broken", ["a\nb", "a\x1b[2Jb", "a\u2028b", "a\rb", "a\x7f"])
def test_a_text_holds_no_control_characters(broken: str) -> None:
    place = Place("f.toml", {"summary": broken})
    with pytest.raises(RequestError, match=r"^f\.toml: summary = .*: allowed: a non-empty string"):
        place.read("summary", str)


NO_LISTS: list[object] = [None, "a", 1, [], [1], [["a"]], [{}], [" "], ["a\nb"], ["a", "a"], ["c"]]


@pytest.mark.parametrize("value", NO_LISTS)
def test_a_list_of_choices(value: object) -> None:
    place = Place("f.toml", {} if value is None else {"names": value})
    with pytest.raises(RequestError, match=r"^f\.toml: names .*: allowed: a list .*: a, b; each"):
        place.read("names", tuple[str, ...], choices=["a", "b"])


def test_a_list_of_texts() -> None:
    place = Place("f.toml", {"names": ["b", "a"], "none": [], "twice": ["a", "a"]})
    assert place.read("names", tuple[str, ...], choices=["a", "b"]) == ("b", "a")
    assert place.read("none", tuple[str, ...], count=(0, 9)) == ()
    assert place.read("twice", tuple[str, ...]) == ("a", "a")


def test_a_key_with_a_line_break_is_shown_on_one_line() -> None:
    assert refusal(Place("f.toml", {"a\nb": 1}).only, []).startswith(
        "f.toml: a\\nb = 1: no such key"
    )
    assert str(bad_input("f", "k", "v" * 100, "x")) == f"f: k = 'v{'v' * 75}...: allowed: x"


def test_text_of_any_language_is_unchanged() -> None:
    text = "größer: 5 µs, naïve, \u202f日本"
    assert one_line(text) == text
    assert Place("f.toml", {"summary": text}).read("summary", str) == text


def test_equal_texts_give_content_that_nobody_shares(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.toml").write_text("a = [{ b = [1, 2] }]\n")
    read_toml(tmp_path / "first.toml").data["a"][0]["b"].append(3)
    assert read_toml(tmp_path / "second.toml").data == {"a": [{"b": [1, 2]}]}
    read_toml(tmp_path / "second.toml").data["a"][0]["b"].append(3)
    assert read_toml(tmp_path / "first.toml").data == {"a": [{"b": [1, 2]}]}


def test_it_is_read_back() -> None:
    document: dict[str, Any] = {
        "text": 'with "quotes", \\ and µ',
        "number": 1_200_000,
        "share": 0.5,
        "flag": True,
        "names": ["a", "b"],
        "rows": [{"khz": 1, "uv": 2}, {"khz": 3, "uv": 4}],
        "table": {"cpu-sleep-0": {"exit_us": 3}, "plain": 1},
        "a key": 2,
        "empty": [],
    }
    assert tomllib.loads(toml_text(document)) == document
