# SPDX-License-Identifier: GPL-2.0-or-later
"""The command of shipped campaigns: what it cuts, runs and writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.campaigns import CampaignResult
from configs.platform import Platform
from experiments.sweeps.campaign_file import load_campaign
from experiments.sweeps.ledger import platforms_folder
from experiments.sweeps.part import run_part
from experiments.sweeps.survey import Survey, survey_of
from host.errors import EascopeError, RequestError
from studies.campaigns import run as running
from studies.campaigns.__main__ import main
from studies.campaigns.run import complete, cut, swept
from studies.campaigns.shipped import PAGES
from tests.support.campaigns import StandInRuns, part_of
from tests.support.cells import Artefacts, with_artefacts


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("scenario", "--only 'scenario': allowed: AXIS=VALUES"),
        ("scenarios=eas/game", "unknown axis 'scenarios' (did you mean scenario?)"),
        ("scenario=eas/gam", "unknown value of scenario 'eas/gam'"),
        ("big.opps=2 even", "--only big.opps: allowed: values with 'as is', the reference"),
    ],
)
def test_a_wrong_cut_is_one_line(only: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opp-sweep", "--only", only]) == 2
    captured = capsys.readouterr().err
    assert said in captured
    assert captured.count("\n") == 1


def test_an_unknown_campaign_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op-sweep"]) == 2
    assert "unknown campaign 'op-sweep' (did you mean opp-sweep?)" in capsys.readouterr().err


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Cells without kernels, images or engines."""
    return with_artefacts(tmp_path, monkeypatch)


CUT = ["scenario=eas/game", "em_error=none,big=+10%"]


def stand_in(runs: StandInRuns) -> Callable[..., Survey]:
    """Stands for the sweep: the missing cells as one part, on no engine."""

    def run_missing(survey: Survey, jobs: int) -> Survey:
        del jobs
        run_part(part_of(survey), runs)
        return survey_of(survey.campaign, platforms_folder(), look_up=False)

    return run_missing


def test_the_command_runs_what_is_missing_and_writes_record_page_and_drawings(
    artefacts: Artefacts, juno: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = StandInRuns()
    monkeypatch.setattr(running, "run_missing", stand_in(runs))
    command = ["em-error-sweep", "--seeds", "2", "--folder", str(tmp_path / "mine")]
    command += [word for only in CUT for word in ("--only", only)]
    assert main(command) == 0
    assert len(runs.cells) == 2 * 3
    record = CampaignResult.read(tmp_path / "mine" / "campaign-em-error-sweep.json")
    assert record.seeds == (0, 1)
    assert record.planned_seeds == 20
    assert record.left_out["scenario"] == ("eas/video-playback", "eas/misfit-ramp")
    assert {cell.axes["em_error"] for cell in record.cells} == {"none", "big=+10%"}
    page = (tmp_path / "mine" / "campaign-em-error-sweep.md").read_text()
    assert "one seed" not in page
    assert (tmp_path / "mine" / "campaign-em-error-sweep" / "crossing.svg").is_file()
    assert main([*command, "--complete"]) == 0
    assert len(runs.cells) == 2 * 3, "nothing is run twice"


def test_a_failed_cell_makes_no_record_but_complete_seeds_do(
    artefacts: Artefacts, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = cut(load_campaign("em-error-sweep"), PAGES["em-error-sweep"], 2, CUT)
    monkeypatch.setattr(running, "run_missing", stand_in(StandInRuns(fails=("cas",))))
    with pytest.raises(
        EascopeError, match=r"^2 of 6 cells have no run: eascope status em-error-sweep"
    ):
        swept(campaign, 1)
    with pytest.raises(RequestError, match="--complete: no seed's cells are all there"):
        complete(campaign)
    run_part(
        part_of(survey_of(replace(campaign, seeds=(0,)), platforms_folder()), retry=True),
        StandInRuns(),
    )
    assert complete(campaign).campaign.seeds == (0,)
