# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of two releases, from made-up runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import Comparison
from analysis.derive import Derived, derive
from analysis.results.comparisons import Spread
from analysis.results.releases import ReleaseComparison, WakeUpOnBoth
from configs.activity import Activity
from configs.platform import Platform
from experiments.request import resolve
from kernels.releases import DEFAULT, RELEASES
from studies.pages.plan import Page
from studies.pages.run import requests
from studies.releases.__main__ import main
from studies.releases.page import parts
from studies.releases.plan import CELLS, WAKE_UPS, groups, on
from studies.releases.record import record_of
from studies.releases.run import split
from tests.support.records import kernel_record
from tests.support.synthetic import make_run

RELEASE_PAIR = (DEFAULT, "7.3")
STATEMENT = "energy_j.total > energy_j.total[mainline]"
WAKE_UP = WakeUpOnBoth(
    "mainline", "anywhere", Spread(1000.0, 990.0, 1010.0), Spread(1100.0, 1100.0, 1100.0), 10.0
)

ByVariant = dict[str, list[Derived]]


def test_every_cell_can_be_asked_for_on_both_releases() -> None:
    assert RELEASE_PAIR[1] in RELEASES
    for group in groups(RELEASE_PAIR):
        asked = requests(Page("releases", "juno-r2", ()), group, False)
        releases = [resolve(request).kernel.release or DEFAULT for request in asked]
        assert releases == sorted(releases)
        assert set(releases) == set(RELEASE_PAIR)
    assert set(WAKE_UPS) <= {name for variants in CELLS.values() for name in variants}


def test_the_default_release_is_not_named() -> None:
    assert on(DEFAULT, "cas") == "cas"
    assert on("7.3", "cas") == "cas@7.3"


@pytest.fixture
def made_runs(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Mapping[str, ByVariant]:
    """Ten made-up seeds of two variants by release; the newer release takes twice the energy."""
    made: dict[str, ByVariant] = {}
    for release in RELEASE_PAIR:
        kernel = kernel_record("base", f"{release}.1")
        made[release] = {}
        for variant in ("mainline", "cas"):
            root = tmp_path / release
            root.mkdir(exist_ok=True)
            runs = [
                derive(make_run(root, juno, variant, seed), juno, juno_activity)
                for seed in range(10)
            ]
            made[release][variant] = [
                replace(run, cell=replace(run.cell, kernel=kernel)) for run in runs
            ]
    return made


def made_record(made_runs: Mapping[str, ByVariant], juno: Platform) -> ReleaseComparison:
    """The record of one scenario."""
    runs = {"eas/video-playback": (made_runs[DEFAULT], made_runs["7.3"])}
    return record_of(juno, RELEASE_PAIR, runs, [WAKE_UP], "a test")


def test_a_record_has_both_releases(made_runs: Mapping[str, ByVariant], juno: Platform) -> None:
    record = made_record(made_runs, juno)
    assert [boot.release for boot in record.boots] == list(RELEASE_PAIR)
    assert [boot.kernel for boot in record.boots] == ["6.12.1", "7.3.1"]
    assert all(boot.ready_ms.mean > 0 for boot in record.boots)
    assert [entry.variant for entry in record.scenarios] == ["mainline", "cas"]
    assert record.seeds == 10
    assert {entry.per for entry in record.scenarios} == {"s of work"}, "cas does other work"
    mainline, cas = record.scenarios
    assert mainline.old.energy_change is None
    assert cas.new.energy_change is not None
    assert mainline.change.percent == 0
    assert STATEMENT in [verdict.statement for verdict in cas.new.verdicts]
    assert STATEMENT not in [verdict.statement for verdict in mainline.new.verdicts]
    assert ReleaseComparison.decode(record.encode(), Path("x")) == record


def test_more_energy_on_the_newer_release_is_in_the_answer(
    made_runs: Mapping[str, ByVariant], juno: Platform
) -> None:
    doubled = {
        name: [
            replace(
                run,
                result=replace(
                    run.result,
                    energy_j=replace(run.result.energy_j, total=2 * run.result.energy_j.total),
                    energy_per_work_j=2 * (run.result.energy_per_work_j or 0),
                ),
            )
            for run in runs
        ]
        for name, runs in made_runs["7.3"].items()
    }
    record = made_record({DEFAULT: made_runs[DEFAULT], "7.3": doubled}, juno)
    shown = parts(record)
    assert "differs from 6.12's in 2 of 2 cells" in shown["answer"]
    assert "| +100.0 (+100.0..+100.0) per s of work |" in shown["variants"]
    assert "per s of work" in shown["effects"]
    assert "statements have the same verdict on both" in shown["answer"]
    assert "| mainline | anywhere | 1000 (990..1010) | 1100 | +10.0 |" in shown["wake_ups"]
    assert STATEMENT in shown["verdicts"]


def test_runs_of_both_releases_stand_under_plain_names(
    made_runs: Mapping[str, ByVariant], juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.releases.run.CELLS", {"smoke": ("mainline", "cas")})
    both = {
        on(release, name): runs
        for release in made_runs
        for name, runs in made_runs[release].items()
    }
    parted = split({"smoke": Comparison(juno, both)}, RELEASE_PAIR)
    assert parted == {"smoke": (made_runs[DEFAULT], made_runs["7.3"])}


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--sseds", "3"])
    assert ended.value.code == 2
    assert "--sseds" in capsys.readouterr().err
