# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the cells that are executed and elided."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.cell import Cell
from experiments.pool import run_all
from studies.costed import CostedRun, derive_costed

#: The runs of a case: ``executed`` and ``elided``.
Pair = Mapping[str, CostedRun]


def run(cells: Mapping[tuple[str, str], Cell]) -> Mapping[str, Pair]:
    """Both runs of every case: {name: {"executed": .., "elided": ..}}.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    pairs: dict[str, dict[str, CostedRun]] = {}
    done = run_all(list(cells.values()), derive_costed)
    for (case, name), ran in zip(cells, done, strict=True):
        pairs.setdefault(case, {})[name] = ran
    return pairs
