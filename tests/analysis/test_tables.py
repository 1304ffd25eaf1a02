# SPDX-License-Identifier: GPL-2.0-or-later
"""Slices, wake-up latency, deadlines, migrations, overutilization: known answers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.derive import Derived
from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.records.result import Deadlines, Percentiles
from eascope.analysis.tables import events as kernel_events
from eascope.analysis.tables import markers
from eascope.analysis.tables.latency import latency, percentile
from eascope.analysis.tables.markers import first_end
from eascope.analysis.tables.slices import interrupts, placement, slices, until
from eascope.analysis.tables.tasks import kind_of
from eascope.analysis.trace import Trace, TraceError, read_trace
from eascope.analysis.window import Window, read_window
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from tests.support.records import task_record
from tests.support.synthetic import MS, Burst, Schedule
from tests.support.tracefile import TraceEvent, marker, migrate, switch, waking, write

A, B = ("a", 11), ("b", 12)
NAMES = {"a": "task-a", "b": "task-b"}
T0 = 1_000 * MS
WINDOW = Window(T0, T0 + 100 * MS)
LOW = {0: [(0, 450_000)], 1: [(0, 600_000)]}

Read = Callable[..., Trace]


def idle(cpu: int) -> tuple[str, int]:
    return (f"swapper/{cpu}", 0)


@pytest.fixture
def traced(tmp_path: Path) -> Read:
    def make(*events: TraceEvent) -> Trace:
        write(tmp_path / "trace.dat", events, 6, {11: "a", 12: "b"})
        return read_trace(tmp_path / "trace.dat")

    return make


def test_slices_are_clipped_to_the_window(traced: Read) -> None:
    trace = traced(
        switch(T0 - 5 * MS, 0, idle(0), 0, A),  # runs when the window begins
        switch(T0 + 2 * MS, 0, A, 1, B),
        switch(T0 + 3 * MS, 0, B, 0, A),  # b is preempted
        switch(T0 + 4 * MS, 0, A, 1, B),
        switch(T0 + 120 * MS, 0, B, 1, idle(0)),  # still running at its end
    )
    table = slices(trace, WINDOW, NAMES, 6)
    shown = [
        (row["task"], (row["t0_ns"] - T0) // MS, (row["t1_ns"] - T0) // MS, row["slept"])
        for row in table.iter_rows(named=True)
    ]
    assert shown == [
        ("task-a", 0, 2, True),
        ("task-b", 2, 3, False),
        ("task-a", 3, 4, True),
        ("task-b", 4, 100, None),
    ]


def test_the_trace_clock_is_moved_to_power_on(traced: Read) -> None:
    trace = traced(switch(T0, 0, idle(0), 0, A), switch(T0 + MS, 0, A, 1, idle(0)))
    table = slices(trace, Window(T0 + 7, T0 + 100 * MS, offset_ns=7), NAMES, 6)
    assert table.select("t0_ns", "t1_ns").row(0) == (T0 + 7, T0 + MS + 7)


def test_a_cpu_without_a_switch_is_its_running_threads(traced: Read) -> None:
    trace = traced(
        switch(T0 + MS, 1, idle(1), 0, A),
        switch(T0 + 2 * MS, 1, A, 1, idle(1)),
        waking(T0 + MS, 3, A, 1, by=12),  # b never leaves CPU 3
    )
    table = slices(trace, WINDOW, NAMES, 6).filter(pl.col("cpu") == 3)
    assert table.select("thread", "t0_ns", "t1_ns").row(0) == ("b", T0, T0 + 100 * MS)


def test_slices_are_cut_where_one_asks(traced: Read) -> None:
    trace = traced(
        switch(T0, 0, idle(0), 0, A),
        switch(T0 + 10 * MS, 0, A, 1, B),
        switch(T0 + 40 * MS, 0, B, 1, A),
        switch(T0 + 50 * MS, 0, A, 1, idle(0)),
    )
    table = until(slices(trace, WINDOW, NAMES, 6), T0 + 30 * MS)
    rows = table.select("thread", "t0_ns", "t1_ns", "slept").rows()
    assert rows == [("a", T0, T0 + 10 * MS, True), ("b", T0 + 10 * MS, T0 + 30 * MS, None)]


def test_when_the_first_thread_of_all_is_done() -> None:
    within = {"a": T0 + 40 * MS, "b": T0 + 20 * MS, "before": T0 - MS, "after": T0 + 200 * MS}
    assert first_end(within, WINDOW) == T0 + 20 * MS
    assert first_end({"before": T0 - MS, "after": T0 + 200 * MS}, WINDOW) == WINDOW.t1_ns


def test_fairness_is_that_of_the_time_in_which_all_threads_run(
    derived: Callable[[Schedule], Derived],
) -> None:
    """Two threads that do the same work, one after the other on one CPU, are not treated alike."""
    bursts = [Burst("a", 0, 0, 40 * MS), Burst("b", 41 * MS, 0, 40 * MS)]
    assert derived(Schedule(100 * MS, bursts, LOW)).result.fairness == 1
    done = replace(bursts[0], ends=True)
    assert derived(Schedule(100 * MS, [done, bursts[1]], LOW)).result.fairness == 0.5


def test_missing_events_are_noticed(traced: Read) -> None:
    trace = traced(switch(T0, 0, idle(0), 0, A), switch(T0 + MS, 0, B, 1, idle(0)))
    with pytest.raises(TraceError, match="events are missing: on cpu 0"):
        slices(trace, WINDOW, NAMES, 6)


def test_placement_shares(traced: Read, platform: Platform) -> None:
    trace = traced(
        switch(T0, 0, idle(0), 0, A),
        switch(T0 + 30 * MS, 0, A, 0, idle(0)),
        switch(T0 + 30 * MS, 4, idle(4), 0, A),
        switch(T0 + 40 * MS, 4, A, 1, idle(4)),
    )
    table = placement(slices(trace, WINDOW, NAMES, 6), platform)
    rows = table.select("cluster_name", "cpu", "run_ns", "share").rows()
    assert rows == [("little", 0, 30 * MS, 0.75), ("big", 4, 10 * MS, 0.25)]


#: Events, and the latencies of their wake-ups in ns.
WAKE_UPS: dict[str, tuple[list[TraceEvent], list[tuple[str, int]]]] = {
    "from waking to switch in": (
        [
            waking(T0 + MS, 3, A, 0),
            switch(T0 + MS + 45_000, 0, idle(0), 0, A),
            switch(T0 + 2 * MS, 0, A, 1, idle(0)),
            waking(T0 + 3 * MS, 3, A, 1),
            waking(T0 + 3 * MS + 1, 3, B, 1),
            switch(T0 + 3 * MS + 5_000, 1, idle(1), 0, B),
            switch(T0 + 3 * MS + 9_000, 1, B, 1, A),
        ],
        [("task-a", 45_000), ("task-a", 9_000), ("task-b", 4_999)],
    ),
    "a preempted thread was not woken": (
        [
            waking(T0 + MS, 0, A, 0),
            switch(T0 + MS + 10, 0, idle(0), 0, A),
            switch(T0 + 2 * MS, 0, A, 0, B),
            switch(T0 + 5 * MS, 0, B, 1, A),
            switch(T0 + 6 * MS, 0, A, 0x100, B),  # preempted, as 6.12 reports it
            switch(T0 + 7 * MS, 0, B, 1, A),
        ],
        [("task-a", 10)],
    ),
    "a running thread has nothing to wait for": (
        [
            switch(T0 + MS, 0, idle(0), 0, A),
            waking(T0 + 2 * MS, 1, A, 0),
            switch(T0 + 3 * MS, 0, A, 1, idle(0)),
            waking(T0 + 50 * MS, 1, A, 0),
            switch(T0 + 50 * MS + 700, 0, idle(0), 0, A),
        ],
        [("task-a", 700)],
    ),
    "a race with falling asleep counts from leaving the CPU": (
        [
            switch(T0 + MS, 0, idle(0), 0, A),
            waking(T0 + 2 * MS, 1, A, 0),
            switch(T0 + 2 * MS + 300, 0, A, 1, idle(0)),
            switch(T0 + 2 * MS + 900, 0, idle(0), 0, A),
        ],
        [("task-a", 600)],
    ),
    "outside the window": (
        [
            waking(T0 - 10, 0, A, 0),
            switch(T0 + 10, 0, idle(0), 0, A),
            switch(T0 + MS, 0, A, 1, idle(0)),
            waking(T0 + 100 * MS - 5, 0, A, 0),
            switch(T0 + 100 * MS + 5, 0, idle(0), 0, A),
        ],
        [],
    ),
}


@pytest.mark.parametrize("case", WAKE_UPS)
def test_latency_is_from_waking_to_switch_in(traced: Read, case: str) -> None:
    events, wanted = WAKE_UPS[case]
    table = latency(traced(*events), WINDOW, NAMES)
    assert table.select("task", "latency_ns").rows() == wanted


@pytest.mark.parametrize("count", [1, 7, 100])
def test_n_wakeups_give_n(derived: Callable[[Schedule], Derived], count: int) -> None:
    bursts = [Burst("a", number * 5 * MS, 0, MS) for number in range(count)]
    run = derived(Schedule(1_000 * MS, bursts, LOW))
    assert run.result.wakeups == {"a": count}
    assert run.table("latency").height == count
    assert run.result.latency_us["a"] == Percentiles(*[20.0] * 5)


def test_percentiles_are_nearest_rank() -> None:
    values = list(range(1, 101))
    assert [percentile(values, n / 100) for n in (50, 90, 95, 99, 100)] == [50, 90, 95, 99, 100]
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([5], 0.99) == 5
    assert percentile([1, 2], 0.0) == 1


PERIOD_US = 10_000
PERIODIC = task_record("task-a", "a", period_us=PERIOD_US)


def stats(at_ms: float, slack_us: int, late_us: int = 0, period_us: int = PERIOD_US) -> TraceEvent:
    """What rt-app writes after a job: in time when its timer wakes it, late at its end."""
    fields = f"period=1 run=1 wu_lat={late_us} slack={slack_us} c_period={period_us} c_run=1"
    return marker(T0 + round(at_ms * MS), 0, 11, f"rtapp_stats: {fields}")


def deadlines_of(read: Read, events: list[TraceEvent], *tasks: TaskRecord) -> dict[str, Deadlines]:
    trace = read(switch(T0 - 60 * MS, 0, idle(0), 0, A), *events)
    chosen = tasks or (PERIODIC,)
    marks = markers.marks_of(trace, WINDOW, chosen)
    over = markers.ends(trace, WINDOW, chosen)
    return markers.deadlines(marks, over, WINDOW, chosen)


def test_every_job_in_time(traced: Read) -> None:
    """Ten deadlines in a window of 100 ms; the timer's own delay does not move them."""
    events = [stats(number * 10 + 5.05, 2000, late_us=50) for number in range(-2, 10)]
    assert deadlines_of(traced, events) == {"task-a": Deadlines(10, 0, 0, 0)}
    assert deadlines_of(traced, events, task_record("task-a", "a")) == {}
    assert deadlines_of(traced, [*events, stats(106, 0, period_us=0)]) == {
        "task-a": Deadlines(10, 0, 0, 0)
    }, "a job that was broken off has no deadline"


def test_late_jobs_count_by_their_deadline(traced: Read) -> None:
    """Late ones that were due before the window are not its own."""
    events = [
        stats(-15, 2000),
        stats(2, -7000),  # due at -5 ms
        stats(9, -4000),  # due at 5 ms
        stats(16, -1000),  # due at 15 ms
        *(stats(number * 10 + 5, 2000) for number in range(2, 10)),
    ]
    assert deadlines_of(traced, events) == {"task-a": Deadlines(10, 2, late=2, unfinished=0)}


@pytest.mark.parametrize(
    ("slack_us", "missed"), [(7000, 0), (6000, 0), (5900, 10), (100, 10), (-1000, 10)]
)
def test_a_deadline_before_the_periods_end(slack_us: int, missed: int, traced: Read) -> None:
    """Of 4 ms in a period of 10 ms: a job that ends later is late, though its timer is not due."""
    ends = 5 if slack_us >= 0 else 6
    events = [stats(number * 10 + ends, slack_us) for number in range(-2, 11)]
    task = replace(PERIODIC, deadline_us=4000)
    assert deadlines_of(traced, events, task) == {"task-a": Deadlines(10, missed, missed, 0)}


def test_a_starved_task_misses_the_deadlines_of_jobs_that_never_end(traced: Read) -> None:
    """After 15 ms it never comes on again: eight of its ten jobs are not there to be late."""
    events = [stats(-5, 2000), stats(5, 2000), stats(15, 2000)]
    assert deadlines_of(traced, events) == {"task-a": Deadlines(10, 8, late=0, unfinished=8)}
    assert deadlines_of(traced, [stats(-45, 2000)]) == {"task-a": Deadlines(10, 10, 0, 10)}
    waiting = [stats(-45, 2000), stats(95.5, -130_500)]  # due at -35 ms, the only job that ended
    assert deadlines_of(traced, waiting) == {"task-a": Deadlines(10, 10, 0, 10)}


def test_a_task_that_never_ran_misses_all(traced: Read) -> None:
    assert deadlines_of(traced, []) == {"task-a": Deadlines(10, 10, 0, 10)}
    both = task_record("task-a", "a", "b", period_us=PERIOD_US)
    events = [stats(number * 10 + 5, 2000) for number in range(10)]
    assert deadlines_of(traced, events, both) == {"task-a": Deadlines(20, 10, 0, 10)}


def test_a_task_that_is_done_has_no_more_deadlines(traced: Read) -> None:
    events = [stats(number * 10 + 5, 2000) for number in range(-1, 3)]
    end = marker(T0 + 25 * MS + 10, 0, 11, "rtapp_task: event=end")
    assert deadlines_of(traced, [*events, end]) == {"task-a": Deadlines(3, 0, 0, 0)}
    early = marker(T0 - 4 * MS, 0, 11, "rtapp_task: event=end")
    assert deadlines_of(traced, [events[0], early]) == {"task-a": Deadlines(0, 0, 0, 0)}
    broken = [early, stats(-4.5, 0, period_us=0)]
    assert deadlines_of(traced, broken) == {"task-a": Deadlines(0, 0, 0, 0)}


def marks_of(read: Read, *texts: str) -> pl.DataFrame:
    """The marks of a thread that wrote these texts."""
    lines = [marker(T0 + n, 0, 11, f"rtapp_stats: {text}") for n, text in enumerate(texts, start=1)]
    trace = read(switch(T0 - 5 * MS, 0, idle(0), 0, A), *lines)
    return markers.markers(markers.marks_of(trace, WINDOW, TURNS), WINDOW)


TURNS, NO_TURNS = [task_record("task-a", "a", period_us=100)], [task_record("task-a", "a")]


def test_lateness_and_activations_from_rt_apps_markers(traced: Read) -> None:
    """Known values in, nearest-rank percentiles out; jobs without work are no activations."""
    rows = [(500, 61), (700, 1264), (0, 9), (600, 58)]  # run, wu_lat
    marks = marks_of(traced, *(f"period=1 run={run} wu_lat={late} slack=4" for run, late in rows))
    late = markers.lateness(marks, TURNS)["task-a"]
    assert (late.p50, late.max) == (58, 1264)
    assert markers.activations(marks, TURNS)["task-a"].p50 == 600
    assert markers.lateness(marks, NO_TURNS) == {}


def test_responses_are_periods_less_the_slack(traced: Read) -> None:
    """From when a job was due to its end, what it was late with before included."""
    jobs = [(80, 100), (20, 95), (-40, 105), (60, 100), (0, 100)]
    texts = (f"run=5 wu_lat=0 slack={slack} c_period={due}" for slack, due in jobs)
    marks = marks_of(traced, *texts)
    response = markers.responses(marks, TURNS)["task-a"]
    assert (response.p50, response.max) == (75, 145)
    assert markers.responses(marks, NO_TURNS) == {}


def test_migrations_of_the_scenarios_threads(traced: Read) -> None:
    trace = traced(
        migrate(T0 - 1, 0, A, 0, 1),
        migrate(T0 + 1, 0, A, 0, 1),
        migrate(T0 + 2, 0, A, 1, 4),
        migrate(T0 + 3, 0, ("kworker", 5), 0, 1),
    )
    assert kernel_events.migrations(trace, WINDOW, NAMES) == {"a": 2, "b": 0}


def test_opp_requests_are_counted_once_for_a_cluster(traced: Read, platform: Platform) -> None:
    requests = [(-1, (0, 1)), (1, (0, 1, 2, 3)), (2, (4, 5)), (3, (4, 5)), (101, (4, 5))]
    events = [
        TraceEvent(T0 + at * MS, 0, 0, "cpu_frequency", (800_000, cpu))
        for at, cpus in requests
        for cpu in cpus
    ]
    assert kernel_events.opp_requests(traced(*events), WINDOW, platform) == {"little": 1, "big": 2}


@pytest.mark.parametrize(
    ("states", "share"),
    [
        ([], None),  # not known
        ([(-5, 1), (25, 0)], 0.25),  # overutilized when the window begins
        ([(-5, 0), (25, 1), (50, 0), (60, 0), (90, 1)], 0.35),
        ([(50, 1), (75, 0)], 0.5),  # known from the first event on
        ([(-5, 1)], 1.0),
        ([(120, 1)], None),
    ],
)
def test_overutilized_share(
    traced: Read, states: list[tuple[int, int]], share: float | None
) -> None:
    name = "lisa__sched_overutilized"
    events = [TraceEvent(T0 + at * MS, 0, 0, name, (state, "0-5")) for at, state in states]
    trace = traced(*events, switch(T0, 0, idle(0), 0, A))
    assert kernel_events.overutilized_share(trace, WINDOW) == share


BAD_MARKS = (
    "[]",
    '[{"id":2,"t_ns":5,"mono_ns":1},{"id":3,"t_ns":5,"mono_ns":1}]',
    '[{"id":2,"t_ns":5}',
    '[{"id":2,"mono_ns":5},{"id":3,"t_ns":9}]',
    "{}",
)


def test_bad_markers_are_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path, lines = tmp_path / "marks.json", []
    for text in BAD_MARKS:
        path.write_text(text)
        with pytest.raises(EascopeError) as caught:
            read_window(path)
        lines.append(str(caught.value).removeprefix(str(tmp_path)))
    assert lines == snapshot


def test_interrupts_are_cut_to_the_window() -> None:
    """One that goes on at its end, one inside, and one of another CPU in between."""
    begin, end = WINDOW.t0_ns - WINDOW.offset_ns, WINDOW.t1_ns - WINDOW.offset_ns
    entries = [(begin - 50, 0, 11, "timer"), (begin + 100, 1, 3, "IPI"), (end - 30, 1, 3, "IPI")]
    exits = [(begin + 20, 0, 11), (begin + 170, 1, 3), (end + 5, 1, 3)]
    made = {
        "irq_handler_entry": pl.DataFrame(entries, ["t_ns", "cpu", "irq", "name"], orient="row"),
        "irq_handler_exit": pl.DataFrame(exits, ["t_ns", "cpu", "irq"], orient="row"),
    }
    table = interrupts(Trace(Path("t"), pl.DataFrame(), made), WINDOW)
    lengths = table.select("thread", "pid", (pl.col("t1_ns") - pl.col("t0_ns")).alias("ns")).rows()
    assert lengths == [("timer", 11, 20), ("IPI", 3, 70), ("IPI", 3, 30)]


def test_threads_that_are_no_tasks_have_kinds() -> None:
    names = ["sugov:4", "kworker/0:1H", "rcu_preempt", "migration/3", "init", "rt-app", "kswapd0"]
    kinds = ["sugov", "kworker", "rcu", "migration", "agent", "rt_app", "rest", "no_thread"]
    assert [kind_of(name) for name in (*names, None)] == kinds
