# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of shipped campaigns, from made-up runs of few of their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.colors import to_hex

from analysis.derive import Derived, derive
from analysis.figures import style
from analysis.records.frames import FramesRecord
from analysis.records.result import Deadlines, Frames, Percentiles
from analysis.results.campaigns import CampaignResult, SweptMeasure
from analysis.results.findings import NO_CONTROLS
from analysis.results.noise import NoiseFloor
from analysis.results.origin import RESULTS
from configs.activity import Activity
from configs.platform import Platform
from experiments.finished import BilledBy
from experiments.sweeps.campaign import Campaign
from experiments.sweeps.campaign_file import campaign_names, load_campaign
from experiments.sweeps.survey import Survey
from studies.campaigns import figures as campaign_figures
from studies.campaigns import record as recording
from studies.campaigns.page import draw, measure_text, parts
from studies.campaigns.plan import more_opps, record_name
from studies.campaigns.record import record_of
from studies.campaigns.run import cut
from studies.campaigns.shipped import PAGES, answer
from studies.campaigns.views import views
from studies.draw import DRAWINGS
from studies.notes import PAGES as FOLDER
from studies.notes import page_of
from tests.support.synthetic import make_run

#: Energy (mJ per unit of work) and latency (us) of a cell, before what its seed adds.
Figures = Callable[[Mapping[str, str]], tuple[float, float]]

#: The cells that tests have of each campaign.
CUTS = {
    "opp-sweep": [
        *("scenario=eas/video-playback", "variant=mainline"),
        "big.opps=as is,2 even,4 even,12 even,4 geometric,12 geometric,4 power,12 power",
        "little.opps=as is,2 even,4 even,12 even",
    ],
    "topology-sweep": ["scenario=eas/game", "topology=2+2,4+2,4+4,6+2", "variant=mainline"],
    "em-error-sweep": [
        "scenario=eas/game",
        "em_error=none,big=-50%,big=-10%,big=+10%,big=+50%,little=-50%,little=+50%",
    ],
    "rate-limit-sweep": [
        "scenario=ui/jank",
        "platform=juno-r2",
        "controls.rate_limit_us=500,2000,4000,20000",
    ],
    "eas-paper": [
        *("scenario=eas/game,ui/jank", "platform=juno-r2", "controls.speeds=board"),
        "variant=mainline,cas,feec-d",
    ],
    "uclamp-paper": [
        *("scenario=uclamp/capped-background", "variant=mainline,uclamp-sum"),
        "controls.dvfs=model",
    ],
}


@pytest.fixture
def base(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Derived:
    """A run whose figures tests replace."""
    (tmp_path / "base").mkdir()
    return derive(make_run(tmp_path / "base", juno, "mainline", 0), juno, juno_activity)


@pytest.fixture
def made_record(base: Derived, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CampaignResult]:
    """Makes the record of a campaign's cut whose runs have given figures."""

    def record(name: str, figures: Figures, seeds: int = 10) -> CampaignResult:
        whole, page = load_campaign(name), PAGES[name]
        campaign = cut(whole, page, seeds, CUTS[name])
        runs = ((*run, BilledBy()) for run in made_up(campaign, base, figures))
        monkeypatch.setattr(recording, "finished", lambda _: runs)
        monkeypatch.setattr(recording, "derived_by", lambda run, power: run)
        survey = cast("Survey", SimpleNamespace(campaign=campaign))
        names = [axis.name for axis in campaign.axes]
        monkeypatch.setattr(recording, "axes_of", lambda _: names)
        return record_of(survey, whole, page, "a test")

    return record


def made_up(
    campaign: Campaign, base: Derived, figures: Figures
) -> Iterator[tuple[tuple[str, ...], int, Any]]:
    """Axes, seed and run of each cell; seeds change both figures by less than one percent."""
    task = base.cell.tasks[0].name
    for point in campaign.points():
        energy, latency = figures(point.labels)
        for seed in campaign.seeds:
            factor = 1 + 0.001 * ((7 * seed) % 10)
            times = Percentiles(*[latency * factor] * 5)
            result = replace(
                base.result,
                energy_per_work_j=energy * factor / 1e3,
                latency_us={task: times},
                response_us={},
                missed_deadlines=float(seed % 2),
            )
            yield tuple(point.labels.values()), seed, replace(base, result=result)


def flat(axes: Mapping[str, str]) -> tuple[float, float]:
    del axes
    return 10.0, 2000.0


def by_opps(axes: Mapping[str, str]) -> tuple[float, float]:
    """Up to four OPPs of the bigs save energy, at any spacing but one; two littles' are enough."""
    count, _, spacing = axes["big.opps"].partition(" ")
    if not count.isdigit():
        return 10.0, 2000.0
    steps = int(count) if spacing == "power" else min(int(count), 4)
    return 14.0 - 0.1 * steps, 2000.0


def by_topology(axes: Mapping[str, str]) -> tuple[float, float]:
    """4+4 is faster but takes more; 6+2 is beaten by the board's own."""
    return {"2+2": (8.0, 3000.0), "4+2": (9.0, 2000.0), "4+4": (10.0, 1000.0)}.get(
        axes["topology"], (11.0, 2500.0)
    )


def by_error(axes: Mapping[str, str]) -> tuple[float, float]:
    """EAS takes 2 % less than CAS, and a percent more for each ten of an error of the big ones."""
    cluster, _, percent = axes["em_error"].partition("=")
    if axes["variant"] == "cas":
        return 10.0, 2000.0
    wrong = abs(float(percent.removesuffix("%"))) if cluster == "big" else 0.0
    return 9.8 + 0.01 * wrong, 2000.0


def by_limit(axes: Mapping[str, str]) -> tuple[float, float]:
    """From 4 ms on latency grows, with mainline alone."""
    late = int(axes["controls.rate_limit_us"]) >= 4000 and axes["variant"] == "mainline"
    return 10.0, 2600.0 if late else 2000.0


def by_variant(axes: Mapping[str, str]) -> tuple[float, float]:
    """Variants of placement and clamps save energy on the first platform."""
    saves = axes["variant"] in ("feec-d", "uclamp-sum") and axes["platform"] == "juno-r2"
    return (9.0 if saves else 10.0), (2100.0 if axes["variant"] == "cas" else 2000.0)


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
def test_a_page_answers_from_its_record(
    name: str, made_record: Callable[..., CampaignResult], tmp_path: Path
) -> None:
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
def test_few_seeds_decide_nothing(
    name: str, made_record: Callable[..., CampaignResult], tmp_path: Path
) -> None:
    record = made_record(name, ANSWERED[name][0], seeds=2)
    shown = parts(record)
    assert shown["answer"] == "undecided: the record has 2 seeds, and an interval needs 10"
    assert "no difference on this page is decided" in shown["limits"]
    assert ".." not in shown["tables"]
    assert not any(cell.beaten_by for cell in record.cells)
    draw(record, tmp_path / "drawn")
    assert len(list((tmp_path / "drawn").glob("*.svg"))) == len(views(record))


def test_frames_that_were_never_drawn_are_missed(
    made_record: Callable[..., CampaignResult], monkeypatch: pytest.MonkeyPatch, base: Derived
) -> None:
    """Of ten frames five were drawn, one of them late; the record of frames skips none."""
    task = base.cell.tasks[0].name
    cell = replace(base.cell, frames=FramesRecord(task, task))
    made = made_up

    def overloaded(
        campaign: Campaign, base: Derived, figures: Figures
    ) -> Iterator[tuple[tuple[str, ...], int, Any]]:
        for labels, seed, run in made(campaign, base, figures):
            result = replace(run.result, frames=Frames(5, 1, 0), deadlines={task: Deadlines(10, 6)})
            yield labels, seed, replace(run, cell=cell, result=result)

    monkeypatch.setattr(f"{__name__}.made_up", overloaded)
    record = made_record("rate-limit-sweep", flat, seeds=2)
    assert {cell.measures["missed"].mean for cell in record.cells} == {6.0}
    assert [each.missed for each in record.scenarios] == ["frames not drawn in time"]
    assert "ui/jank on juno-r2 in 8 of 8 combinations" in parts(record)["limits"]
    decided = made_record("rate-limit-sweep", flat)
    assert "500 us of those that are overloaded up to 20000 us in 2 of 2" in answer(decided)
    assert "* ui/jank on juno-r2 with mainline (overloaded): up to" in parts(decided)["points"]
    heavy = answer(made_record("topology-sweep", by_topology))
    assert heavy == "undecided: all 1 cases are overloaded"
    of_variants = answer(made_record("eas-paper", by_variant))
    assert "juno-r2: of 2 cases that are overloaded feec-d clearly less in 2" in of_variants
    calm = [
        replace(cell, measures={**cell.measures, "work": SweptMeasure(12.1, None, None, None)})
        for cell in record.cells
    ]
    assert "Overloaded" not in parts(replace(record, cells=tuple(calm)))["limits"]


def test_a_latency_that_a_program_prints_goes_before_those_of_its_threads(
    made_record: Callable[..., CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up

    def printing(
        campaign: Campaign, base: Derived, figures: Figures
    ) -> Iterator[tuple[tuple[str, ...], int, Any]]:
        for labels, seed, run in made(campaign, base, figures):
            result = replace(run.result, program={"pgbench": {"p95_us": 1500.0, "tps": 9.0}})
            yield labels, seed, replace(run, result=result)

    monkeypatch.setattr(f"{__name__}.made_up", printing)
    record = made_record("rate-limit-sweep", flat, seeds=2)
    said = [each.latency for each in record.scenarios]
    assert said == ["latency printed by pgbench, 95th percentile"]
    assert {cell.measures["latency"].mean for cell in record.cells} == {1500.0}


def with_floor(monkeypatch: pytest.MonkeyPatch, percent: float) -> list[tuple[str, ...]]:
    """Every place has this noise floor of energy; what is asked for."""
    asked: list[tuple[str, ...]] = []
    percents = {"energy_per_work_j": percent}

    def of_place(platform: str, scenario: str, conditions: Mapping[str, str]) -> NoiseFloor:
        asked.append((platform, scenario, conditions["controls"]))
        return NoiseFloor(platform, scenario, "mainline", {}, 10, {}, percents)

    monkeypatch.setattr(recording, "recorded", of_place)
    return asked


def test_a_difference_below_the_noise_floor_is_not_clear(
    made_record: Callable[..., CampaignResult], monkeypatch: pytest.MonkeyPatch, base: Derived
) -> None:
    """Variants save 10 %, other topologies more; the floor is the platform's without controls."""
    monkeypatch.setitem(
        vars(base), "cell", replace(base.cell, set_otherwise=("rate-limit-500-us",))
    )
    asked = with_floor(monkeypatch, 9.0)
    assert "juno-r2: of 2 cases feec-d clearly less in 2" in answer(
        made_record("eas-paper", by_variant)
    )
    assert {*asked} == {(base.cell.platform, base.cell.scenario, NO_CONTROLS)}
    with_floor(monkeypatch, 11.0)
    record = made_record("eas-paper", by_variant)
    assert "juno-r2: of 2 cases no variant clearly differs" in answer(record)
    assert "noise floor: energy +-11.0 %." in parts(record)["tables"]
    beaten = [cell.beaten_by for cell in made_record("topology-sweep", by_topology).cells]
    assert beaten.count(("2+2", "4+2")) == 0
    assert beaten.count(("4+2",)) == 1


def test_a_noise_floor_is_that_of_the_cells_speeds(
    made_record: Callable[..., CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known at the board's speeds alone: the others are counted and written apart."""
    monkeypatch.setitem(CUTS, "eas-paper", [*CUTS["eas-paper"][:2], "variant=mainline,feec-d"])
    made = made_up

    def at_speeds(
        campaign: Campaign, base: Derived, figures: Figures
    ) -> Iterator[tuple[tuple[str, ...], int, Any]]:
        place = [axis.name for axis in campaign.axes].index("controls.speeds")
        for labels, seed, run in made(campaign, base, figures):
            controls = replace(run.cell.controls, speeds=labels[place])
            yield labels, seed, replace(run, cell=replace(run.cell, controls=controls))

    monkeypatch.setattr(f"{__name__}.made_up", at_speeds)
    floor = NoiseFloor("juno-r2", "x", "mainline", {}, 10, {}, {"energy_per_work_j": 9.0})
    monkeypatch.setattr(
        recording, "recorded", lambda *place: floor if place[2]["speeds"] == "board" else None
    )
    record = made_record("eas-paper", by_variant)
    floors = {(cell.axes["controls.speeds"], *cell.floors.items()) for cell in record.cells}
    assert floors == {("board", ("energy", 9.0)), ("measured",)}
    assert (
        "of 2 cases feec-d clearly less in 2; of 2 cases without a known noise floor feec-d "
        "clearly less in 2"
    ) in answer(record)
    shown = parts(record)["tables"]
    assert "noise floor: energy +-9.0 % (speeds board), not known (speeds measured)." in shown


def test_energy_stands_next_to_what_it_is_paid_with(
    made_record: Callable[..., CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the work at half of the energy for it, and twice the latency."""
    made = made_up

    def less_work(
        campaign: Campaign, base: Derived, figures: Figures
    ) -> Iterator[tuple[tuple[str, ...], int, Any]]:
        for labels, seed, run in made(campaign, base, figures):
            work = run.result.work * (0.5 if "feec-d" in labels else 1.0)
            yield labels, seed, replace(run, result=replace(run.result, work=work))

    def slow(axes: Mapping[str, str]) -> tuple[float, float]:
        return (5.0, 4000.0) if axes["variant"] == "feec-d" else (10.0, 2000.0)

    monkeypatch.setattr(f"{__name__}.made_up", less_work)
    shown = parts(made_record("eas-paper", slow))
    assert (
        "feec-d clearly less in 2 (2 with clearly more latency, 2 at clearly other work)"
        in shown["answer"]
    )
    assert "board: energy -50.0 %, latency +100.0 %, work -50.0 %" in shown["points"]


def test_a_difference_at_one_limit_alone_does_not_count(
    made_record: Callable[..., CampaignResult],
) -> None:
    def once(axes: Mapping[str, str]) -> tuple[float, float]:
        at = axes["controls.rate_limit_us"]
        return (11.0 if at == "2000" else 10.0), (2600.0 if at == "20000" else 2000.0)

    said = parts(made_record("rate-limit-sweep", once))
    assert (
        "* ui/jank on juno-r2 with mainline: up to 4000 us; at 20000 us latency +30.0 %"
        in (said["points"])
    )


def test_misses_count_where_their_interval_is_above(
    made_record: Callable[..., CampaignResult],
) -> None:
    record = made_record("rate-limit-sweep", flat)
    at = {"4000": SweptMeasure(5.0, 2.0, 8.0, None), "20000": SweptMeasure(9.0, 4.0, 14.0, None)}
    cells = tuple(
        replace(cell, measures={**cell.measures, "missed": at[limit]})
        if (limit := cell.axes["controls.rate_limit_us"]) in at
        else cell
        for cell in record.cells
    )
    said = parts(replace(record, cells=cells))
    assert "with mainline: up to 2000 us; at 4000 us missed 5.0 instead of 0.5" in said["points"]
    some = SweptMeasure(5.0, 0.1, 9.9, None)
    near = [replace(each, measures={**each.measures, "missed": some}) for each in record.cells]
    assert "of 2 combinations" in answer(replace(record, cells=(*record.cells[:2], *near[2:])))
    assert "up to 20000 us in 2 of 2" in answer(
        replace(record, cells=(*record.cells[:2], *near[2:]))
    )


def test_enough_opps_are_those_from_which_on_none_is_beaten(
    made_record: Callable[..., CampaignResult],
) -> None:
    def bulge(axes: Mapping[str, str]) -> tuple[float, float]:
        return 12.0 if axes["big.opps"] == "4 even" else 10.0, 2000.0

    said = answer(made_record("opp-sweep", bulge))
    assert "big 12 or more even (latency +0.0 %, not clear) and 2 geometric and power (" in said


def test_no_interval_of_a_page_begins_below_zero() -> None:
    assert measure_text(SweptMeasure(0.3, -0.2, 0.9, None), 1) == "0.3 (0.0..0.9)"


def test_no_bar_of_a_drawing_begins_below_zero(made_record: Callable[..., CampaignResult]) -> None:
    """Half of the seeds miss one frame; intervals are as wide as few seeds make them."""
    record = made_record("rate-limit-sweep", flat)
    wide = {"missed": SweptMeasure(0.3, -0.2, 0.9, None)}
    cells = tuple(replace(each, measures={**each.measures, **wide}) for each in record.cells)
    record = replace(record, cells=cells)
    (view,) = views(record).values()
    with style.styled():
        shown = campaign_figures.draw(record, view)
    *_, missed = shown.axes
    lows = [float(np.min(np.asarray(line.get_ydata()))) for line in missed.lines]
    assert min(lows) == 0.0
    assert missed.get_ylim()[0] == 0.0


def test_misses_have_a_panel_and_words_where_they_differ(
    made_record: Callable[..., CampaignResult],
) -> None:
    """Nothing is decided by misses, so no point of their panel is open."""
    record = made_record("topology-sweep", by_topology)
    (alone,) = views(record).values()
    assert alone.title == "Energy per unit of work against latency"
    cells = tuple(
        replace(
            cell, measures={**cell.measures, "missed": SweptMeasure(3.0 * place, None, None, None)}
        )
        for place, cell in enumerate(record.cells)
    )
    record = replace(record, cells=cells)
    (view,) = views(record).values()
    assert view.title == "Energy per unit of work against latency and misses"
    with style.styled():
        latency, missed = campaign_figures.draw(record, view).axes
    open_points = [
        sum(to_hex(line.get_markerfacecolor()) == "#ffffff" for line in axes.lines)
        for axes in (latency, missed)
    ]
    assert open_points == [1, 0]


def test_a_number_of_opps_is_beaten_by_more_of_its_own_spacing() -> None:
    assert more_opps("3 even", "4 even")
    assert not more_opps("4 even", "3 even")
    assert not more_opps("3 even", "4 power")
    assert more_opps("2 even", "4 power"), "two OPPs are the ends of every spacing"
    assert not more_opps("as is", "4 even")
    assert not more_opps("4 even", "as is")


def content(svg: Path) -> list[str]:
    """The words of a drawing; how letters are drawn differs between versions of matplotlib."""
    return re.findall(r"<!-- (.+?) -->", svg.read_text())


def test_committed_drawings_are_drawn_from_their_records(tmp_path: Path) -> None:
    for campaign in PAGES:
        name = record_name(campaign)
        if name not in DRAWINGS:
            continue
        record = CampaignResult.read(RESULTS / f"{name}.json")
        draw(record, tmp_path / name)
        for made in (FOLDER / name, tmp_path / name):
            assert {path.name for path in made.iterdir()} == {
                f"{view}{end}" for view in views(record) for end in (".svg", ".pdf")
            }
        for view in views(record):
            committed, again = (folder / name / f"{view}.svg" for folder in (FOLDER, tmp_path))
            assert content(committed) == content(again), "run: make pages"
