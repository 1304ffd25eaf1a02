# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent: what scripts may say, and that everything else is a FAIL with its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent import AgentRun

Agent = Callable[[bytes], AgentRun]
HEAD = b"eascope-script 1\n"


def test_shortest_script(agent: Agent) -> None:
    run = agent(HEAD + b"exit\n")
    assert run.status == 0
    assert run.lines == ["WRITE_FILE state.txt 0 0", "EXIT 0"]
    assert (run.out / "state.txt").read_bytes() == b""


def test_nothing_is_done_after_exit(agent: Agent) -> None:
    assert agent(HEAD + b"exit\nnonsense\n").status == 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (b"", "the script's first line must be 'eascope-script 1'"),
        (b"eascope-script 2\nexit\n", "script line 1: the script's first line must be"),
        (HEAD, "script line 1: the script ends without 'exit'"),
        (HEAD + b"exit", "script line 2: the script is cut off: its last line has no newline"),
        (HEAD + b"frob 1\n", "script line 2: unknown verb 'frob'"),
        (HEAD + b"\nexit\n", "script line 2: verb is missing"),
        (HEAD + b"wri\0te a b\n", "script line 2: zero byte"),
        (HEAD + b"exit now\n", "script line 2: nothing may follow here: 'now'"),
        (HEAD + b"until-ms 5\n", "script line 2: until-ms 5: before start"),
        (HEAD + b"sleep-ms\n", "script line 2: sleep-ms: N is missing"),
        (HEAD + b"sleep-ms -5\n", "script line 2: sleep-ms: N = '-5': allowed: a whole number"),
        (HEAD + b"sleep-ms 5s\n", "script line 2: sleep-ms: N = '5s': allowed"),
        (HEAD + b"sleep-us 5s\n", "script line 2: sleep-us: N = '5s': allowed"),
        (HEAD + b"sleep-us 3600000001\n", "script line 2: sleep-us: N = '3600000001': allowed"),
        (HEAD + b"sleep-ms 99999999\n", "script line 2: sleep-ms: N = '99999999': allowed"),
        (HEAD + b"file /tmp/x 10\nabc\n", "script line 2: file: 10 bytes wanted"),
        (HEAD + b"file /tmp/x ten\nabc\n", "script line 2: file: LENGTH = 'ten': allowed"),
        (HEAD + b"file /nonexistent/x 3\nabc\n", "file /nonexistent/x: No such file"),
        (HEAD + b"write /proc/version\n", "script line 2: write: VALUE is missing"),
        (HEAD + b"write /nonexistent 1\n", "write /nonexistent 1: No such file"),
        (HEAD + b"expect /nonexistent 1\n", "expect /nonexistent: No such file"),
        (HEAD + b"expect /dev/null 1\n", "expect /dev/null: found '', wanted '1'"),
        (HEAD + b"contains /proc/mounts \x7f\n", "contains /proc/mounts: "),
        (
            HEAD + b"word /proc/filesystems nodevice\n",
            "word /proc/filesystems: no 'nodevice' in it",
        ),
        (HEAD + b"word /proc/filesystems sysf\n", "word /proc/filesystems: no 'sysf' in it"),
        (HEAD + b"word /proc/filesystems\n", "script line 2: word: WORD is missing"),
        (HEAD + b"bytes /nonexistent 0 00\n", "bytes /nonexistent: No such file"),
        (HEAD + b"bytes /proc/version 0 0g\n", "bytes: HEX = '0g': allowed: 1 to 64 bytes as"),
        (HEAD + b"bytes /proc/version 0 000\n", "bytes: HEX = '000': allowed"),
        (HEAD + b"bytes /proc/version 0 " + b"00" * 65 + b"\n", "': allowed: 1 to 64 bytes"),
        (HEAD + b"exists /nonexistent\n", "exists /nonexistent: No such file"),
        (HEAD + b"absent /proc\n", "absent /proc: it is there"),
        (HEAD + b"thread\n", "script line 2: thread: NAME is missing"),
        (HEAD + b"thread not-there\n", "thread not-there: there is none of this name"),
        (HEAD + b"latency-nice a b\n", "script line 2: latency-nice: N is missing"),
        (HEAD + b"latency-nice a b -21\n", "latency-nice: N = '21': allowed: a whole number"),
        (HEAD + b"latency-nice a b 1\n", "no program was spawned as 'a'"),
        (HEAD + b"affinity not-there 0 1\n", "affinity not-there: there is none of this name"),
        (HEAD + b"affinity no-thread\n", "affinity: CPU is missing"),
        (HEAD + b"batch a b\n", "no program was spawned as 'a'"),
        (HEAD + b"slice a b 100001\n", "slice: US = '100001': allowed: a whole number"),
        (HEAD + b"report /nonexistent\n", "report /nonexistent: No such file"),
        (HEAD + b"collect /nonexistent x\n", "collect /nonexistent: No such file"),
        (HEAD + b"collect /proc/version ../x\n", "collect: NAME = '../x': allowed: a plain"),
        (HEAD + b"collect /proc x\n", "collect /proc: Is a directory"),
        (HEAD + b"mkdir /nonexistent/x\n", "mkdir /nonexistent/x: No such file"),
        (HEAD + b"spawn\n", "spawn: NAME is missing"),
        (HEAD + b"spawn a\n", "spawn: program is missing"),
        (HEAD + b"spawn a/b ls\n", "spawn: NAME = 'a/b': allowed"),
        (HEAD + b"spawn a /nonexistent x\n", "spawn /nonexistent: No such file"),
        (HEAD + b"wait a\n", "no program was spawned as 'a'"),
        (HEAD + b"kill a\n", "no program was spawned as 'a'"),
        (HEAD + b"trace-setup 0 sched:sched_switch\n", "trace-setup: BUFFER_KB = '0': allowed"),
        (HEAD + b"trace-setup x\n", "trace-setup: BUFFER_KB = 'x': allowed"),
        (HEAD + b"trace-collect\n", "trace-collect: there was no trace-setup"),
    ],
)
def test_bad_script(agent: Agent, script: bytes, reason: str) -> None:
    run = agent(script)
    assert run.status == 1
    assert reason in run.failure
    assert run.failure.startswith("script line " if script else "the script's")
    assert run.lines[-1] == f"FAIL {run.failure}"


def test_file_write_expect(agent: Agent, tmp_path: Path) -> None:
    target = tmp_path / "target"
    script = HEAD + b"".join(
        [
            f"file {target} 7\n".encode() + b"a\n\0b\n c\n",
            f"exists {target}\nabsent {target}.x\n".encode(),
            f"write {target} two words\nexpect {target} two words\n".encode(),
            f"contains {target} o w\nword {target} two\nword {target} words\n".encode(),
            f"report {target}\ncollect {target} copy\n".encode(),
            f"mkdir {tmp_path}/folder\nexists {tmp_path}/folder\nexit\n".encode(),
        ]
    )
    run = agent(script)
    assert run.status == 0, run.lines
    assert (run.out / "copy").read_bytes() == b"two words\n"
    assert (run.out / "state.txt").read_text() == f"{target}: two words\n"


def test_a_thread_is_found_by_its_whole_name(agent: Agent) -> None:
    name = Path("/proc/self/comm").read_text().strip()
    assert agent(HEAD + f"thread {name}\nexit\n".encode()).status == 0
    run = agent(HEAD + f"thread {name[:-1]}\nexit\n".encode())
    assert run.failure.endswith(f"thread {name[:-1]}: there is none of this name")


def test_a_kernel_without_latency_nice_is_named(agent: Agent) -> None:
    """The thread is found by its name, and the host's kernel has no such attribute."""
    run = agent(HEAD + b"spawn nap /bin/sleep 5\nlatency-nice nap sleep -3\nexit\n")
    assert run.failure.endswith("latency-nice sleep -3: Argument list too long")


def test_programs_start_in_groups_and_threads_go_to_groups(agent: Agent, tmp_path: Path) -> None:
    for name in ("cgroup.procs", "cgroup.threads"):
        (tmp_path / name).touch()
    started = HEAD + f"spawn-in {tmp_path} nap /bin/sleep 5\n".encode()
    assert agent(started + f"move nap sleep {tmp_path}\nkill nap\nexit\n".encode()).status == 0
    assert (tmp_path / "cgroup.procs").read_text() == "0\n"
    assert int((tmp_path / "cgroup.threads").read_text()) > 1
    for line in (f"spawn-in {tmp_path}/x other /bin/sleep 5", f"move nap sleep {tmp_path}/x"):
        run = agent(started + line.encode() + b"\nexit\n")
        assert run.failure.endswith(": No such file or directory"), line


def test_bytes_change_a_file_in_its_place(agent: Agent, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"0123456789")
    script = HEAD + f"bytes {target} 3 00ff0a\n".encode()
    assert agent(script + b"exit\n").status == 0
    assert target.read_bytes() == b"012\x00\xff\n6789"
    run = agent(HEAD + f"bytes {target} 9 0000\n".encode())
    assert "OFFSET = '9': allowed: within the file's 10 bytes" in run.failure


def test_file_bytes_are_exact_and_counted_as_lines(agent: Agent, tmp_path: Path) -> None:
    target = tmp_path / "target"
    content = b"line\n\0\xff{}\n"
    script = HEAD + f"file {target} {len(content)}\n".encode() + content + b"\nfrob\n"
    run = agent(script)
    assert target.read_bytes() == content
    # header, file line, two lines of content and the newline after it: "frob" is on line 6
    assert run.failure == "script line 6: unknown verb 'frob'"


def test_large_file_leaves_in_chunks(agent: Agent, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(range(256)) * 700)
    run = agent(HEAD + f"collect {source} big\nexit\n".encode())
    assert (run.out / "big").read_bytes() == source.read_bytes()
    chunks = [line.split() for line in run.lines if line.startswith("WRITE_FILE big")]
    assert [int(words[2]) for words in chunks] == [0, 65536, 131072]


def test_children(agent: Agent) -> None:
    run = agent(HEAD + b"spawn a sh -c true\nwait a\nwait a\nspawn b sleep 100\nkill b\nexit\n")
    assert run.status == 0, run.lines


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"spawn a sh -c false\nwait a\n", "line 3: a failed: exit status 1, no output"),
        (b"spawn a ls /nonexistent\nwait a\n", "a failed: exit status 2, last output: "),
        (b"spawn a sleep 100\nwait a 50\n", "line 3: wait a: still running after 50 ms"),
        (
            b"spawn a sh -c true\nsleep-ms 500\nkill a\n",
            "a had ended before 'kill': exit status 0, no output",
        ),
        (b"spawn a sleep 100\nspawn a sleep 100\n", "spawn: 'a' was spawned before"),
    ],
)
def test_failing_children(agent: Agent, lines: bytes, reason: str) -> None:
    run = agent(HEAD + lines + b"exit\n")
    assert run.status == 1
    assert reason in run.failure


def test_marks_and_sleep(agent: Agent) -> None:
    run = agent(HEAD + b"barrier\nstart\nsleep-us 17250\nsleep-ms 30\nstop\nexit\n")
    marks = [line.split() for line in run.lines if line.startswith("MARK")]
    assert [words[1] for words in marks] == ["1", "2", "3"]
    times = [int(words[2]) for words in marks]
    assert times[2] - times[1] >= 47_250_000
    assert times == sorted(times)
