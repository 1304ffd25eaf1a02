# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that puts gem5 beside the fast engine, from results with known differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studies import elision
from studies.agreement import __main__ as agreement
from studies.agreement.__main__ import comparable, main, requests
from studies.agreement.cost import executed_costs
from studies.agreement.page import Found, Ran, compared, page, residency_points

CELL = ("smoke", "cas")


def ran(
    energy: float,
    fast_share: float,
    verdict: bool,
    parts: bool = True,
    variant: str = "cas",
    statement: str = "migrations > 1",
) -> Ran:
    """A run with so much energy (mJ) and share of the higher OPP.

    :param verdict: whether it has more than one migration.
    """
    result: dict[str, Any] = {
        "energy_j": {"total": energy / 1000, "cluster": {"little": energy / 1000}},
        "residency": {"little": {"450000": 1 - fast_share, "950000": fast_share}},
        "opp_transitions_per_s": {"little": 10.0},
        "opp_requests_per_s": {"little": 12.0},
        "run_share": {"light": {"little": 1.0}},
        "cluster_busy": {"little": {"min": 0.1, "max": 0.4}},
        "migrations": 3 if verdict else 0,
        "latency_us": {"light": {"p50": 5.0, "p99": 9.0}},
        "missed_deadlines": 0,
        "window_s": 0.5,
        "expect": [{"statement": "migrations > 1", "value": 3, "holds": verdict}],
        "power_model": {"name": "published"},
    }
    model = [{"name": "little", "model": "ArmAtomicSimpleCPU"}]
    settings = {"engine": {"machine": {"clusters": model}}} if parts else {}
    expect = [{"variant": variant, "statement": statement, "source": "a test"}]
    cell = {"settings": settings, "engine": "gem5", "expect": expect}
    cell |= {"controls": {"speeds": "board"}}
    host: dict[str, Any] = {"host_s": 9.0, "cpu_s": 2.0, "sim_s": 1.0, "machine": "a test"}
    if parts:
        host |= {"parts_cpu_s": {"boot": 100.0, "warmup": 6.0, "window": 10.0}}
    return Ran(result, cell, host)


def row(text: str, mode: str = "elided") -> list[str]:
    """The cells of the summary's line about a mode, after scenario, variant and mode."""
    [line] = [one for one in text.splitlines() if one.startswith(f"| smoke | cas | {mode} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][3:]


def test_differences_goals_and_cost_of_one_start() -> None:
    side = {
        "fast": {0: ran(110.0, 0.5, True, parts=False)},
        "elided": {0: ran(100.0, 0.51, True)},
        "elided-detailed": {0: ran(108.0, 0.55, False)},
    }
    text = page({CELL: side}, "measured on a test", costs={})
    same = "`migrations > 1` holds in 1 of 1 and 1 of 1, by the means the same"
    assert row(text) == ["+10.0 % *", "1, 1", *"---", "1.0", same, "20.0 (2.00)"]
    differ = "`migrations > 1` holds in 1 of 1 and 0 of 1, by the means differ *"
    detailed = ["+1.9 %", "1, 1", *"---", "5.0 *", differ, "20.0 (2.00)"]
    assert row(text, "elided-detailed") == detailed
    assert "| energy, total (mJ) | 110.0 | 100.0 | -9.1 % | 108.0 | -1.8 % |" in text
    assert "| little at 950 MHz (%) | 50.0 | 51.0 | +1.0 | 55.0 | +5.0 |" in text
    assert "| processor s per simulated s | 2.00 | 20.0 | 10 x | 20.0 | 10 x |" in text
    assert "* gem5 in mode `elided`: little ArmAtomicSimpleCPU" in text
    assert "* measured on a test" in text


def starts(energies: list[float], shares: list[float], verdicts: list[bool]) -> dict[int, Ran]:
    """Several starts, from seed 0 on."""
    values = zip(energies, shares, verdicts, strict=True)
    return {seed: ran(*one) for seed, one in enumerate(values)}


def test_several_starts_are_compared_by_their_means() -> None:
    fast = starts([100.0, 120.0, 80.0], [0.2, 0.4, 0.6], [True, False, True])
    gem5 = starts([125.0, 100.0, 75.0, 100.0], [0.5, 0.4, 0.3, 0.4], [True] * 4)
    text = page({CELL: {"fast": fast, "elided": gem5}}, "a test", costs={})
    # By the means nothing differs: 100 mJ and 40 % on both; single starts lie a fifth from them.
    assert row(text) == [
        *("+0.0 %", "3, 4", "-", "-20.0 .. +20.0", "-25.0 .. +25.0", "0.0"),
        # The means are 2 and 3 migrations; alone, seed 1 of the fast engine has none.
        *("`migrations > 1` holds in 2 of 3 and 4 of 4, by the means the same", "20.0 (20.00)"),
    ]
    assert "Means: fast 3 starts (seeds 0 to 2), elided 4 starts (seeds 0 to 3)." in text
    assert "| migrations | 2.0 | 3.0 | +1.0 |" in text


def test_a_start_that_the_fast_engine_has_not_counts_as_any_other() -> None:
    fast = starts([100.0, 120.0, 140.0], [0.2, 0.4, 0.6], [True] * 3)
    side = {"fast": fast, "elided-detailed": {7: ran(100.0, 0.4, True)}}
    text = page({CELL: side}, "a test", costs={})
    assert row(text, "elided-detailed")[:6] == [
        *("+20.0 % *", "3, 1", "-", "-16.7 .. +16.7", "-", "0.0")
    ]
    assert "| energy, total (mJ) | 120.0 | 100.0 | -16.7 % |" in text
    assert "elided-detailed 1 start (seed 7)." in text


def test_ten_starts_on_each_engine_have_an_interval() -> None:
    fast = starts([110.0] * 12, [0.5] * 12, [True] * 12)
    gem5 = starts([100.0] * 10, [0.5] * 10, [True] * 10)
    text = page({CELL: {"fast": fast, "elided": gem5}}, "a test", costs={})
    # All starts of an engine are alike here, so every resampled mean is.
    assert row(text)[:3] == ["+10.0 % *", "12, 10", "+10.0 .. +10.0"]


def test_answers_may_need_another_variant() -> None:
    more = "energy_j.total > energy_j.total[mainline]"

    def cells(cas: float) -> dict[str, dict[int, Ran]]:
        own = ran(cas, 0.5, True, statement=more)
        return {"mainline": {0: ran(100.0, 0.5, True)}, "cas": {0: own}}

    found: Found = {
        ("smoke", variant): {"fast": cells(110.0)[variant], "elided": cells(90.0)[variant]}
        for variant in ("mainline", "cas")
    }
    [verdict] = compared(found, CELL, "elided").verdicts
    assert (verdict.statement, verdict.holds, verdict.starts) == (more, (1, 0), (1, 1))
    assert not verdict.alike
    assert compared({CELL: found[CELL]}, CELL, "elided").verdicts == ()


def test_residency_is_the_largest_share_that_differs() -> None:
    points = residency_points(ran(1, 0.5, True).result, ran(1, 0.8, True).result)
    assert points == {"little": pytest.approx(0.3)}


def test_the_cost_of_executing_is_read_from_its_page(tmp_path: Path) -> None:
    executed, elided = ran(100.0, 0.50, True), ran(100.0, 0.5, True)
    executed.result["cpu_busy"] = [1.0, 0.5]  # type: ignore[index]
    executed.host["parts_cpu_s"]["window"] = 410.0
    made = tmp_path / "elision.md"
    sides = {"executed": executed, "elided": elided}
    made.write_text(elision.page({"smoke": sides, "busy": sides}, "a test"))
    assert executed_costs(made) == {"smoke": 820.0, "busy": 820.0}
    side = {"fast": {0: ran(1.0, 0.5, True, parts=False)}, "elided": {0: ran(1.0, 0.5, True)}}
    text = page({("smoke", "mainline"): side}, "a test", costs=executed_costs(made))
    assert "| smoke | 820 | 2.00 | 410 |" in text
    slow = page({("smoke", "mainline"): side}, "a test", costs={"smoke": 100.0})
    assert "| smoke | 100 | 2.00 | 50 * |" in slow
    assert executed_costs(tmp_path / "none.md") == {}


def test_the_set_has_both_modes_and_the_fast_engine_first_and_whole_seeds() -> None:
    wanted = list(requests(["smoke"], {"elided-detailed": 1, "elided": 2, "fast": 2}))
    assert [key for key, _ in wanted] == [
        ("smoke", variant, column, seed)
        for column, seeds in (("fast", 2), ("elided", 2), ("elided-detailed", 1))
        for seed in range(seeds)
        for variant in ("mainline", "cas")
    ]
    asked = {(one.engine, one.mode, one.seed) for _, one in wanted}
    assert asked == {
        *(("qemu", None, 0), ("qemu", None, 1)),
        *(("gem5", "elided", 0), ("gem5", "elided", 1), ("gem5", "elided-detailed", 0)),
    }


def test_other_speeds_are_asked_for_and_named() -> None:
    asked = [one for _, one in requests(["smoke"], {"fast": 1, "elided": 1}, "measured")]
    assert {one.controls.speeds for one in asked} == {"measured"}
    one = ran(1.0, 0.5, True)
    other = Ran(one.result, {**one.cell, "controls": {"speeds": "measured"}}, one.host)
    text = page({CELL: {"fast": {0: other}, "elided": {0: other}}}, "a test", costs={})
    assert "`python -m studies.agreement --speeds measured`" in text
    assert "measured speeds, short windows" in text.replace("\n", " ")


def test_medians_of_wake_ups_stand_side_by_side() -> None:
    slow = ran(1.0, 0.5, True)
    slow.result["latency_us"]["light"]["p50"] = 20.0
    other = ("smoke", "mainline")
    sides = {
        CELL: {"fast": {0: ran(1.0, 0.5, True)}, "elided": {0: ran(1.0, 0.5, True)}},
        other: {"fast": {0: ran(1.0, 0.5, True)}, "elided": {0: slow}},
    }
    text = page(sides, "")
    assert "| scenario | variant | task | fast | elided |" in text
    assert "| smoke | cas | light | 5.0 | 5.0 |" in text
    assert "| smoke | mainline | light | 5.0 | 20.0 |" in text
    # Once and a quarter: the geometric mean is a half.
    assert (
        "The fast engine's are 0.50 times those of `elided` (geometric mean of 2; 1 within 20 %)."
    ) in text


def test_what_was_not_run_on_both_engines_is_left_out() -> None:
    one = ran(1.0, 0.5, True)
    both = {"fast": {0: one}, "elided-detailed": {1: one}}
    found: Found = {
        ("smoke", "mainline"): both,
        ("smoke", "cas"): {"fast": {0: one}},
        ("busy", "cas"): {"elided": {0: one}},
        ("busy", "mainline"): {},
    }
    assert comparable(found) == {("smoke", "mainline"): both}


def test_the_page_is_written_of_what_was_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def run(*wanted: Any, speeds: str, present: bool) -> Found:
        asked.append((*wanted, speeds, present))
        one = ran(1.0, 0.5, True)
        return {CELL: {"fast": {0: one, 1: one}, "elided": {0: one}}, ("smoke", "mainline"): {}}

    monkeypatch.setattr(agreement, "run", run)
    monkeypatch.setattr(agreement, "PAGES", {"board": tmp_path / "usual.md"})
    page = tmp_path / "page.md"
    options = ["--scenario", "smoke", "--engine", "fast", "elided", "--seeds", "2"]
    options += ["--fast-seeds", "3"]
    assert main([*options, "--present", "--page", str(page)]) == 0
    assert asked == [(["smoke"], {"fast": 3, "elided": 2}, "board", True)]
    assert "| smoke | cas | elided | +0.0 % | 2, 1 |" in page.read_text()
    assert "1 cells, 3 runs" in capfd.readouterr().err
    monkeypatch.setattr(agreement, "run", lambda *_, **__: {CELL: {"fast": {0: ran(1, 0.5, True)}}})
    assert main([*options, "--page", str(page)]) == 1
    assert "no cell was run on both engines yet" in capfd.readouterr().err
