# SPDX-License-Identifier: GPL-2.0-or-later
"""What captions say of the fast engine's error: only what was measured for such a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.engine import billing_of, error_words
from eascope.analysis.known.error import EARLIER_BILLING, error_of
from eascope.analysis.known.findings import Conditions
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


WHERE = "on juno-r2 at the board's speeds with published power"


def test_the_cells_of_the_scenario_count_and_platform_mode_speeds_and_power_are_named(
    folder: Path,
) -> None:
    mode = "of gem5's in mode elided (atomic CPUs)"
    assert words(folder) == (f"energy within 3.0 % {mode} {WHERE}, 1 cell, means over 10 seeds")
    assert words(folder, "eas/game") == (
        f"energy within 1.3 % {mode} {WHERE}, 2 cells, means over 10 seeds"
    )
    assert words(folder, "ui/jank").endswith(
        f"{WHERE}, other scenarios, 3 cells, means over 10 seeds"
    )
    assert words(folder / "nothing").startswith("no error")


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


def test_energies_of_another_billing_are_said_to_be_earlier_ones(
    folder: Path, tmp_path: Path
) -> None:
    assert EARLIER_BILLING not in words(folder)
    for other in ("another digest", ""):
        assert words(folder, billing=other).endswith(f"10 seeds, {EARLIER_BILLING}")
    (tmp_path / "unknown").mkdir()
    unknown = replace(MEASURED, conditions=None, billing="")
    unknown.write(tmp_path / "unknown" / "engine-agreement.json")
    for billing in (BILLING, ""):
        assert words(tmp_path / "unknown", billing=billing).endswith(EARLIER_BILLING)


def test_other_conditions_are_named(folder: Path) -> None:
    other = replace(CONDITIONS, kernel="6.12.99", duration="full")
    assert words(folder, conditions=other).endswith(
        "10 seeds, measured with kernel 6.12.1 instead of 6.12.99, duration short instead of full"
    )


def test_the_billing_of_a_run_is_the_digest_in_its_key(tmp_path: Path) -> None:
    run = replace(stated("mainline", 0), path=tmp_path)
    assert billing_of(run) == ""
    (tmp_path / "key.json").write_bytes(json_bytes({"power": BILLING, "platform": "another"}))
    assert billing_of(run) == BILLING


@pytest.mark.parametrize(
    ("platform", "speeds", "power", "where"),
    [
        ("pixel6", "board", "published", "on pixel6 at the board's speeds with published power"),
        ("juno-r2", "measured", "published", "on juno-r2 at measured speeds with published power"),
        ("juno-r2", "board", "derived", "on juno-r2 at the board's speeds with derived power"),
    ],
)
def test_another_platform_speed_or_power_has_no_figure(
    folder: Path, platform: str, speeds: str, power: str, where: str
) -> None:
    conditions = replace(CONDITIONS, speeds=speeds, power=power)
    assert words(folder, platform=platform, conditions=conditions) == (
        f"no error against gem5 was measured in any of its modes {where}"
    )


def test_gem5_names_its_cpus_in_every_mode(folder: Path) -> None:
    assert {
        mode: error_of(
            *("pixel6", "smoke", CONDITIONS),
            billing="",
            traits=GEM5.make(mode).traits,
            folder=folder,
        )
        for mode in GEM5.modes
    } == {
        "elided": "the reference engine, on atomic CPUs",
        "elided-detailed": "the reference engine, on detailed CPUs",
        "timing": "the reference engine, on timing CPUs",
        "detailed": "the reference engine, on detailed CPUs",
    }
