# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands before any figure: tasks that never ran or never ended, and other work."""

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import Derived, with_work, work_done
from eascope.analysis.glance import glance
from eascope.analysis.records.cell import ProgramRecord, WorkRecord
from eascope.analysis.records.result import Deadlines, Energy
from eascope.analysis.report import page
from eascope.analysis.warnings import warnings
from eascope.configs.platform import Platform
from tests.support.records import cell_record, result_record, task_record
from tests.support.stated import stated


def changed(variant: str, seed: int, **result: Any) -> Derived:
    run = stated(variant, seed)
    return dataclasses.replace(run, result=dataclasses.replace(run.result, **result))


def compared(
    platform: Platform, mainline: list[dict[str, Any]], cas: list[dict[str, Any]]
) -> Comparison:
    """A run for each seed and variant, with these parts of its result."""
    return comparison(
        platform,
        {
            name: [changed(name, seed, **result) for seed, result in enumerate(results)]
            for name, results in (("mainline", mainline), ("cas", cas))
        },
    )


def test_nothing_to_say(platform: Platform) -> None:
    assert warnings(compared(platform, [{}], [{}])) == []


def test_a_task_that_never_ran_is_named_first(platform: Platform) -> None:
    absent = {"run_share": {}, "deadlines": {"decode": Deadlines(60, 60, 0, 60)}}
    both = compared(platform, [{}, {}], [absent, {}])
    lines = warnings(both)
    assert lines == [
        "decode never ran under cas in 1 of 2 seeds",
        "decode missed 31.5 of 60 deadlines under cas (mean per run); 30 of its jobs were "
        "unfinished when the window ended",
    ]
    assert glance(both).splitlines()[1:3] == lines
    text = page(both, {})
    assert text.index(lines[0]) < text.index("<nav>")
    assert warnings(compared(platform, [absent], [absent]))[:2] == [
        "decode never ran under mainline",
        "decode never ran under cas",
    ]


def test_what_a_scenario_does_to_the_kernel_is_said(platform: Platform) -> None:
    runs = {name: [stated(name, 0)] for name in ("mainline", "cas")}
    for name, (run,) in runs.items():
        window = dataclasses.replace(run.cell.window, mainline_ms=700, writes=("100 /proc/x=1",))
        cell = dataclasses.replace(run.cell, window=window)
        runs[name] = [dataclasses.replace(run, cell=cell)]
    assert warnings(comparison(platform, runs)) == [
        "mainline settings were used for 700 ms before the warm-up",
        "the scenario writes these files during the window: 100 /proc/x=1",
    ]


def test_programs_that_run_at_the_kernels_rate_are_named(platform: Platform) -> None:
    both = compared(platform, [{}], [{}])
    member = ProgramRecord(
        "bench", "hackbench", 1, "program-bench.log", command="/usr/bin/hackbench"
    )
    ours = ProgramRecord("pipe", "ping-pong", 1, "program-pipe.log")
    known = ("big: something else",)
    unmeasured = (*known, "program hackbench: its code runs at the kernel's")
    for rates, assumed, words in (
        (True, unmeasured, ["no measured IPC for bench, the kernel's is used"]),
        # Figures of its own: no line in the cell's record.
        (True, known, []),
        (False, unmeasured, []),
    ):
        (run,) = both.variants["mainline"]
        traits = dataclasses.replace(run.cell.engine_traits, stated_rates=rates)
        cell = dataclasses.replace(
            run.cell, programs=(member, ours), engine_traits=traits, assumed=assumed
        )
        runs = {**both.variants, "mainline": [dataclasses.replace(run, cell=cell)]}
        lines = warnings(Comparison(platform, runs))
        assert [line[: len(word)] for line, word in zip(lines, words, strict=True)] == words


def test_interrupts_that_were_missed_are_said(platform: Platform) -> None:
    all_came, some = (
        {"more": {"interrupts": {"nic": {"count": n, "missed": 10 - n}}}} for n in (10, 7)
    )
    lines = warnings(compared(platform, [all_came, all_came], [all_came, some]))
    assert lines == ["interrupt nic missed 3 of 20 periods under cas"]


def test_stirring_within_the_window_is_said(platform: Platform) -> None:
    none, some, more = ({"more": {"stirred_s": s} if s else {}} for s in (0, 0.0123, 0.25))
    assert warnings(compared(platform, [none, none, none], [some, none, more])) == [
        "placement perturbation overlapped the window by up to 250 ms (cas, 2 of 3 seeds); "
        "increase warmup_ms"
    ]


def test_late_jobs_alone_are_no_starvation(platform: Platform) -> None:
    late = {"deadlines": {"decode": Deadlines(60, 9, late=9, unfinished=0)}}
    assert warnings(compared(platform, [late], [{}])) == []


def test_other_work_is_said(platform: Platform) -> None:
    slow, near, fast = ({"task_work_s": {"decode": speed}} for speed in (0.5, 0.505, 0.9))
    assert warnings(compared(platform, [slow], [fast])) == [
        "cas and mainline completed different amounts of work (decode +80.0 %): "
        "total energies are not comparable"
    ]
    assert warnings(compared(platform, [slow], [near])) == []


def test_energy_is_compared_per_work_where_work_differs(platform: Platform) -> None:
    """Half the energy for a third of the work is more for the same work."""
    energy = stated("mainline", 0).result.energy_j
    full = {"task_work_s": {"decode": 0.9}, "work": 3.0, "energy_per_work_j": 0.1}
    part = {"task_work_s": {"decode": 0.3}, "work": 1.0, "energy_per_work_j": 0.15}
    both = compared(
        platform,
        [{**full, "energy_j": dataclasses.replace(energy, total=0.3)}],
        [{**part, "energy_j": dataclasses.replace(energy, total=0.15)}],
    )
    assert warnings(both) == [
        "cas and mainline completed different amounts of work (decode -66.7 %): "
        "energy is compared per s of work"
    ]
    assert both.other_work == {"cas": pytest.approx(-66.7, abs=0.1)}
    shown = glance(both)
    first = "cas vs mainline: energy per s of work +50.0 % (one seed, not tested"
    assert shown.startswith(first)
    assert "energy, per s of work" in shown
    same = compared(platform, [full], [{**full, "work": 3.05}])
    assert same.primary is same.total
    assert "per s of work" not in glance(same)


CELL = cell_record(
    tasks=(task_record("a", "a0", "a1"), task_record("b")),
    programs=(ProgramRecord("pipe", "ping-pong", 1000, "x.log"),),
)
RESULT = result_record(
    window_s=2.0,
    energy_j=Energy(3.0, {}, {}, {}, {}),
    speed={"a": 0.5, "b": 0.25},
    turns={"a": 60, "b": 7},
    wakeups={"a": 61, "b": 8},
)


@pytest.mark.parametrize(
    ("counted", "done"),
    [
        # two threads at half the speed, one at a quarter, for two seconds
        ("busy_loop", 2.5),
        ("turns.a", 60),
        ("wakeups.b", 8),
        ("programs", 1000),
    ],
)
def test_work_is_what_the_scenario_counts(counted: str, done: float) -> None:
    cell = replace(CELL, work=WorkRecord("thing", counted))
    assert work_done(cell, RESULT) == done
    assert with_work(cell, RESULT).energy_per_work_j == 3.0 / done
    assert with_work(cell, RESULT).work == done
    assert with_work(cell, RESULT).task_work_s == {"a": 2.0, "b": 0.5}


def test_no_work_has_no_energy() -> None:
    result = with_work(CELL, replace(RESULT, speed={"a": 0.0, "b": 0.0}))
    assert (result.work, result.energy_per_work_j) == (0, None)
