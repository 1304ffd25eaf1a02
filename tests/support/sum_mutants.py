# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels in which one claim of `sum` about its sums is broken, and what the kernel says then."""

import re
from dataclasses import dataclass

from tests.support.mutants import Edit, read_mutants


@dataclass(frozen=True)
class BrokenClaim:
    """The kernel's first warning after ``edit`` is ``says``.

    That is what ``UCLAMP_CHECK`` says, or the condition of another warning; 7.3 does not print
    conditions, so there it is the function that warns. If ``says`` is empty the kernel survives,
    but ``counter``, which counts under stress, stays zero.

    :param on_612: the first warning on 6.12, where it is another one.
    """

    claim: str
    kernels: tuple[str, ...]
    edit: Edit
    says: str = ""
    counter: str = ""
    on_612: str = ""

    def first_warning_of(self, kernel: str) -> str:
        """What the first warning of ``kernel`` must be."""
        return self.says if "@" in kernel else self.on_612 or self.says


def first_warning(console: str) -> str:
    """What the first warning says is broken, its condition, or else the function that warns."""
    before, _, after = console.partition("WARNING: ")
    line = before.splitlines()[-2].partition("] ")[2]
    if "cut here" not in line:
        output = re.match(r"uclamp: ([^:]+): cpu ", line)
        return output[1] if output else line
    where = re.search(r" (\w+)\+0x", after)
    assert where, after[:400]
    return where[1]


CLAIMS = [
    BrokenClaim(
        read.claim,
        read.kernels,
        read.edit,
        **{name.replace("on 6.12", "on_612"): value for name, value in read.more.items()},
    )
    for read in read_mutants("claims")
]

#: The cap of a task that waits takes from who runs for as long as it waits. All sums are right
#: then: of the kernel's checks only that of the running task can see it.
CAP_STAYS = next(
    BrokenClaim(read.claim, read.kernels, read.edit, "sum is less than what runs")
    for read in read_mutants("sum")
    if read.claim == "a-cap-is-forgotten-while-its-task-waits"
)
