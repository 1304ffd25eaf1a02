# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of the tables of the power models' errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from host.table import Table


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table of texts."""
    return Table.of(head, rows, left=len(head)).markdown().splitlines()


def percent(value: float) -> str:
    """With one digit."""
    return f"{value:.1f} %"


def signed(share: float) -> str:
    """A share in per cent, with its sign."""
    return f"{share * 100:+.1f} %"
