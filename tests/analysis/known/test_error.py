# SPDX-License-Identifier: GPL-2.0-or-later
"""What captions say of the fast engine's error: only what was measured for such a run."""

from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.engine import billing_of, error_words
from eascope.analysis.known.conditions import Conditions
from eascope.analysis.known.error import EARLIER_BILLING, error_of
from eascope.engines.gem5.engine import GEM5
from eascope.engines.qemu.engine import QEMU
from eascope.host.record import json_bytes
from tests.support.agreement import BILLING, CONDITIONS, MEASURED
from tests.support.records import cell_record
from tests.support.stated import stated

FAST = QEMU.make("").traits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    MEASURED.write(tmp_path / "engine-agreement.json")
    return tmp_path


def words(
    folder: Path,
    scenario: str = "smoke",
    *,
    platform: str = "juno-r2",
    conditions: Conditions = CONDITIONS,
    billing: str = BILLING,
) -> str:
    """What a caption says of a run on the fast engine."""
    return error_of(platform, scenario, conditions, billing=billing, traits=FAST, folder=folder)


def test_a_platform_file_of_ones_own_has_no_error_of_ours() -> None:
    """It may have the name of one that was compared with gem5."""
    run = stated("mainline", 0)
    own = replace(run, cell=cell_record(scenario="smoke", own_platform=True))
    assert error_words(own) == (
        "no error against gem5 was measured on juno-r2, a person's own platform"
    )
    ours = replace(own, cell=replace(own.cell, own_platform=False))
    assert error_words(ours).startswith("energy within")
    traits = GEM5.make("elided").traits
    reference = replace(own, cell=replace(own.cell, engine_traits=traits))
    assert error_words(reference).startswith("the reference engine")


def test_what_is_said(folder: Path, snapshot: SnapshotAssertion) -> None:
    """The cells of the scenario count, or all others; platform, mode, speeds and power are named.

    Of another platform, speed or power nothing is known; gem5 names its CPUs in every mode.
    """
    measured, derived = replace(CONDITIONS, speeds="measured"), replace(CONDITIONS, power="derived")
    other = replace(CONDITIONS, kernel="6.12.99", duration="full")
    said = {
        "one cell": words(folder),
        "two cells": words(folder, "eas/game"),
        "other scenarios": words(folder, "ui/jank"),
        "no record": words(folder / "nothing"),
        "another billing": words(folder, billing="another digest"),
        "no billing": words(folder, billing=""),
        "other conditions": words(folder, conditions=other),
        "another platform": words(folder, platform="pixel6"),
        "other speeds": words(folder, conditions=measured),
        "another power": words(folder, conditions=derived),
    }
    for mode in GEM5.modes:
        traits = GEM5.make(mode).traits
        said[mode] = error_of("pixel6", "smoke", CONDITIONS, billing="", traits=traits)
    assert said == snapshot
    assert EARLIER_BILLING in said["no billing"]
    assert EARLIER_BILLING not in said["one cell"]


def test_detailed_cpus_count_where_they_are_all_there_is(tmp_path: Path) -> None:
    cells = tuple(
        replace(cell, against={"elided-detailed": cell.against["elided-detailed"]})
        for cell in MEASURED.cells
    )
    conditions = replace(CONDITIONS, speeds="measured")
    record = replace(MEASURED, cells=cells, speeds="measured", conditions=conditions)
    record.write(tmp_path / "engine-agreement-measured.json")
    assert words(tmp_path, conditions=conditions) == (
        "energy within 20.0 % of gem5's in mode elided-detailed (detailed CPUs) on juno-r2 at "
        "measured speeds with published power, 1 cell, one seed of gem5"
    )


@pytest.mark.parametrize("billing", [BILLING, ""])
def test_energies_of_an_unknown_billing_are_earlier_ones(tmp_path: Path, billing: str) -> None:
    unknown = replace(MEASURED, conditions=None, billing="")
    unknown.write(tmp_path / "engine-agreement.json")
    assert words(tmp_path, billing=billing).endswith(EARLIER_BILLING)


def test_the_billing_of_a_run_is_the_digest_in_its_key(tmp_path: Path) -> None:
    run = replace(stated("mainline", 0), path=tmp_path)
    assert billing_of(run) == ""
    (tmp_path / "key.json").write_bytes(json_bytes({"power": BILLING, "platform": "another"}))
    assert billing_of(run) == BILLING
