# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of a table's column, with a type that they can be compared by."""

import polars as pl


def least(column: pl.Series) -> float:
    """The smallest number of ``column``, which has one."""
    return _number(column.min())


def most(column: pl.Series) -> float:
    """The largest number of ``column``, which has one."""
    return _number(column.max())


def _number(value: object) -> float:
    assert isinstance(value, int | float), f"{value!r} is no number"
    return value
