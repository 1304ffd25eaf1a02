# SPDX-License-Identifier: GPL-2.0-or-later
"""The calibrated Cortex-A15: its record, its prediction, and a new fit where the data is."""

import csv
import hashlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.host.errors import RequestError
from eascope.power import calibrate
from eascope.power.calibrate import fit, leaving_out, non_negative
from eascope.power.counted import CALIBRATED, MAPPINGS, load_calibration, load_counted
from eascope.power.mcpat import load_derived
from eascope.power.measurements import COLUMN, VARIABLE, load_measured, predicted
from tests.support.calibration import row
from tests.support.command import output_of
from tests.support.refusals import refusal

CORE = "cortex-a15"
RECORD = json.loads((CALIBRATED / f"{CORE}.json").read_text())


@pytest.fixture
def measurements(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of measurements: the variable's, or the one next to the checkout."""
    usual = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get(VARIABLE) or usual)
    if not (folder / load_counted(CORE).data).is_file():
        pytest.skip(f"no measurements: set {VARIABLE} to a folder with {load_counted(CORE).data}")
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def test_record_belongs_to_its_inputs() -> None:
    inputs = RECORD["inputs"]
    mapping = (MAPPINGS / f"{CORE}.toml").read_bytes()
    assert inputs["derived_sha256"] == load_derived(CORE).sha256, "make power-calibration"
    assert inputs["mapping_sha256"] == hashlib.sha256(mapping).hexdigest(), "make power-calibration"


def test_published_errors_meet_the_goals() -> None:
    errors = RECORD["errors"]
    assert len(RECORD["factors"]) <= 6
    assert all(factor > 0 for factor in RECORD["factors"].values())
    assert errors["leaving_workloads_out"]["mape"] <= 5
    assert max(opp["mape"] for opp in errors["leaving_workloads_out"]["by_mhz"].values()) <= 8
    assert errors["leaving_opps_out"]["mape"] < 8.9
    assert RECORD["uncalibrated"]["mape"] > errors["fit"]["mape"]


def test_power_is_the_sum_over_mcpats_energies() -> None:
    """The clock and the cluster clock by hand: energies from McPAT's table times the factors."""
    calibration = load_calibration(CORE)
    parts = calibration.parts_w(row(), "test", 2)
    power = calibration.model.power
    factors = calibration.factors
    down = 1.0 / power.vdd_v
    assert parts["clock"] == pytest.approx(
        factors["clock"] * power.pj("core.cycles") * down**2 * 1e-3
    )
    assert parts["cluster_clock"] == pytest.approx(
        factors["cluster_clock"] * power.pj("L2.read_accesses") * down**2 * 1e-3
    )
    leakage = 4 * power.leakage["Core"].subthreshold_w + power.leakage["L2"].subthreshold_w
    assert parts["leakage"] == pytest.approx(factors["leakage"] * leakage * down**3, rel=1e-4)
    half = calibration.parts_w(row(**{"Voltage A15": "0.5"}), "test", 2)
    assert half["back_end"] == pytest.approx(parts["back_end"] / 4)
    assert half["leakage"] == pytest.approx(parts["leakage"] / 8)


def test_predict_adds_a_column(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row()))
        writer.writeheader()
        writer.writerows([row(), row(**{"Frequency A15": "500"})])
    text = output_of("power", "predict", "--core", CORE, "--csv", str(source))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 2
    assert list(rows[0]) == [*row(), COLUMN]
    assert 0.3 < float(rows[1][COLUMN]) < float(rows[0][COLUMN]) < 1.5
    again = tmp_path / "again.csv"
    again.write_text(text)
    with pytest.raises(RequestError, match="allowed: a file without this column"):
        predicted(CORE, again)


def test_predict_wants_the_datas_form(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    source, lines = tmp_path / "rows.csv", []
    last = ",".join([*list(row().values())[:-1], "nan"])
    for text in ("", "Workload Name\nx\n", "Workload Name\nx,7\n", f"{','.join(row())}\n{last}\n"):
        source.write_text(text)
        lines.append(refusal(predicted, CORE, source).replace(str(tmp_path), ""))
    assert lines == snapshot


def test_unknown_event_in_a_mapping(tmp_path: Path) -> None:
    text = (MAPPINGS / f"{CORE}.toml").read_text()
    wrong = text.replace('"core.ROB_reads" = 1,', '"core.ROB_read" = 1,')
    assert wrong != text
    (tmp_path / f"{CORE}.toml").write_text(wrong)
    with pytest.raises(RequestError, match=r"did you mean core\.ROB_reads\?"):
        load_counted(CORE, tmp_path)


def test_fit_finds_known_factors_and_never_a_negative_one() -> None:
    random = np.random.default_rng(5)
    matrix = random.uniform(0.1, 1, (200, 4))
    watts = matrix @ np.array([2.0, 0.0, 0.5, 1.0])
    assert fit(matrix, watts) == pytest.approx([2, 0, 0.5, 1], abs=1e-6)
    assert leaving_out(matrix, watts, np.arange(200) % 5).mape < 1e-4
    pulled = matrix @ np.array([2.0, -0.3, 0.5, 1.0])
    assert (non_negative(matrix, pulled) >= 0).all()
    assert non_negative(matrix, pulled)[1] == 0


def test_a_new_fit_gives_the_committed_record(measurements: Path) -> None:
    model = load_counted(CORE)
    data = load_measured(model)
    assert data.sha256 == RECORD["inputs"]["data_sha256"]
    names = list(RECORD["factors"])
    matrix = data.matrix(names)
    factors = dict(zip(names, fit(matrix, data.watts), strict=True))
    for name, factor in RECORD["factors"].items():
        assert factors[name] == pytest.approx(factor, rel=5e-3), name
    workloads = leaving_out(matrix, data.watts, data.workload)
    committed = RECORD["errors"]["leaving_workloads_out"]["mape"]
    assert workloads.mape == pytest.approx(committed, abs=0.02)
    opps = leaving_out(matrix, data.watts, data.megahertz)
    assert opps.mape == pytest.approx(RECORD["errors"]["leaving_opps_out"]["mape"], abs=0.02)
    # Left-out groups get nothing when they are offered a factor of their own.
    title = "each left-out group with a factor of its own"
    assert title in calibrate.alternatives(model)
    more = fit(data.matrix([*names, "integer", "gate_leakage"]), data.watts)
    assert more[-2:] == pytest.approx([0, 0], abs=1e-6)


def test_predictions_on_the_data_are_as_wrong_as_stated(measurements: Path) -> None:
    rows = predicted(CORE, measurements / RECORD["inputs"]["data"])
    wrong = [abs(r[COLUMN] / float(r["Power A15"]) - 1) * 100 for r in rows]
    assert sum(wrong) / len(wrong) == pytest.approx(RECORD["errors"]["fit"]["mape"], abs=0.01)
