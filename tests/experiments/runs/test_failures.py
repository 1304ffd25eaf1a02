# SPDX-License-Identifier: GPL-2.0-or-later
"""A failed run says which cell it was, what its cause means and what to do."""

from collections.abc import Callable

import pytest

from eascope.engines.base import EngineFailed
from eascope.engines.process import died
from eascope.experiments.runs.failures import explained, from_outside
from eascope.experiments.runs.store import Run, execute
from eascope.host.cache import runs_root
from tests.support.fake import KEY, cell


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (
            "script line 91: exists /sys/kernel/debug/energy_model/cpu0: No such file or directory",
            "the kernel is not in the state that variant 'cas' declares: exists "
            "/sys/kernel/debug/energy_model/cpu0: No such file or directory (script line 91)",
        ),
        (
            "script line 9: expect /proc/sys/kernel/sched_energy_aware: found '0', wanted '1'",
            "the kernel is not in the state that variant 'cas' declares: expect "
            "/proc/sys/kernel/sched_energy_aware: found '0', wanted '1' (script line 9)",
        ),
        (
            "script line 31: boot-arguments failed: exit status 1, last output: nohz_full=5 a.b=1",
            "the kernel did not take these boot arguments of the variant 'cas', or nothing shows "
            "that it did: nohz_full=5 a.b=1 (script line 31)",
        ),
        ("script line 3: write /a 1: No such file", "script line 3: write /a 1: No such file"),
        ("guest panic: Oops", "guest panic: Oops"),
        (
            "script line 7: p failed: exit status 1, last output: cannot map  "
            "member: p (stress-ng): died of signal 9 (Killed): the OOM killer killed it",
            "program p (stress-ng): died of SIGKILL (Killed): the OOM killer killed it "
            "(script line 7); last output: cannot map",
        ),
        (
            "script line 7: p failed: exit status 1, last output: member: p: /x: No such file  "
            "member: p (x): exit status 126, expected 0",
            "program p (x): exit status 126, expected 0 (script line 7); "
            "last output: member: p: /x: No such file",
        ),
        (
            "script line 7: p failed: exit status 1, last output: refused  "
            "member: db (postgres): died of signal 11 (Segmentation fault)  "
            "member: p (pgbench): exit status 2, expected 0",
            "program db (postgres): died of SIGSEGV (Segmentation fault); then program p "
            "(pgbench): exit status 2, expected 0 (script line 7); last output: refused",
        ),
        (
            "script line 7: db-ready failed: exit status 1, last output: no file  "
            "member: db (postgres): exit status 2, expected 0   "
            "member: db has ended before it was ready",
            "program db (postgres): exit status 2, expected 0, before it was ready "
            "(script line 7); last output: no file",
        ),
        (
            "script line 7: alive failed: exit status 1, last output: member: p has ended before "
            "the window",
            "program p has ended before the window (script line 7)",
        ),
        (
            "script line 7: db-ready failed: exit status 1, last output: starting  "
            "member: db is not ready after 60000 ms",
            "program db is not ready after 60000 ms (script line 7); last output: starting",
        ),
        (
            "script line 7: pipe failed: died of signal 6 (Aborted), last output: x",
            "script line 7: pipe failed: died of SIGABRT (Aborted), last output: x",
        ),
        (
            "script line 7: pipe failed: died of signal 99 (Unknown), no output",
            "script line 7: pipe failed: died of signal 99 (Unknown), no output",
        ),
        (
            "script line 7: p failed: exit status 1, last output: "
            "member: p (busybox): still running after 9 ms",
            "program p (busybox): still running after 9 ms (script line 7)",
        ),
    ],
)
def test_a_check_that_fails_is_named(reason: str, message: str) -> None:
    assert explained(reason, "cas") == message


@pytest.mark.parametrize(
    "reason",
    [
        "script line 120: ring buffer of cpu 3 was too small: overrun: 5312",
        "script line 99: rt-app ended: exit code 1, last output: Cannot write mark_fd",
    ],
)
def test_full_buffers_say_what_to_do(reason: str) -> None:
    message = explained(reason, "cas")
    assert message.startswith(f"{reason}: the trace does not fit into its buffers: ")
    assert "memory_mib" in message
    assert explained(reason, "cas", larger=True).endswith(", and the next run has larger ones")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-9, "QEMU was killed by signal 9 (Killed): the host may be out of memory"),
        (-11, "QEMU was killed by signal 11 (Segmentation fault)"),
        (1, "QEMU died (exit code 1)"),
    ],
)
def test_a_killed_engine_names_the_likely_cause(code: int, message: str) -> None:
    assert died("QEMU", code) == message


def test_the_error_names_the_cell_and_the_record_the_cause() -> None:
    def killed(_: Callable[[float], None] | None) -> None:
        raise EngineFailed(died("QEMU", -9), ["last words"], [])

    killed_cell = cell(killed)
    with pytest.raises(EngineFailed) as caught:
        execute(killed_cell)
    record = killed_cell.record
    assert caught.value.reason == (
        f"{record.platform}, {record.variant}, smoke, seed {record.seed}: QEMU was killed by "
        "signal 9 (Killed): the host may be out of memory"
    )
    assert caught.value.console_tail == ["last words"]
    assert Run(runs_root() / KEY).failure.cause.startswith("QEMU was killed by signal 9")


@pytest.mark.parametrize(
    ("cause", "outside"),
    [
        ("QEMU was killed by signal 9 (Killed): the host may be out of memory", True),
        ("gem5 was killed by signal 15 (Terminated)", True),
        ("/runs: No space left on device (0 bytes are free): free space there", True),
        ("/runs: Disk quota exceeded (0 bytes are free): free space there", True),
        ("QEMU was killed by signal 11 (Segmentation fault)", False),
        ("QEMU died (exit code 1)", False),
        ("guest panic: Oops", False),
        ("program p (busybox): exit status 1: No space left on device", False),
        ("juno-r2, cas, x, seed 0: program p (dd): /tmp is full: No space left on device", False),
        ("script line 7: collect /tmp/x: No space left on device", False),
    ],
)
def test_what_says_nothing_of_the_cell(cause: str, outside: bool) -> None:
    assert from_outside(cause) is outside
