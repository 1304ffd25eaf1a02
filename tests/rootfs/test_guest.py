# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent as PID 1 of a booted machine: files, marks, traces with known answers, failures."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.activity import Activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed, Machine
from eascope.engines.qemu.eliding_copy import COPY
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.records import MARKS, READY, START, STOP, read_marks
from eascope.engines.registry import get_engine
from eascope.experiments.runs.cell import BOOT
from eascope.experiments.runs.guest_image import guest_image
from eascope.host.lisa import host_trace_cmd
from eascope.kernels.build import kernel
from eascope.kernels.events import trace_symbols
from eascope.rootfs.image import RT_APP

pytestmark = pytest.mark.guest

HEAD = b"eascope-script 1\n"
TRANSPORT = b"eascope,transport-hint"
TOO_SMALL = r"ring buffer of cpu \d was too small: dropped events: [1-9]"
Boot = Callable[..., Path]


@pytest.fixture
def boot(juno: Platform, juno_activity: Activity, tmp_path: Path) -> Boot:
    """Runs a script on the fast engine and returns the folder of what came out."""

    def run(script: bytes, transport: bytes = TRANSPORT) -> Path:
        number = len(list(tmp_path.glob("out-*")))
        dtb = tmp_path / "dtb"
        dtb.write_bytes(device_tree(juno, LAYOUT).replace(TRANSPORT, transport))
        machine = Machine(
            platform=juno,
            activity=juno_activity,
            image=kernel().image,
            dtb=dtb,
            initramfs=guest_image().path,
            script=script,
            cmdline=BOOT,
        )
        out = tmp_path / f"out-{number}"
        out.mkdir()
        get_engine("qemu").run(machine, out, limit_s=60)
        return out

    return run


def reason(boot: Boot, script: bytes) -> str:
    """Why a run of this script failed."""
    with pytest.raises(EngineFailed) as caught:
        boot(script)
    assert any("eascope-agent: FAIL: " in line for line in caught.value.console_tail)
    return caught.value.reason


def workload(loops: int) -> bytes:
    """rt-app's JSON and the lines that run it to its end: ``loops`` times 100 us and a sleep."""
    document = json.dumps(
        {
            "global": {
                "duration": -1,
                "calibration": 1000,
                "default_policy": "SCHED_OTHER",
                "logdir": "/tmp",
                "gnuplot": False,
                "pi_enabled": False,
                "lock_pages": False,
            },
            "tasks": {"probe": {"loop": loops, "run": 500, "sleep": 3000}},
        }
    ).encode()
    return b"file /tmp/t.json %d\n%s\nspawn rt-app %s /tmp/t.json\n" % (
        len(document),
        document,
        COPY.path.encode(),
    )


def report(trace: Path) -> list[str]:
    """trace-cmd's lines; its warnings are errors here."""
    done = subprocess.run(
        [host_trace_cmd(), "report", "-t", trace], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_files_and_state_arrive(boot: Boot) -> None:
    content = bytes(range(256)) * 3
    script = HEAD + b"file /tmp/x %d\n%s\n" % (len(content), content)
    script += b"collect /tmp/x x\ncollect %s rt-app\n" % RT_APP.encode()
    script += b"file /tmp/empty 0\n\ncollect /tmp/empty empty\n"
    script += b"report /proc/sys/kernel/ostype\nreport /proc/1/comm\n"
    script += b"spawn shell sh -c pwd\nwait shell\ncollect /tmp/shell.log shell.log\nexit\n"
    out = boot(script)
    assert (out / "x").read_bytes() == content
    assert (out / "rt-app").read_bytes() in guest_image().path.read_bytes()
    assert (out / "empty").read_bytes() == b""
    assert (out / "state.txt").read_text() == (
        "/proc/sys/kernel/ostype: Linux\n/proc/1/comm: init\n"
    )
    assert (out / "shell.log").read_text() == "/\n"


def test_marks_measure_what_the_agent_slept(boot: Boot) -> None:
    out = boot(HEAD + b"barrier\nstart\nsleep-ms 1000\nstop\nexit\n")
    marks = read_marks(out / MARKS)
    assert [mark.id for mark in marks] == [READY, START, STOP]
    _, start, stop = marks
    for slept in (stop.t_ns - start.t_ns, stop.mono_ns - start.mono_ns):
        # later by the timer's slack (50 us) and by waking a CPU from cpu-sleep (1.2 ms on Juno)
        assert 1_000_000_000 <= slept < 1_002_000_000


def test_trace_counts_wakeups(boot: Boot) -> None:
    """25 more turns of a task that sleeps once a turn are 25 more wake-ups of it in the trace."""

    def wakings(loops: int) -> int:
        script = HEAD + b"trace-setup 512 sched:sched_waking sched:sched_switch\nstart\n"
        script += workload(loops) + b"wait rt-app\nstop\ntrace-collect\nexit\n"
        lines = report(boot(script) / "trace.dat")
        return sum("sched_waking:" in line and "comm=probe-0 " in line for line in lines)

    assert wakings(35) - wakings(10) == 25


def test_trace_has_names_clock_and_both_systems(boot: Boot) -> None:
    script = HEAD + b"trace-setup 512 sched:sched_switch power:cpu_idle sched:sched_switch\nstart\n"
    script += b"write /sys/kernel/tracing/trace_marker said by a test\n"
    script += workload(3) + b"wait rt-app\nstop\ntrace-collect\nexit\n"
    out = boot(script)
    lines = report(out / "trace.dat")
    assert lines[0] == "cpus=6"
    events = {match[1] for line in lines if (match := re.search(r"\]\s+[\d.]+: (\w+):", line))}
    assert events == {"sched_switch", "cpu_idle", "print"}
    assert any(line.endswith("said by a test") for line in lines)
    assert any("next_comm=probe-0 " in line for line in lines)
    assert any(re.match(r"\s+probe-0-\d+ +\[00[0-5]\]", line) for line in lines)
    _start, stop = read_marks(out / MARKS)
    times = [
        round(float(match[1]) * 1e9) for line in lines if (match := re.search(r" ([\d.]+): ", line))
    ]
    assert times == sorted(times)
    # the trace's clock is the mark's: the last events are those around STOP
    assert abs(times[-1] - stop.mono_ns) < 2_000_000


def test_trace_has_the_window_and_who_wrote_its_markers(boot: Boot) -> None:
    """START and STOP lie in the trace, next to the engine's marks, under the kernel's name."""
    script = HEAD + b"trace-setup 512 sched:sched_switch\n"
    for address, name in trace_symbols(kernel().vmlinux):
        script += f"trace-symbol {address} {name}\n".encode()
    script += b"start\nsleep-ms 5\nstop\ntrace-collect\nexit\n"
    out = boot(script)
    pattern = re.compile(r" ([\d.]+): print:\s+tracing_mark_write: eascope: (START|STOP)$")
    lines = [match for line in report(out / "trace.dat") if (match := pattern.search(line))]
    assert [match[2] for match in lines] == ["START", "STOP"]
    start, stop = (round(float(match[1]) * 1e9) for match in lines)
    marks = {mark.id: mark.mono_ns for mark in read_marks(out / MARKS)}
    assert 0 < marks[START] - start < 100_000
    assert 0 < stop - marks[STOP] < 100_000


def test_a_program_that_ends_for_want_of_buffers_is_not_blamed(boot: Boot) -> None:
    """rt-app gives up when a marker cannot be written; the buffer's size is what was wrong."""
    script = HEAD + b"trace-setup 4 sched:sched_switch sched:sched_waking\nstart\n"
    script += workload(300) + b"wait rt-app\nspawn marks sh /tmp/marks\nwait marks\nstop\nexit\n"
    # Enough for a buffer of whichever CPU it runs on.
    program = b"set -e\ni=0\nwhile [ $i -lt 300 ]; do\ni=$((i+1))\n"
    program += b"echo more > /sys/kernel/tracing/trace_marker\ndone\n"
    script = script.replace(HEAD, HEAD + b"file /tmp/marks %d\n%s\n" % (len(program), program))
    assert re.search(TOO_SMALL, reason(boot, script))


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (b"expect /proc/sys/kernel/ostype Hurd\n", r"line 2: .*found 'Linux', wanted 'Hurd'"),
        (b"write /sys/kernel/tracing/trace_clock sundial\n", r"line 2: write .*Invalid argument"),
        (b"trace-setup 64 sched:no_such\n", r"line 2: .*no event 'sched:no_such'"),
        (b"trace-setup 64 sched_switch\n", r"EVENT = 'sched_switch': allowed: system:name"),
        (b"spawn a sh -c no-such-command\nwait a\n", r"line 3: a failed: exit status 127, .*not f"),
        (b"spawn a sleep 100\nwait a 100\n", r"line 3: wait a: still running after 100 ms"),
        (b"spawn k kill -SEGV 1\nwait k\n", r"the agent itself died of signal 11"),
        (b"collect /nonexistent x\n", r"line 2: collect /nonexistent: No such file"),
    ],
)
def test_failure_reaches_the_engine(boot: Boot, lines: bytes, wanted: str) -> None:
    assert re.search(wanted, reason(boot, HEAD + lines + b"exit\n"))


def test_too_small_ring_buffer_fails_the_run(boot: Boot) -> None:
    script = HEAD + b"trace-setup 4 sched:sched_switch sched:sched_waking\nstart\n"
    script += workload(300) + b"wait rt-app\nstop\ntrace-collect\nexit\n"
    assert re.search(TOO_SMALL, reason(boot, script))


def test_unknown_transport_is_said_on_the_console(boot: Boot) -> None:
    transport = TRANSPORT.replace(b"hint", b"semi")
    with pytest.raises(EngineFailed) as caught:
        boot(HEAD + b"exit\n", transport=transport)
    name = transport.decode()
    assert any(
        line.endswith(f"FAIL: device tree: transport '{name}': this agent has no such transport")
        for line in caught.value.console_tail
    )
