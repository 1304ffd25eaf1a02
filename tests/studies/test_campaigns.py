# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of shipped campaigns: what they answer, from made-up runs of few of their cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.derive import Derived
from analysis.records.frames import FramesRecord
from analysis.records.result import Deadlines, Frames
from analysis.results.campaigns import CampaignResult, SweptMeasure
from experiments.sweeps.campaign_file import campaign_names
from studies.campaigns.page import draw, measure_text, parts
from studies.campaigns.plan import more_opps, record_name
from studies.campaigns.shipped import PAGES, answer
from studies.campaigns.views import views
from studies.notes import page_of
from tests.support.made_campaigns import (
    CUTS,
    Figures,
    MadeRecord,
    by_error,
    by_limit,
    by_opps,
    by_topology,
    by_variant,
    flat,
)

#: For each campaign: figures, and what the answer says of them.
ANSWERED: Mapping[str, tuple[Figures, list[str]]] = {
    "opp-sweep": (
        by_opps,
        [
            "eas/video-playback: big 4 even and geometric (latency +0.0 %, not clear) and 12 or "
            "more power (latency +0.0 %, not clear); little 2 even (latency +0.0 %, not clear)",
            "* eas/video-playback with mainline: big 4 even and geometric (energy +36.0 %) and 12 "
            "or more power (energy +28.0 %); little 2 even (energy +0.0 %)",
        ],
    ),
    "topology-sweep": (
        by_topology,
        [
            "than 2+2 in 1, 4+2 in 1, 4+4 in 1, 6+2 in 0 of 1 case (1 scenario, 1 variant); no "
            "noise floor is known in 1 of them",
            "* eas/game with mainline (no noise floor known): by means none has less of both than "
            "4+4, 4+2 and 2+2; another one has clearly less of both than 6+2",
        ],
    ),
    "em-error-sweep": (
        by_error,
        [
            "eas/game: of 4 errors of big clearly less at 2, clearly more at 2; of 2 errors of "
            "little clearly less at 2; with the right model clearly less",
            "* eas/game, the right model: clearly less: energy -2.0 %, missed 0.5 instead of 0.5",
            "* eas/game, errors of big: clearly less at -10 and +10 % (energy -1.0 %); clearly "
            "more at -50 and +50 % (energy +3.0 %)",
        ],
    ),
    "rate-limit-sweep": (
        by_limit,
        [
            "up to 2000 us in 1, up to 20000 us in 1 of 2 combinations",
            "* ui/jank on juno-r2 with mainline: up to 2000 us; at 4000 us latency +30.0 %",
            "* ui/jank on juno-r2 with uclamp-sum: up to 20000 us, the largest",
        ],
    ),
    "eas-paper": (
        by_variant,
        [
            "juno-r2: of 2 cases without a known noise floor feec-d clearly less in 2",
            "* feec-d on juno-r2: clearly less in eas/game (board: energy -10.0 %, no noise floor "
            "known) and ui/jank (board: energy -10.0 %, no noise floor known)",
            "* cas on juno-r2: no clear difference",
        ],
    ),
    "uclamp-paper": (
        by_variant,
        [
            "juno-r2: of 1 cases without a known noise floor uclamp-sum clearly less in 1",
            "pixel6: of 1 cases without a known noise floor no variant clearly differs",
            "* uclamp-sum on pixel6: no clear difference",
        ],
    ),
}


def test_every_shipped_campaign_has_a_page_and_a_cut() -> None:
    assert sorted(PAGES) == campaign_names() == sorted(CUTS) == sorted(ANSWERED)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_answers_from_its_record(name: str, made_record: MadeRecord, tmp_path: Path) -> None:
    figures, said = ANSWERED[name]
    record = made_record(name, figures)
    assert CampaignResult.decode(record.encode(), Path("x")) == record
    shown = parts(record)
    answers = shown["answer"] + shown["points"]
    assert [words for words in said if words not in answers] == []
    assert "\n" not in shown["answer"]
    assert "Not run: " in shown["limits"]
    assert "10 seeds (0 to 9) of the campaign's 20" in shown["conditions"]
    text = page_of(record_name(name), shown)
    draw(record, tmp_path / record_name(name))
    linked = set(re.findall(r"\]\(([\w/-]+\.(?:svg|pdf))\)", text))
    drawn = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("campaign-*/*")}
    assert linked == drawn
    assert len(linked) == 2 * len(views(record)) > 0
    # Equal runs differ in nothing.
    assert answer(made_record(name, flat)) != shown["answer"]


@pytest.mark.parametrize("name", PAGES)
def test_few_seeds_decide_nothing(name: str, made_record: MadeRecord, tmp_path: Path) -> None:
    record = made_record(name, ANSWERED[name][0], seeds=2)
    shown = parts(record)
    assert shown["answer"] == "undecided: the record has 2 seeds, and an interval needs 10"
    assert "no difference on this page is decided" in shown["limits"]
    assert ".." not in shown["tables"]
    assert not any(cell.beaten_by for cell in record.cells)
    draw(record, tmp_path / "drawn")
    assert len(list((tmp_path / "drawn").glob("*.svg"))) == len(views(record))


def test_frames_that_were_never_drawn_are_missed(
    made_record: MadeRecord, campaign_run: Derived
) -> None:
    """Of ten frames five were drawn, one of them late; the record of frames skips none."""
    task = campaign_run.cell.tasks[0].name
    cell = replace(campaign_run.cell, frames=FramesRecord(task, task))

    def overloaded(_: Mapping[str, str], run: Derived) -> Derived:
        result = replace(run.result, frames=Frames(5, 1, 0), deadlines={task: Deadlines(10, 6)})
        return replace(run, cell=cell, result=result)

    record = made_record("rate-limit-sweep", flat, seeds=2, change=overloaded)
    assert {cell.measures["missed"].mean for cell in record.cells} == {6.0}
    assert [each.missed for each in record.scenarios] == ["frames not drawn in time"]
    assert "ui/jank on juno-r2 in 8 of 8 combinations" in parts(record)["limits"]
    decided = made_record("rate-limit-sweep", flat, change=overloaded)
    assert "500 us of those that are overloaded up to 20000 us in 2 of 2" in answer(decided)
    assert "* ui/jank on juno-r2 with mainline (overloaded): up to" in parts(decided)["points"]
    heavy = answer(made_record("topology-sweep", by_topology, change=overloaded))
    assert heavy == "undecided: all 1 cases are overloaded"
    of_variants = answer(made_record("eas-paper", by_variant, change=overloaded))
    assert "juno-r2: of 2 cases that are overloaded feec-d clearly less in 2" in of_variants
    calm = [
        replace(cell, measures={**cell.measures, "work": SweptMeasure(12.1, None, None, None)})
        for cell in record.cells
    ]
    assert "Overloaded" not in parts(replace(record, cells=tuple(calm)))["limits"]


def test_a_latency_that_a_program_prints_goes_before_those_of_its_threads(
    made_record: MadeRecord,
) -> None:
    def printing(_: Mapping[str, str], run: Derived) -> Derived:
        printed = {"pgbench": {"p95_us": 1500.0, "tps": 9.0}}
        return replace(run, result=replace(run.result, program=printed))

    record = made_record("rate-limit-sweep", flat, seeds=2, change=printing)
    said = [each.latency for each in record.scenarios]
    assert said == ["latency printed by pgbench, 95th percentile"]
    assert {cell.measures["latency"].mean for cell in record.cells} == {1500.0}


def test_enough_opps_are_those_from_which_on_none_is_beaten(
    made_record: MadeRecord,
) -> None:
    def bulge(axes: Mapping[str, str]) -> tuple[float, float]:
        return 12.0 if axes["big.opps"] == "4 even" else 10.0, 2000.0

    said = answer(made_record("opp-sweep", bulge))
    assert "big 12 or more even (latency +0.0 %, not clear) and 2 geometric and power (" in said


def test_no_interval_of_a_page_begins_below_zero() -> None:
    assert measure_text(SweptMeasure(0.3, -0.2, 0.9, None), 1) == "0.3 (0.0..0.9)"


def test_a_number_of_opps_is_beaten_by_more_of_its_own_spacing() -> None:
    assert more_opps("3 even", "4 even")
    assert not more_opps("4 even", "3 even")
    assert not more_opps("3 even", "4 power")
    assert more_opps("2 even", "4 power"), "two OPPs are the ends of every spacing"
    assert not more_opps("as is", "4 even")
    assert not more_opps("4 even", "as is")
