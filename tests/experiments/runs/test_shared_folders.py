# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines that share a folder of runs whose file system keeps locks on each of them."""

import json
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from eascope.experiments.runs import store
from eascope.experiments.runs.store import Run, check, execute
from eascope.host.cache import runs_root
from eascope.host.claims import claims_on
from tests.support.fake import KEY, cell
from tests.support.waiting import HANG_S

#: Another machine: locks of the kernel do not reach it, and it does not see our processes.
MACHINE = """
import fcntl, json, sys
fcntl.flock = lambda *_: None
from eascope.host import claims

claims.LOOK_S, claims.BEAT_S, claims.LEASE_S = 0.02, 0.05, float(sys.argv[3])
claims.this_boot = lambda: sys.argv[1]
claims.started_at = lambda _: 1
from eascope.experiments.runs.store import execute
from tests.support import fake
def slow(_):
    print("begun", flush=True)
    if sys.argv[2] == "hang":
        fake.forever(None)
    import time
    time.sleep(0.3)
print("ready", flush=True)
sys.stdin.readline()
run = execute(fake.cell(slow))
print(json.dumps({"fresh": run.fresh, "calls": 1}), flush=True)
"""


#: Seconds: no host stands still that long, and a lease that a test may wait for.
FOR_EVER, SHORT = 36_000.0, 2.0


def machine(name: str, what: str = "run", lease_s: float = FOR_EVER) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", MACHINE, name, what, str(lease_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert line_of(child) == "ready"
    return child


def line_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def test_machines_never_do_a_cell_twice() -> None:
    machines = [machine(name) for name in "abcd"]
    for item in machines:
        go(item)
    outputs = [item.communicate(timeout=HANG_S) for item in machines]
    assert [item.returncode for item in machines] == [0] * 4, outputs
    fresh = [json.loads(out.splitlines()[-1])["fresh"] for out, _ in outputs]
    assert sorted(fresh) == [False, False, False, True]
    assert sum("begun" in out for out, _ in outputs) == 1
    assert check(Run(runs_root() / KEY)) == []
    assert [path.name for path in runs_root().iterdir() if path.name != ".locks"] == [KEY]


def test_the_cell_of_a_dead_machine_is_taken_over() -> None:
    dying = machine("a", "hang")
    go(dying)
    assert line_of(dying) == "begun"
    other = machine("b", lease_s=SHORT)
    go(other)
    assert other.stderr is not None
    assert "another process running the same simulation" in other.stderr.readline()
    dying.send_signal(signal.SIGKILL)
    dying.communicate()
    out, err = other.communicate(timeout=HANG_S)
    assert other.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["fresh"]
    assert check(Run(runs_root() / KEY)) == []
    assert claims_on(store.lock_of(KEY)) == []
    assert [path.name for path in runs_root().iterdir() if path.name != ".locks"] == [KEY]


def test_a_machine_that_stood_still_leaves_what_another_has_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its lease ran out, another machine ran the cell, and then it goes on."""
    result: list[Path] = []

    def meanwhile(_: object) -> None:
        if not result:
            result.append(runs_root())
            with monkeypatch.context() as patch:
                patch.setattr(store, "locked_everywhere", lambda *_: nullcontext())
                patch.setattr("shutil.rmtree", lambda *_, **__: None)
                other = execute(cell())
            assert other.fresh
            (other.path / "mark").touch()

    run = execute(cell(meanwhile))
    assert result
    assert (run.path / "mark").is_file(), "the first one to finish stays"
