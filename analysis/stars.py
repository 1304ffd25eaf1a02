# SPDX-License-Identifier: GPL-2.0-or-later
"""Stars of a table's differences, corrected for the number of rows.

Among a hundred rows without any difference, five have a 95 % interval that excludes zero. Rows that
move together come in bunches: when two samples of the same runs are compared, one table in five has
more than 5 % of such rows. So rows are starred by Benjamini and Hochberg's procedure ("Controlling
the false discovery rate", J. R. Stat. Soc. B 57, 1995): at most one in twenty of a table's stars is
there by chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from eascope.analysis.records.verdict import LEVEL

Key = TypeVar("Key", bound=Hashable)


def discoveries(p_values: Mapping[Key, float]) -> set[Key]:
    """Keys of the tests that the procedure rejects at a false discovery rate of 5 %."""
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    rate, many = 1 - LEVEL, len(ordered)
    last = max(
        (rank for rank, (_, p) in enumerate(ordered, 1) if p <= rate * rank / many), default=0
    )
    return {key for key, _ in ordered[:last]}
