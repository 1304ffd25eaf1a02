# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines that share a cache whose locks do not reach the others build one after another."""

import subprocess
import sys
from pathlib import Path

import pytest

from eascope.experiments.runs.cell import BUILDING, built_once
from eascope.host import dry
from eascope.host.cache import artefact, cache_root
from eascope.host.claims import claims_on
from tests.support.waiting import HANG_S

BUILD = """
import fcntl, sys, time
from pathlib import Path
fcntl.flock = lambda *_: None
from eascope.host import claims
claims.LOOK_S = 0.02
claims.this_boot = lambda: sys.argv[1]
claims.started_at = lambda _: 1
from eascope.experiments.runs.cell import built_once
from eascope.host.cache import artefact
def build(work):
    with Path(sys.argv[2]).open("a") as stream:
        stream.write("x")
    time.sleep(1)
    (work / "file").write_text("kernel")
print("ready", flush=True)
sys.stdin.readline()
print(built_once(lambda: artefact("kernel", {"a": 1}, build)))
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def test_machines_build_an_artefact_once(tmp_path: Path) -> None:
    built = tmp_path / "built"
    machines = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD, name, str(built)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    # All have begun before the first one builds.
    for machine in machines:
        assert machine.stdout is not None
        assert machine.stdout.readline() == "ready\n"
    for machine in machines:
        assert machine.stdin is not None
        machine.stdin.write("\n")
        machine.stdin.flush()
    outputs = [machine.communicate(timeout=HANG_S) for machine in machines]
    assert [machine.returncode for machine in machines] == [0] * 3, outputs
    assert built.read_text() == "x"
    assert len({out for out, _ in outputs}) == 1


def test_what_is_there_needs_no_lock_and_is_marked_as_used(tmp_path: Path) -> None:
    calls: list[bool] = []

    def build(work: Path) -> None:
        (work / "file").write_text("")

    def make() -> Path:
        calls.append(dry.work_folder() is not None)
        return artefact("kernel", {"a": 1}, build)

    folder = built_once(make)
    assert calls == [True, False]
    assert folder.parent == cache_root() / "kernel"
    (cache_root() / BUILDING).unlink()
    calls.clear()
    assert built_once(make) == folder
    assert calls == [True, False], "the second one says that it was used"
    assert not (cache_root() / BUILDING).exists()
    assert claims_on(cache_root() / BUILDING) == []
