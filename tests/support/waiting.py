# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for what another process does: for an event, not for a time.

A test's verdict must not depend on how fast the host is. So a test waits until what it waits for is
there; `HANG_S` only ends a test that would wait for ever, and is far above what the slowest host
needs.
"""

import subprocess
import time
from collections.abc import Callable

#: Host seconds after which a test counts as hanging.
HANG_S = 1800.0
_POLL_S = 0.02


def until(happened: Callable[[], bool], what: str) -> None:
    """Wait until ``happened()``.

    :param what: what is waited for, in words.
    :raises AssertionError: when it has not happened within `HANG_S`.
    """
    end = time.monotonic() + HANG_S
    while not happened():
        assert time.monotonic() < end, f"hangs: {what} has not happened in {HANG_S:.0f} s"
        time.sleep(_POLL_S)


def call(
    command: list[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``command`` to its end and return what it printed, whatever its exit code."""
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False, timeout=HANG_S
    )
