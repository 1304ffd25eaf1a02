# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of the shipped campaigns on gem5: their cells, their record, what pages say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult
from analysis.results.origin import RESULTS, RUNS, Origin
from analysis.results.samples import CampaignSamples, SampledCampaign, SampledCell
from configs.platform import Platform
from experiments import pool
from experiments.cell import Cell
from experiments.runs import Run
from experiments.sweeps.campaign_file import campaign_names, load_campaign
from host.cache import runs_root
from studies.campaigns.plan import record_name
from studies.campaigns.shipped import PAGES
from studies.notes import page_of
from studies.samples import page as sample_page
from studies.samples.__main__ import main
from studies.samples.page import committed, differences, parts, section
from studies.samples.plan import (
    NAME,
    SINGLE,
    base_of,
    changed_words,
    differing,
    sample_of,
)
from studies.samples.record import record_of
from studies.samples.run import run
from tests.support.campaigns import StandInRuns
from tests.support.cells import Artefacts, with_artefacts
from tests.support.synthetic import reseal

#: Two campaigns that share their base and the cell without EAS.
TWO = ["opp-sweep", "em-error-sweep"]


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Cells without kernels, images or engines."""
    return with_artefacts(tmp_path, monkeypatch)


@pytest.fixture
def executed(
    artefacts: Artefacts, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str, int]]:
    """Engine, variant and seed of each cell that is executed; no engine is."""
    cells: list[tuple[str, str, int]] = []
    stand_in = StandInRuns()

    def execute(cell: Cell, progress: Callable[[float], None]) -> Run:
        del progress
        made = stand_in(cell)
        if made.fresh:
            record = cell.record
            cells.append((record.engine, record.variant, record.seed))
            own = replace(made.cell, simkey=cell.simkey, engine=record.engine, mode=record.mode)
            own.write(made.path / "cell.json")
            reseal(made.path)
        return made

    monkeypatch.setattr(pool, "execute", execute)
    return cells


@pytest.mark.parametrize("name", PAGES)
def test_a_sample_is_cells_of_its_campaign_by_the_rule(name: str) -> None:
    campaign = load_campaign(name)
    points, base = sample_of(campaign), base_of(campaign)
    assert [point for point in points if point not in campaign.checked_points()] == []
    changed = [differing(point.labels, base) for point in points]
    swept = [axis.name for axis in campaign.axes if len(axis.choices) > 1]
    assert sorted(changed) == sorted([[], *([axis] for axis in swept if axis not in SINGLE)])
    assert base["variant"] == campaign.axis("variant").choices[0].label  # type: ignore[union-attr]


def test_the_sampled_variant_is_another_one_of_the_campaign() -> None:
    assert sorted(PAGES) == campaign_names()
    for name, page in PAGES.items():
        axis = load_campaign(name).axis("variant")
        assert axis is not None
        assert page.sampled in [choice.label for choice in axis.choices[1:]]


def test_cells_of_several_campaigns_run_once_on_each_engine(
    executed: list[tuple[str, str, int]],
) -> None:
    samples = run(TWO, 2)
    # Base, without EAS, other OPPs of either cluster; base, without EAS, a wrong energy model.
    assert [len(cells) for cells in samples.values()] == [4, 3]
    assert len(executed) == 5 * (2 + 1)
    assert sorted(each for each in executed if each[0] == "gem5") == [
        ("gem5", "cas", 0),
        *[("gem5", "mainline", 0)] * 4,
    ]
    shared = [{cell.gem5_run for cell in cells} for cells in samples.values()]
    assert len(shared[0] & shared[1]) == 2
    run(TWO, 2)
    assert len(executed) == 15, "nothing is run twice"


def test_present_leaves_out_what_lacks_a_run(
    executed: list[tuple[str, str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opp-sweep", "--present"]) == 1
    assert "no cell was run on both engines yet" in capsys.readouterr().err
    run(["opp-sweep"], 2)
    samples = run(TWO, 2, present=True)
    assert [len(cells) for cells in samples.values()] == [4, 2]
    assert len(executed) == 12
    record = record_of(samples, "a test")
    assert [each.lacking for each in record.campaigns] == [(), ("em_error little=+50%",)]
    assert "Not run yet: em_error little=+50%." in "".join(section(record.campaigns[1], record))
    assert "Not run yet of em-error-sweep: em_error" in parts(record)["conditions"]


def test_a_changed_file_of_a_run_makes_no_record(
    executed: list[tuple[str, str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["opp-sweep", "--fast-seeds", "2", "--folder", str(tmp_path / "mine")]
    assert main(command) == 0
    record = CampaignSamples.read(tmp_path / "mine" / f"{NAME}.json")
    assert [len(each.cells) for each in record.campaigns] == [4]
    assert record.gem5_runs == 4
    (runs_root() / record.campaigns[0].cells[1].gem5_run / "trace.dat").write_bytes(b"other")
    (tmp_path / "mine" / f"{NAME}.json").unlink()
    assert main(command) == 1
    assert "trace.dat" in capsys.readouterr().err
    assert not (tmp_path / "mine" / f"{NAME}.json").exists()
    assert len(executed) == 12


def cell(axes: Mapping[str, str], fast: list[float], gem5: float, key: str) -> SampledCell:
    latency = tuple(1000.0 for _ in fast)
    return SampledCell(
        axes, key, {ENERGY: tuple(fast), LATENCY: latency}, {ENERGY: gem5, LATENCY: 1100.0}
    )


def samples_of(cells: list[SampledCell], name: str = "opp-sweep") -> CampaignSamples:
    sample = SampledCampaign(
        name,
        base_of(load_campaign(name)),
        68,
        "frame",
        "response time of render",
        "",
        (),
        tuple(cells),
    )
    return CampaignSamples(
        Origin("a test", RUNS), "qemu", "gem5 in mode elided", "published", "short", "6.12.1",
        (0, 1, 2), len(cells), 120.0, (sample,),
    )  # fmt: skip


@pytest.fixture
def samples() -> CampaignSamples:
    """Less without EAS on both engines; with other OPPs more on one, less on the other."""
    base = base_of(load_campaign("opp-sweep"))
    return samples_of(
        [
            cell(base, [10.0, 11.0, 12.0], 10.5, "a"),
            cell({**base, "variant": "cas"}, [9.0, 9.9, 11.4], 9.7, "b"),
            cell({**base, "big.opps": "12 power"}, [10.1, 11.2, 12.3], 10.4, "c"),
        ]
    )


def test_what_a_sample_says(samples: CampaignSamples) -> None:
    [sample] = samples.campaigns
    made = {each.changed: each for each in differences(sample, ENERGY)}
    assert {name: (each.sign, each.alike) for name, each in made.items()} == {
        "variant cas": (-1, True),
        "big.opps 12 power": (1, False),
    }
    text = "\n".join(section(sample, samples))
    assert "| as is | mainline | 10.000 | 10.500 | +5.0 | 10.000 to 12.000 | 1000 | 1100 |" in text
    assert "| variant cas | energy | -10.0 | -7.6 | -10.0 to -5.0 | the same |" in text
    assert "| big.opps 12 power | energy | +1.0 | -1.0 | +1.0 to +2.5 | differs |" in text
    assert "| variant cas | latency | +0.0 | +0.0 | +0.0 to +0.0 | seeds differ |" in text
    assert "3 of the 68 combinations were also run on gem5 in mode elided, with seed 0" in text
    assert "differ by at most 7.8 % (median 5.0 %)" in text
    assert "in 3 of 3 cells, and its difference from the base within theirs in 1 of 2" in text
    assert "of the 2 differences that have one sign in all 3 seeds, gem5 has it in 1" in text
    assert "about 50 % of gem5's figures would lie within the range of 3 seeds" in text


def test_seeds_that_differ_in_sign_decide_nothing() -> None:
    base = base_of(load_campaign("opp-sweep"))
    record = samples_of(
        [
            cell(base, [10.0, 11.0, 12.0], 10.5, "a"),
            cell({**base, "variant": "cas"}, [9.0, 11.9, 12.4], 9.7, "b"),
        ]
    )
    assert parts(record)["answer"].endswith("in 1 of 1; no difference has one sign in all 3 seeds")


def test_the_page_of_all_samples_counts_what_several_have_once(samples: CampaignSamples) -> None:
    twice = replace(samples, campaigns=(*samples.campaigns, *samples.campaigns))
    assert CampaignSamples.decode(twice.encode(), Path("x")) == twice
    assert parts(twice)["answer"] == parts(samples)["answer"]
    assert parts(twice)["cells"] == "3"
    assert "\n" not in parts(twice)["answer"]
    page_of(NAME, parts(twice))


def test_a_campaigns_page_shows_its_sample_and_is_whole_without(
    samples: CampaignSamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = CampaignResult.read(RESULTS / f"{record_name('opp-sweep')}.json")
    other = CampaignResult.read(RESULTS / f"{record_name('topology-sweep')}.json")
    monkeypatch.setattr(sample_page, "committed", lambda: samples)
    assert sample_page.campaign_parts(record)["tables"].endswith(
        "\n\n".join(section(samples.campaigns[0], samples))
    )
    assert "ran these cells, a sample aside; " in sample_page.campaign_parts(record)["limits"]
    without = sample_page.campaign_parts(other)
    monkeypatch.setattr(sample_page, "committed", lambda: None)
    assert sample_page.campaign_parts(other) == without
    assert "gem5" not in sample_page.campaign_parts(record)["tables"]
    assert "sample" not in sample_page.campaign_parts(record)["limits"]


def test_committed_samples_are_cells_of_their_campaigns() -> None:
    record = committed()
    if record is None:
        return
    for sample in record.campaigns:
        campaign = load_campaign(sample.campaign)
        assert sample.base == base_of(campaign)
        ran = [cell.axes for cell in sample.cells]
        planned = [dict(point.labels) for point in sample_of(campaign)]
        assert [labels for labels in planned if labels in ran] == ran
        lacking = [changed_words(labels, sample.base) for labels in planned if labels not in ran]
        assert list(sample.lacking) == lacking
        assert sample.cells_in_all == len(campaign.checked_points())
