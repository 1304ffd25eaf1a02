# SPDX-License-Identifier: GPL-2.0-or-later
"""Why EAS chose a CPU: the criterion that decided, from the candidates that the kernel compared."""

import polars as pl
import pytest

from eascope.analysis.decisions import candidates, listing, reason, recorded, summary, text
from tests.support.records import cell_record, controls_record

#: mode, where the task was, where it goes, candidates (cpu:fits:cost:nr:energy), why
CASES = {
    "no candidate at all": (1, 3, 3, "", "not compared"),
    "EAS gives up": (1, 3, -1, "0:1:30:0:100", "no answer"),
    "one candidate": (0, 3, 0, "0:1:-:-:100", "only candidate"),
    "a boost that only one can meet": (1, 0, 4, "0:-1:30:0:100 4:1:50:0:200", "fits better"),
    "less energy": (0, 0, 4, "0:1:-:-:100 4:1:-:-:90", "least energy"),
    "less energy than what fits as well": (1, 0, 4, "0:1:30:0:99 4:1:30:9:90", "least energy"),
    "fewer tasks": (1, 0, 1, "0:1:30:1:100 1:1:30:0:100 4:1:50:0:200", "fewest tasks"),
    "all the same, it stays": (1, 1, 1, "0:1:30:0:100 1:1:30:0:100", "stays among equals"),
    "all the same, it was elsewhere": (1, 4, 0, "0:1:30:0:100 1:1:30:0:100", "one of equals"),
    "more tasks but headroom": (2, 0, 1, "0:1:30:0:100 1:1:30:1:100", "headroom"),
    "more tasks without headroom": (1, 0, 1, "0:1:30:0:100 1:1:30:1:100", "other"),
    "more energy": (1, 0, 1, "0:1:30:0:100 1:1:40:0:130", "other"),
    "leaves for an equal": (1, 0, 1, "0:1:30:0:100 1:1:30:0:100", "other"),
    "less energy elsewhere, and a margin": (0, 5, 5, "5:1:-:-:600 1:1:-:-:100", "saves too little"),
    "fits worse": (1, 0, 1, "0:1:30:0:100 1:-1:30:0:50", "other"),
    "fit unknown, less energy": (None, 0, 1, "0:-:-:-:100 1:-:-:-:90", "least energy"),
    "fit unknown, the same": (None, 1, 1, "0:-:-:-:100 1:-:-:-:100", "stays among equals"),
    "fit unknown, more energy": (None, 0, 1, "0:-:-:-:100 1:-:-:-:130", "not energy"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_reason_is_the_first_criterion_that_distinguishes_the_chosen_cpu(case: str) -> None:
    mode, prev_cpu, dst_cpu, compared, why = CASES[case]
    assert reason(mode, prev_cpu, dst_cpu, candidates(compared)) == why


@pytest.mark.parametrize("broken", ["0:1:30:0", "0:1:30:0:1:2", "0:1:30:0:-", "x:1:30:0:1"])
def test_a_strange_candidate_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"unpack|invalid literal"):
        candidates(broken)


def decided(*rows: tuple[str | None, int, int, str, str]) -> pl.DataFrame:
    """A table of decisions at 1 ms, 2 ms .. of (task, from, to, reason, candidates)."""
    return pl.DataFrame(
        [
            ((number + 1) * 1_000_000, task, task or "kworker", 9, "wake", 1, *rest)
            for number, (task, *rest) in enumerate(rows)
        ],
        schema=[
            *("t_ns", "task", "thread", "pid", "path", "mode"),
            *("prev_cpu", "dst_cpu", "reason", "candidates"),
        ],
        orient="row",
    )


def test_summary_counts_by_task_and_puts_other_threads_last() -> None:
    table = decided(
        (None, 0, 0, "not compared", ""),
        ("video", 0, 4, "least energy", "0:1:30:0:9 4:1:20:0:7"),
        ("video", 4, -1, "no answer", ""),
        ("video", 4, 4, "least energy", "0:1:30:0:9 4:1:20:0:7"),
    )
    assert summary({"feec-b": table, "feec-a": table.head(1)}).rows == (
        ["feec-b", "video", "3", "1", "least energy 67%, no answer 33%"],
        ["feec-b", "(other)", "1", "0", "not compared 100%"],
        ["feec-a", "(other)", "1", "0", "not compared 100%"],
    )
    assert text({}) == ""
    assert "feec-b   video            3      1  least" in text({"feec-b": table})
    assert text({"cas": table.clear()}).splitlines()[1:] == ["cas: EAS compared no CPUs"]


def test_listing_names_the_chosen_candidate_first() -> None:
    table = decided(("video", 0, 4, "least energy", "0:-1:30:1:9 4:1:20:2:7 5:1:-:-:8"))
    (row,) = listing({"feec-b": table}).rows
    assert isinstance(row, list)
    assert row[1:7] == ["1.000", "video", "wake", "0", "4", "least energy"]
    assert row[7] == "4: 7, 2 tasks; 0: 9, 1 task, boost not met; 5: 8"
    assert [candidate.words for candidate in candidates("0:-:-:-:9")] == ["0: 9"]


def test_a_run_states_whether_it_recorded_decisions() -> None:
    for events, expected in (
        ((), False),
        (("sched:sched_switch",), False),
        (("sched:sched_switch", "eascope:sched_feec_decision"), True),
        (("sched:sched_switch", "eascope:sched_compute_energy"), True),
    ):
        assert recorded(cell_record(controls=controls_record(trace_events=events))) is expected
