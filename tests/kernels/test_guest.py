# SPDX-License-Identifier: GPL-2.0-or-later
"""The base kernel in a guest: its state, drivers, counters and events, on the fast engine."""

import re
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.tables.split import ENTERING, LEAVING, stretches
from eascope.analysis.trace import read_trace
from eascope.analysis.window import Window
from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.engines.records import MARKS, START, STOP, TRACE, read_marks
from eascope.kernels.build import KernelArtefact
from eascope.kernels.state import state_expectations
from eascope.kernels.switches import STATS
from eascope.kernels.variants import load_variants
from tests.support.kernel_guest import Booted, boot
from tests.support.slow_idle import EXIT_MS, LAST_ENTRY_MS, slow

pytestmark = pytest.mark.guest

TRACING = "/sys/kernel/tracing"
#: Every event that the series adds | its fields, in order.
FIELDS = """
lisa:lisa__sched_pelt_cfs | int cpu; char path[64]; unsigned long load; unsigned long runnable;
    unsigned long util; unsigned long long update_time
lisa:lisa__sched_pelt_se | int cpu; char path[64]; char comm[16]; int pid; unsigned long load;
    unsigned long runnable; unsigned long util; unsigned long long update_time
lisa:lisa__sched_pelt_rt | int cpu; unsigned long load; unsigned long runnable; unsigned long util;
    unsigned long long update_time
lisa:lisa__sched_pelt_dl | int cpu; unsigned long load; unsigned long runnable; unsigned long util;
    unsigned long long update_time
lisa:lisa__sched_util_est_se | int cpu; char path[64]; char comm[16]; int pid; unsigned int
    enqueued; unsigned int ewma; unsigned long util
lisa:lisa__sched_util_est_cfs | int cpu; char path[64]; unsigned int enqueued; unsigned int ewma;
    unsigned long util
lisa:lisa__sched_overutilized | int overutilized; char span[10]
lisa:lisa__sched_update_nr_running | int cpu; int change; unsigned int nr_running
lisa:lisa__sched_cpu_capacity | int cpu; unsigned long capacity; unsigned long capacity_orig;
    unsigned long capacity_curr
eascope:sched_compute_energy | char comm[16]; pid_t pid; int dst_cpu; unsigned long energy; unsigned
    long max_util; unsigned long busy_time
eascope:sched_uclamp_task | char comm[16]; pid_t pid; int cpu; unsigned long util_avg; unsigned long
    uclamp_avg; unsigned long uclamp_min; unsigned long uclamp_max; unsigned long est; unsigned long
    est_clamped; long bias
eascope:sched_uclamp_cpu | int cpu; unsigned long util_avg; unsigned long uclamp_avg; unsigned long
    uclamp_min; unsigned long uclamp_max; unsigned long est
eascope:sched_cpufreq_req | unsigned int cpu; unsigned long util; unsigned long min; unsigned long
    max; unsigned long perf; unsigned int next_freq; unsigned int limited
eascope:gem5_dvfs | u32 domain; u32 level; u32 khz; u32 uv; u32 latency_ns
"""
ROWS = re.sub(r"\n {4}", " ", FIELDS.strip()).splitlines()
EVENTS = {event: fields.split("; ") for event, fields in (row.split(" | ") for row in ROWS)}


def words(lines: list[tuple[str, ...]]) -> list[str]:
    return [" ".join(line) for line in lines]


def counters(text: str) -> dict[str, list[int]]:
    """The table of counters: a list with one number per CPU."""
    rows = [line.split() for line in text.splitlines()]
    assert rows[0] == ["counter", *(f"cpu{number}" for number in range(len(rows[0]) - 1))]
    return {row[0]: [int(value) for value in row[1:]] for row in rows[1:]}


@pytest.fixture(scope="module")
def booted(
    base_kernel: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Booted:
    """One boot for most tests: formats, a traced burst of work, idle time, counters, hotplug."""
    events = [event for event in EVENTS if event != "lisa:lisa__sched_update_nr_running"]
    formats = [
        f"collect {TRACING}/events/{event.replace(':', '/')}/format {event.replace(':', '.')}"
        for event in EVENTS
    ]
    burst = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    script = [
        *formats,
        *words(state_expectations(load_variants()["mainline"], juno)),
        "sleep-ms 100",
        f"write {STATS} 0",
        f"trace-setup 4096 {' '.join(events)} power:cpu_frequency power:cpu_idle",
        f"write {TRACING}/tracing_on 1",
        f"file /tmp/burst.sh {len(burst)}",
        burst,
        "spawn burst /bin/busybox sh /tmp/burst.sh",
        "wait burst 20000",
        "sleep-ms 50",
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
        f"collect {STATS} stats.txt",
        f"write {TRACING}/events/enable 0",
        "write /sys/devices/system/cpu/cpu5/online 0",
        "sleep-ms 20",
        "write /sys/devices/system/cpu/cpu5/online 1",
        "sleep-ms 20",
        "expect /proc/sys/kernel/sched_energy_aware 1",
    ]
    out = tmp_path_factory.mktemp("guest") / "out"
    # "quiet" alone would hide warnings.
    return boot(base_kernel.image, juno, script, out, arguments="loglevel=5")


@pytest.mark.parametrize("event", EVENTS)
def test_event_has_the_fields_that_analyses_read(booted: Booted, event: str) -> None:
    text = booted.text(event.replace(":", "."))
    assert text.startswith(f"name: {event.partition(':')[2]}\n")
    fields = re.findall(r"^\tfield:(.+?);\toffset", text, re.MULTILINE)
    assert fields[4:] == EVENTS[event]  # the first four are those of every event


def lines_of(booted: Booted, event: str) -> list[dict[str, str]]:
    """The fields of every traced ``event``."""
    matches = re.findall(rf" {event}: (.*)$", booted.text("trace.txt"), re.MULTILINE)
    return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in matches]


def test_enabled_events_are_traced(booted: Booted) -> None:
    for event in EVENTS:
        name = event.partition(":")[2]
        # The one that the fixture leaves off must be silent.
        assert bool(lines_of(booted, name)) == (name != "lisa__sched_update_nr_running"), name


def test_requests_reach_the_controller_and_name_its_opps(booted: Booted, juno: Platform) -> None:
    requests = lines_of(booted, "gem5_dvfs")
    assert {int(line["domain"]) for line in requests} == {0, 1}
    for line in requests:
        opps = juno.clusters[int(line["domain"])].opps
        opp = opps[len(opps) - 1 - int(line["level"])]  # level 0 is the fastest
        assert abs(int(line["khz"]) - opp.khz) <= opp.khz / 200
        assert int(line["uv"]) == opp.uv
        assert int(line["latency_ns"]) == juno.transition_latency_us * 1000


def test_every_frequency_event_is_a_request_of_schedutil(booted: Booted) -> None:
    requested_khz = {int(line["next_freq"]) for line in lines_of(booted, "sched_cpufreq_req")}
    set_to = {int(line["state"]) for line in lines_of(booted, "cpu_frequency")}
    assert set_to
    assert set_to <= requested_khz


def test_unclamped_tasks_have_no_bias(booted: Booted) -> None:
    unclamped = [
        line
        for line in lines_of(booted, "sched_uclamp_task")
        if (line["uclamp_min"], line["uclamp_max"]) == ("0", "1024")
    ]
    assert unclamped, "at least one task without clamps was traced"
    for line in unclamped:
        assert line["bias"] == "0"
        assert line["uclamp_avg"] == line["util_avg"]


def test_counters_agree_with_the_trace(booted: Booted, juno: Platform) -> None:
    table = counters(booted.text("stats.txt"))
    assert all(len(row) == len(juno.cpus) for row in table.values())
    total = {name: sum(row) for name, row in table.items()}
    assert total["feec_called"] > 0
    assert total["feec_called"] <= total["select_wakeup"]
    assert total["feec_moved"] + total["feec_none"] <= total["feec_called"]
    changes = [line["overutilized"] for line in lines_of(booted, "lisa__sched_overutilized")]
    rises = sum(1 for a, b in zip(["0", *changes], changes, strict=False) if (a, b) == ("0", "1"))
    assert total["overutilized_set"] >= rises
    assert abs(total["overutilized_set"] - total["overutilized_cleared"]) <= 1


def test_what_passes_in_idle_states_is_what_the_trace_tells(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """The driver's count of its cluster's CPUs against the order of the kernel's events."""
    script = [
        "trace-setup 1024 power:cpu_idle",
        f"write {TRACING}/tracing_on 1",
        "sleep-ms 100",
        "start",
        # Of each cluster several CPUs sleep and wake, at different times.
        *("sleep-ms 7", "sleep-ms 5") * 30,
        "stop",
        "trace-collect",
    ]
    # Which of two exits at a time is the first, the trace cannot tell.
    machine = slow(juno, first_exit_ms=EXIT_MS)
    done = boot(base_kernel.image, machine, script, tmp_path / "out")
    marks = {mark.id: mark for mark in read_marks(done.out / MARKS)}
    start, stop = marks[START], marks[STOP]
    window = Window(start.t_ns, stop.t_ns, start.t_ns - start.mono_ns)
    rows = pl.read_parquet(done.out / "counters.parquet").filter(
        (pl.col("cpu") >= 0) & (pl.col("t0_ns") >= start.t_ns) & (pl.col("t1_ns") <= stop.t_ns)
    )
    told = stretches(read_trace(done.out / TRACE), machine, window)
    for cpu in juno.cpus:
        for column, state in (("entry_ns", ENTERING), ("exit_ns", LEAVING)):
            spent = rows.filter(pl.col("cpu") == cpu)[column].sum()
            wanted = sum(each.t1_ns - each.t0_ns for each in told[cpu] if each.state == state)
            assert spent == pytest.approx(wanted, rel=0.002), (cpu, column)
    assert rows["entry_ns"].sum() > 1_000_000 * LAST_ENTRY_MS


def test_console_is_quiet_and_clean(booted: Booted) -> None:
    assert not re.search(r"WARNING|BUG|Oops|Call trace|error|fail", booted.console, re.IGNORECASE)


def test_cas_is_proven_before_and_after_work(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    cas = load_variants()["cas"]
    proofs = words(state_expectations(cas, juno))
    switches = [f"write {path} {value}" for path, value in cas.switches]
    script = [*switches, *proofs, "sleep-ms 200", *proofs]
    boot(base_kernel.image, juno, script, tmp_path / "out")


def test_wrong_state_fails_the_run(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    proofs = words(state_expectations(load_variants()["cas"], juno))
    with pytest.raises(EngineFailed, match=r"variant: 'energy_aware=0' is not in"):
        boot(base_kernel.image, juno, proofs, tmp_path / "out")


def test_boot_is_short(base_kernel: KernelArtefact, juno: Platform, tmp_path: Path) -> None:
    """In instructions, which no load of the host changes."""
    nothing = boot(base_kernel.image, juno, [], tmp_path / "out")
    assert nothing.run.instructions < 150e6
    assert nothing.run.sim_s < 1.0
