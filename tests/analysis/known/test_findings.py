# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings belong to one platform and to an expectation that exists; how records are written."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from eascope.analysis.known.findings import (
    FINDINGS,
    NO_CONTROLS,
    REPLICATES,
    STARTS,
    Conditions,
    Finding,
    control_words,
    findings,
)
from eascope.analysis.known.origin import digests_of, record_bytes
from eascope.configs.platform_file import load_platform
from eascope.experiments.controls import Controls
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from eascope.host.record import RecordError
from tests.support.agreement import MEASURED

FILES = sorted(FINDINGS.rglob("*.toml"))


def write(folder: Path, text: str) -> None:
    path = folder / "juno-r2" / "ui" / "jank.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


CONDITIONS = Conditions(
    kernel="6.12",
    engine="qemu",
    duration="short",
    speeds="board",
    power="published",
    energy_model="published",
    seeds=REPLICATES,
    controls=NO_CONTROLS,
)
HEAD = "[conditions]\n" + "".join(
    f'{key} = "{value}"\n' for key, value in asdict(CONDITIONS).items()
)
FINDING = (
    '[[finding]]\nvariant = "cas"\nstatement = "migrations > 1"\ntext = "the trace says why"\n'
)
ONE = HEAD + FINDING


def test_a_finding_is_that_of_its_platform(tmp_path: Path) -> None:
    write(tmp_path, ONE)
    key = "cas", "migrations > 1"
    assert findings("juno-r2", "ui/jank", tmp_path) == {
        key: Finding("the trace says why", CONDITIONS)
    }
    assert findings("pixel6", "ui/jank", tmp_path) == {}


def test_an_expectation_has_one_finding(tmp_path: Path) -> None:
    write(tmp_path, ONE + FINDING)
    with pytest.raises(RequestError, match=r"finding\[1\]\.statement = .*: allowed: one finding"):
        findings("juno-r2", "ui/jank", tmp_path)


def test_a_finding_is_shown_for_runs_of_its_conditions_alone() -> None:
    finding = Finding("the trace says why", CONDITIONS)
    assert finding.shown(CONDITIONS) == "the trace says why"
    conditions = replace(CONDITIONS, speeds="measured", controls="rate limit 2000 us")
    assert finding.shown(conditions) == (
        "none under these conditions; there is one for speeds board instead of measured, "
        "controls as the platform has them instead of rate limit 2000 us."
    )


def test_a_finding_of_earlier_patches_says_so_where_its_kernel_has_that_queue() -> None:
    today = digests_of(["base@6.12", "sum@6.12"])
    finding = Finding("the trace says why", CONDITIONS, {**today, "sum@6.12": "0" * 64})
    assert finding.shown(CONDITIONS, ("base",)) == "the trace says why"
    assert finding.shown(CONDITIONS, ("base", "sum")) == (
        "the trace says why (Found with earlier patches: sum@6.12.)"
    )


def test_a_finding_of_starts_alone_is_not_shown_for_replicates() -> None:
    finding = Finding("the trace says why", replace(CONDITIONS, seeds=STARTS))
    assert finding.shown(CONDITIONS) == (
        "none under these conditions; there is one for seeds starts alone instead of replicates."
    )


def test_speeds_and_seeds_are_no_controls_among_others() -> None:
    for controls in (Controls(), Controls(noise=False), Controls(speeds="measured")):
        assert control_words(tuple(controls.words), controls.speeds) == NO_CONTROLS
    both = Controls(rate_limit_us=2000, speeds="measured")
    assert control_words(tuple(both.words), both.speeds) == "rate limit 2000 us"


def test_a_control_is_known_by_what_it_is_and_not_by_the_end_of_its_words() -> None:
    assert control_words(("bus-speeds",), "board") == "bus speeds"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FINDINGS)))
def test_every_finding_is_about_an_expectation(path: Path) -> None:
    platform, *scenario = path.relative_to(FINDINGS).with_suffix("").parts
    expected = load_scenario("/".join(scenario), load_platform(platform)).expect
    known = {(expectation.variant, expectation.statement) for expectation in expected}
    assert set(findings(platform, "/".join(scenario))) <= known


def test_a_written_record_keeps_all_digits(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    (first, *other_cells) = MEASURED.cells
    exact = replace(first, times={"z": 1 / 3, "a": 2.0})
    record = replace(MEASURED, cells=(exact, *other_cells))
    record.write(path)
    assert type(record).read(path) == record
    assert '"times": {"z": 0.3333333333333333, "a": 2.0}' in path.read_text()


def test_a_missing_key_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    MEASURED.write(path)
    data = json.loads(path.read_text())
    del data["cells"][1]["samples"]["fast"]["cpu_s_per_s"]
    path.write_text(json.dumps(data))
    with pytest.raises(RecordError) as error:
        type(MEASURED).read(path)
    assert str(error.value) == (
        f"{path}: cells.1.samples.fast.cpu_s_per_s is missing: allowed: a number"
    )


def test_no_number_that_json_has_not(tmp_path: Path) -> None:
    cells = (replace(MEASURED.cells[0], times={"elided": float("nan")}),)
    with pytest.raises(ValueError, match="JSON"):
        replace(MEASURED, cells=cells).write(tmp_path / "record.json")
    assert not list(tmp_path.iterdir())


def test_a_row_is_a_line() -> None:
    rows = [[1, [0.5] * 200], [2, None]]
    record = {"cells": {"columns": ["seed", "values"], "rows": rows}, "note": {"a": {"b": 1}}}
    text = record_bytes(record).decode()
    assert json.loads(text) == record
    assert "\n   [2, null]\n" in text
    assert text.count("\n") == 12
