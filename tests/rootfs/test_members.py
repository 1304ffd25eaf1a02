# SPDX-License-Identifier: GPL-2.0-or-later
"""``member``, ``schbench`` and ``policy``, compiled for this machine: what they do and refuse."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from eascope.host.proc import need, run
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.image import FLAGS
from eascope.rootfs.images import MEMBERS, UNITS
from tests.support.waiting import call, until


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the programs as this machine runs them."""
    folder = tmp_path_factory.mktemp("members")
    for name, files in UNITS.items():
        sources = [MEMBERS / file for file in files]
        run([need("gcc", "gcc"), *FLAGS, f"-I{INCLUDE}", "-pthread", "-o", folder / name, *sources])
    return folder


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def member(native: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return call([str(native / "member"), *words])


def shell(native: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return member(native, "run", "p", *options, "--", "/bin/sh", "-c", text)


def started(native: Path, text: str, *options: str) -> subprocess.Popen[str]:
    """``member run p`` with a shell that has printed its first line."""
    words = [str(native / "member"), "run", "p", *options, "--", "/bin/sh", "-c", text]
    process = subprocess.Popen(
        words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    assert process.stdout
    assert process.stdout.readline() == "there\n"
    return process


def test_a_program_that_does_as_expected(native: Path) -> None:
    done = shell(native, "echo $0 $X; cat /proc/self/comm; nice", "env=X=1 2", "nice=5")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n") == ["/bin/sh 1 2", "cat", "5", ""]
    assert shell(native, "exit 3", "exit=3").returncode == 0


def test_a_program_has_the_scenarios_name(native: Path) -> None:
    """The kernel's name of it; its own first argument stays the path."""
    done = shell(native, "read name < /proc/$$/comm; echo $name")
    assert done.stdout == "p\n"


def test_a_program_runs_on_its_cpus(native: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    done = shell(native, "grep Cpus_allowed_list /proc/self/status", f"cpus={cpu}")
    assert done.stdout.split() == ["Cpus_allowed_list:", str(cpu)]


@pytest.mark.parametrize(
    ("text", "option", "words"),
    [
        ("echo last; exit 3", "exit=0", "exit status 3, expected 0"),
        ("exit 0", "exit=3", "exit status 0, expected 3"),
        ("echo last; kill -SEGV $$", "exit=0", r"died of signal 11 \(Segmentation fault\)"),
        ("kill -KILL $$", "exit=0", r"died of signal 9 \(Killed\)"),
        ("kill -INT $$", "exit=0", r"died of signal 2 \(Interrupt\)"),
        ("exec sleep 100", "limit-ms=50", "still running after 50 ms"),
        ("exit 0", "endless=1", "ended before it was stopped"),
    ],
)
def test_how_a_program_went_wrong_is_the_last_line(
    native: Path, text: str, option: str, words: str
) -> None:
    done = shell(native, text, option)
    assert done.returncode == 1
    assert re.fullmatch(rf"\nmember: p \(sh\): {words}.*\n", done.stderr), done.stderr
    assert done.stdout == ("last\n" if "last" in text else "")


def test_stop_is_passed_on_and_waited_for(native: Path, tmp_path: Path) -> None:
    text = "trap 'echo results; exit 0' INT; echo there; while :; do sleep 0.01; done"
    process = started(native, text, "endless=1")
    assert member(native, "stop", "p").returncode == 0
    out, _ = process.communicate()
    assert (process.returncode, out) == (0, "results\n")
    assert not (tmp_path / "p.pid").exists()
    assert member(native, "stop", "p").returncode == 0, "what has ended is no one's to stop"


@pytest.mark.parametrize(
    ("text", "code", "out"),
    [
        ("echo there; exec sleep 100", 0, ""),  # a program that a stop kills was stopped
        (
            "trap 'exit 7' INT; echo there; while :; do sleep 0.01; done",
            1,
            "exit status 7, expected 0",
        ),
    ],
)
def test_a_stopped_program_must_end_as_expected(
    native: Path, text: str, code: int, out: str
) -> None:
    process = started(native, text, "endless=1")
    member(native, "stop", "p")
    said, _ = process.communicate()
    assert (process.returncode, out in said) == (code, True)


def test_what_a_program_leaves_behind_ends_with_it(native: Path, tmp_path: Path) -> None:
    done = shell(native, f"sleep 100 & echo $! > {tmp_path}/left")
    assert done.returncode == 0
    left = int((tmp_path / "left").read_text())
    try:
        until(lambda: ended(left), "its end")
    except AssertionError:
        os.kill(left, signal.SIGKILL)
        raise


def ended(pid: int) -> bool:
    """Whether a process is no more, or only waits for its parent to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_reason_reaches_a_log_that_is_full(native: Path, tmp_path: Path) -> None:
    """A log that takes no more is cut down to its end."""
    log = tmp_path / "log"
    text = "printf '%04096d' 1; printf '%04096d' 2; exit 5"
    limited = f"ulimit -f 8; trap '' XFSZ; exec {native}/member run p -- /bin/sh -c \"{text}\""
    with log.open("a") as out:
        subprocess.run(["/bin/sh", "-c", limited], stdout=out, stderr=out, check=False)
    assert log.read_text().endswith("1\nmember: p (sh): exit status 5, expected 0\n")
    assert log.stat().st_size < 4096


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("member run p x=1 -- /bin/true", "'x=1': allowed: delay-us, cpus"),
        ("member run p nice=x -- /bin/true", "nice = 'x': allowed: -20..19"),
        ("member run p env=X -- /bin/true", "'env=X': allowed"),
        ("member run p exit=0 --", "run p: no program"),
        ("member bad", "usage: member"),
        ("schbench -m 0", "-m '0': allowed: 1..256"),
        ("schbench x", "'x': allowed: -m"),
        ("policy x", "usage: policy apply | daemon | browser | migrate"),
        ("policy apply policy=x", "policy 'x': allowed: boot, none, stock-android"),
        ("policy apply policy=none little=0-x big=1", "CPUs '0-x': allowed: numbers"),
        ("policy browser rounds=0", "rounds=0: allowed: 1..200"),
        ("policy browser round=1", "'round': allowed: policy, little"),
        ("policy migrate policy=none little=0 big=1", "one that moves threads by"),
    ],
)
def test_a_wrong_request_is_refused(native: Path, command: str, message: str) -> None:
    name, *words = command.split()
    done = call([str(native / name), *words])
    assert done.returncode == 2
    assert message in done.stderr


def test_a_program_that_is_not_there(native: Path) -> None:
    done = member(native, "run", "p", "--", "/no/such")
    assert done.returncode == 1
    assert "member: p: /no/such: No such file" in done.stderr
    assert done.stderr.endswith("member: p (such): exit status 126, expected 0\n")


def test_ready_waits_for_a_server_and_says_why_it_ended(native: Path, tmp_path: Path) -> None:
    assert member(native, "ready", "p", "1000", "/bin/true").returncode == 0
    assert member(native, "ready", "p", "100", "/bin/false").returncode == 1
    # It may have ended before anybody looks.
    (tmp_path / "p.log").write_text("it says why\nmember: p (sh): exit status 3, expected 0\n")
    done = member(native, "ready", "p", "60000", "/bin/false")
    assert done.stderr.endswith("member: p has ended before it was ready\n")
    (tmp_path / "p.log").write_text("it says why\n")
    process = started(native, "echo there; sleep 0.3")
    done = member(native, "ready", "p", "60000", "/bin/false")
    process.communicate()
    assert done.returncode == 1
    assert "it says why" in done.stderr
    assert done.stderr.endswith("member: p has ended before it was ready\n")


def test_alive_says_how_a_program_has_ended(native: Path, tmp_path: Path) -> None:
    process = started(native, "echo there; exec sleep 100", "endless=1")
    assert member(native, "alive", "p").returncode == 0
    member(native, "stop", "p")
    process.communicate()
    (tmp_path / "q.pid").write_text("1\n")
    (tmp_path / "p.log").write_text("x" * 600 + "\nmember: p (sh): exit status 3, expected 0\n")
    done = member(native, "alive", "q", "p")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "xx\nmember: p (sh): exit status 3, expected 0\n\n\nmember: p has ended before the window\n"
    )


def test_a_failure_names_what_has_ended_before(native: Path, tmp_path: Path) -> None:
    """A client fails because its server is gone; what has ended well is no cause."""
    (tmp_path / "db.log").write_text("words\nmember: db (postgres): died of signal 9 (Killed)\n")
    (tmp_path / "other.log").write_text("member: of some kind\nlast\n")
    done = shell(native, "echo refused; exit 2")
    assert done.stderr == (
        "\nmember: db (postgres): died of signal 9 (Killed)\n"
        "\nmember: p (sh): exit status 2, expected 0\n"
    )
    assert shell(native, "exit 0").stderr == ""


def test_gather_joins_files_in_order(native: Path, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"tx-{name}").write_text(f"{name}\n")
    done = member(native, "gather", f"{tmp_path}/all", f"{tmp_path}/tx-")
    assert (done.returncode, (tmp_path / "all").read_text()) == (0, "a\nb\n")
    done = member(native, "gather", f"{tmp_path}/all", f"{tmp_path}/none-")
    assert "no file begins with" in done.stderr


def test_schbench_prints_what_its_parser_reads(native: Path) -> None:
    done = call([str(native / "schbench"), "-m", "2", "-t", "2", "-r", "1", "-n", "1", "-f", "3"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.match(r"wakeup latency, us: samples \d+ p50 [\d.]+ p90 ", lines[0])
    assert re.match(r"request latency, us: samples \d+ p50 [\d.]+ p90 ", lines[1])
    seen = re.fullmatch(r"(\d+) requests in (\d+) ns", lines[2])
    assert seen is not None
    assert int(seen[1]) > 0
    assert int(seen[2]) >= 1_000_000_000
    p50 = float(re.findall(r"p50 ([\d.]+)", lines[1])[0])
    assert p50 >= 100, "a request waits for 100 us first"


#: Files of a group that the kernel makes, as `policy` writes them.
GROUP_FILES = ("cgroup.type", "cpuset.cpus", "cgroup.threads")


@pytest.fixture
def groups(tmp_path: Path) -> list[str]:
    """Arguments for plain files that stand for cgroups with two threads in their root."""
    for group in ("default", "fg_boost", "bg_non_interactive"):
        (tmp_path / "cg" / group).mkdir(parents=True)
        for file in GROUP_FILES:
            (tmp_path / "cg" / group / file).touch()
    (tmp_path / "cg" / "cgroup.subtree_control").touch()
    (tmp_path / "cg" / "cgroup.threads").write_text("7\n5000\n")
    (tmp_path / "proc" / "5000").mkdir(parents=True)
    (tmp_path / "proc" / "5000" / "comm").write_text("migration/0\n")
    return ["little=0-3", "big=4-7", f"cgroup={tmp_path}/cg", f"proc={tmp_path}/proc"]


def policy(native: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return call([str(native / "policy"), *words])


def test_policy_makes_groups_and_takes_all_threads(
    native: Path, groups: list[str], tmp_path: Path
) -> None:
    done = policy(native, "apply", "policy=priority-self", *groups)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "moved_to_default 2\nstayed_in_root 0\n"
    cpus = [
        (tmp_path / "cg" / name / "cpuset.cpus").read_text()
        for name in sorted(os.listdir(tmp_path / "cg"))
        if (tmp_path / "cg" / name).is_dir()
    ]
    assert cpus == ["0", "0-3", "4-7"]
    assert (tmp_path / "cg" / "default" / "cgroup.threads").read_text() == "75000"


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        # It takes 7, and refuses 5000 as the kernel refuses a thread of its own: EINVAL.
        ("/proc/self/oom_score_adj", 0, "# refuses to move: migration/0\nmoved_to_default 1\n"),
        ("/dev/full", 1, "cgroup.threads: 7: No space left on device"),
        ("/no/such", 1, "default/cgroup.threads: No such file or directory"),
    ],
)
def test_policy_counts_who_refuses_and_ends_where_a_group_is_not_written(
    native: Path, groups: list[str], tmp_path: Path, file: str, code: int, words: str
) -> None:
    (tmp_path / "cg" / "default" / "cgroup.threads").unlink()
    (tmp_path / "cg" / "default" / "cgroup.threads").symlink_to(file)
    done = policy(native, "apply", "policy=priority-daemon", *groups)
    assert done.returncode == code
    assert words in (done.stdout if code == 0 else done.stderr)


def test_policy_moves_by_priority(native: Path, groups: list[str], tmp_path: Path) -> None:
    """A thread of the background goes to its group; a thread of the kernel is left alone."""
    stat = "{0} (a b) S 1 1 1 0 -1 {1} 0 0 0 0 0 0 0 0 20 {2} 1 0 9" + " 0" * 18 + " {3} 0"
    for tid, flags, nice, scheduling in (
        *((11, 0, 10, 0), (12, 0, -8, 0), (13, 0, 0, 3), (14, 0x200000, -20, 0)),
    ):
        task = tmp_path / "proc" / str(tid) / "task" / str(tid)
        task.mkdir(parents=True)
        (task / "stat").write_text(stat.format(tid, flags, nice, scheduling))
    daemon = subprocess.Popen([str(native / "policy"), "daemon", "policy=priority-daemon", *groups])
    boosted = tmp_path / "cg" / "fg_boost" / "cgroup.threads"
    waiting = tmp_path / "cg" / "bg_non_interactive" / "cgroup.threads"
    until(lambda: boosted.read_text() == "12" and len(waiting.read_text()) == 4, "moves")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait() == 0
    assert sorted((waiting.read_text()[:2], waiting.read_text()[2:])) == ["11", "13"]


def test_policy_draws_the_launch(native: Path) -> None:
    """Thirty boosts, with a seed's own draws; without two clusters it says what is allowed."""
    words = ["browser", "policy=none", "little=0", "big=1", "length_ms=100"]
    done = policy(native, *words, "seed=3")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"boosts 30\n(\w+_us [\d.]+\n){8}", done.stdout)
