# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's parts that need no guest: tables, packages, settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.engines.files import write_counters
from eascope.engines.qemu import provider as qemu_provider
from eascope.engines.qemu.files import counters_table
from eascope.engines.records import Mark, write_marks
from eascope.host import debian
from eascope.host.errors import EascopeError

ROW = "0,1,0,100,450000,820000,{active},5,10,20,30,40\n"


def test_counters_become_a_table(tmp_path: Path) -> None:
    """Columns by number of idle states; the same rows give the same bytes."""
    raw = tmp_path / "counters.raw"
    raw.write_text(ROW.format(active=65))
    table = counters_table(raw, 2)
    assert table.columns[-5:] == ["exit_ns", "idle0_ns", "idle1_ns", "cycles", "instructions"]
    assert table.row(0) == (0, 1, 0, 100, 450000, 820000, 65, 5, 10, 20, 30, 40)
    write_counters(table, tmp_path / "a")
    write_counters(table, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW.format(active=66), "times that do not add up"),
        (ROW.format(active=65) + "0,1,100", "times that do not add up|not readable"),
        ("0,1,zero,100,1,1,1,1,1,1,1,1\n", "not readable"),
    ],
)
def test_broken_counters_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """A sum that is off by one, a line cut short, a number that is none."""
    raw = tmp_path / "counters.raw"
    raw.write_text(text)
    with pytest.raises(EascopeError, match=message):
        counters_table(raw, 2)


def test_marks_are_json(tmp_path: Path) -> None:
    """As the contract has them."""
    write_marks([Mark(2, 10, 5)], tmp_path / "marks.json")
    text = " ".join((tmp_path / "marks.json").read_text().split())
    assert text == '[ { "id": 2, "t_ns": 10, "mono_ns": 5 } ]'


@pytest.mark.parametrize("version", ["1:7.2+dfsg-7+deb12u18", "1:10.1.0+ds-1", "1:9.2.0+ds-5"])
def test_another_release_of_qemu_is_refused(version: str) -> None:
    """The plugin knows the internals of one."""
    with pytest.raises(EascopeError, match=r"is written for QEMU 10\.0"):
        qemu_provider._check_release(version)


def test_missing_qemu_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror without the package."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))

    class Empty:
        def closure(self, packages: list[str], suite: str) -> list[debian.Deb]:
            raise EascopeError(f"package {packages[0]} (amd64) is in none of: {suite}")

    monkeypatch.setattr(qemu_provider, "apt", lambda architecture: Empty())
    with pytest.raises(EascopeError, match=r"^package qemu-system-arm .* is in none of: trixie$"):
        qemu_provider.qemu()
    assert not list((tmp_path / "qemu").glob("*/bin"))


def test_a_corrupt_package_list_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the file and what to do."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    known = qemu_provider._resolution_file()
    known.parent.mkdir(parents=True)
    known.write_text("[{")
    with pytest.raises(EascopeError, match=r"packages-\w+\.json is corrupt .*: remove that file"):
        qemu_provider.qemu()
