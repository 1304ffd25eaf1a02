# SPDX-License-Identifier: GPL-2.0-or-later
"""The first figure's record and page, from made-up runs of its two variants."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.compare import Comparison
from studies import first_figure
from studies.first_figure import record_of
from studies.first_figure_page import parts
from tests.analysis.conftest import activity, compared, platform  # noqa: F401

#: What the made-up runs, whose tasks have other names, have of the page's measures.
KNOWN = tuple(one for one in first_figure.MEASURES if "render" not in one[1])


def test_measures_have_means_differences_and_intervals(
    compared: Callable[[int], Comparison],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_figure, "MEASURES", KNOWN)
    record = record_of(compared(10), "a test")
    assert (record.baseline, record.variant, record.seeds) == ("mainline", "cas", 10)
    total = record.measures[0]
    assert total.variant - total.baseline == pytest.approx(total.difference)
    assert total.percent == pytest.approx(100 * total.difference / total.baseline)
    assert total.low <= total.difference <= total.high
    shown = parts(record)
    row = next(line for line in shown["measures"].splitlines() if "energy: total" in line)
    assert f"| {total.baseline:.1f} | {total.variant:.1f} | {total.difference:+.1f} (" in row
    assert shown["energy"].startswith(f"{total.percent:+.1f} % ({total.low:+.1f} to ")
    assert "10 seeds" in shown["conditions"]


def test_few_seeds_make_no_record(
    compared: Callable[[int], Comparison],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_figure, "MEASURES", KNOWN)
    with pytest.raises(ValueError, match="not measured with 10 seeds or more"):
        record_of(compared(2), "a test")
