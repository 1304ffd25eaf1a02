# SPDX-License-Identifier: GPL-2.0-or-later
"""The record and page that compare the engines, from results with known differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.records.result import Percentiles
from analysis.results.agreement import Agreement
from analysis.results.findings import conditions_of
from studies.agreement import __main__ as agreement
from studies.agreement.__main__ import main
from studies.agreement.page import UNKNOWN_BILLING, parts
from studies.agreement.plan import NAMES, requests
from studies.agreement.record import compared, record_of
from studies.agreement.run import comparable
from studies.costed import Cells, CostedRun, residency_points
from tests.support.costed import changed, costed
from tests.support.records import controls_record

NAME = NAMES["board"]
CELL = ("smoke", "cas")


def text_of(cells: Cells, executed: Mapping[str, float] | None = None) -> str:
    """All parts of the page of these runs."""
    return "\n".join(parts(record_of(cells, "a test", executed or {})).values())


def row(text: str, mode: str = "elided") -> list[str]:
    """The cells of the summary's line about a mode, after scenario, variant and mode."""
    [line] = [
        row_text
        for row_text in text.splitlines()
        if row_text.startswith(f"| smoke | cas | {mode} |")
    ]
    return [cell.strip() for cell in line.strip("|").split("|")][3:]


def test_differences_goals_and_cost_of_one_start() -> None:
    side = {
        "fast": {0: costed(110.0, 0.5, True, parts=False)},
        "elided": {0: costed(100.0, 0.51, True)},
        "elided-detailed": {0: costed(108.0, 0.55, False)},
    }
    text = text_of({CELL: side})
    answer = "`migrations > 1` is met in 1 of 1 and 1 of 1, by the means the same"
    assert row(text) == ["+10.0 % *", "1, 1", *"---", "1.0", answer, "20.0 (2.00)"]
    differ = "`migrations > 1` is met in 1 of 1 and 0 of 1, by the means differ *"
    detailed = ["+1.9 %", "1, 1", *"---", "5.0 *", differ, "20.0 (2.00)"]
    assert row(text, "elided-detailed") == detailed
    assert "| energy, total (mJ) | 110.0 | 100.0 | -9.1 % | 108.0 | -1.8 % |" in text
    assert "| little at 950 MHz (%) | 50.0 | 51.0 | +1.0 | 55.0 | +5.0 |" in text
    assert "| processor s per simulated s | 2.00 | 20.0 | 10 x | 20.0 | 10 x |" in text
    assert "* gem5 in mode `elided`: little ArmAtomicSimpleCPU." in text


def starts(
    energies: list[float], shares: list[float], verdicts: list[bool]
) -> dict[int, CostedRun]:
    """Several starts, from seed 0 on."""
    values = zip(energies, shares, verdicts, strict=True)
    return {seed: costed(*figures) for seed, figures in enumerate(values)}


def test_several_starts_are_compared_by_their_means() -> None:
    fast = starts([100.0, 120.0, 80.0], [0.2, 0.4, 0.6], [True, False, True])
    gem5 = starts([125.0, 100.0, 75.0, 100.0], [0.5, 0.4, 0.3, 0.4], [True] * 4)
    text = text_of({CELL: {"fast": fast, "elided": gem5}})
    # By the means nothing differs: 100 mJ and 40 % on both; single starts lie a fifth from them.
    assert row(text) == [
        *("+0.0 %", "3, 4", "-", "-20.0 .. +20.0", "-25.0 .. +25.0", "0.0"),
        # The means are 2 and 3 migrations; alone, seed 1 of the fast engine has none.
        *("`migrations > 1` is met in 2 of 3 and 4 of 4, by the means the same", "20.0 (20.00)"),
    ]
    assert "Means: fast 3 seeds (0 to 2), elided 4 seeds (0 to 3)." in text
    assert "| migrations | 2.0 | 3.0 | +1.0 |" in text


def test_a_start_that_the_fast_engine_has_not_counts_as_any_other() -> None:
    fast = starts([100.0, 120.0, 140.0], [0.2, 0.4, 0.6], [True] * 3)
    side = {"fast": fast, "elided-detailed": {7: costed(100.0, 0.4, True)}}
    text = text_of({CELL: side})
    assert row(text, "elided-detailed")[:6] == [
        *("+20.0 % *", "3, 1", "-", "-16.7 .. +16.7", "-", "0.0")
    ]
    assert "| energy, total (mJ) | 120.0 | 100.0 | -16.7 % |" in text
    assert "elided-detailed 1 seed (7)." in text


def test_ten_starts_on_each_engine_have_an_interval() -> None:
    fast = starts([110.0] * 12, [0.5] * 12, [True] * 12)
    gem5 = starts([100.0] * 10, [0.5] * 10, [True] * 10)
    text = text_of({CELL: {"fast": fast, "elided": gem5}})
    # All starts of an engine are alike here, so every resampled mean is.
    assert row(text)[:3] == ["+10.0 % *", "12, 10", "+10.0 .. +10.0"]


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


def test_the_cost_of_executing_stands_in_its_table() -> None:
    side = {"fast": {0: costed(1.0, 0.5, True, parts=False)}, "elided": {0: costed(1.0, 0.5, True)}}
    cells = {("smoke", "mainline"): side}
    assert "| smoke | 820 | 2.00 | 410 |" in text_of(cells, {"smoke": 820.0, "busy": 1.0})
    assert "| smoke | 100 | 2.00 | 50 * |" in text_of(cells, {"smoke": 100.0})
    assert record_of(cells, "a test", {"busy": 1.0}).executed == ()


def test_the_set_has_both_modes_and_the_fast_engine_first_and_whole_seeds() -> None:
    wanted = list(requests(["smoke"], {"elided-detailed": 1, "elided": 2, "fast": 2}))
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


def test_other_speeds_are_asked_for_and_named() -> None:
    wanted_requests = [
        request for _, request in requests(["smoke"], {"fast": 1, "elided": 1}, "measured")
    ]
    assert {request.controls.speeds for request in wanted_requests} == {"measured"}
    run = costed(1.0, 0.5, True)
    controls = controls_record(speeds="measured")
    at_measured = CostedRun(run.result, replace(run.cell, controls=controls), run.host)
    text = text_of({CELL: {"fast": {0: at_measured}, "elided": {0: at_measured}}})
    assert "* Platform juno-r2 at measured speeds, short windows" in text
    assert "* Made by `a test`, from runs (kernel 6.12.1, gem5 24.0, eascope " in text


def test_the_record_says_what_the_fast_engines_runs_were_made_with() -> None:
    fast = replace(costed(1.0, 0.5, True, parts=False), billing="a digest")
    gem5 = costed(1.0, 0.5, True)
    record = record_of({CELL: {"fast": {0: fast}, "elided": {0: gem5}}}, "a test", {})
    assert record.conditions == conditions_of(fast.cell, record.power)
    assert record.conditions.engine == "qemu"
    assert record.billing == "a digest"
    assert UNKNOWN_BILLING not in parts(record)["conditions"]
    assert UNKNOWN_BILLING in parts(replace(record, billing=""))["conditions"]


def test_medians_of_wake_ups_stand_side_by_side() -> None:
    late = {"light": Percentiles(20.0, 21.0, 22.0, 23.0, 24.0)}
    slow = changed(costed(1.0, 0.5, True), latency_us=late)
    second_cell = ("smoke", "mainline")
    sides = {
        CELL: {"fast": {0: costed(1.0, 0.5, True)}, "elided": {0: costed(1.0, 0.5, True)}},
        second_cell: {"fast": {0: costed(1.0, 0.5, True)}, "elided": {0: slow}},
    }
    text = text_of(sides)
    assert "| scenario | variant | task | fast | elided |" in text
    assert "| smoke | cas | light | 5.0 | 5.0 |" in text
    assert "| smoke | mainline | light | 5.0 | 20.0 |" in text
    # Once and a quarter: the geometric mean is a half.
    assert (
        "The fast engine's are 0.50 times those of `elided` (geometric mean of 2; 1 within 20 %)."
    ) in text


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


def test_record_and_page_are_written_of_what_was_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    calls: list[Any] = []

    def run(*wanted: Any, speeds: str, present: bool) -> Cells:
        calls.append((*wanted, speeds, present))
        fast, gem5 = costed(1.0, 0.5, True, parts=False), costed(1.0, 0.5, True)
        return {CELL: {"fast": {0: fast, 1: fast}, "elided": {0: gem5}}, ("smoke", "mainline"): {}}

    monkeypatch.setattr(agreement, "run", run)
    options = ["--scenario", "smoke", "--engine", "fast", "elided", "--seeds", "2"]
    options += ["--fast-seeds", "3"]
    assert main([*options, "--present", "--folder", str(tmp_path)]) == 0
    assert calls == [(["smoke"], {"fast": 3, "elided": 2}, "board", True)]
    assert "| smoke | cas | elided | +0.0 % | 2, 1 |" in (tmp_path / f"{NAME}.md").read_text()
    record = Agreement.read(tmp_path / f"{NAME}.json")
    assert record.cells[0].samples["fast"].seeds == (0, 1)
    assert record.origin.made_from == "runs"
    assert "--present" in record.origin.command
    assert "1 cells, 3 runs" in capfd.readouterr().err
    monkeypatch.setattr(
        agreement, "run", lambda *_, **__: {CELL: {"fast": {0: costed(1, 0.5, True)}}}
    )
    assert main([*options, "--folder", str(tmp_path)]) == 1
    assert "no cell was run on both engines yet" in capfd.readouterr().err
