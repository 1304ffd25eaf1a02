# SPDX-License-Identifier: GPL-2.0-or-later
"""Run directories: whole or not there, failures kept, kills survived, two processes kept apart."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.engines.base import EngineRun, Machine
from eascope.engines.records import TRACE
from eascope.experiments.runs import pool
from eascope.experiments.runs.finished import derived_by
from eascope.experiments.runs.store import RAW, Run, all_runs, check, execute, existing, find_run
from eascope.host.errors import Again, EascopeError, RequestError
from tests.support.fake import KEY, FakeEngine, badly, cell, forever, well
from tests.support.waiting import HANG_S, until


def runs() -> Path:
    return Path(os.environ["EASCOPE_RUNS"])


def leftovers() -> list[str]:
    return [path.name for path in runs().iterdir() if ".tmp-" in path.name]


def spawn(behaviour: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.fake", behaviour],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_is_whole_and_done_once() -> None:
    first_cell = cell()
    first = execute(first_cell)
    assert first.fresh
    assert first.state == "done"
    assert {path.name for path in first.path.iterdir()} == {
        *(*RAW, TRACE, "cell.json", "done", "host.json"),
        "inputs",
    }
    again = execute(first_cell)
    assert not again.fresh
    assert again.path == first.path == runs() / KEY
    engine = first_cell.resolved.engine
    assert isinstance(engine, FakeEngine)
    assert engine.calls == 1
    assert leftovers() == []


def test_host_time_is_outside_the_digests() -> None:
    run = execute(cell())
    assert set(json.loads((run.path / "done").read_bytes())["files"]) == {
        *(*RAW, TRACE, "cell.json"),
        "inputs/machine.json",
    }
    assert run.host.host_s == 1.5
    (run.path / "host.json").unlink()
    assert check(run) == []


def test_failure_is_kept_and_tried_again() -> None:
    with pytest.raises(EascopeError, match="guest panic"):
        execute(cell(badly))
    run = Run(runs() / KEY)
    assert run.state == "failed"
    failed = json.loads((run.path / "failed.json").read_bytes())
    assert failed["cause"] == "guest panic: Oops"
    assert failed["console_tail"] == ["last words"]
    assert failed["log_tail"] == ["qemu: bye"]
    assert existing(KEY) is None
    assert execute(cell()).state == "done"
    assert not (run.path / "failed.json").exists()
    assert leftovers() == []


def test_a_bug_is_a_failure_with_its_traceback() -> None:
    def wrong(_: object) -> None:
        raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError):
        execute(cell(wrong))
    failed = json.loads((runs() / KEY / "failed.json").read_bytes())
    assert any("ZeroDivisionError" in line for line in failed["traceback"])


def test_a_run_without_a_trace_is_whole_and_says_so_when_measures_are_asked_for() -> None:
    traced = cell()
    controls = replace(traced.record.controls, trace_events=())
    untraced = replace(traced, record=replace(traced.record, controls=controls))
    engine = untraced.resolved.engine
    whole = engine.run

    def counting(
        machine: Machine, out: Path, on_progress: Callable[[float], None] | None = None
    ) -> EngineRun:
        result = whole(machine, out, on_progress)
        (out / TRACE).unlink()
        return result

    engine.run = counting  # type: ignore[assignment]
    run = execute(untraced)
    assert run.state == "done"
    assert check(run) == []
    with pytest.raises(EascopeError, match=r"was run without a trace: no measures"):
        derived_by(run)


def test_missing_file_of_the_engine_is_a_failure() -> None:
    lacking = cell()
    engine = lacking.resolved.engine
    whole = engine.run

    def forgetful(
        machine: Machine, out: Path, on_progress: Callable[[float], None] | None = None
    ) -> EngineRun:
        result = whole(machine, out, on_progress)
        (out / "trace.dat").unlink()
        return result

    engine.run = forgetful  # type: ignore[assignment]
    with pytest.raises(EascopeError, match=r"left no trace.dat"):
        execute(lacking)
    assert Run(runs() / KEY).state == "failed"


def test_interrupt_leaves_nothing() -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(cell(), interrupted)
    assert all_runs() == []
    assert leftovers() == []
    assert execute(cell()).fresh


def test_kill_is_survived() -> None:
    child = spawn("forever")
    assert child.stdout is not None
    assert child.stdout.readline() == "hanging\n"
    assert len(leftovers()) == 1
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert all_runs() == [], "half a run is no run"
    assert len(leftovers()) == 1
    assert execute(cell()).fresh
    assert leftovers() == []


def test_two_processes_do_one_run() -> None:
    children = [spawn("well") for _ in range(3)]
    outputs = [json.loads(child.communicate(timeout=HANG_S)[0]) for child in children]
    assert sorted(output["fresh"] for output in outputs) == [False, False, True]
    assert len({output["path"] for output in outputs}) == 1


def test_second_process_waits_and_says_so() -> None:
    first = spawn("forever")
    assert first.stdout is not None
    first.stdout.readline()
    second = spawn("well")
    assert second.stderr is not None
    assert "another process running the same simulation" in second.stderr.readline()
    first.kill()
    first.wait()
    out, _ = second.communicate(timeout=HANG_S)
    assert json.loads(out)["fresh"] is True


def test_check_finds_changed_missing_and_added_files() -> None:
    run = execute(cell())
    assert check(run) == []
    console = run.path / "console.log"
    console.chmod(0o644)
    console.write_text("other\n")
    (run.path / "state.txt").unlink()
    (run.path / "notes").write_text("mine")
    lines = check(run)
    assert [line.partition(": ")[2] for line in lines] == [
        "does not match its recorded SHA-256",
        "is missing",
        "was added",
    ]


def test_find_run_by_beginning() -> None:
    run = execute(cell())
    execute(cell(key="ac" * 32))
    assert find_run("ab").path == run.path
    assert find_run(str(run.path)).path == run.path
    for name, words in (("a", "2 runs of this name"), ("f", "no run of this name")):
        with pytest.raises(RequestError, match=words):
            find_run(name)


def test_pool_runs_what_is_missing_in_order() -> None:
    keys = [f"{number:02x}" * 32 for number in range(5)]
    execute(cell(key=keys[3]))
    cells = [cell(key=key) for key in keys]
    names = pool.run_all(cells, lambda cell, run: (cell.simkey, run.fresh))
    assert names == [(key, key != keys[3]) for key in keys]


def test_pool_derives_one_run_at_a_time() -> None:
    alone = threading.Lock()
    met = []

    def after(_: object, run: Run) -> Run:
        if not alone.acquire(blocking=False):
            met.append(run)
            return run
        # Long enough for the other worker to come, if it may.
        threading.Event().wait(0.05)
        alone.release()
        return run

    pool.run_all([cell(key=f"{number:02x}" * 32) for number in range(6)], after)
    assert met == []


def test_pool_keeps_what_was_done_before_a_failure() -> None:
    good, bad = cell(key="01" * 32), cell(badly, key="02" * 32)
    with pytest.raises(EascopeError, match="guest panic"):
        pool.run_all([good, bad], lambda _, run: run)
    assert Run(runs() / bad.simkey).state == "failed"
    assert sorted(run.state for run in all_runs()) in (["done", "failed"], ["failed"])
    assert leftovers() == []


def test_pool_runs_the_others_before_the_command_begins_again() -> None:
    def larger(_: object) -> None:
        raise Again("with larger buffers")

    first, bad = cell(larger, key="aa" * 32), cell(badly, key="bb" * 32)
    others = [cell(key=f"{number:02x}" * 32) for number in range(8)]
    with pytest.raises(Again, match="larger buffers"):
        pool.run_all([first, *others], _run_of)
    assert [existing(other.simkey) is not None for other in others] == [True] * 8
    with pytest.raises(EascopeError, match="guest panic"):
        pool.run_all([first, bad], _run_of)


def test_pool_interrupted_ends_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt while workers run: every worker is ended, nothing stays, a second try works."""
    real = pool.until_first_failure

    def interrupted(futures: Sequence[Future[Any]]) -> None:
        until(lambda: any(future.running() for future in futures), "a worker runs")
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "until_first_failure", interrupted)
    keys = [f"{number:02x}" * 32 for number in range(3)]
    with pytest.raises(KeyboardInterrupt):
        pool.run_all([cell(forever, key=key) for key in keys], lambda _, run: run)
    assert all_runs() == []
    assert leftovers() == []
    monkeypatch.setattr(pool, "until_first_failure", real)
    assert all(run.fresh for run in pool.run_all([cell(well, key) for key in keys], _run_of))


def _run_of(_: object, run: Run) -> Run:
    return run
