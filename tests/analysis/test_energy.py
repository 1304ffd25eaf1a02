# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy against cases computed by hand, from the powers of platform juno-r2."""

from collections.abc import Callable

import polars as pl
import pytest

from eascope.analysis.derive import Derived
from eascope.analysis.energy import FJ_PER_J, active_shares, covered, energy, joules
from eascope.configs.platform import Cluster, Platform
from eascope.power.model import (
    SHARED_PART,
    Energies,
    Interval,
    OwnState,
    interval_of,
    whole_component,
)
from eascope.power.stated import StatedPower
from tests.support.synthetic import MS, Burst, Schedule

UW_S = 10**9  # fJ of 1 uW for 1 s
LOW = {0: [(0, 450_000)], 1: [(0, 600_000)]}
#: A CPU in WFI, in uW.
LITTLE, BIG = 5_900, 20_600
#: All six CPUs in WFI and both clusters on for 1 s.
IDLE_S = {"wfi": (4 * LITTLE + 2 * BIG) * UW_S, "shared": (30_500 + 36_000) * UW_S}

Make = Callable[[Schedule], Derived]


def fj(run: Derived, component: str, cpu: int | None = None) -> int:
    """Exact energy of a component, of all CPUs or one."""
    rows = run.table("energy").filter(pl.col("component") == component)
    if cpu is not None:
        rows = rows.filter(pl.col("cpu") == cpu)
    return int(rows["energy_fj"].sum())


def test_one_busy_cpu_at_a_fixed_opp(derived: Make) -> None:
    run = derived(Schedule(1_000 * MS, [Burst("a", 0, 0, 400 * MS, latency_ns=0)], LOW))
    # 0.4 s at 34.7 mW on CPU 0, which otherwise waits in WFI.
    assert fj(run, "active") == fj(run, "active", 0) == 34_700 * UW_S * 4 // 10
    assert fj(run, "idle_wfi") == IDLE_S["wfi"] - LITTLE * UW_S * 4 // 10
    assert fj(run, "shared") == IDLE_S["shared"]
    assert fj(run, "idle_exit") == 0


def test_an_opp_change_in_the_middle(derived: Make) -> None:
    steps = {0: [(0, 450_000)], 1: [(0, 600_000), (250 * MS, 1_200_000)]}
    run = derived(Schedule(1_000 * MS, [Burst("a", 0, 4, 500 * MS, latency_ns=0)], steps))
    # 0.25 s at 186.9 mW, 0.25 s at 560 mW; the shared part 36 then 77.6 mW.
    assert fj(run, "active", 4) == (186_900 + 560_000) * UW_S // 4
    big = run.table("energy").filter((pl.col("component") == "shared") & (pl.col("cluster") == 1))
    assert big["energy_fj"].sum() == 36_000 * UW_S // 4 + 77_600 * UW_S * 3 // 4
    assert run.result.opp_transitions_per_s == {"little": 0.0, "big": 1.0}
    assert run.result.residency["big"] == {"600000": 0.25, "1000000": 0.0, "1200000": 0.75}
    assert run.result.mean_mhz["big"] == pytest.approx(1050)


def test_idle_states(derived: Make) -> None:
    bursts = [Burst("a", 0, 2, 100 * MS, latency_ns=0)]
    run = derived(Schedule(1_000 * MS, bursts, LOW, deep={0, 1, 5}))
    # CPUs 0, 1 and 5 sleep at 0 mW; 2 waits for 0.9 s, 3 and 4 for 1 s.
    assert fj(run, "idle_cpu_sleep_0") == 0
    assert fj(run, "idle_wfi") == LITTLE * UW_S * 9 // 10 + (LITTLE + BIG) * UW_S


def test_idle_exit_is_a_component_of_its_own(derived: Make) -> None:
    bursts = [Burst("a", k * 100 * MS, 1, 10 * MS, latency_ns=MS) for k in range(10)]
    with_exit = derived(Schedule(1_000 * MS, bursts, LOW, exit_ns=MS))
    without = derived(Schedule(1_000 * MS, bursts, LOW))
    # Ten exits of 1 ms at half the power of the active CPU, taken out of its idle time.
    assert fj(with_exit, "idle_exit", 1) == 34_700 * UW_S // 200
    assert fj(with_exit, "idle_wfi") == fj(without, "idle_wfi") - LITTLE * UW_S // 100
    assert fj(with_exit, "active") == fj(without, "active")
    assert with_exit.result.cpu_busy[1] == pytest.approx(0.11)


def test_the_shared_part_follows_the_clusters_sleep(platform: Platform) -> None:
    model = StatedPower(platform)
    interval = Interval(cpu=SHARED_PART, t0_ns=0, t1_ns=1_000, khz=800_000, active_ns=300)
    energies = model.interval_fj(platform.clusters[0], interval)
    assert energies == {("shared", "shared"): 300 * 49_400 + 700 * 15_800}


def test_power_in_an_interval_whose_frequency_is_no_opp(platform: Platform) -> None:
    interval = Interval(cpu=0, t0_ns=0, t1_ns=1, khz=451_000, active_ns=1)
    with pytest.raises(KeyError, match="451000"):
        StatedPower(platform).interval_fj(platform.clusters[0], interval)


def test_a_row_is_read_by_its_columns() -> None:
    row = {"cluster": 0, "cluster_name": "little", "cpu": 1, "t0_ns": 5, "t1_ns": 15, "uv": 1}
    row |= {"khz": 800_000, "active_ns": 4, "exit_ns": 1, "idle0_ns": 2, "idle1_ns": 3}
    row["entry_ns"] = 6
    assert interval_of(row) == Interval(1, 5, 15, 800_000, 4, 1, (2, 3), 6)
    counted = {"instructions": 7, "on_ns": 3, "core.cycles": 2.5, "icache.read_misses": None}
    interval = interval_of(row | counted)
    assert (interval.instructions, interval.on_ns) == (7, 3)
    assert interval.events == {"core.cycles": 2.5}
    assert (interval.idle(1), interval.idle(2)) == (3, 0)


def busy_run(derived: Make) -> Derived:
    """Three tasks, one of them on two CPUs, with odd times so that nothing divides evenly."""
    bursts = [
        Burst("a", 1_234_567, 0, 333_333_333, latency_ns=7),
        Burst("b", 2_345_678, 4, 123_456_789, latency_ns=11),
        Burst("a", 400_000_001, 5, 77_777_777, latency_ns=13),
        Burst("c", 350_000_003, 0, 99_999_999, latency_ns=17),
    ]
    steps = {
        0: [(0, 450_000), (100_000_001, 800_000), (300_000_007, 950_000)],
        1: [(0, 600_000), (60_000_013, 1_000_000), (430_000_019, 1_200_000)],
    }
    return derived(Schedule(999_999_937, bursts, steps, deep={3}, exit_ns=5))


def test_parts_sum_to_the_total_exactly(derived: Make) -> None:
    run = busy_run(derived)
    energy = run.result.energy_j.encode()
    total_fj = int(run.table("energy")["energy_fj"].sum())
    assert int(run.table("tasks")["energy_fj"].sum()) == total_fj
    # Floating-point sums, in any order, without tolerance.
    for part in ("cluster", "component", "task"):
        assert sum(energy[part].values()) == energy["total"]
        assert sum(reversed(energy[part].values())) == energy["total"]
    for cluster, parts in energy["cluster_component"].items():
        assert sum(parts.values()) == energy["cluster"][cluster]
    assert abs(energy["total"] - total_fj / FJ_PER_J) < 1e-12


def test_energy_of_tasks_is_what_their_slices_cover(derived: Make) -> None:
    run = busy_run(derived)
    spent = dict(run.table("tasks").select("task", "energy_fj").iter_rows())
    # b runs on CPU 4: from 2 345 689 to 60 000 013 at 600 MHz, then to 125 802 478 at 1 GHz.
    low_ns = 60_000_013 - 2_345_689
    high_ns = 2_345_689 + 123_456_789 - 60_000_013
    assert spent["b"] == low_ns * 186_900 + high_ns * 371_900
    assert spent["(other)"] == 0


def test_active_time_that_no_slice_covers_is_other(derived: Make, platform: Platform) -> None:
    class Doubled(StatedPower):
        pass

    run = derived(Schedule(1_000 * MS, [Burst("a", 0, 0, 400 * MS, latency_ns=0)], LOW))
    intervals = run.table("intervals").with_columns(
        (pl.col("active_ns") + pl.when(pl.col("cpu") == 0).then(MS).otherwise(0)).alias(
            "active_ns"
        ),
        (pl.col("idle0_ns") - pl.when(pl.col("cpu") == 0).then(MS).otherwise(0)).alias("idle0_ns"),
    )
    spent = energy(intervals, platform, Doubled(platform))
    share = active_shares(covered(intervals, run.table("slices")), spent)
    unclaimed = share.filter(pl.col("pid").is_null() & (pl.col("cpu") == 0))
    assert unclaimed["energy_fj"].sum() == 42_400 * MS


def test_another_model_can_take_the_place(derived: Make, platform: Platform) -> None:
    class PerCycle(OwnState):
        name = "per-cycle"
        summary = "1 pJ per cycle"
        notes: tuple[str, ...] = ()
        digest = "x"

        def interval_fj(self, cluster: Cluster, interval: Interval) -> Energies:
            if interval.cpu == SHARED_PART:
                return {whole_component("shared"): 0}
            return {whole_component("active"): interval.active_ns * 1_000}

        def chip_fj(self, on_ns: int, off_ns: int) -> Energies:
            return {}

    run = derived(Schedule(1_000 * MS, [Burst("a", 0, 0, 400 * MS, latency_ns=0)], LOW))
    table = energy(run.table("intervals"), platform, PerCycle())
    assert table["energy_fj"].sum() == 400 * MS * 1_000


@pytest.mark.parametrize("parts", [[], [1], [10**15], [1, 2, 3], [333_333_333_333] * 3, [0, 0]])
def test_joules_sum_to_the_rounded_total(parts: list[int]) -> None:
    shared = joules(list(enumerate(parts)))
    total = sum(parts)
    assert sum(shared.values()) == pytest.approx(total / FJ_PER_J, abs=2**-41)
    for number, spent in enumerate(parts):
        assert abs(shared[number] - spent / FJ_PER_J) <= 2**-40
