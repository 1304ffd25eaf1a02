# SPDX-License-Identifier: GPL-2.0-or-later
"""The stream of decisions: what is one, how it is numbered, and the first difference of two."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eascope.analysis.stream import (
    BLOCK,
    WAKE,
    Decision,
    Stream,
    Streams,
    first_block,
    streams_of,
)
from eascope.analysis.trace import Trace, TraceError
from eascope.analysis.window import Window
from eascope.configs.platform import Platform


def trace(*events: tuple[int, str, str]) -> Trace:
    """A trace of (time, event, fields)."""
    rows = [(t_ns, 0, 1, "x", event, detail) for t_ns, event, detail in events]
    schema = ["t_ns", "cpu", "pid", "comm", "event", "detail"]
    return Trace(Path("trace.dat"), pl.DataFrame(rows, schema=schema, orient="row"))


def waking(t_ns: int, pid: int, slept_on: int, comm: str = "a") -> tuple[int, str, str]:
    return t_ns, "sched_waking", f"comm={comm} pid={pid} prio=120 target_cpu={slept_on}"


def wakeup(t_ns: int, pid: int, cpu: int, comm: str = "a") -> tuple[int, str, str]:
    return t_ns, "sched_wakeup", f"comm={comm} pid={pid} prio=120 target_cpu={cpu}"


def migrate(t_ns: int, pid: int, orig: int, dest: int, comm: str = "a") -> tuple[int, str, str]:
    fields = f"comm={comm} pid={pid} prio=120 orig_cpu={orig} dest_cpu={dest}"
    return t_ns, "sched_migrate_task", fields


def clock(t_ns: int, cpu: int, khz: int) -> tuple[int, str, str]:
    return t_ns, "cpu_frequency", f"state={khz} cpu_id={cpu}"


def taken(platform: Platform, *events: tuple[int, str, str]) -> list[tuple[object, ...]]:
    """The decisions of a window from 100 to 200 ns."""
    found = streams_of(trace(*events), Window(100, 200), platform)
    return [(*each.key, each.was, each.value, each.t_ns) for each in found.in_time]


def test_activations_are_counted_from_start_and_moves_within_them(platform: Platform) -> None:
    assert taken(
        platform,
        *(waking(90, 7, 0), wakeup(91, 7, 1)),
        migrate(105, 7, 1, 2),
        *(waking(110, 7, 2), migrate(111, 7, 2, 4), wakeup(112, 7, 4)),
        *(migrate(120, 7, 4, 5), migrate(121, 7, 5, 4)),
        *(waking(130, 7, 4), wakeup(131, 7, 4)),
        *(waking(198, 7, 4), wakeup(201, 7, 5)),
    ) == [
        ("a", "move", 0, 1, 1, 2, 5),
        ("a", "wake-up", 1, 0, 2, 4, 10),
        ("a", "move", 1, 1, 4, 5, 20),
        ("a", "move", 1, 2, 5, 4, 21),
        ("a", "wake-up", 2, 0, 4, 4, 30),
    ]


def test_a_fork_is_activation_0_of_the_new_thread(platform: Platform) -> None:
    """Its name is the one that it has later; a pid that is used again is another thread."""
    assert taken(
        platform,
        *(waking(101, 7, 0), wakeup(102, 7, 1)),
        (110, "sched_wakeup_new", "comm=sh pid=7 prio=120 target_cpu=2"),
        *(migrate(115, 7, 2, 3, "b"), waking(120, 7, 3, "b"), wakeup(121, 7, 3, "b")),
        (130, "sched_wakeup_new", "comm=sh pid=9 prio=120 target_cpu=4"),
    ) == [
        ("a", "wake-up", 1, 0, 0, 1, 1),
        ("b", "fork", 0, 0, 0, 2, 10),
        ("b", "move", 0, 1, 2, 3, 15),
        ("b", "wake-up", 1, 0, 3, 3, 20),
        ("sh", "fork", 0, 0, 0, 4, 30),
    ]


def test_a_change_of_clock_counts_once_for_all_cpus_of_its_policy(platform: Platform) -> None:
    changes = [clock(t, cpu, khz) for t, khz in ((90, 5), (110, 6), (120, 5)) for cpu in (4, 5)]
    assert taken(platform, *changes) == [
        ("policy4", "request", 1, 0, 5, 6, 10),
        ("policy4", "request", 2, 0, 6, 5, 20),
    ]


def test_threads_of_one_name_are_told_apart_by_their_order(platform: Platform) -> None:
    name = "b pid=9"
    events = [e for pid in (9, 8) for e in (waking(110, pid, 0, name), wakeup(111, pid, pid, name))]
    assert [(row[0], row[5]) for row in taken(platform, *events)] == [(name, 8), (f"{name}#2", 9)]


def test_an_event_with_other_fields_is_refused(platform: Platform) -> None:
    with pytest.raises(TraceError, match="event sched_wakeup cannot be parsed"):
        taken(platform, (110, "sched_wakeup", "comm=a pid=1 cpu=3"))


def stream(values: list[int], late: int = 0, about: str = "a") -> Stream:
    return Stream(
        tuple(
            Decision(about, WAKE, number, 0, value, 0, 10 * number + late)
            for number, value in enumerate(values, 1)
        )
    )


def first(one: Stream, other: Stream) -> int | None:
    """The place of the first difference."""
    block = first_block(one.digests, other.digests)
    return None if block is None else one.first_difference(other, block)


CPUS = st.lists(st.integers(0, 7), max_size=5 * BLOCK)


@given(CPUS, CPUS, CPUS)
def test_bisection_finds_what_a_search_one_by_one_finds(
    common: list[int], mine: list[int], others: list[int]
) -> None:
    one, other = common + mine, common + others
    alike = next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), None
    )
    expected = min(len(one), len(other)) if alike is None else alike
    found = first(stream(one), stream(other, late=3))
    assert found == (None if one == other else expected)


def test_the_first_difference_in_a_long_stream_is_found() -> None:
    one, other = stream([0] * 640), stream([0] * 333 + [1] + [0] * 306)
    assert len(one.digests) == 10
    assert first(one, other) == 333
    assert first(one, stream([0] * 640, late=5)) is None


def test_streams_are_equal_whatever_the_order_between_threads() -> None:
    one = Streams({"a": stream([1, 2]), "b": stream([3], 4, "b")})
    swapped = Streams({"b": stream([3], 0, "b"), "a": stream([1, 2], 7)})
    parted = Streams({"a": stream([1, 5]), "b": stream([3], 4, "b"), "c": stream([1], 90, "c")})
    assert one.digests == swapped.digests != parted.digests
    assert not one.first_differences(swapped, one.digests, swapped.digests)
    found = one.first_differences(parted, one.digests, parted.digests)
    assert [each and (each.about, each.number, each.value) for pair in found for each in pair] == [
        *(("a", 2, 2), ("a", 2, 5)),
        *(None, ("c", 1, 1)),
    ]
