"""The page of errors: made from the committed records, and the scaling law's own error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.power import validation
from configs.activity import load_activity
from configs.gem5.columns import cpu_events
from configs.platform import load_platform
from configs.power.derived import CYCLE, DERIVED
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


EXPRESSIONS = sorted(validation.EXPRESSIONS.glob("*.json"))


@pytest.mark.parametrize("path", EXPRESSIONS, ids=lambda path: path.stem)
def test_gem5s_expressions_bill_as_the_rows_do(path: Path) -> None:
    record = json.loads(path.read_text())
    allowed = {"ArmO3CPU": 0.001, "ArmMinorCPU": 0.03}[record["model"]]
    for one in record["kernels"]:
        assert one["expression_pj"] == pytest.approx(one["rows_pj"], rel=allowed), one["kernel"]


@pytest.mark.parametrize("path", EXPRESSIONS, ids=lambda path: path.stem)
def test_their_record_is_of_the_present_energies(path: Path) -> None:
    """What the committed activity of the same kernels costs by the present model."""
    record = json.loads(path.read_text())
    platform, power = load_platform(record["platform"]), load_events(record["core"])
    (cluster,) = [one for one in platform.clusters if one.core.name == record["core"]]
    (opp,) = [one for one in cluster.opps if one.khz == record["khz"]]
    columns = cpu_events(record["model"])
    activity = {
        one.kernel: one for one in load_activity(platform).measured if one.cluster == cluster.name
    }
    for one in record["kernels"]:
        known = activity[one["kernel"]]
        counts = {event: known.events.get(event, 0.0) for event in columns if event != CYCLE}
        counts[CYCLE] = 1 / known.ipc[opp.khz]
        joules = power.dynamic_w(counts, 1.0, opp.uv / 1e6)
        assert one["rows_pj"] == pytest.approx(joules * 1e12, rel=0.005), one["kernel"]
