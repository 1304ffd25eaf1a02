# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of errors: made from the committed records, and the scaling law's own error."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from configs.activity import load_activity
from configs.platform_file import load_platform
from engines.gem5.inside.columns import cpu_events
from host.errors import EascopeError
from host.record import Record
from power.derived import CYCLE, DERIVED, POWER_MODELS, derived_cores
from power.events import load_events
from power.measurements import VARIABLE
from power.records import (
    ActivityRecord,
    CalibrationRecord,
    ExpressionsRecord,
    LawAgainstDirect,
    ScalingRecord,
    ordered_json,
)
from studies.power_validation import others, scaling
from studies.power_validation import page as validation

SCALING = sorted(
    path.stem for path in (DERIVED / "scaling").glob("*.json") if path.stem != "g-of-t"
)


def test_figures_stay_where_there_are_no_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(validation, "PAGE", tmp_path / "power-validation.md")
    assert "figures kept" in validation.write()
    assert (tmp_path / "power-validation.md").read_text().startswith("# How wrong the power")


ANCHORS = tomllib.loads((POWER_MODELS / "anchors.toml").read_text())


@pytest.mark.parametrize("core", SCALING)
def test_the_law_is_near_mcpat_where_mcpat_runs(core: str) -> None:
    record = ScalingRecord.read(DERIVED / "scaling" / f"{core}.json")
    derived = json.loads((DERIVED / f"{core}.json").read_text())
    assert record.design.encode() == derived["design"]
    published = {volts for _, volts in ANCHORS[core]["opps"]}
    assert [row.vdd_v for row in record.voltages] == sorted(published)
    legal = [row.vdd_v for row in record.legal]
    assert legal == [row.vdd_v for row in record.voltages if not row.extrapolated]
    middle = (legal[0] + legal[-1]) / 2
    assert record.design.vdd_v == pytest.approx(middle, abs=0.00501)
    for row in record.voltages:
        assert row.extrapolated == (row.vdd_v < record.lowest_legal_vdd_v)
    for supply in record.legal:
        for name, figure in zip(scaling.HEADS, supply.figures, strict=True):
            allowed = scaling.GOAL if name.endswith("dynamic") else 0.0025
            assert abs(figure.error) <= allowed, (supply.vdd_v, name)
            assert figure.error == pytest.approx(figure.law_w / figure.direct_w - 1, abs=2e-5)


def test_every_core_is_compared() -> None:
    assert derived_cores() == SCALING


def test_points_beyond_the_goal_are_named() -> None:
    assert scaling._misses([], 7) == "All 7 points meet the goal."
    assert scaling._misses([("a at 1 V", 0.0213)], 7) == (
        "6 of 7 points meet the goal; those that do not: a at 1 V (2.13 %)."
    )


def test_largest_error() -> None:
    figures = [LawAgainstDirect(1.0, 1.0, error, 1.0, 0.0) for error in (0.01, -0.05, 0.02)]
    assert scaling._largest(figures) == "5.00 %"
    assert scaling._largest([]) == "none"


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (CalibrationRecord, "calibrated/*.json"),
        (ExpressionsRecord, "expressions/*.json"),
        (ActivityRecord, "activity/*.json"),
    ],
)
def test_committed_records_are_written_again_with_the_same_bytes(
    kind: type[Record], pattern: str
) -> None:
    paths = sorted(POWER_MODELS.glob(pattern))
    assert paths
    for path in paths:
        assert ordered_json(kind.read(path)) == path.read_bytes(), path.name


def test_a_damaged_record_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(EXPRESSIONS[0].read_text().replace('"rows_pj"', '"rows_nj"', 1))
    with pytest.raises(EascopeError, match=r"x.json: kernels.0.rows_pj is missing: allowed: a n"):
        ExpressionsRecord.read(path)


EXPRESSIONS = sorted(others.EXPRESSIONS.glob("*.json"))


@pytest.mark.parametrize("path", EXPRESSIONS, ids=lambda path: path.stem)
def test_gem5s_expressions_bill_as_the_rows_do(path: Path) -> None:
    record = ExpressionsRecord.read(path)
    allowed = {"ArmO3CPU": 0.001, "ArmMinorCPU": 0.03}[record.model]
    for kernel in record.kernels:
        assert kernel.expression_pj == pytest.approx(kernel.rows_pj, rel=allowed), kernel.kernel


@pytest.mark.parametrize("path", EXPRESSIONS, ids=lambda path: path.stem)
def test_their_record_is_of_the_present_energies(path: Path) -> None:
    """What the committed activity of the same kernels costs by the present model."""
    record = ExpressionsRecord.read(path)
    platform, power = load_platform(record.platform), load_events(record.core)
    (cluster,) = [
        cluster_of for cluster_of in platform.clusters if cluster_of.core.name == record.core
    ]
    (opp,) = [opp_of for opp_of in cluster.opps if opp_of.khz == record.khz]
    columns = cpu_events(record.model)
    activity = {
        entry.kernel: entry
        for entry in load_activity(platform).measured
        if entry.cluster == cluster.name
    }
    for kernel in record.kernels:
        known = activity[kernel.kernel]
        counts = {event: known.events.get(event, 0.0) for event in columns if event != CYCLE}
        counts[CYCLE] = 1 / known.ipc[opp.khz]
        joules = power.dynamic_w(counts, 1.0, opp.uv / 1e6)
        assert kernel.rows_pj == pytest.approx(joules * 1e12, rel=0.005), kernel.kernel
