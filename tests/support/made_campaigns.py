# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of shipped campaigns from made-up runs of few of their cells: fixtures of their tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.derive import Derived, derive
from analysis.records.result import Percentiles
from analysis.results.campaigns import CampaignResult
from configs.activity import Activity
from configs.platform import Platform
from experiments.sweeps.campaign import Campaign
from experiments.sweeps.campaign_file import load_campaign
from experiments.sweeps.survey import Survey
from studies.campaigns import record as recording
from studies.campaigns.record import record_of
from studies.campaigns.run import cut
from studies.campaigns.shipped import PAGES
from tests.support.synthetic import make_run

#: Energy (mJ per unit of work) and latency (us) of a cell, before what its seed adds.
Figures = Callable[[Mapping[str, str]], tuple[float, float]]
#: What a test changes of a cell's run, by the cell's axes.
Change = Callable[[Mapping[str, str], Derived], Derived]
#: Makes the record of a campaign by its name.
MadeRecord = Callable[..., CampaignResult]

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


def unchanged(axes: Mapping[str, str], run: Derived) -> Derived:
    """The run itself."""
    del axes
    return run


@pytest.fixture
def campaign_run(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Derived:
    """A run whose figures tests replace."""
    (tmp_path / "base").mkdir()
    return derive(make_run(tmp_path / "base", juno, "mainline", 0), juno, juno_activity)


@pytest.fixture
def made_record(campaign_run: Derived, monkeypatch: pytest.MonkeyPatch) -> MadeRecord:
    """Makes the record of a campaign's cut whose runs have given figures."""

    def record(
        name: str, figures: Figures, seeds: int = 10, change: Change = unchanged
    ) -> CampaignResult:
        whole, page = load_campaign(name), PAGES[name]
        campaign = cut(whole, page, seeds, CUTS[name])
        runs = ((*run, None) for run in made_up(campaign, campaign_run, figures, change))
        monkeypatch.setattr(recording, "finished", lambda _: runs)
        survey = cast("Survey", SimpleNamespace(campaign=campaign))
        names = [axis.name for axis in campaign.axes]
        monkeypatch.setattr(recording, "axes_of", lambda _: names)
        return record_of(survey, whole, page, "a test")

    return record


def made_up(
    campaign: Campaign, base: Derived, figures: Figures, change: Change
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
            run = change(point.labels, replace(base, result=result))
            yield tuple(point.labels.values()), seed, run


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
