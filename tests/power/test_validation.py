# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of the committed models: of the scaling law, and of gem5's expressions."""

import itertools
import json
import tomllib
from pathlib import Path

import pytest

from eascope.configs.activity import load_activity
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.inside.columns import cpu_events
from eascope.host.errors import EascopeError
from eascope.host.record import Record
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE, DERIVED, POWER_MODELS
from eascope.power.records import ActivityRecord, CalibrationRecord, ExpressionsRecord, ordered_json

SCALING = sorted(
    path.stem for path in (DERIVED / "scaling").glob("*.json") if path.stem != "g-of-t"
)


#: Largest error of the scaling law that is aimed at.
GOAL = 0.02
ANCHORS = tomllib.loads((POWER_MODELS / "anchors.toml").read_text())


@pytest.mark.parametrize("core", SCALING)
def test_the_law_is_near_mcpat_where_mcpat_runs(core: str) -> None:
    record = json.loads((DERIVED / "scaling" / f"{core}.json").read_text())
    derived = json.loads((DERIVED / f"{core}.json").read_text())
    assert record["design"] == derived["design"]
    published = {volts for _, volts in ANCHORS[core]["opps"]}
    assert [row["vdd_v"] for row in record["voltages"]] == sorted(published)
    legal = [row for row in record["voltages"] if not row["extrapolated"]]
    middle = (legal[0]["vdd_v"] + legal[-1]["vdd_v"]) / 2
    assert record["design"]["vdd_v"] == pytest.approx(middle, abs=0.00501)
    for row in record["voltages"]:
        assert row["extrapolated"] == (row["vdd_v"] < record["lowest_legal_vdd_v"])
    for row in legal:
        for unit, kind in itertools.product(("core", "l2"), ("dynamic", "leakage")):
            figure = row[unit][kind]
            allowed = GOAL if kind == "dynamic" else 0.0025
            assert abs(figure["error"]) <= allowed, (row["vdd_v"], unit, kind)
            ratio = figure["law_w"] / figure["direct_w"] - 1
            assert figure["error"] == pytest.approx(ratio, abs=2e-5)


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


EXPRESSIONS = sorted((POWER_MODELS / "expressions").glob("*.json"))


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
