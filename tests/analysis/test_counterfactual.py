# SPDX-License-Identifier: GPL-2.0-or-later
"""Which decisions are forced: those with the largest spans, or each thread's first."""

from pathlib import Path

import pytest

from eascope.analysis.counterfactual import NOT_FORCED, Counterfactual, firsts, largest
from eascope.analysis.run_diff import RunDiff
from eascope.analysis.stream import MOVE, REQUEST, WAKE
from eascope.analysis.trace import CHOICE_EVENT
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from tests.analysis.test_run_diff import diff, write
from tests.support.synthetic import MS
from tests.support.tracefile import TraceEvent, migrate

#: The kernel counts from its own reset, one activation before START.
BEFORE = 1


def chosen(wakes: list[int]) -> list[TraceEvent]:
    """The kernel's choice of CPU 0 at these wake-ups of A."""
    return [
        TraceEvent(
            *((10 + 20 * (n - 1)) * MS + 1, 0, 0, CHOICE_EVENT),
            ("job", 100, n + BEFORE, 0, 0, 0),
        )
        for n in wakes
    ]


@pytest.fixture
def found(platform: Platform, activity: Activity, tmp_path: Path) -> RunDiff:
    """B takes wake-ups 2, 4 and 6 to another CPU, and has a move and a request more."""
    a = write(tmp_path / "a", platform, [0] * 8, events=chosen([1, 2, 3, 4, 5, 7, 8]))
    more = [
        migrate(131 * MS, 0, ("job", 100), 0, 5),
        TraceEvent(152 * MS, 0, 0, "cpu_frequency", (1_000_000, 4)),
    ]
    b = write(tmp_path / "b", platform, [0, 1, 0, 4, 0, 4, 0, 0], events=more)
    return diff(platform, activity, a, b)


def test_the_largest_that_can_be_forced_and_why_others_cannot(found: RunDiff) -> None:
    (first, second), left = largest(found, 2)
    # Those two that go to a big cost most, but A chose no CPU for one of them.
    assert (first.one.number, first.other.value) == (4, 4)
    assert first.line == "00000100 00000005 004"
    assert (second.one.number, second.other.value) == (2, 1)
    whys = {each.span.decision and each.span.decision[1]: each.why for each in left}
    assert {NOT_FORCED[WAKE]} <= {*whys.values()} <= {NOT_FORCED[k] for k in (WAKE, MOVE, REQUEST)}
    sizes = [abs(each.span.fj) for each in left]
    assert sizes == sorted(sizes, reverse=True)
    every, rest = largest(found, 9)
    assert every == [first, second]
    assert {each.why for each in rest} == {NOT_FORCED[kind] for kind in (WAKE, MOVE, REQUEST)}
    said = Counterfactual(found, [], rest).said
    assert [line.partition(": ")[0] for line in said] == ["not forced"] * len(rest)
    assert any("wake-up 6 of job (+" in line and "A chose no CPU" in line for line in said)


def test_the_first_of_each_thread_is_one_of_this_thread(found: RunDiff) -> None:
    (only,) = firsts(found, 9)
    assert only.one.number == 2


def test_a_fork_is_forced_as_activation_0(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    """The kernel tells its choice before the event of the fork."""

    def child(cpu: int) -> TraceEvent:
        return TraceEvent(15 * MS, 0, 100, "sched_wakeup_new", ("child", 300, 120, cpu))

    choice = TraceEvent(15 * MS - 900, 0, 100, CHOICE_EVENT, ("child", 300, 0, 0, 1, 1))
    a = write(tmp_path / "a", platform, [0, 0], events=[choice, child(1)])
    b = write(tmp_path / "b", platform, [0, 0], events=[child(5)])
    found = diff(platform, activity, a, b)
    (choices,) = firsts(found, 1)
    assert choices.line == "00000300 00000000 005"
    assert choices.words == "fork of child on CPU 5 instead of 1"


def test_a_fork_is_not_named_by_an_activation_of_a_dead_thread(
    platform: Platform, activity: Activity, tmp_path: Path
) -> None:
    """Its pid is used again, and no CPU was chosen for the new thread."""
    dead = TraceEvent(15 * MS - 900, 0, 100, CHOICE_EVENT, ("dead", 300, 7, 0, 1, 1))
    child = [
        TraceEvent(15 * MS, 0, 100, "sched_wakeup_new", ("child", 300, 120, cpu)) for cpu in (1, 5)
    ]
    a = write(tmp_path / "a", platform, [0, 0], events=[dead, child[0]])
    b = write(tmp_path / "b", platform, [0, 0], events=[child[1]])
    assert firsts(diff(platform, activity, a, b), 1) == []
