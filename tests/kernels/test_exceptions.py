# SPDX-License-Identifier: GPL-2.0-or-later
"""Each exception that a patch's message makes holds, on each release that its queue is for."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.naming import kernel_names
from tests.support.guest_mutants import guest_check
from tests.support.releases import booted, kernel_of

pytestmark = pytest.mark.guest

#: As in tests/kernels/mutants: checks of `exceptions.py` and their arguments, by queue.
CHECKS = {
    "base": ["check_overrun_paid", "check_floor_below_turbo", "check_filter_rt"],
    "sum": ["check_forked group", "check_forked reset"],
    "feec": ["check_guard_of_domain"],
    "latnice": [
        *("check_gate_ends", "check_search_unfit", "check_pack_beside", "check_pack_apart"),
    ],
    "schedmc": ["check_only_busy"],
}
#: 7.3's queue does not have the switch.
OF_612 = {"check_filter_rt"}


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        booted(kernel, kernel, line)
        for kernel in kernel_names()
        for line in CHECKS.get(kernel.partition("@")[0], ())
        if "@" not in kernel or line not in OF_612
    ],
)
def test_an_exception_holds(kernel: str, line: str, juno: Platform, tmp_path: Path) -> None:
    guest_check(kernel.partition("@")[0], line).ask(kernel_of(kernel), juno, tmp_path)
