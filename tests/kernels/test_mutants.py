# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mutant of the long tests can be made, and is found by what its entry says alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from eascope.engines.base import EngineFailed
from eascope.kernels.naming import kernel_named
from eascope.kernels.patching import apply_series
from eascope.kernels.variants import SERIES
from tests.support.feec_guest_mutants import MUTANTS as FEEC_MUTANTS
from tests.support.guest_mutants import MUTANTS
from tests.support.mutants import BrokenKernel, Edit, GuestCheck, must_fail
from tests.support.push_guest_mutants import MUTANTS as PUSH_MUTANTS
from tests.support.queues import source_files
from tests.support.releases import source_for
from tests.support.sum_guest_mutants import MUTANTS as SUM_MUTANTS
from tests.support.sum_mutants import CLAIMS, first_warning

ALL: list[BrokenKernel] = [*CLAIMS, *SUM_MUTANTS, *FEEC_MUTANTS, *MUTANTS, *PUSH_MUTANTS]
KERNELS = sorted({kernel for mutant in ALL for kernel in mutant.kernels})


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_a_mutant_changes_is_once_in_the_source(kernel: str, tmp_path: Path) -> None:
    source, tree = source_for(kernel), tmp_path / "tree"
    shutil.copytree(source_files(source), tree)
    for series in kernel_named(kernel).series:
        apply_series(tree, SERIES / series, source)
    for mutant in ALL:
        if kernel in mutant.kernels:
            text = (tree / mutant.edit.file).read_text()
            assert mutant.edit.edited(text) != text, mutant.claim


def test_an_edit_that_is_not_there_is_said() -> None:
    with pytest.raises(AssertionError, match="0 of 'gone'"):
        Edit("file.c", "gone", "new").edited("text")
    with pytest.raises(AssertionError, match="2 of 'twice'"):
        Edit("file.c", "twice", "new").edited("twice twice")


def _checked(check: GuestCheck, folder: Path) -> None:
    nothing: Any = None
    must_fail(check, nothing, nothing, folder)


def test_a_mutant_is_found_by_its_own_check_alone(tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("two, not one")

    def dies(*_: object) -> None:
        raise EngineFailed("a limit of time", console_tail=[], log_tail=[])

    def passes(*_: object) -> None:
        return

    _checked(GuestCheck(fails, fails), tmp_path)
    with pytest.raises(AssertionError, match="fails fails, not passes"):
        _checked(GuestCheck(passes, fails), tmp_path)
    with pytest.raises(AssertionError, match="it survives passes"):
        _checked(GuestCheck(passes, passes), tmp_path)
    with pytest.raises(EngineFailed, match="a limit of time"):
        _checked(GuestCheck(dies, dies), tmp_path)


def test_a_mutant_may_be_found_by_a_warning(tmp_path: Path) -> None:
    def dies(*_: object) -> None:
        raise EngineFailed("the guest died", console_tail=[], log_tail=[])

    (tmp_path / "console.log").write_text("WARNING: something else\n")
    with pytest.raises(AssertionError, match="nothing says 'sums differ'"):
        _checked(GuestCheck(dies, dies, says="sums differ"), tmp_path)
    (tmp_path / "console.log").write_text("uclamp: sums differ: cpu 1\n")
    _checked(GuestCheck(dies, dies, says="sums differ"), tmp_path)


def test_a_mutant_may_be_found_by_what_ends_the_run(tmp_path: Path) -> None:
    def ends(*_: object) -> None:
        raise EngineFailed("there is no register", console_tail=[], log_tail=[])

    _checked(GuestCheck(ends, ends, says="no register"), tmp_path)
    with pytest.raises(AssertionError, match="nothing says 'two registers'"):
        _checked(GuestCheck(ends, ends, says="two registers"), tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "[    0.124074] uclamp: sums differ: cpu 5 util_avg 983 nr 2 bias 0",
            "kernel/sched/uclamp.c:740 at uclamp_broken+0x104/0x140, CPU#5: stress/69",
            "sums differ",
        ),
        (
            "[    0.118644] ------------[ cut here ]------------",
            "kernel/sched/uclamp.c:215 at uclamp_del+0x258/0x28c, CPU#4: stress/68",
            "uclamp_del",
        ),
        (
            "[    0.118644] part->cpu != cpu_of(rq)",
            "CPU: 4 PID: 68 at kernel/sched/uclamp.c:226 uclamp_del+0x258/0x28c",
            "part->cpu != cpu_of(rq)",
        ),
    ],
)
def test_a_warning_is_named_by_what_it_says_its_condition_or_its_function(
    before: str, after: str, said: str
) -> None:
    more = "[    0.2] uclamp: bias is stale: cpu 1\n[    0.2] WARNING: CPU: 1 at x.c:1 f+0x1/0x2\n"
    assert first_warning(f"{before}\n[    0.12] WARNING: {after}\n{more}") == said
