# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that meet, repeat and are pinned each, in a real guest with three clusters."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.analysis.energy import QUANTA
from tests.support.command import eascope, ran
from tests.support.linux import events
from tests.support.scenarios import write

pytestmark = pytest.mark.guest

FRAME_US = 10_000
WINDOW_MS = 500
SCENARIO = f"""
summary = "a frame pipeline of two tasks and a pinned task on each CPU"
source = "eascope's own: known answers for meeting, repeating and pinning"
loads = "light, so that no frame is late and every CPU has room"

[[task]]
name = "ui"
cpus = "big:0"
repeat = "forever"
[[task.phase]]
loops = 1
run_us = 300
meet = ["drawn", "shown"]
period_us = {FRAME_US}
[[task.phase]]
loops = 1
run_us = 500
meet = ["drawn", "shown"]
period_us = {FRAME_US}

[[task]]
name = "render"
cpus = "big:1"
repeat = "forever"
[[task.phase]]
loops = 1
meet_before = "drawn"
run_us = 700
meet = "shown"
[[task.phase]]
loops = 1
meet_before = "drawn"
run_us = 400
meet = "shown"

[[task]]
name = "each"
cpus = "!big"
pin = "each"
[[task.phase]]
run_us = 100
period_us = 20_000

[window]
warmup_ms = 300
short_ms = {WINDOW_MS}
full_ms = 1_000
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What ``eascope run --json`` prints for the scenario above on pixel6."""
    root = tmp_path_factory.mktemp("meet")
    (root / "meet.toml").write_text(SCENARIO)
    return ran(root / "meet.toml", platform="pixel6", EASCOPE_RUNS=str(root / "runs"))


def test_every_frame_is_drawn_and_shown_in_time(result: dict[str, Any]) -> None:
    frames = WINDOW_MS * 1000 // FRAME_US
    assert abs(result["deadlines"]["ui"]["jobs"] - frames) <= 1
    assert result["deadlines"]["ui"]["missed"] == 0
    # For each frame: 'render' is woken when it is drawn; 'ui' when it is shown and by its timer.
    assert abs(result["wakeups"]["render"] - frames) <= 1
    assert abs(result["wakeups"]["ui"] - 2 * frames) <= 2


def test_phases_repeat_by_turns(result: dict[str, Any]) -> None:
    """Every second frame has the heavier part; the times are those of the lowest OPP."""
    # Where so light a load is but for a few ms.
    assert result["residency"]["big"]["500000"] > 0.95
    turns = result["activation_us"]["ui"]
    assert turns["p90"] / turns["p50"] == pytest.approx(500 / 300, rel=0.02)
    assert turns["p50"] == pytest.approx(300 * 2802 / 500, rel=0.02)
    assert result["speed"]["ui"] == pytest.approx(0.4 / 10, rel=0.1)
    assert result["speed"]["render"] == pytest.approx(0.55 / 10, rel=0.1)


def test_each_thread_stays_on_the_cpu_of_its_own(result: dict[str, Any]) -> None:
    (folder,) = (Path(result["run"]) / "derived").iterdir()
    placement = pl.read_parquet(folder / "placement.parquet").filter(pl.col("task") == "each")
    assert sorted(placement["cpu"]) == [0, 1, 2, 3, 4, 5]
    assert placement["share"].to_list() == [1.0] * 6
    assert placement["thread"].n_unique() == 6


def test_the_third_cluster_is_there(result: dict[str, Any]) -> None:
    assert set(result["residency"]) == {"little", "mid", "big"}
    assert len(result["cpu_busy"]) == 8
    assert result["eas"] is True


#: Two tasks that pace each other: how often they turn is not in the scenario.
PING_PONG = """
summary = "two tasks that wait for each other all the time"
source = "eascope's own"
loads = "as often as they can"
[[task]]
name = "ping"
[[task.phase]]
run_us = 20
meet = "net"
[[task]]
name = "pong"
[[task.phase]]
run_us = 20
meet = "net"
[window]
warmup_ms = 200
short_ms = 100
full_ms = 100
"""


def test_a_trace_that_does_not_fit_is_run_again_once_with_larger_buffers(tmp_path: Path) -> None:
    (tmp_path / "ping-pong.toml").write_text(PING_PONG)
    command = ["run", "--platform", "juno-r2", "--variant", "mainline", "--json"]
    command += ["--scenario", str(tmp_path / "ping-pong.toml")]
    first = eascope(*command)
    assert first.returncode == 0, first.stderr
    assert first.stderr.count("and the next run has larger ones") == 1
    second = eascope(*command)
    assert "to do" not in second.stderr
    assert json.loads(second.stdout)["run"] == json.loads(first.stdout)["run"]


def test_a_short_slice_does_not_wait_for_a_long_one(tmp_path: Path) -> None:
    """Beside a hog on its CPU, who asks for a short slice runs when it wakes up."""
    hog = 'cpus = "big:0"\n[[task.phase]]\nrun_us = 100_000\n[[task]]\nname = "short"\n'
    waits = []
    for slice_us in ("", "slice_us = 200"):
        file = write(
            tmp_path,
            task=f'{hog}cpus = "big:0"\n{slice_us}',
            phase="run_us = 300\nperiod_us = 10_000",
            window="warmup_ms = 300\nshort_ms = 1_000\nfull_ms = 1_000",
        )
        waits.append(ran(file)["latency_us"]["short"]["p95"])
    long_us, short_us = waits
    assert long_us > 1_000
    assert short_us < 100


#: A task that changes all that a phase may change, one of each class, and deadlines at the limit.
CLASSES = """
repeat = "forever"
uclamp = { min = 0 }
[[task.phase]]
loops = 5
run_us = 900
period_us = 10_000
uclamp = { min = 512 }
[[task.phase]]
loops = 5
run_us = 900
period_us = 10_000
nice = -5
uclamp = { max = 100 }
[[task.phase]]
loops = 5
run_us = 900
period_us = 10_000
policy = "fifo"
priority = 5
uclamp = { min = 7 }
[[task]]
name = "dl"
count = 4
policy = "deadline"
deadline = { runtime_us = 9_060, deadline_us = 10_000, period_us = 12_000 }
[[task.phase]]
run_us = 500
period_us = 12_000
[[task]]
name = "batch"
policy = "batch"
nice = 5
slice_us = 7_000
"""


def test_phases_change_attributes_and_every_class_runs(tmp_path: Path) -> None:
    """The agent reads batch and slice back; the kernel admits 99.9 % of what it may."""
    window = "warmup_ms = 300\nshort_ms = 500\nfull_ms = 500"
    scenario = write(tmp_path, task=CLASSES, window=window)
    seen = events(
        Path(ran(scenario, "--events", "uclamp", variant="cas-performance")["run"]) / "trace.dat"
    )
    stated = [event for event in seen if "rtapp_attrs: " in event.text]
    states = [event.text.split(": event=")[1] for event in stated if event.thread[:2] == "a-"]
    cycle = [
        *("policy policy=SCHED_OTHER prio=-5", "uclamp util_min=0", "uclamp util_max=100"),
        *("policy policy=SCHED_FIFO prio=5", "uclamp util_min=7", "uclamp util_max=1024"),
        *("policy policy=SCHED_OTHER prio=0", "uclamp util_min=512", "uclamp util_max=1024"),
    ]
    first = states.index(cycle[0])
    assert states[first : first + 18] == 2 * cycle
    assert sum("policy=dl runtime=9060000 deadline=10000000" in event.text for event in stated) == 4
    # Changes alone do not say what a clock is that never changes.
    assert not [event for event in seen if event.text.startswith("cpu_frequency:")]
    marks = [event for event in seen if event.text.startswith("print:")]
    clocks = [
        f"{line.format(cpu)}{khz}{end.format(cpu)}"
        for cpu, khz in enumerate([950_000] * 4 + [1_200_000] * 2)
        for line, end in (
            ("cpu_frequency_devlib: state=", " cpu_id={}"),
            ("C|1|cpu{} clock, kHz|", ""),
        )
    ]
    assert [event.text.split("buf=")[1] for event in marks[1:13]] == clocks
    assert marks[0].text.endswith("eascope: online = 0-5")
    # All of them come before the first visit, which may change a clock.
    visits = [event for event in seen if event.ns <= marks[13].ns]
    visited = [event for event in visits if event.text.startswith("sched_switch:")]
    assert {event.cpu for event in visited if event.ns > marks[12].ns} == {*range(6)}


def test_threads_of_the_kernel_and_interrupts_have_names(tmp_path: Path) -> None:
    """What is no task's is split without a remainder; a pinned rcu_preempt runs on its CPU."""
    more = '[kernel_threads]\nrcu_preempt = "little:2"\n'
    scenario = write(
        tmp_path,
        task='count = 3\nclock = "exponential"',
        phase="run_us = 300\nperiod_us = 3_000",
        more=more,
        window="warmup_ms = 300\nshort_ms = 1_000\nfull_ms = 1_000",
    )
    printed = ran(scenario, "--dvfs", "board", "--events", "irq")
    # Each division of an energy may round a part by one quantum.
    other = pytest.approx(printed["energy_j"]["task"]["(other)"], rel=0, abs=1 / QUANTA)
    assert sum(printed["kernel_j"].values()) == other
    assert {"sugov", "no_thread"} <= printed["kernel_j"].keys()
    assert printed["kernel_run_s"]["sugov"] > 0
    for interrupt in ("arch_timer", "IPI"):
        assert 0 < printed["irq_s"][interrupt] < 0.5
        assert 0 < printed["irq_j"][interrupt] < printed["energy_j"]["total"]
    shown = events(Path(printed["run"]) / "trace.dat")
    assert {event.cpu for event in shown if event.thread.startswith("rcu_preempt-")} == {2}


RARE = """
[[interrupt]]
name = "nic"
cpus = "little:3"
period_us = 100_000
work_us = 100
"""


@pytest.mark.kernels("base+io+irq")
def test_a_task_that_waits_for_a_device_is_boosted(tmp_path: Path) -> None:
    """The same rest as a sleep and as I/O: the device answers on time, and schedutil boosts."""
    stays, clocks = [], []
    for rest in ("io_us", "sleep_us"):
        file = write(
            tmp_path,
            task='cpus = "big:0"',
            phase=f"run_us = 50\n{rest} = 700",
            # Rare ones elsewhere: the kernel of the tests of interrupts is built once for both.
            more=RARE if rest == "io_us" else "",
            window="warmup_ms = 300\nshort_ms = 500\nfull_ms = 500",
        )
        printed = ran(file, "--no-noise")
        clocks.append(printed["mean_mhz"]["big"])
        (folder,) = (Path(printed["run"]) / "derived").iterdir()
        own = pl.read_parquet(folder / "slices.parquet").filter(pl.col("task") == "a")
        rests = own.sort("t0_ns").select((pl.col("t0_ns").shift(-1) - pl.col("t1_ns")) / 1000)
        stays.append(rests.to_series().drop_nulls().median())
    assert stays == pytest.approx([700, 700], abs=150)
    assert clocks[0] > 1.2 * clocks[1]


HOTPLUG = """
[[event]]
at_ms = 200
offline = "big:1"
[[event]]
at_ms = 400
write = ["/sys/devices/system/cpu/cpufreq/policy4/scaling_max_freq", "600000"]
[[event]]
at_ms = 600
online = "big:1"
[[expect]]
variant = "mainline"
statement = "stage_power_w.2.big < 0.7 * stage_power_w.1.big and offline.5 > 20%"
source = "here"
"""


def test_an_event_that_is_done_behind_the_window_ends_the_run(tmp_path: Path) -> None:
    scenario = write(
        tmp_path,
        phase="run_us = 1_000\nperiod_us = 8_000",
        more='[[event]]\nat_ms = 99\noffline = "big:1"\n',
        window="warmup_ms = 200\nshort_ms = 100\nfull_ms = 100",
    )
    done = eascope(
        *("run", "--platform", "juno-r2", "--variant", "mainline", "--scenario", scenario),
        EASCOPE_RUNS=str(tmp_path / "runs"),
    )
    assert done.returncode == 1
    assert "does at 99 ms was done" in done.stderr


def test_a_cpu_goes_offline_and_a_cap_falls_within_the_window(tmp_path: Path) -> None:
    """Tables, energies and statements follow the events; what is off has no power of its own."""
    scenario = write(
        tmp_path,
        task='count = 2\ncpus = "big"',
        phase="run_us = 5_000\nperiod_us = 8_000",
        more=HOTPLUG,
        window="warmup_ms = 300\nshort_ms = 800\nfull_ms = 800",
    )
    printed = ran(scenario, "--no-noise", "--events", "lisa__sched_cpu_capacity")
    assert [statement["met"] for statement in printed["expect"]] == [True]
    assert [*printed["offline"]] == ["5"]
    # The kernel takes up to 90 ms to take a CPU away.
    assert 0.35 < printed["offline"]["5"] < 0.52
    mhz, power = printed["stage_mhz"], printed["stage_power_w"]
    assert mhz["0"]["big"] > 900
    assert mhz["3"]["big"] < 610
    lengths = [ms / 1000 for ms in printed["stage_ms"].values()]
    # A CPU is away from when the kernel has taken it away, and no longer when it is to come back.
    assert 0.2 < lengths[0] < 0.3
    assert lengths[0] + lengths[1] == pytest.approx(0.4, abs=0.002)
    assert lengths[2] == pytest.approx(0.2, abs=0.002)
    assert sum(lengths) == pytest.approx(printed["window_s"])
    assert sum(power[str(n)]["big"] * s for n, s in enumerate(lengths)) == pytest.approx(
        printed["energy_j"]["cluster"]["big"]
    )
    trace = events(Path(printed["run"]) / "trace.dat")
    marks = [event.ns for event in trace if "eascope: /" in event.text]
    # The cap is pressure on the capacity, by which the scheduler places and balances.
    said = [event for event in trace if "cpu=4 capacity=" in event.text]
    for shown, since, until in ((1024, 0, marks[1]), (512, marks[1] + 10_000_000, marks[2])):
        inside = {event.text.split()[2] for event in said if since < event.ns < until}
        assert inside == {f"capacity={shown}"}
    (folder,) = (Path(printed["run"]) / "derived").iterdir()
    begin = pl.read_parquet(folder / "frequency.parquet")["t0_ns"].min()
    own = pl.read_parquet(folder / "slices.parquet").filter(pl.col("cpu") == 5)
    gone = own.with_columns((pl.col("t0_ns", "t1_ns") - begin) / 1e6)
    assert gone.filter((pl.col("t0_ns") < 590) & (pl.col("t1_ns") > 300)).height == 0
    assert gone.filter(pl.col("t0_ns") > 600).height
    assert gone.filter(pl.col("t1_ns") < 200).height
    energy = pl.read_parquet(folder / "energy.parquet").filter(
        (pl.col("cpu") == 5) & (pl.col("component") == "idle_cluster_sleep_0")
    )
    assert energy["energy_fj"].sum() == 0
    busy = printed["stage_busy"]["2"]["big"]
    assert busy == pytest.approx(0.5, abs=0.03)  # one of two CPUs, which has work all the time


TURBO = """
base = "juno-r2"
summary = "Juno with a turbo OPP"
dvfs.boost = {}
cluster.big.opps.1200000.turbo = true
"""
BOOST = """
[[event]]
at_ms = {}
write = ["/sys/devices/system/cpu/cpufreq/boost", "{}"]
"""
#: Of both bigs, which are busy, by their clock.
WATTS = {1000: 0.7837, 1200: 1.1576}


@pytest.mark.parametrize(
    ("variant", "at_boot", "mhz", "capacities"),
    [
        ("cas-performance", False, (1000, 1200, 1000), (1024, 1024, 1024)),
        # It asks for no more than the capacity, which is that at 1000 MHz.
        ("mainline", False, (1000, 1000, 1000), (1024, 1024, 1024)),
        ("mainline", True, (1200, 1000, 1200), (1024, 853, 1024)),
        pytest.param(  # 7.3 limits the policy in another way
            "cas-performance@7.3",
            True,
            (1200, 1000, 1200),
            (1024, 853, 1024),
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_boost_switch_is_written_within_the_window(
    tmp_path: Path,
    variant: str,
    at_boot: bool,
    mhz: tuple[int, ...],
    capacities: tuple[int, ...],
) -> None:
    """Clocks and energies follow; the capacity is that at the fastest OPP of the boot."""
    (platform := tmp_path / "turbo.toml").write_text(TURBO.format(str(at_boot).lower()))
    scenario = write(
        tmp_path,
        task='cpus = "big"\npin = "each"',
        phase="run_us = 10_000\nperiod_us = 8_000",
        more=BOOST.format(200, 1 - at_boot) + BOOST.format(500, int(at_boot)),
        window="warmup_ms = 300\nshort_ms = 800\nfull_ms = 800",
    )
    printed = ran(
        scenario,
        "--no-noise",
        "--power",
        "published",
        "--events",
        "lisa__sched_cpu_capacity",
        variant=variant,
        platform=str(platform),
    )
    for stage, clock in enumerate(mhz):
        # schedutil follows at its next tick: 4 of 300 ms at the other clock.
        assert printed["stage_mhz"][str(stage)]["big"] == pytest.approx(clock, rel=0.004)
        power = printed["stage_power_w"][str(stage)]["big"]
        assert power == pytest.approx(WATTS[clock], rel=0.01)
    trace = events(Path(printed["run"]) / "trace.dat")
    first, last = (event.ns for event in trace if "eascope: /" in event.text)
    said = [event for event in trace if "cpu=4 capacity=" in event.text]
    for capacity, since, until in zip(
        capacities, (0, first + 10**7, last + 10**7), (first, last, trace[-1].ns), strict=True
    ):
        inside = {event.text.split()[2] for event in said if since < event.ns < until}
        assert inside == {f"capacity={capacity}"}
