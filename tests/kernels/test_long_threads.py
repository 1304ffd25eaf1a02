# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kernel under stress with CPUs that are at the same place at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.platform import Platform
from kernels.naming import kernel_names
from tests.support.releases import booted, kernel_of
from tests.support.threaded_guest import survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: Of the host's time.
STRESS_MS = 3_000


@pytest.mark.parametrize("name", [booted(name, name) for name in kernel_names()])
def test_survives_stress_on_host_threads(name: str, juno: Platform, tmp_path: Path) -> None:
    """Each CPU is a thread of the host."""
    switches = []
    if name.partition("@")[0] == "sum":
        switches = [("/sys/kernel/debug/sched/features", "UCLAMP_CHECK")]
    counted = survive_threaded(
        kernel_of(name).image,
        juno,
        tmp_path / "run",
        switches=switches,
        ms=STRESS_MS,
        without=("deadline",) if "@" in name else (),
    )
    assert counted["select_wakeup"] > 100
    assert not counted.get("uclamp_broken")
