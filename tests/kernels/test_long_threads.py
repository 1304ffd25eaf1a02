# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kernel under stress with CPUs that are at the same place at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.naming import kernel_names
from eascope.kernels.variants import load_kernels, load_variants
from tests.support.releases import booted, kernel_of
from tests.support.stress import BUSIEST, busy_switches
from tests.support.threaded_guest import WORKS, check_busy_threads, survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: Of the host's time.
STRESS_MS = 3_000


def test_no_kernel_is_left_out() -> None:
    assert set(BUSIEST) == set(WORKS) == set(load_kernels())
    for kernel, variant in BUSIEST.items():
        assert load_variants()[variant].kernel == kernel


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
