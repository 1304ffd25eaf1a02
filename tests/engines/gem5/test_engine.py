# SPDX-License-Identifier: GPL-2.0-or-later
"""The gem5 engine against a program that only speaks like gem5: files, checkpoints, bad ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.engines.base import EngineFailed, Machine
from eascope.engines.gem5 import provider as gem5_provider
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.process import MALLOC, environment
from eascope.engines.records import START, STOP
from eascope.engines.registry import get_engine
from eascope.host.errors import EascopeError, RequestError
from tests.support import fake_gem5
from tests.support.waiting import until

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a fake that ends in some way where $GEM5 says; the cache is a new one."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))

    def put(how: str) -> Path:
        program = tmp_path / f"gem5-{how.replace(' ', '-')}"
        command = shlex.join([sys.executable, str(Path(fake_gem5.__file__)), how])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("GEM5", str(program))
        return program

    return put


@pytest.fixture
def machine(tmp_path: Path, linux_like: Machine) -> Machine:
    files = {name: tmp_path / name for name in ("image", "dtb", "initramfs", "vmlinux")}
    for name, path in files.items():
        path.write_text(name)
    return replace(linux_like, **files, script=b"a script\n")  # type: ignore[arg-type]


def checkpoints(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "gem5-checkpoint").glob("*/manifest.json"))


def test_a_run_leaves_what_runs_need(install: Install, machine: Machine, tmp_path: Path) -> None:
    install("well")
    progress: list[float] = []
    out = tmp_path / "out"
    ended = Gem5Engine().run(machine, out, progress.append)
    assert (out / "trace.dat").read_bytes() == fake_gem5.TRACE
    assert (out / "state.txt").read_bytes() == b"a script\n"
    assert (out / "console.log").read_text() == "hello from the guest\n"
    assert (out / "stats.txt").read_text() == "simSeconds 0.0009\n"
    assert json.loads((out / "marks.json").read_text()) == [
        {"id": START, "t_ns": 71_000_000, "mono_ns": 1000},
        {"id": STOP, "t_ns": 71_900_000, "mono_ns": 901_000},
    ]
    counters = pl.read_parquet(out / "counters.parquet")
    assert counters.filter(pl.col("cpu") >= 0).height == 6
    assert set(counters["t0_ns"]) == {71_000_000}
    assert set(counters["t1_ns"]) == {71_900_000}
    assert counters.filter(pl.col("cpu") == -2)["dram_pj"].to_list() == [12.5]
    assert ended.sim_s == pytest.approx(0.072)
    assert {"boot", "restore", "warmup", "window", "collect"} == set(ended.parts_s)
    assert ended.parts_s["window"] == 0.25
    assert ended.parts_cpu_s["window"] == 0.125
    assert ended.transitions["big"].completed == 0
    assert ended.transitions["big"].requested is None
    assert max(progress) == pytest.approx(0.072)
    assert sorted(path.name for path in tmp_path.glob("gem5-*")) == ["gem5-well"]


def test_the_same_run_leaves_the_same_bytes(
    install: Install, machine: Machine, tmp_path: Path
) -> None:
    install("well")
    for name in ("one", "two"):
        Gem5Engine().run(machine, tmp_path / name)
    first, second = (
        {p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two")
    )
    assert first == second
    assert len(first) == 6


def test_boots_once_for_all_modes_and_scripts(
    install: Install, machine: Machine, tmp_path: Path
) -> None:
    install("well")
    for mode in ("elided", "elided-detailed", "timing", "detailed"):
        Gem5Engine(mode).run(machine, tmp_path / mode)
    assert len(checkpoints(tmp_path)) == 1
    machine.dtb.write_text("another device tree")
    Gem5Engine().run(machine, tmp_path / "again")
    assert len(checkpoints(tmp_path)) == 2


def test_a_damaged_checkpoint_is_made_anew(
    install: Install, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("well")
    Gem5Engine().run(machine, tmp_path / "one")
    (store,) = checkpoints(tmp_path)
    memory = store.parent / "state" / "memory.pmem"
    good = memory.read_bytes()
    memory.write_bytes(good[:-1] + b"\0")
    capsys.readouterr()
    Gem5Engine().run(machine, tmp_path / "two")
    message = capsys.readouterr().err
    assert "state/memory.pmem does not match its recorded SHA-256" in message
    assert "; rebuilding" in message
    assert memory.read_bytes() == good


def test_a_boot_that_saves_nothing_is_no_checkpoint(
    install: Install, machine: Machine, tmp_path: Path
) -> None:
    install("no checkpoint")
    with pytest.raises(EascopeError, match="saved nothing"):
        Gem5Engine().run(machine, tmp_path / "out")
    assert not checkpoints(tmp_path)


BAD_ENDS = {
    "fail": r"^script line 7: expect x: found 'a', wanted 'b'",
    "panic": r"^guest panic: Kernel panic - not syncing: Attempted to kill init!",
    "stall": r"^the guest hangs: no CPU has committed an instruction for 20000 ms",
    "limit": r"^no CPU has committed",
    "fatal": r"^gem5 died: fatal: no such parameter",
    "crash": r"^gem5 was killed by signal 11 \(Segmentation fault\)",
    "full": r"^the disk is full: /.*: \d+ bytes free",
}


@pytest.mark.parametrize("how", BAD_ENDS)
def test_a_bad_end_names_its_reason(
    install: Install, machine: Machine, tmp_path: Path, how: str
) -> None:
    """In one line, with the ends of both logs; and the checkpoint stays whole."""
    install(how)
    with pytest.raises(EngineFailed, match=BAD_ENDS[how]) as caught:
        Gem5Engine().run(machine, tmp_path / "out")
    assert "\n" not in caught.value.reason
    assert caught.value.console_tail[0] == "hello from the guest"
    assert "gem5 Simulator System." in caught.value.log_tail
    assert (tmp_path / "out" / "console.log").is_file()
    assert len(checkpoints(tmp_path)) == 1
    assert not list(tmp_path.rglob(".*.tmp-*"))


def test_ends_that_leave_no_result(install: Install, machine: Machine, tmp_path: Path) -> None:
    install("exit 3")
    with pytest.raises(EascopeError, match="the guest agent ended with exit code 3"):
        Gem5Engine().run(machine, tmp_path / "out")
    install("windowless")
    with pytest.raises(EascopeError, match=r"gem5 left no rows\.json: no window"):
        Gem5Engine().run(machine, tmp_path / "out")


def test_a_gem5_that_stands_still_is_killed(
    install: Install, machine: Machine, tmp_path: Path
) -> None:
    install("hang")
    with pytest.raises(EngineFailed, match=r"no simulated progress for 2 s of host time"):
        Gem5Engine().run(machine, tmp_path / "out", stall_s=2.0)


def test_an_exception_while_progress_is_shown_ends_gem5(
    install: Install, machine: Machine, tmp_path: Path
) -> None:
    install("hang")

    def interrupt(simulated_s: float) -> None:
        if simulated_s > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Gem5Engine().run(machine, tmp_path / "out", interrupt)
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in left


def test_a_killed_caller_leaves_no_gem5(install: Install, machine: Machine, tmp_path: Path) -> None:
    """gem5 finds no reader at its next line: the real one tells its progress twice a second."""
    program = install("talk")
    code = (
        "from pathlib import Path; from eascope.engines.gem5.process import supervise; import sys;"
        "supervise({'mode': 'elided'}, Path(sys.argv[1]), 'exit', 60, None)"
    )
    folder = tmp_path / "killed"
    folder.mkdir()
    caller = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], env={**os.environ, "GEM5": str(program)}
    )
    until(lambda: (folder / "pid").is_file() and bool((folder / "pid").read_text()), "gem5's start")
    caller.send_signal(signal.SIGKILL)
    assert caller.wait() == -signal.SIGKILL
    gem5 = Path("/proc", (folder / "pid").read_text())
    until(lambda: not gem5.exists(), "gem5's end")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("old", r"gem5 23\.1\.0\.0 is too old; 24\.0\.0\.1 or newer"),
        ("other", r"is not gem5: it prints 'usage: some other program'"),
    ],
)
def test_a_gem5_that_will_not_do(install: Install, how: str, message: str) -> None:
    install(how)
    with pytest.raises(EascopeError, match=message) as caught:
        get_engine("gem5").identity()
    assert "\n" not in str(caught.value)


def test_a_newer_gem5_is_used_with_a_warning(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    program = install("new")
    assert get_engine("gem5").status() == f"gem5 25.1.0.0 in {program}"
    assert "warning: gem5 25.1.0.0 was not tested (24.0.0.1 was)" in capsys.readouterr().err


def test_a_missing_gem5_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEM5", str(tmp_path / "nothing"))
    with pytest.raises(EascopeError, match=r"GEM5 = '.*/nothing': no such program: .*gem5\.md"):
        gem5_provider.find_gem5()
    monkeypatch.delenv("GEM5")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EascopeError, match="no gem5 on PATH"):
        get_engine("gem5").status()


def test_modes(linux_like: Machine) -> None:
    with pytest.raises(RequestError, match=r"unknown gem5 mode 'elidde' \(did you mean elided\?\)"):
        get_engine("gem5", "elidde")
    with pytest.raises(RequestError, match="unknown gem5 mode 'boot'"):
        get_engine("gem5", "boot")
    settings = {
        mode: Gem5Engine(mode).settings(linux_like).encode()
        for mode in ("elided", "elided-detailed", "timing", "detailed")
    }
    assert len({json.dumps(record, sort_keys=True) for record in settings.values()}) == 4
    assert [Gem5Engine(mode).elides for mode in settings] == [True, True, False, False]


def test_gem5_is_told_to_keep_freed_memory_unless_a_person_tells_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert environment()["GLIBC_TUNABLES"] == MALLOC
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=1")
    assert environment()["GLIBC_TUNABLES"] == "glibc.malloc.perturb=1"
