# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates of builds: what the last ones of their kind took here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.kernels import build
from eascope.kernels.naming import kernel_named
from eascope.kernels.source import Source
from eascope.kernels.worktree import FOLDER, LAYOUT, OUT, Objects, kept_objects

TOY = Source("6.12.0", "6.12.0-1", "0" * 64)
BASE, MINE = Path("/series/base"), Path("/series/mine")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    return tmp_path


def vmlinux(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "vmlinux").touch()


def note(home: Path, whose: str) -> None:
    fields = {"layout": LAYOUT, "source": TOY.sha256, "whose": whose}
    (home / "tree.json").write_text(json.dumps(fields))


def test_without_any_build_both_kinds_take_minutes() -> None:
    assert build.estimate_s(from_objects=True) == build.estimate_s(from_objects=False) > 60


def test_the_last_builds_of_a_kind_count() -> None:
    build.remember_build(from_objects=False, seconds=400)
    for seconds in (1_000, 13, 35, 20, 21, 22):
        build.remember_build(from_objects=True, seconds=seconds)
    assert build.estimate_s(from_objects=True) == 21, "the first is one too many"
    assert build.estimate_s(from_objects=False) == 400


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"from_objects_s": [1], "from_nothing_s": 3}']
)
def test_a_damaged_note_is_no_note(cache: Path, content: str) -> None:
    (cache / "kernel-build.json").write_text(content)
    assert build.estimate_s(from_objects=True) == build.FIRST_BUILD_S
    build.remember_build(from_objects=True, seconds=7)
    assert build.estimate_s(from_objects=True) == 7


def test_a_build_starts_from_the_objects_of_its_source(cache: Path) -> None:
    home = cache / FOLDER
    assert kept_objects(TOY, [BASE]) is Objects.NONE
    vmlinux(home / "linux" / OUT)
    assert kept_objects(TOY, [BASE]) is Objects.NONE, "nobody says whose they are"
    note(home, "base")
    assert kept_objects(TOY, [BASE]) is Objects.OWN
    assert kept_objects(Source("6.12.1", "6.12.1-1", "1" * 64), [BASE]) is Objects.NONE
    (home / "busy").touch()
    assert kept_objects(TOY, [BASE]) is Objects.NONE, "a build was killed there"


def test_a_new_kernel_starts_from_those_of_another(cache: Path) -> None:
    home = cache / FOLDER
    vmlinux(home / "linux" / OUT)
    note(home, "base")
    assert kept_objects(TOY, [BASE, MINE]) is Objects.COPIED
    vmlinux(home / "objects" / "base-mine")
    assert kept_objects(TOY, [BASE, MINE]) is Objects.OWN, "they were put aside"
    (home / "busy").touch()
    assert kept_objects(TOY, [BASE, MINE]) is Objects.OWN


def test_the_first_build_from_copied_objects_has_no_estimate() -> None:
    for seconds in (12, 13, 14):
        build.remember_build(from_objects=True, seconds=seconds)
    assert build.estimate(Objects.OWN) == "about 13 s"
    assert build.estimate(Objects.NONE) == "about 6 min 00 s"
    build.remember_build(from_objects=False, seconds=300)
    assert (
        build.estimate(Objects.COPIED)
        == "at most 5 min 00 s, depending on the files its patches touch"
    )


@pytest.mark.parametrize(
    ("all_series", "known"),
    [([BASE], "about 13 s"), ([BASE, MINE], "at most 5 min 00 s, depending")],
)
def test_a_build_announces_how_long_it_may_take(
    all_series: list[Path],
    known: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vmlinux(cache / FOLDER / "linux" / OUT)
    note(cache / FOLDER, "base")
    build.remember_build(from_objects=True, seconds=13)
    build.remember_build(from_objects=False, seconds=300)
    monkeypatch.setattr(build, "_source", lambda _: TOY)
    monkeypatch.setattr(build, "_key", lambda *_: {"toy": len(all_series)})
    monkeypatch.setattr(build, "_series_folders", lambda _: all_series)
    monkeypatch.setattr(build, "_build", lambda spec, source, folder: (folder / "x").touch())
    monkeypatch.setattr(build, "_artefact", lambda *_: None)
    build.kernel(replace(kernel_named("base"), name="toy"))
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith("  kernel toy, Linux 6.12.0 (")
    assert f"... ({known}" in line
