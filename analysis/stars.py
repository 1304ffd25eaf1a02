# SPDX-License-Identifier: GPL-2.0-or-later
"""Which differences of a table are starred: corrected for how many rows there are.

Of a hundred rows in which nothing differs, five have a 95 % interval that excludes zero, and rows
that move together come in bunches: of two samples of the same runs, one in five has more than 5 %
of them. So a row is starred by Benjamini and Hochberg's procedure ("Controlling the false discovery
rate", J. R. Stat. Soc. B 57, 1995): of a table's stars at most one in twenty is there by chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from analysis.records.verdict import LEVEL

Key = TypeVar("Key", bound=Hashable)


def discoveries(p_values: Mapping[Key, float]) -> set[Key]:
    """Keys of the tests that the procedure rejects at a false discovery rate of 5 %."""
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    rate, many = 1 - LEVEL, len(ordered)
    last = max(
        (rank for rank, (_, p) in enumerate(ordered, 1) if p <= rate * rank / many), default=0
    )
    return {key for key, _ in ordered[:last]}
