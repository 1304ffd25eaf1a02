# SPDX-License-Identifier: GPL-2.0-or-later
"""``compare --robust``: the varied model axes and their cost."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eascope.configs.knobs import AXES

if TYPE_CHECKING:
    from eascope.experiments.axes import Cases
    from eascope.experiments.finished import BilledBy
    from eascope.experiments.request import Names


def add_robust(parser: argparse.ArgumentParser) -> None:
    """Whether model axes are varied."""
    parser.add_argument(
        "--robust",
        nargs="?",
        const="",
        metavar="AXES",
        help="sensitivity analysis: also compare with unknown model parameters of the board "
        "changed, one at a time; a result holds only if it holds for every value; AXES, as in "
        f"--robust=dvfs,llc, selects parameters from {', '.join(AXES)} (default: all)",
    )


def asked_cases(text: str | None, asked: Sequence[Names], billing: BilledBy) -> Cases:
    """The cases of ``--robust=text``, after those that need no run, which are always there.

    :param asked: the asked cells, of every variant and seed.
    :raises RequestError: an axis that does not exist, or that a person named and cannot be varied.
    """
    from eascope.experiments.axes import BILLING_AXES, cases_of, wanted_axes

    firsts = {names.request.variant: names for names in reversed(asked)}
    variants = dict.fromkeys(names.request.variant for names in asked)
    first = [firsts[variant] for variant in variants]
    named = wanted_axes(text) if text is not None else ()
    always = [axis for axis in BILLING_AXES if not (text and axis in named)]
    free = cases_of(first, billing, always, named=False)
    more = [axis for axis in named if axis not in always]
    asked_for = cases_of(first, billing, more, named=bool(text and text.strip()))
    return free + asked_for
