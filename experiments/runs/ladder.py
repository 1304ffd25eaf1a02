# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the kernels of a series patch by patch, and runs those whose code differs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eascope.analysis.ladder import NO_CODE, Ladder, Rung, stated
from eascope.experiments.runs.axes import BILLING_AXES, cases_of
from eascope.experiments.runs.cell import kernel_code
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.measure import Group, compare, seeded
from eascope.experiments.runs.request import Resolved
from eascope.host.errors import shortened
from eascope.host.proc import CommandFailed
from eascope.kernels.kconfig import OptionsLost
from eascope.kernels.patching import PatchFailed
from eascope.kernels.steps import Step


def built(resolved: Resolved) -> tuple[str, str]:
    """The digest of a kernel's code, and why it does not build; one of the two is empty.

    Our base series may not apply to a commit of a tree. Where a patch of a series does not apply,
    no later step can be built.

    :raises EascopeError: a patch of a series does not apply, or the build cannot be tried.
    """
    try:
        return kernel_code(resolved), ""
    except (CommandFailed, OptionsLost, PatchFailed) as error:
        if isinstance(error, PatchFailed) and not resolved.kernel.tree:
            raise
        text = error.log_text.strip() if isinstance(error, CommandFailed) else str(error)
        return "", f"does not build: {shortened(text.partition(chr(10))[0])}"


def climbed(
    steps: Sequence[Step], names: Sequence[Resolved], seeds: int, billing: BilledBy
) -> Ladder:
    """The steps of a series, of which ``names`` are the cells of the first seed.

    :raises EascopeError: the kernel below the series cannot be had, a patch does not apply, or a
        run failed.
    """
    last = kernel_code(names[0])
    rungs = [Rung(0, steps[0].subject, steps[0].variant)]
    before, to_run = steps[0].variant, [names[0]]
    for number, (step, each) in enumerate(zip(steps[1:], names[1:], strict=True), 1):
        code, not_run = built(each)
        if code and code == last:
            not_run = NO_CODE
        rung = Rung(number, step.subject, step.variant, "" if not_run else before, not_run)
        rungs.append(rung)
        if not not_run:
            last, before = code, step.variant
            to_run.append(each)
    if len(to_run) == 1:
        return Ladder(rungs, None)
    cases = cases_of(to_run, billing, BILLING_AXES, named=False)
    group = Group(seeded(to_run, seeds), billing, cases, rename=partial(stated, rungs=rungs))
    (compared,) = compare([group])
    return Ladder(rungs, compared)
