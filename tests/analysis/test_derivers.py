# SPDX-License-Identifier: GPL-2.0-or-later
"""Derivation in processes: the bytes of this one's, its errors, and no process that is left."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eascope.analysis.derive import derive
from eascope.analysis.derivers import derivers
from eascope.analysis.records.cell import CellRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.runs.finished import BilledBy
from eascope.host.errors import EascopeError
from tests.support.synthetic import make_run


def test_as_in_this_process(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    """Three runs by two processes; a second time none is started."""
    model = BilledBy().model(platform, activity)
    made = [
        make_run(tmp_path / place, platform, "cas", seed) for place in "ab" for seed in range(3)
    ]
    here, there = made[:3], made[3:]
    for started in (2, 0):
        with derivers(2) as derived, ThreadPoolExecutor(3) as threads:
            asked = [
                (run, platform, activity, [model], CellRecord.read(run / "cell.json"))
                for run in there
            ]
            results = [one for (one,) in threads.map(lambda what: derived(*what), asked)]
        assert len(derived.processes) == started
        assert all(process.returncode == 0 for process in derived.processes)
    for run, result in zip(here, results, strict=True):
        own = derive(run, platform, activity)
        assert own.result == result.result
        for path in own.path.iterdir():
            assert (result.path / path.name).read_bytes() == path.read_bytes()


def test_an_error_is_this_process_s(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    run = make_run(tmp_path, platform, "cas", 0)
    record = CellRecord.read(run / "cell.json")
    (run / "trace.dat").write_bytes(b"x")
    with derivers(1) as derived, pytest.raises(EascopeError, match=r"trace\.dat"):
        derived(run, platform, activity, [BilledBy().model(platform, activity)], record)


def test_who_asked_may_end_first(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    """An interrupted command leaves no traceback of its derivers."""
    what = (tmp_path, platform, activity, [BilledBy().model(platform, activity)], None)
    with subprocess.Popen(
        [sys.executable, "-m", "eascope.analysis.derivers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        assert process.communicate(pickle.dumps(what))[1] == b""
    assert process.returncode == 0


def test_a_deriver_that_was_killed_is_one_line(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    model = BilledBy().model(platform, activity)
    runs = [make_run(tmp_path, platform, "cas", seed) for seed in (0, 1)]
    records = [CellRecord.read(run / "cell.json") for run in runs]
    with derivers(1) as derived:
        derived(runs[0], platform, activity, [model], records[0])
        derived.processes[0].kill()
        derived.processes[0].wait()
        with pytest.raises(EascopeError, match="the process that derived it has ended"):
            derived(runs[1], platform, activity, [model], records[1])
