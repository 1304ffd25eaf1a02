# SPDX-License-Identifier: GPL-2.0-or-later
"""Means over results: number by number, with the same shape as a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eascope.analysis.records.result import Result


def mean_result(results: Sequence[Result]) -> Result:
    """The mean of at least one result; values that only some have, or that differ, are left out.

    Several results have no common answer to an expectation, so their mean has none.
    """
    if len(results) == 1:
        return results[0]
    values = _mean([replace(result, expect=()).encode() for result in results])
    return Result.decode(values, "the mean of results")


def _mean(values: Sequence[Any]) -> Any:  # noqa: ANN401 - JSON
    """Element-wise mean of equally shaped JSON values; None where texts or truth values differ."""
    first = values[0]
    if isinstance(first, dict):
        common = [key for key in first if all(key in value for value in values)]
        means = {key: _mean([value[key] for value in values]) for key in common}
        return {key: mean for key, mean in means.items() if mean is not None}
    if isinstance(first, list):
        return [_mean(column) for column in zip(*values, strict=False)]
    if isinstance(first, bool | str):
        return first if all(value == first for value in values) else None
    return sum(values) / len(values)
