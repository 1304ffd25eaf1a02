# SPDX-License-Identifier: GPL-2.0-or-later
"""When a campaign's page calls a difference clear: noise floors, prices, neighbouring limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from analysis.derive import Derived
from analysis.results.campaigns import SweptMeasure
from analysis.results.findings import NO_CONTROLS
from analysis.results.noise import NoiseFloor
from studies.campaigns import record as recording
from studies.campaigns.page import parts
from studies.campaigns.shipped import answer
from tests.support.made_campaigns import CUTS, MadeRecord, by_topology, by_variant, flat


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
    made_record: MadeRecord, monkeypatch: pytest.MonkeyPatch, campaign_run: Derived
) -> None:
    """Variants save 10 %, other topologies more; the floor is the platform's without controls."""
    monkeypatch.setitem(
        vars(campaign_run), "cell", replace(campaign_run.cell, set_otherwise=("rate-limit-500-us",))
    )
    asked = with_floor(monkeypatch, 9.0)
    assert "juno-r2: of 2 cases feec-d clearly less in 2" in answer(
        made_record("eas-paper", by_variant)
    )
    assert {*asked} == {(campaign_run.cell.platform, campaign_run.cell.scenario, NO_CONTROLS)}
    with_floor(monkeypatch, 11.0)
    record = made_record("eas-paper", by_variant)
    assert "juno-r2: of 2 cases no variant clearly differs" in answer(record)
    assert "noise floor: energy +-11.0 %." in parts(record)["tables"]
    beaten = [cell.beaten_by for cell in made_record("topology-sweep", by_topology).cells]
    assert beaten.count(("2+2", "4+2")) == 0
    assert beaten.count(("4+2",)) == 1


def test_a_noise_floor_is_that_of_the_cells_speeds(
    made_record: MadeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known at the board's speeds alone: the others are counted and written apart."""
    monkeypatch.setitem(CUTS, "eas-paper", [*CUTS["eas-paper"][:2], "variant=mainline,feec-d"])

    def at_speeds(axes: Mapping[str, str], run: Derived) -> Derived:
        controls = replace(run.cell.controls, speeds=axes["controls.speeds"])
        return replace(run, cell=replace(run.cell, controls=controls))

    floor = NoiseFloor("juno-r2", "x", "mainline", {}, 10, {}, {"energy_per_work_j": 9.0})
    monkeypatch.setattr(
        recording, "recorded", lambda *place: floor if place[2]["speeds"] == "board" else None
    )
    record = made_record("eas-paper", by_variant, change=at_speeds)
    floors = {(cell.axes["controls.speeds"], *cell.floors.items()) for cell in record.cells}
    assert floors == {("board", ("energy", 9.0)), ("measured",)}
    assert (
        "of 2 cases feec-d clearly less in 2; of 2 cases without a known noise floor feec-d "
        "clearly less in 2"
    ) in answer(record)
    shown = parts(record)["tables"]
    assert "noise floor: energy +-9.0 % (speeds board), not known (speeds measured)." in shown


def test_energy_stands_next_to_what_it_is_paid_with(
    made_record: MadeRecord,
) -> None:
    """Half of the work at half of the energy for it, and twice the latency."""

    def less_work(axes: Mapping[str, str], run: Derived) -> Derived:
        assert run.result.work is not None
        work = run.result.work * (0.5 if axes["variant"] == "feec-d" else 1.0)
        return replace(run, result=replace(run.result, work=work))

    def slow(axes: Mapping[str, str]) -> tuple[float, float]:
        return (5.0, 4000.0) if axes["variant"] == "feec-d" else (10.0, 2000.0)

    shown = parts(made_record("eas-paper", slow, change=less_work))
    assert (
        "feec-d clearly less in 2 (2 with clearly more latency, 2 at clearly other work)"
        in shown["answer"]
    )
    assert "board: energy -50.0 %, latency +100.0 %, work -50.0 %" in shown["points"]


def test_a_difference_at_one_limit_alone_does_not_count(
    made_record: MadeRecord,
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
    made_record: MadeRecord,
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
