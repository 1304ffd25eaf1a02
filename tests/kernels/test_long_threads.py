# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels survive stress on host threads."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.naming import kernel_names
from tests.support.releases import booted, kernel_of
from tests.support.stress import busy_switches
from tests.support.threaded_guest import check_busy_threads, survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: Of the host's time.
STRESS_MS = 3_000


@pytest.mark.parametrize("name", [booted(name, name) for name in kernel_names()])
def test_survives_stress_on_host_threads(name: str, juno: Platform, tmp_path: Path) -> None:
    """Each CPU is a thread of the host."""
    done = survive_threaded(
        kernel_of(name).image,
        juno,
        tmp_path / "run",
        switches=busy_switches(name),
        ms=STRESS_MS,
    )
    check_busy_threads(name, done.counters)
