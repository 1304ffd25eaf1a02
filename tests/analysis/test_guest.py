# SPDX-License-Identifier: GPL-2.0-or-later
"""A real guest's run against answers known beforehand, and its sources against each other."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.analysis.tables.idle import stays
from eascope.analysis.trace import read_trace
from eascope.analysis.window import read_window
from eascope.configs.platform import Platform
from eascope.kernels.build import kernel
from tests.support.command import ran
from tests.support.kernel_guest import boot
from tests.support.stress import guest_program

pytestmark = pytest.mark.guest

LOOPS = 137
#: The window begins with the task: it is woken to start, sleeps once, then LOOPS times.
PROBE = f"""
summary = "a task that sleeps a known number of times"
source = "eascope's own: known answers for the trace"
loads = "chosen so that the number of wake-ups is known"

[[task]]
name = "probe"
cpus = "little:1"
[[task.phase]]
loops = 1
run_us = 100
sleep_us = 300_000
[[task.phase]]
loops = {LOOPS}
run_us = 200
sleep_us = 2_000

[window]
warmup_ms = 200
until = "tasks-end"
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What ``eascope run --json`` prints for the scenario above."""
    root = tmp_path_factory.mktemp("probe")
    (root / "probe.toml").write_text(PROBE)
    return ran(root / "probe.toml", "--no-noise", EASCOPE_RUNS=str(root / "runs"))


def table(result: dict[str, Any], name: str) -> pl.DataFrame:
    (folder,) = (Path(result["run"]) / "derived").iterdir()
    return pl.read_parquet(folder / f"{name}.parquet")


def slices_of_probe(result: dict[str, Any]) -> pl.DataFrame:
    return table(result, "slices").filter(pl.col("task") == "probe").sort("t0_ns")


def test_n_sleeps_give_n_wakeups(probe: dict[str, Any]) -> None:
    assert probe["wakeups"] == {"probe": LOOPS + 2}
    assert table(probe, "latency").filter(pl.col("task") == "probe").height == LOOPS + 2
    # The thread is woken wherever the kernel likes; then rt-app gives it its CPU.
    first, *others = slices_of_probe(probe)["cpu"].to_list()
    assert set(others) == {1}
    assert probe["migrations"] == int(first != 1)


def test_every_burst_is_a_slice_of_the_work_given(probe: dict[str, Any]) -> None:
    slices = slices_of_probe(probe).filter(pl.col("cpu") == 1)
    # On a little CPU a burst takes 534 us or more, and the first one, with the thread's start,
    # 2 ms; the thread's end, which is a slice of its own, less than 200 us.
    bursts = slices.filter(pl.col("t1_ns") - pl.col("t0_ns") > 400_000)
    assert bursts.height == LOOPS + 1


def test_slices_lie_within_the_counters_active_time(probe: dict[str, Any]) -> None:
    """Two independent sources: the trace says who ran, the engine how long the CPU was awake."""
    spent = table(probe, "slices").group_by("cpu").agg((pl.col("t1_ns") - pl.col("t0_ns")).sum())
    run_by_cpu = dict(spent.iter_rows())
    of_cpus = table(probe, "intervals").filter(pl.col("cpu") >= 0)
    active = dict(of_cpus.group_by("cpu").agg(pl.col("active_ns").sum()).iter_rows())
    assert run_by_cpu[1] > 0.2e6 * LOOPS
    for cpu, ran_ns in run_by_cpu.items():
        assert ran_ns <= active[cpu]
    # What no thread covers is entry to and exit from idle and the timer interrupt, on a little CPU
    # at 450 MHz or more: at most 19 000 instructions at the kernel's rate.
    assert (active[1] - run_by_cpu[1]) / (LOOPS + 1) < 120_000


def test_requested_frequencies_are_those_that_the_engine_ran_at(
    probe: dict[str, Any], juno: Platform
) -> None:
    run = Path(probe["run"])
    trace, window = read_trace(run / "trace.dat"), read_window(run / "marks.json")
    requested = trace.table("cpu_frequency").with_columns(pl.col("t_ns") + window.offset_ns)
    frequency = table(probe, "frequency")
    for cluster, cpus in ((0, [0, 1, 2, 3]), (1, [4, 5])):
        requested_khz = set(requested.filter(pl.col("cpu_id").is_in(cpus))["state"].to_list())
        rows = frequency.filter(pl.col("cluster") == cluster)
        changed = rows.filter(pl.col("t0_ns") > window.t0_ns)["khz"].to_list()
        assert set(changed) <= requested_khz
    assert frequency.filter(pl.col("cluster") == 0).height > 1, "schedutil moved the littles"
    opps = {opp.khz for cluster in juno.clusters for opp in cluster.opps}
    assert set(frequency["khz"].to_list()) <= opps


def test_parts_of_a_real_run_sum_exactly(probe: dict[str, Any]) -> None:
    energy = probe["energy_j"]
    for part in ("cluster", "component", "task"):
        assert sum(energy[part].values()) == energy["total"]
    assert table(probe, "tasks")["energy_fj"].sum() == table(probe, "energy")["energy_fj"].sum()


def test_idle_choices_are_those_that_the_kernel_counts(juno: Platform, tmp_path: Path) -> None:
    """Its counters are read next to the window: the reader's own CPU has some stays more."""
    kinds = ("usage", "above", "below")
    files = {
        (cpu, state, kind): f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/{kind}"
        for cpu in juno.cpus
        for state in range(3)
        for kind in kinds
    }
    # A reader on CPU 2 whom no timer of its own wakes, after 1 ms or 9 ms.
    pipe = "while :; do usleep 1000; echo; usleep 9000; echo; done | taskset 4 cat >/dev/null"
    reports = [f"report {path}" for path in files.values()]
    done = boot(
        kernel().image,
        juno,
        [
            # Whoever minds latency leaves CPU 3 nothing but WFI, however long it sleeps.
            "write /sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us 50",
            *("trace-setup 4096 power:cpu_idle", "spawn sleepers /bin/sleepers 4"),
            "spawn ticks /bin/busybox taskset 8 /bin/ticker",
            *(f"file /tmp/pipe {len(pipe)}", pipe, "spawn pipe /bin/busybox sh /tmp/pipe"),
            *("write /sys/kernel/tracing/tracing_on 1", "trace-state", "sleep-ms 200"),
            *(*reports, "start", "sleep-ms 2000", "stop", *reports),
            *("trace-collect", "kill sleepers", "kill ticks", "kill pipe"),
        ],
        tmp_path / "out",
        programs={name: guest_program(name, tmp_path) for name in ("sleepers", "ticker")},
    )
    lines = [line.split(": ") for line in done.text("state.txt").splitlines()]
    read = [int(value) for _, value in lines]
    before, after = read[: len(files)], read[len(files) :]
    counted = {key: b - a for key, a, b in zip(files, before, after, strict=True)}
    seen = stays(read_trace(done.out / "trace.dat"), juno, read_window(done.out / "marks.json"))
    table = (
        seen.filter(pl.col("ended"))
        .group_by("cpu", "state")
        .agg(pl.len(), pl.col("too_deep", "too_shallow").sum())
    )
    own = {(cpu, state): numbers for cpu, state, *numbers in table.iter_rows()}
    # The kernel's two looks at the clock lie within the trace's. A sleep until the next tick, 4 ms,
    # is where state 1 becomes too shallow: 2.5 ms, and 1.5 ms in and out.
    at_edge = seen.filter((pl.col("length_ns") - 4_000_000).abs() < 1000).group_by("cpu", "state")
    edges = {(cpu, state): number for cpu, state, number in at_edge.len().iter_rows()}
    for key in {(cpu, state) for cpu, state, _ in files}:
        wanted = [counted[(*key, kind)] for kind in kinds]
        stays_of, above, below = own.get(key, [0, 0, 0])
        assert [stays_of, above] == pytest.approx(wanted[:2], abs=3), key
        assert below == pytest.approx(wanted[2], abs=3 + edges.get(key, 0)), key
    totals = [sum(numbers[kind] for numbers in own.values()) for kind in range(3)]
    assert totals[0] > 500
    assert totals[1] > 30
    assert totals[2] > 100
