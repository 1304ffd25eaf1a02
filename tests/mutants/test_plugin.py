# SPDX-License-Identifier: GPL-2.0-or-later
"""Which end of a check is which."""

import pytest

from eascope.engines.base import EngineFailed
from tests.mutants.plugin import TooSlow, end_of


def failed(reason: str, *console: str) -> EngineFailed:
    return EngineFailed(reason, [*console], [])


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (AssertionError("assert 1 == 2"), "assertion"),
        (pytest.fail.Exception("DID NOT RAISE"), "assertion"),
        (failed("expect /sys/x 1: it has 0"), "assertion"),
        (failed("guest panic: Kernel panic - not syncing: kernel: panic_on_warn"), "warning"),
        (failed("fast engine: QEMU died", "WARNING: CPU: 0 PID: 1 at kernel/x.c"), "warning"),
        (failed("the run has not ended after 60.000 simulated seconds"), "simulated-time limit"),
        (failed("wait toy: still running after 20000 ms"), "simulated-time limit"),
        (failed("fast engine: cannot write console.log"), "error"),
        (TooSlow(), "too slow"),
        (KeyError("log"), "error"),
    ],
)
def test_ends(error: BaseException, end: str) -> None:
    assert end_of(error) == end
