"""The page of errors: made from the committed records, and the scaling law's own error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.power import validation
from analysis.power.reduced import _energies
from configs.power.derived import DERIVED
from configs.power.events import load_events

SCALING = sorted(
    path.stem for path in (DERIVED / "scaling").glob("*.json") if path.stem != "g-of-t"
)


def test_page_is_what_the_records_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(validation.VARIABLE, raising=False)
    page = tmp_path / "power-validation.md"
    assert "figures kept" in validation.write(page)
    assert page.read_text() == validation.PAGE.read_text(), "make power-validation"


@pytest.mark.parametrize("core", SCALING)
def test_the_law_is_near_mcpat_where_mcpat_runs(core: str) -> None:
    """Cores within 2 %; the L2 too, where McPAT keeps its layout."""
    record = json.loads((DERIVED / "scaling" / f"{core}.json").read_text())
    derived = json.loads((DERIVED / f"{core}.json").read_text())
    assert record["design"] == derived["design"]
    for row in record["voltages"]:
        assert row["extrapolated"] == (row["vdd_v"] < record["lowest_legal_vdd_v"])
        if row["extrapolated"]:
            continue
        units = ["core"]
        if abs(row["l2"]["area"]["error"]) <= validation.SAME_LAYOUT:
            units.append("l2")
        for unit in units:
            for figure in ("dynamic", "leakage"):
                assert abs(row[unit][figure]["error"]) <= 0.02, (row["vdd_v"], unit, figure)


def test_largest_errors_by_layout() -> None:
    def row(volts: float, area: float, error: float) -> dict[str, Any]:
        unit = {"dynamic": {"error": error}, "leakage": {"error": -error / 2}}
        return {
            "vdd_v": volts,
            "extrapolated": volts < 0.84,
            "core": unit,
            "l2": {**unit, "area": {"error": area}},
        }

    rows = [row(0.8, 0, 9), row(0.9, 0.0, 0.01), row(0.95, 0.05, 0.1), row(1.0, 0, 0.5)]
    found = validation._largest_errors(rows)
    assert found == ("2", "1", "10.00 %", "5.00 %", "1.00 %", "10.00 %")
    assert validation._largest_errors([rows[1]])[-1] == "none"


def test_expressions_of_minor_miss_floating_point_alone() -> None:
    power = load_events("cortex-a53")
    events = {"core.total_instructions": 1.0, "dcache.read_accesses": 0.25}
    events["core.load_instructions"] = 0.25
    whole, read = _energies(power, events, 0.8)
    assert read == pytest.approx(whole)
    assert whole == pytest.approx(
        power.energy_pj["core.cycles"] / 0.8
        + sum(count * power.energy_pj[event] for event, count in events.items())
    )
    floating, same = _energies(power, {**events, "core.fpu_accesses": 0.5}, 0.8)
    assert same == pytest.approx(read)
    assert floating - same == pytest.approx(0.5 * power.energy_pj["core.fpu_accesses"])
