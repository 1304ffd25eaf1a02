# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries into idle states and the chip's sleep, from the trace; what they cost."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.derive import derive
from eascope.analysis.energy import energy
from eascope.analysis.records.cell import CELL
from eascope.analysis.tables.idle import ChipTimes, chip_times, stays
from eascope.analysis.tables.split import AWAKE, Stretch
from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.power.choice import power_model
from eascope.power.model import SHARED_PART, Component, Interval
from eascope.power.stated import StatedPower
from tests.support.synthetic import playback, reseal, write_run
from tests.support.tracefile import TraceEvent

US = 1_000
WINDOW = Window(t0_ns=0, t1_ns=1_000 * US, offset_ns=0)
C2 = 1


def busy(platform: Platform, cpu: int) -> pl.DataFrame:
    """An interval of 1 ms in which a CPU was busy."""
    cluster = platform.cluster_of(cpu)
    row = {"cluster": cluster.index, "cpu": cpu, "t0_ns": 0, "t1_ns": 1_000 * US}
    row |= {"khz": cluster.max_khz, "active_ns": 1_000 * US}
    return pl.DataFrame([row | dict.fromkeys(("entry_ns", "exit_ns", "idle0_ns", "idle1_ns"), 0)])


def test_stays_are_judged_as_the_kernel_judges_them(juno: Platform) -> None:
    """cluster-sleep-0 of Juno: 400 us in, 1200 us out, 2500 us to pay; cpu-sleep-0: 300, 2000.

    The kernel's figures; a big takes 18 + 15 us for cpu-sleep-0, so one of 37 us did not sleep.
    """
    lengths = [(0, 1_999), (0, 2_001), (1, 37), (1, 38), (1, 2_000), (1, 4_000), (2, 2_499)]
    rows, now = [], 10_000 * US
    for state, us in lengths:
        rows += [(now, 4, state), (now + us * US, 4, ENDS)]
        now += (us + 100) * US
    rows += [(0, 4, 2), (4_000 * US, 4, ENDS), (now, 4, 2)]
    table = pl.DataFrame(sorted(rows), orient="row", schema=["t_ns", "cpu_id", "state"])
    trace = Trace(Path("t"), pl.DataFrame(), {"cpu_idle": table})
    begin, end = 2_000 * US, now + 500 * US
    seen = stays(trace, juno, Window(begin + 7, end + 7, offset_ns=7)).sort("t_ns")
    assert seen["ns"].to_list() == [n * US for n in (2_000, *(us for _, us in lengths), 500)]
    assert seen["ended"].to_list() == [True] * 8 + [False]
    judged = seen.filter(pl.col("ended")).select("too_deep", "too_shallow", "interrupted").rows()
    assert [[*map(int, row)] for row in judged] == [
        [0, 0, 0],  # began before the window: 4000 us are enough
        *([0, 0, 0], [0, 1, 0]),  # WFI, whose way is 1 us
        *([1, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 0]),  # 4000 less 1500 us of the way are 2500
        [1, 0, 0],
    ]


@pytest.mark.parametrize("cmdline", ["nohlt", "quiet"])
def test_a_kernel_that_polls_has_no_measures_of_idle_states(
    cmdline: str, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """Its cpu_idle events name state 0 while the CPU is busy."""
    run = tmp_path / "run"
    more = [TraceEvent(at, 5, 0, "cpu_idle", (state, 5)) for at, state in ((1, 0), (9_000, ENDS))]
    cell = write_run(run, juno, replace(playback("mainline", 0), more=more))
    replace(cell, settings=replace(cell.settings, cmdline=cmdline)).write(run / CELL)
    reseal(run)
    result = derive(run, juno, juno_activity).result
    found = {name for name, value in result.encode().items() if value}
    assert ("idle_share" in found, "idle_stay_us" in found) == (cmdline != "nohlt",) * 2, found
    assert "cpu_busy" in found


@pytest.mark.parametrize(
    ("cmdline", "shares"),
    [
        ("quiet", {"0": (0, 0), "3": (0, 0), "4": (0, 0), "5": (0, 0.5)}),
        ("cpuidle.off=1", {"0": (0, 0), "3": (1, 0), "4": (0.25, 0), "5": (0.5, 0)}),
    ],
)
def test_without_a_cpuidle_driver_every_state_is_wfi(
    cmdline: str,
    shares: dict[str, tuple[float, float]],
    tmp_path: Path,
    juno: Platform,
    juno_activity: Activity,
) -> None:
    """The kernel traces it as state 1; the engine counts, and bills, state 0.

    CPU 0 runs and has no such event, CPU 3 sleeps all the time, CPU 4 since before the trace.
    """
    run = tmp_path / "run"
    schedule = playback("mainline", 0)
    quarter = schedule.window_ns // 4
    stays = ((0, 5, 1), (1, 5, ENDS), (1, 4, ENDS), (2, 5, 1), (3, 5, ENDS))
    events = [TraceEvent(n * quarter, cpu, 0, "cpu_idle", (state, cpu)) for n, cpu, state in stays]
    cell = write_run(run, juno, replace(schedule, more=events))
    replace(cell, settings=replace(cell.settings, cmdline=cmdline)).write(run / CELL)
    reseal(run)
    share = derive(run, juno, juno_activity).result.encode()["idle_share"]
    assert {cpu: (share[cpu]["0"], share[cpu]["1"]) for cpu in shares} == shares


def test_entries_and_exits_are_billed_at_half_of_a_busy_cpu(pixel6: Platform) -> None:
    big = pixel6.cluster("big")
    interval = Interval(6, 0, 1000, 2_802_000, 0, 100, (0, 700), 200)
    parts = StatedPower(pixel6, "profile").interval_fj(big, interval)
    assert parts[Component("idle_entry", "idle_entry")] == 200 * round(978_863 / 2)
    assert parts[Component("idle_exit", "idle_exit")] == 100 * round(978_863 / 2)
    assert parts[Component("idle_c2", "idle_c2")] == 0
    busy = replace(pixel6, idle=replace(pixel6.idle, transition_share=1.0))
    whole = StatedPower(busy, "profile")
    assert whole.interval_fj(big, interval)[Component("idle_exit", "idle_exit")] == 100 * 978_863
    assert whole.digest != StatedPower(pixel6, "profile").digest


def test_wfi_leaks_with_the_supply_and_the_temperature(pixel6: Platform) -> None:
    """Cubic in the supply (McPAT's law); a stated power knows neither."""
    big, wfi = pixel6.cluster("big"), Component("idle_wfi", "idle_wfi")

    def leaks(platform: Platform, khz: int) -> int:
        interval = Interval(6, 0, 1000, khz, 0, 0, (1000, 0))
        return StatedPower(platform, "profile").interval_fj(big, interval)[wfi]

    low, high = leaks(pixel6, 500_000), leaks(pixel6, 2_802_000)
    assert high / low == pytest.approx((1_056_250 / 500_000) ** 3, rel=1e-3)
    assert leaks(replace(pixel6, temperature_c=87), 500_000) > 2 * low
    stated = replace(pixel6, idle=replace(pixel6.idle, leakage="stated"))
    assert leaks(stated, 500_000) == leaks(stated, 2_802_000) == 1000 * 7_200


def test_the_chip_sleeps_while_all_cpus_do(pixel6: Platform) -> None:
    asleep = [Stretch(0, 1_000 * US, C2)]
    stretches = {cpu: asleep for cpu in pixel6.cpus}
    assert chip_times(stretches, pixel6, WINDOW) == ChipTimes(0, 1_000 * US, 1_000 * US)
    stretches[0] = [Stretch(0, 400 * US, C2), Stretch(400 * US, 1_000 * US, AWAKE)]
    stretches[7] = [Stretch(0, 300 * US, 0), Stretch(300 * US, 1_000 * US, C2)]
    times = chip_times(stretches, pixel6, WINDOW)  # asleep from 300 to 400 us
    assert (times.off_ns, times.on_ns) == (100 * US, 900 * US)
    sleepless = replace(pixel6.clusters[0], cluster_sleep=None)
    always_on = replace(pixel6, clusters=(sleepless, *pixel6.clusters[1:]))
    assert chip_times(stretches, always_on, WINDOW).off_ns == 0


@pytest.mark.parametrize(
    ("name", "on_uw"),
    [("profile", 47_625), ("published", 47_625), ("derived", 47_625), ("measured", 0)],
)
def test_the_chips_part_is_a_row_of_its_own(pixel6: Platform, name: str, on_uw: int) -> None:
    model = power_model(name, pixel6, load_activity(pixel6))
    table = energy(busy(pixel6, 0), pixel6, model, ChipTimes(0, 1_000, 400))
    chip = table.filter(pl.col("cluster_name") == "chip")
    assert chip.select("cluster", "cpu", "component", "energy_fj").rows() == [
        (-1, SHARED_PART, "shared", 600 * on_uw)
    ]
