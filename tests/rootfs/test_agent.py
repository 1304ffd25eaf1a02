# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent: what scripts may say, and that everything else is a FAIL with its line."""

from collections.abc import Callable
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

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


#: Lines after the head.
BAD = (
    *("frob 1", "\nexit", "wri\0te a b", "exit now", "until-ms 5"),
    *("sleep-ms", "sleep-ms -5", "sleep-ms 5s", "sleep-us 5s", "sleep-ms 99999999"),
    *("sleep-us 3600000001", "file /tmp/x 10\nabc", "file /tmp/x ten\nabc"),
    *("file /nonexistent/x 3\nabc", "write /proc/version", "write /nonexistent 1"),
    *("expect /nonexistent 1", "expect /dev/null 1", "word /proc/filesystems nodevice"),
    *("word /proc/filesystems sysf", "word /proc/filesystems", "bytes /nonexistent 0 00"),
    *("bytes /proc/version 0 0g", "bytes /proc/version 0 000", "exists /nonexistent"),
    *("bytes /proc/version 0 " + "00" * 65, "absent /proc", "thread"),
    *("thread not-there", "latency-nice a b", "latency-nice a b -21"),
    *("latency-nice a b 1", "affinity not-there 0 1", "affinity no-thread", "batch a b"),
    *("slice a b 100001", "report /nonexistent", "collect /nonexistent x"),
    *("collect /proc/version ../x", "collect /proc x", "mkdir /nonexistent/x", "spawn"),
    *("spawn a", "spawn a/b ls", "spawn a /nonexistent x", "wait a", "kill a"),
    *("trace-setup 0 sched:sched_switch", "trace-setup x", "trace-collect"),
)
NO_SCRIPTS = (b"", b"eascope-script 2\nexit\n", HEAD, HEAD + b"exit")


def failure(agent: Agent, script: bytes) -> str:
    run = agent(script)
    assert run.status == 1
    assert run.lines[-1] == f"FAIL {run.failure}"
    return run.failure


def test_bad_script(agent: Agent, snapshot: SnapshotAssertion) -> None:
    assert {line: failure(agent, HEAD + f"{line}\n".encode()) for line in BAD} == snapshot
    assert [failure(agent, script) for script in NO_SCRIPTS] == snapshot
    mounts = failure(agent, HEAD + b"contains /proc/mounts \x7f\n")
    assert mounts.startswith("script line 2: contains /proc/mounts: ")


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


CHILDREN = (
    "spawn a sh -c false\nwait a\n",
    "spawn a sleep 100\nwait a 50\n",
    "spawn a sh -c true\nsleep-ms 500\nkill a\n",
    "spawn a sleep 100\nspawn a sleep 100\n",
)


def test_failing_children(agent: Agent, snapshot: SnapshotAssertion) -> None:
    assert [failure(agent, HEAD + lines.encode() + b"exit\n") for lines in CHILDREN] == snapshot
    listed = failure(agent, HEAD + b"spawn a ls /nonexistent\nwait a\nexit\n")
    assert "a failed: exit status 2, last output: " in listed


def test_marks_and_sleep(agent: Agent) -> None:
    run = agent(HEAD + b"barrier\nstart\nsleep-us 17250\nsleep-ms 30\nstop\nexit\n")
    marks = [line.split() for line in run.lines if line.startswith("MARK")]
    assert [words[1] for words in marks] == ["1", "2", "3"]
    times = [int(words[2]) for words in marks]
    assert times[2] - times[1] >= 47_250_000
    assert times == sorted(times)
