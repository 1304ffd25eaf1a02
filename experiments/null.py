# SPDX-License-Identifier: GPL-2.0-or-later
"""The noise floor's cells: a variant, and its double (an equal kernel) with other seeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from eascope.experiments.request import Request
from eascope.kernels.own import Own, read_own

#: Whose noise is measured: the double is made of its kernel, and differs by nothing.
VARIANT = "mainline"
DOUBLE = "null"
#: Changes a comment of the scheduler.
PATCH = Path(__file__).resolve().parents[1] / "kernels" / "null" / "changed-comment.patch"


def double() -> Own:
    """The double of `VARIANT`; its name is `DOUBLE`."""
    return read_own([], [f"{DOUBLE}={PATCH}"])


def null_requests(like: Request, seeds: int) -> list[Request]:
    """``seeds`` requests of `VARIANT`, then as many of its double with the seeds that follow.

    :param like: a request with scenario, platform and controls.
    """
    own = double()
    first = [replace(like, variant=VARIANT, seed=seed) for seed in range(seeds)]
    again = [replace(like, variant=DOUBLE, seed=seeds + seed, own=own) for seed in range(seeds)]
    return [*first, *again]
