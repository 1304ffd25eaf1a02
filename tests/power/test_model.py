# SPDX-License-Identifier: GPL-2.0-or-later
"""The derived model as a power model of the analysis, compared with the published energy model."""

from dataclasses import replace
from itertools import pairwise

import pytest

from eascope.configs.activity import Activity, KernelActivity, load_activity
from eascope.configs.billing import BILLED, ChipShared
from eascope.configs.core import list_cores
from eascope.configs.knobs import STATED
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError
from eascope.power.choice import MODELS, power_model, power_of
from eascope.power.derived import DerivedPower, whole
from eascope.power.em import capacities_of, em_rows, inefficient, records, text
from eascope.power.events import load_events
from eascope.power.given import given_model
from eascope.power.level import load_level
from eascope.power.model import SHARED_PART, Component, Interval, whole_component
from eascope.power.shared import with_shared
from eascope.power.stated import StatedPower
from tests.support.refusals import refusal


def test_busy_cpu_uses_what_the_kernel_is_told(juno: Platform) -> None:
    """(a) = (c): opp-microwatt is the energy of a CPU at 100 % of the reference activity."""
    model = DerivedPower(juno)
    second = 10**9
    for cluster in juno.clusters:
        level = load_level(cluster.core.name)
        for opp in cluster.opps:
            interval = Interval(cluster.cpus[0], 0, second, opp.khz, active_ns=second)
            parts = model.interval_fj(cluster, interval)
            power_uw = level.opp_microwatt(opp.khz, opp.uv, juno.temperature_c)
            assert sum(parts.values()) == power_uw * second


def test_idle_states_and_the_shared_part(juno: Platform) -> None:
    model, cluster = DerivedPower(juno), juno.clusters[1]
    opp = cluster.opps[-1]
    interval = Interval(cluster.cpus[0], 0, 1000, opp.khz, 0, exit_ns=100, idle_ns=(400, 500))
    parts = model.interval_fj(cluster, interval)
    level = load_level(cluster.core.name)
    leak = level.leakage_w("Core", opp.uv / 1e6, juno.temperature_c)
    assert parts[Component("idle_wfi", "idle")] == pytest.approx(400 * leak * 1e6, rel=1e-3)
    assert parts[Component("idle_cpu_sleep_0", "idle")] == 0
    busy = level.opp_microwatt(opp.khz, opp.uv, juno.temperature_c)
    assert parts[Component("idle_exit", "idle_exit")] == 100 * round(busy / 2)
    whole = replace(juno, idle=replace(juno.idle, transition_share=1.0))
    full = DerivedPower(whole)
    assert full.interval_fj(cluster, interval)[Component("idle_exit", "idle_exit")] == 100 * busy
    assert full.digest != model.digest
    shared = Interval(SHARED_PART, 0, 1000, opp.khz, active_ns=1000)
    on = model.interval_fj(cluster, shared)
    off = model.interval_fj(cluster, replace(shared, active_ns=0))
    watts = level.shared_w(opp.khz / 1e3, opp.uv / 1e6, juno.temperature_c)
    assert on[Component("shared", "l2")] == pytest.approx(watts["cluster_clock"] * 1e9, abs=1e3)
    assert on[Component("shared", "leakage")] == pytest.approx(watts["leakage"] * 1e9, abs=1e3)
    assert (
        off[Component("shared", "l2")]
        == off[Component("shared", "leakage")]
        == on[Component("shared", "idle")]
        == 0
    )
    assert 0 < off[Component("shared", "idle")] < sum(on.values()) / 10


def measured(platform: Platform, **events: float) -> Activity:
    """An activity whose busy loop was measured; ``__`` in a name stands for a dot."""
    counts = {name.replace("__", "."): value for name, value in events.items()}
    kernels = tuple(
        KernelActivity("busy_loop", cluster.name, {}, {"core.cycles": 1.0, **counts})
        for cluster in platform.clusters
    )
    return replace(load_activity(platform), measured=kernels)


def test_a_measured_activity_takes_the_place_of_the_reference(juno: Platform) -> None:
    cluster, second = juno.clusters[0], 10**9
    opp = cluster.opps[-1]
    interval = Interval(0, 0, second, opp.khz, active_ns=second)
    power = load_events(cluster.core.name)
    quarter = DerivedPower(juno, measured(juno, core__load_instructions=0.25))
    half = DerivedPower(juno, measured(juno, core__load_instructions=0.5))
    assert len({quarter.digest, half.digest, DerivedPower(juno).digest}) == 3
    ipc = load_activity(juno).ipc(cluster)
    more = {
        part: half.interval_fj(cluster, interval)[part] - value
        for part, value in quarter.interval_fj(cluster, interval).items()
    }
    wanted = ipc * opp.khz * 1e3 * 0.25 * power.energy_pj["core.load_instructions"]
    wanted *= power.level.power.dynamic_scale(opp.uv / 1e6)
    assert sum(more.values()) == pytest.approx(wanted * 1e3, rel=1e-4)
    assert more[Component("active", "clock")] == more[Component("active", "leakage")] == 0
    assert "busy loop, measured on gem5" in quarter.notes[0]


def test_a_cycle_with_fewer_instructions_has_fewer_events(juno: Platform) -> None:
    """The kernel executes fewer than the busy loop; clock and leakage are the cycle's."""
    cluster, second = juno.clusters[1], 10**9
    opp = cluster.opps[0]
    activity = measured(juno, core__load_instructions=0.25, core__ialu_accesses=0.5)
    model = DerivedPower(juno, activity)
    interval = Interval(4, 0, second, opp.khz, active_ns=second)
    busy = model.interval_fj(cluster, interval)
    loop = round(activity.ipc(cluster) * opp.khz * 1000)
    assert model.interval_fj(cluster, replace(interval, instructions=loop)) == busy
    quarter = model.interval_fj(cluster, replace(interval, instructions=loop // 4))
    for part, energy in busy.items():
        share = 1 if part in (("active", "clock"), ("active", "leakage")) else 0.25
        assert quarter[part] == pytest.approx(share * energy, rel=1e-6)
    assert sum(quarter.values()) < sum(busy.values())
    # The reference activity is a cycle's, whatever is executed in it.
    assumed = DerivedPower(juno)
    assert assumed.interval_fj(cluster, replace(interval, instructions=1)) == (
        assumed.interval_fj(cluster, interval)
    )


def test_counted_events_are_billed_as_the_event_table_says(juno: Platform) -> None:
    """(c) on gem5's rows: what was counted, each event once, and elided time by the activity."""
    model, cluster = DerivedPower(juno), juno.clusters[1]
    power, opp = load_events(cluster.core.name), cluster.opps[0]
    counts = {"core.ROB_reads": 5e5, "icache.read_accesses": 2e5, "core.ialu_accesses": 9e9}
    interval = Interval(4, 0, 10**6, opp.khz, active_ns=600_000, idle_ns=(400_000,))
    interval = replace(interval, on_ns=600_000, events=counts)
    parts = model.interval_fj(cluster, interval)
    cycles = 600_000 * opp.khz / 1e6
    volts = opp.uv / 1e6
    dynamic = power.dynamic_w({**counts, "core.cycles": cycles}, 1.0, volts)
    leakage = 600e-6 * power.level.leakage_w("Core", volts, juno.temperature_c)
    spent = sum(value for key, value in parts.items() if key.name == "active")
    assert spent == pytest.approx((dynamic + leakage) * 1e15, rel=1e-3)
    # Half of the active time was elided: that half has the reference activity's events instead.
    half = model.interval_fj(cluster, replace(interval, on_ns=300_000))
    power_uw = power.level.opp_microwatt(opp.khz, opp.uv, juno.temperature_c)
    reference = model.interval_fj(cluster, Interval(4, 0, 1, opp.khz, active_ns=1))
    assert sum(reference.values()) == power_uw
    always = reference[Component("active", "clock")] + reference[Component("active", "leakage")]
    more = sum(half.values()) - sum(parts.values())
    assert more == 300_000 * (power_uw - always)
    shared = Interval(SHARED_PART, 0, 1, opp.khz, active_ns=1)
    quiet = model.interval_fj(cluster, shared)
    loud = model.interval_fj(cluster, replace(shared, events={"L2.read_accesses": 1000.0}))
    scale = power.level.power.dynamic_scale(volts)
    wanted = 1000 * power.energy_pj["L2.read_accesses"] * scale * 1e3
    assert loud[Component("shared", "l2")] - quiet[Component("shared", "l2")] == pytest.approx(
        wanted, abs=1
    )


def test_parts_of_an_energy_are_whole_and_sum() -> None:
    assert whole({"a": 1.4, "b": 1.4, "c": 1.2}, 4) == {"a": 2, "b": 1, "c": 1}
    assert whole({"a": 2.0, "b": 0.0}, 2) == {"a": 2, "b": 0}
    assert sum(whole({"a": 0.5, "b": 0.5, "c": -0.25}, 1).values()) == 1


def test_inefficient_opps_are_the_kernels() -> None:
    assert inefficient([100, 200, 300], [10, 30, 60], [3]) == [False, False, False]
    assert inefficient([100, 200, 300], [20, 30, 60], [3]) == [True, False, False]
    # Equal cost: the higher OPP does the same work sooner.
    assert inefficient([100, 200, 300], [10, 20, 60], [3]) == [True, False, False]
    assert inefficient([100, 200, 300], [10, 30, 60], [1]) == [True, False, False], "0, 0, 600"


#: The little cluster of an RB5 by LISA's pull request 1892: kHz and uW.
RB5 = {
    **{300_000: 28864, 403_200: 38774, 480_000: 46183, 576_000: 55419, 652_800: 62732},
    **{748_800: 71968, 825_600: 82719, 902_400: 94168, 979_200: 113400, 1_056_000: 114700},
    1_132_800: 126190,
}


def test_costs_are_whole_numbers_and_marks_stay() -> None:
    """In a guest, 748.8 MHz is the lowest OPP that is requested, with either power at 652.8 MHz."""

    def bad(microwatts: dict[int, int], *capacities: int) -> list[int]:
        marks = inefficient(list(microwatts), list(microwatts.values()), capacities)
        return [khz for khz, marked in zip(microwatts, marks, strict=True) if marked]

    low = [300_000, 403_200, 480_000, 576_000]
    # 652.8 and 748.8 MHz both cost 2800, although the lower one needs less power per MHz.
    assert bad(RB5, 389) == [*low, 652_800, 979_200]
    less = RB5 | {652_800: 62716}
    assert bad(less, 389) == [*low, 979_200]
    assert bad(less, 554, 389) == [*low, 652_800, 979_200]


def test_capacities_of_the_energy_model(juno: Platform) -> None:
    assert [capacities_of(juno, cluster) for cluster in juno.clusters] == [(485, 383), (1024,)]


def test_em_table(juno: Platform) -> None:
    rows = em_rows(juno)
    assert [row.khz for row in rows] == [opp.khz for c in juno.clusters for opp in c.opps]
    assert len(text(rows).splitlines()) == 1 + len(rows)
    assert records(rows)[0]["published_uw"] == juno.clusters[0].opps[0].power_uw
    assert all(row.simulated_uw == row.derived_uw for row in rows), "the reference activity"
    assert all(row.given_uw == row.published_uw for row in rows)
    assert "given" not in text(rows)
    lazy = em_rows(juno, measured(juno, core__load_instructions=0.01))
    for row, lazy_row in zip(rows, lazy, strict=True):
        assert lazy_row.derived_uw == row.derived_uw > lazy_row.simulated_uw
        assert lazy_row.simulated_difference < lazy_row.difference


def test_em_table_of_what_the_kernel_is_told(juno: Platform) -> None:
    wrong = em_rows(juno, model=given_model("published", ["big=+20%"]))
    for row, usual in zip(wrong, em_rows(juno), strict=True):
        scale = 1.2 if row.cluster == "big" else 1
        assert row.given_uw == round(scale * row.published_uw)
        assert row.simulated_difference == pytest.approx(row.simulated_uw / row.given_uw - 1)
        assert (row.derived_uw, row.simulated_uw) == (usual.derived_uw, usual.simulated_uw)
    assert "  given (mW)  simulated (mW)" in text(wrong).splitlines()[0]
    assert all(
        row.given_uw == row.derived_uw for row in em_rows(juno, model=given_model("derived"))
    )
    with pytest.raises(RequestError, match="bigg"):
        em_rows(juno, model=given_model("published", ["bigg=+20%"]))


@pytest.mark.parametrize("core", list_cores())
def test_dynamic_power_is_the_anchors(core: str) -> None:
    """The calibrated core keeps its own level."""
    level = load_level(core)
    if core == "cortex-a15":
        clock = level.factors["clock"] * level.power.pj("core.cycles")
        assert (level.level, level.coefficient) == (1, None)
        assert level.dynamic_pj()["clock"] == pytest.approx(clock)
        return
    parts = level.active_w(1000, 0.9, 57)
    dynamic = sum(watts for name, watts in parts.items() if name != "leakage")
    assert level.coefficient is not None
    assert dynamic == pytest.approx(level.coefficient * 1000 * 0.81 * 1e-6)
    assert parts["leakage"] > 0


def test_opp_microwatt_rises_and_stays_near_the_published_model(juno: Platform) -> None:
    for cluster in juno.clusters:
        level = load_level(cluster.core.name)
        watts = [level.opp_microwatt(opp.khz, opp.uv, juno.temperature_c) for opp in cluster.opps]
        assert all(low < high for low, high in pairwise(watts))
        for opp, microwatts in zip(cluster.opps, watts, strict=True):
            # The published figure is dynamic power from the same coefficient: leakage comes on top.
            assert opp.power_uw < microwatts < 1.1 * opp.power_uw


def test_nobody_asks_the_platform_says(pixel6: Platform) -> None:
    assert power_of(pixel6) == "wattson"
    assert power_of(load_platform("juno-r2")) == "measured"
    assert power_model(None, pixel6, load_activity(pixel6)).name == "wattson"


def test_what_a_platform_does_not_offer_is_refused_with_what_it_does() -> None:
    for name in ("profile", "wattson"):
        wrong = refusal(power_of, load_platform("juno-r2"), name)
        assert wrong == f"--power {name}: juno-r2 offers measured (default), published, derived"


def test_every_power_has_a_model_and_the_registry_chooses_it(
    juno: Platform, juno_activity: Activity, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MODELS.keys() == BILLED.keys()
    toy = StatedPower(juno)
    monkeypatch.setitem(MODELS, "derived", lambda platform, activity, name: toy)
    assert power_model("derived", juno, juno_activity) is toy
    assert power_model("published", juno, juno_activity) is not toy


def test_every_offer_is_a_model_of_that_name_and_key(pixel6: Platform) -> None:
    activity = load_activity(pixel6)
    models = [power_model(name, pixel6, activity) for name in pixel6.billing.offers]
    assert [model.name for model in models] == list(pixel6.billing.offers)
    assert len({model.digest for model in models}) == len(models)
    assert isinstance(models[-1], DerivedPower)


def test_a_busy_cpu_is_billed_its_table(pixel6: Platform) -> None:
    big = pixel6.cluster("big")
    top = Interval(big.cpus[0], 0, 1000, 2_802_000, active_ns=1000)
    active = Component("active", "active")
    expected = {"published": 2_032_000, "profile": 978_863, "measured": 1_371_000}
    for name, power in expected.items():
        model = StatedPower(pixel6, name)
        assert model.interval_fj(big, top)[active] == 1000 * power
        assert model.busy_microwatt(big, 2_802_000) == power


def test_measured_power_holds_the_shared_parts(pixel6: Platform) -> None:
    """Whole-device power less idle: the cluster's part must not be billed twice."""
    big = pixel6.cluster("big")
    shared = Interval(SHARED_PART, 0, 1000, 2_802_000, active_ns=600)
    model = StatedPower(pixel6, "measured")
    assert set(model.interval_fj(big, shared).values()) == {0}
    assert any("not billed apart" in note for note in model.notes)
    assert any("interpolated at 738, 1098, 1328, 1598 MHz" in note for note in model.notes)
    assert set(StatedPower(pixel6, "profile").interval_fj(big, shared).values()) != {0}


MS = 1_000_000
#: A shared part that was on in 3 of 10 ms, and a busy CPU.
PART = Interval(SHARED_PART, 5 * MS, 15 * MS, 450_000, 3 * MS)
BUSY = Interval(0, 0, 10 * MS, 450_000, 4 * MS, idle_ns=(6 * MS, 0, 0))


def test_published_energies(juno: Platform, juno_activity: Activity) -> None:
    little, model = juno.clusters[0], power_model("published", juno, juno_activity)
    shared = whole_component("shared")
    assert model.interval_fj(little, PART) == {shared: 3 * MS * 30_500 + 7 * MS * 15_800}
    assert with_shared(model, "off").interval_fj(little, PART) == {shared: 3 * MS * 30_500}
    assert with_shared(model, "zero").interval_fj(little, PART) == {shared: 0}


@pytest.mark.parametrize("power", ["published", "derived"])
@pytest.mark.parametrize("shared", ["off", "zero"])
def test_of_every_model_the_shared_part_alone_changes(
    juno: Platform, juno_activity: Activity, power: str, shared: str
) -> None:
    little, model = juno.clusters[0], power_model(power, juno, juno_activity)
    other = with_shared(model, shared)
    assert other.interval_fj(little, BUSY) == model.interval_fj(little, BUSY)
    stated = sum(model.interval_fj(little, PART).values())
    on = sum(model.interval_fj(little, replace(PART, t1_ns=PART.t0_ns + 3 * MS)).values())
    assert sum(other.interval_fj(little, PART).values()) == (on if shared == "off" else 0)
    assert stated > on > 0
    assert set(other.interval_fj(little, PART)) == set(model.interval_fj(little, PART))
    assert other.digest != model.digest
    assert other.name == f"{power}, shared part {shared}"


def test_as_stated_is_the_model_itself(juno: Platform, juno_activity: Activity) -> None:
    model = power_model("published", juno, juno_activity)
    assert with_shared(model, STATED) is model
    with pytest.raises(RequestError, match=r"unknown shared power 'of'.*did you mean off"):
        with_shared(model, "of")


def test_the_chips_part_follows(juno: Platform, juno_activity: Activity) -> None:
    chip = replace(juno, shared=ChipShared(40_000, 5_000, "assumed: for a test"))
    model, shared = power_model("published", chip, juno_activity), whole_component("shared")
    assert model.chip_fj(3 * MS, 7 * MS) == {shared: 3 * MS * 40_000 + 7 * MS * 5_000}
    assert with_shared(model, "off").chip_fj(3 * MS, 7 * MS) == {shared: 3 * MS * 40_000}
    assert with_shared(model, "zero").chip_fj(3 * MS, 7 * MS) == {shared: 0}


def test_shared_power_has_a_clock_and_leakage() -> None:
    parts = load_level("cortex-a72").shared_w(1000, 0.9, 57)
    assert set(parts) == {"cluster_clock", "leakage"}
    assert all(watts > 0 for watts in parts.values())
