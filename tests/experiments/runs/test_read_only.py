# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that cannot be written are shown, derived and compared; what is made lies in the cache."""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.records import HOST
from eascope.host.cache import cache_root, runs_root
from tests.support.command import COMPARE, EASCOPE, eascope
from tests.support.synthetic import playback, write_run

KEY = "ab" * 32


def reader(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command by a process that may not write what is read-only."""
    return subprocess.run(
        as_reader([*EASCOPE, *arguments]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )


def content(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_read_only_run_is_shown_and_derived(juno: Platform, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    write_run(runs_root() / KEY, juno, playback("mainline", 0))
    before = content(runs_root())
    with read_only(runs_root()):
        shown = reader("show", KEY, "--json", EASCOPE_CACHE=str(cache))
        assert shown.returncode == 0, shown.stderr
        derived = reader("derive", KEY, "--json", EASCOPE_CACHE=str(cache))
        assert derived.returncode == 0, derived.stderr
        assert reader("status", EASCOPE_CACHE=str(cache)).returncode == 0
    assert content(runs_root()) == before
    [entry] = json.loads(derived.stdout)
    assert Path(entry["derived"]).parent == cache / "derived" / KEY
    assert len(list((cache / "derived" / KEY).iterdir())) == 2, "by published and by derived power"
    assert (runs_root() / KEY / HOST).is_file()


@pytest.mark.guest
def test_read_only_runs_are_compared(tmp_path: Path) -> None:
    """With the same answer; figures and report go to the cache, or where one says."""
    done = eascope(*COMPARE, "--json")
    assert done.returncode == 0, done.stderr
    shutil.rmtree(runs_root() / "comparisons")
    for tables in runs_root().glob("*/derived"):
        shutil.rmtree(tables)
    cache = tmp_path / "cache"
    cache.mkdir()
    for kind in cache_root().iterdir():
        if kind.name not in ("derived", "comparisons"):
            (cache / kind.name).symlink_to(kind)
    before = content(runs_root())
    with read_only(runs_root()):
        again = reader(*COMPARE, "--json", EASCOPE_CACHE=str(cache))
        assert again.returncode == 0, again.stderr
        elsewhere = reader(*COMPARE, "--out", str(tmp_path / "out"), EASCOPE_CACHE=str(cache))
        assert elsewhere.returncode == 0, elsewhere.stderr
    assert content(runs_root()) == before
    first, second = json.loads(done.stdout), json.loads(again.stdout)
    assert second["differences"] == first["differences"]
    report = Path(second["report"])
    assert report.is_file()
    assert report.parent.parent == cache / "comparisons"
    line = f"{runs_root()} cannot be written: figures and report go to {report.parent}"
    assert line in again.stderr.splitlines()
    assert (tmp_path / "out" / "report.html").is_file()
    assert "cannot be written" not in elsewhere.stderr


#: Root may write everywhere by these capabilities alone; setpriv is part of util-linux.
_DROP = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")


def as_reader(command: list[str]) -> list[str]:
    """``command`` so that it has no more rights than the permissions of files say."""
    return [*_DROP, *command] if os.geteuid() == 0 else command


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Nothing at or below ``root`` can be written, until the end."""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
