# SPDX-License-Identifier: GPL-2.0-or-later
"""The record that compares the engines, from results with known differences."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.analysis.known.agreement import Against, Agreement
from eascope.analysis.known.conditions import conditions_of
from eascope.analysis.records.result import Percentiles
from eascope.experiments.renew import __main__ as command
from eascope.experiments.renew import agreement
from eascope.experiments.renew.__main__ import main
from eascope.experiments.renew.agreement import comparable, compared, record_of, requests
from eascope.experiments.renew.costed import Cells, CostedRun, residency_points
from tests.support.costed import changed, costed

CELL = ("smoke", "cas")


def starts(
    energies: list[float], shares: list[float], verdicts: list[bool]
) -> dict[int, CostedRun]:
    """Several starts, from seed 0 on."""
    values = zip(energies, shares, verdicts, strict=True)
    return {seed: costed(*figures) for seed, figures in enumerate(values)}


def against(fast: dict[int, CostedRun], gem5: dict[int, CostedRun]) -> Against:
    return compared({CELL: {"fast": fast, "elided": gem5}}, CELL, "elided")


def test_differences_and_answers_of_one_start() -> None:
    result = against({0: costed(110.0, 0.5, True)}, {0: costed(100.0, 0.55, False)})
    assert result.energy_percent == pytest.approx(10.0)
    assert (result.low, result.high) == (None, None)
    assert result.residency_points == pytest.approx(5.0)
    (answer,) = result.answers
    assert (answer.statement, answer.met, answer.seeds) == ("migrations > 1", (1, 0), (1, 1))
    assert not answer.alike


def test_several_starts_are_compared_by_their_means() -> None:
    fast = starts([100.0, 120.0, 80.0], [0.2, 0.4, 0.6], [True, False, True])
    gem5 = starts([125.0, 100.0, 75.0, 100.0], [0.5, 0.4, 0.3, 0.4], [True] * 4)
    result = against(fast, gem5)
    # By the means nothing differs: 100 mJ and 40 % on both; single starts lie a fifth from them.
    assert result.energy_percent == pytest.approx(0.0)
    assert result.residency_points == pytest.approx(0.0)
    # The means are 2 and 3 migrations; alone, seed 1 of the fast engine has none.
    assert (result.answers[0].met, result.answers[0].alike) == ((2, 4), True)
    record = record_of({CELL: {"fast": fast, "elided": gem5}}, "a test")
    samples = record.cells[0].samples
    ends = [end for sample in samples.values() for end in (sample.least, sample.most)]
    assert ends == pytest.approx([-20, 20, -25, 25])
    assert samples["elided"].seeds == (0, 1, 2, 3)


def test_ten_starts_on_each_engine_have_an_interval() -> None:
    fast = starts([110.0] * 12, [0.5] * 12, [True] * 12)
    gem5 = starts([100.0] * 10, [0.5] * 10, [True] * 10)
    result = against(fast, gem5)
    # All starts of an engine are alike here, so every resampled mean is.
    assert [result.low, result.high] == pytest.approx([10.0, 10.0])


def test_answers_may_need_another_variant() -> None:
    more = "energy_j.total > energy_j.total[mainline]"

    def cells(cas: float) -> dict[str, dict[int, CostedRun]]:
        own = costed(cas, 0.5, True, statement=more)
        return {"mainline": {0: costed(100.0, 0.5, True)}, "cas": {0: own}}

    both_variants: Cells = {
        ("smoke", variant): {"fast": cells(110.0)[variant], "elided": cells(90.0)[variant]}
        for variant in ("mainline", "cas")
    }
    [answer] = compared(both_variants, CELL, "elided").answers
    assert (answer.statement, answer.met, answer.seeds) == (more, (1, 0), (1, 1))
    assert not answer.alike
    assert compared({CELL: both_variants[CELL]}, CELL, "elided").answers == ()


def test_residency_is_the_largest_share_that_differs() -> None:
    points = residency_points(costed(1, 0.5, True).result, costed(1, 0.8, True).result)
    assert points == {"little": pytest.approx(0.3)}


def test_the_set_has_both_modes_and_the_fast_engine_first_and_whole_seeds() -> None:
    wanted = list(requests(["smoke"], {"elided-detailed": 1, "elided": 2, "fast": 2}, "measured"))
    assert [key for key, _ in wanted] == [
        ("smoke", variant, column, seed)
        for column, seeds in (("fast", 2), ("elided", 2), ("elided-detailed", 1))
        for seed in range(seeds)
        for variant in ("mainline", "cas")
    ]
    settings = {(request.engine, request.mode, request.seed) for _, request in wanted}
    assert settings == {
        *(("qemu", None, 0), ("qemu", None, 1)),
        *(("gem5", "elided", 0), ("gem5", "elided", 1), ("gem5", "elided-detailed", 0)),
    }
    assert {request.controls.speeds for _, request in wanted} == {"measured"}


def test_the_record_says_what_the_fast_engines_runs_were_made_with() -> None:
    fast = replace(costed(1.0, 0.5, True, parts=False), billing="a digest")
    gem5 = costed(1.0, 0.5, True)
    record = record_of({CELL: {"fast": {0: fast}, "elided": {0: gem5}}}, "a test")
    assert record.conditions == conditions_of(fast.cell, record.power)
    assert record.conditions.engine == "qemu"
    assert record.billing == "a digest"
    assert record.columns[1].cpus == {"little": "ArmAtomicSimpleCPU"}
    assert record.cells[0].times == {"elided": pytest.approx(10.0)}


def test_medians_of_wake_ups_stand_side_by_side() -> None:
    late = {"light": Percentiles(20.0, 21.0, 22.0, 23.0, 24.0)}
    slow = changed(costed(1.0, 0.5, True), latency_us=late)
    sides = {
        CELL: {"fast": {0: costed(1.0, 0.5, True)}, "elided": {0: costed(1.0, 0.5, True)}},
        ("smoke", "mainline"): {"fast": {0: costed(1.0, 0.5, True)}, "elided": {0: slow}},
    }
    record = record_of(sides, "a test")
    assert record.cells[1].wake_up_us == {"light": {"fast": 5.0, "elided": 20.0}}
    # Once and a quarter: the geometric mean is a half.
    wake_ups = record.wake_ups["elided"]
    assert wake_ups.mean == pytest.approx(0.5)
    assert (wake_ups.tasks, wake_ups.close) == (2, 1)


def test_cells_of_one_engine_alone_are_left_out() -> None:
    run = costed(1.0, 0.5, True)
    modes = {"fast": {0: run}, "elided-detailed": {1: run}}
    cells: Cells = {
        ("smoke", "mainline"): modes,
        ("smoke", "cas"): {"fast": {0: run}},
        ("busy", "cas"): {"elided": {0: run}},
        ("busy", "mainline"): {},
    }
    assert comparable(cells) == {("smoke", "mainline"): modes}


def test_the_record_is_written_of_what_was_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    calls: list[Any] = []

    def run(*wanted: Any, speeds: str, present: bool) -> Cells:
        calls.append((*wanted[1:], speeds, present))
        fast, gem5 = costed(1.0, 0.5, True, parts=False), costed(1.0, 0.5, True)
        return {CELL: {"fast": {0: fast, 1: fast}, "elided": {0: gem5}}, ("smoke", "mainline"): {}}

    monkeypatch.setattr(agreement, "run", run)
    monkeypatch.setattr(command, "DATA", tmp_path)
    options = ["agreement", "--seeds", "2", "--fast-seeds", "3"]
    assert main([*options, "--present"]) == 0
    assert calls == [({"fast": 3, "elided": 2, "elided-detailed": 1}, "board", True)]
    record = Agreement.read(tmp_path / "engine-agreement.json")
    assert record.cells[0].samples["fast"].seeds == (0, 1)
    assert record.origin.made_from == "runs"
    assert "--present" in record.origin.command
    monkeypatch.setattr(
        agreement, "run", lambda *_, **__: {CELL: {"fast": {0: costed(1, 0.5, True)}}}
    )
    assert main(options) == 1
    assert "no cell was run on both engines yet" in capfd.readouterr().err
