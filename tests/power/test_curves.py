# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers by curves: worked examples of pixel6, Perfetto's of pixel9, a slow reference for both."""

import random
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.energy import energy
from eascope.analysis.tables.beside import cut
from eascope.analysis.tables.split import AWAKE, LEAVING, Stretch
from eascope.configs.activity import load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform, read_platform
from eascope.experiments.controls import Controls
from eascope.host.errors import RequestError
from eascope.power.choice import power_model
from eascope.power.curves import CurvePower
from eascope.power.model import SHARED_PART, Interval, whole_component
from eascope.power.shared import with_shared
from tests.support.refusals import refusal

DEEP = 1


@pytest.fixture(scope="module")
def pixel9() -> Platform:
    return load_platform("pixel9")


def machine(
    platform: Platform, khz: dict[str, int], states: dict[int, int], length: int = 1000
) -> tuple[pl.DataFrame, dict[int, list[Stretch]]]:
    """Rows of one interval in which nothing changes; a CPU without a state is in the deepest."""
    rows, stretches = [], {}
    for cluster in platform.clusters:
        for cpu in (*cluster.cpus, SHARED_PART):
            state = states.get(cpu, DEEP)
            if cpu == SHARED_PART:
                asleep = all(states.get(cpu, DEEP) == DEEP for cpu in cluster.cpus)
                state = DEEP if asleep else AWAKE
            else:
                stretches[cpu] = [Stretch(0, length, state)]
            times = {AWAKE: "active_ns", 0: "idle0_ns", DEEP: "idle1_ns", LEAVING: "exit_ns"}
            row = dict.fromkeys(("entry_ns", *times.values()), 0) | {times[state]: length}
            own = {"cluster": cluster.index, "cpu": cpu, "t0_ns": 0, "t1_ns": length}
            rows.append(own | {"khz": khz[cluster.name]} | row)
    return pl.DataFrame(rows), stretches


def milliwatt(
    platform: Platform, khz: dict[str, int], states: dict[int, int], name: str = "wattson"
) -> dict[str, float]:
    """Power of each CPU and shared part that draws something."""
    rows, stretches = machine(platform, khz, states)
    model = CurvePower(platform, name)
    rows, keys = cut(rows, stretches, platform, model)
    spent = energy(rows, platform, model, None, keys)
    by_part = spent.group_by("cluster_name", "cpu").agg(pl.col("energy_fj").sum())
    parts = ((str(cpu) if cpu >= 0 else cluster, fj) for cluster, cpu, fj in by_part.iter_rows())
    return {name: fj / 1e6 for name, fj in parts if fj}


CLOCKS = {"little": 930_000, "mid": 1_328_000, "big": 500_000}


#: Clocks and states of CPUs; the powers are in __snapshots__.
PIXEL6: dict[str, tuple[dict[str, int], dict[int, int]]] = {
    "a mid decides": (CLOCKS, {0: AWAKE, 1: 0, 4: AWAKE, 5: 0}),
    "a mid in WFI does not decide": (CLOCKS, {0: AWAKE, 1: 0, 4: 0, 5: 0}),
    "the CPU of more power decides, although its supply is lower": (
        CLOCKS | {"big": 851_000},
        {0: AWAKE, 1: 0, 4: AWAKE, 5: 0, 6: AWAKE},
    ),
    "no little is awake": (CLOCKS, {4: AWAKE, 5: 0}),
    "Perfetto's own test of these curves": (  # 408.573903 mW of the shared part hold the L3's
        {"little": 1_401_000, "mid": 2_253_000, "big": 2_802_000},
        {0: 0, 1: 0, 2: 0, 3: 0, 4: AWAKE, 5: 0, 6: AWAKE, 7: 0},
    ),
}


@pytest.mark.parametrize("case", PIXEL6)
def test_an_instant_of_pixel6(pixel6: Platform, case: str, snapshot: SnapshotAssertion) -> None:
    assert milliwatt(pixel6, *PIXEL6[case]) == snapshot


G4 = {"little": 1_425_000, "mid": 357_000, "big": 1_164_000}
FAST = {"little": 1_950_000, "mid": 2_600_000, "big": 3_105_000}
ALL_BUSY = dict.fromkeys(range(8), AWAKE)


#: Lowest kHz of the unit, clocks and states of CPUs.
PIXEL9: dict[str, tuple[int, dict[str, int], dict[int, int]]] = {
    "wattson_cpuhp_devfreq_suspend, two": (820_000, G4, {0: AWAKE, 7: AWAKE}),
    "wattson_cpuhp_devfreq_suspend, one": (820_000, G4, {0: AWAKE}),
    "wattson_cpuhp_devfreq_suspend, none": (820_000, G4, {}),
    "wattson_tk4_pcmark": (1_800_000, FAST, ALL_BUSY | {0: 0, 7: 0}),
    "wattson_tk4_vm": (
        610_000,
        {"little": 1_849_000, "mid": 648_000, "big": 700_000},
        {0: AWAKE, 4: AWAKE},
    ),
    "the big votes for 1444 MHz while it runs": (610_000, FAST, {0: AWAKE, 4: AWAKE, 7: AWAKE}),
    "the mids for 1098 MHz": (610_000, FAST, {0: AWAKE, 4: AWAKE, 7: 0}),
    "sleepers for nothing": (610_000, FAST, {0: AWAKE, 4: 0}),
}


@pytest.mark.parametrize("case", PIXEL9)
def test_an_instant_of_pixel9(pixel9: Platform, case: str, snapshot: SnapshotAssertion) -> None:
    """The first five are Perfetto's own tests, by the names of their traces."""
    dsu_khz, clocks, states = PIXEL9[case]
    assert pixel9.curves is not None
    assert pixel9.curves.dsu is not None
    dsu = replace(pixel9.curves.dsu, lowest_khz=dsu_khz)
    platform = replace(pixel9, curves=replace(pixel9.curves, dsu=dsu))
    assert milliwatt(platform, clocks, states) == snapshot


def test_a_big_counts_as_busy_before_its_way_out_begins(pixel9: Platform) -> None:
    """Of 400 us, 220 are its way out of c2; the rest is the end of its sleep, if any."""
    big, model = pixel9.cluster("big"), CurvePower(pixel9, "wattson")
    for slept_ns, busy_us in ((500_000, 400), (100_000, 320)):
        way = Interval(7, 0, 220_000 + slept_ns, 700_000, 0, 220_000, (0, slept_ns))
        spent = model.interval_fj(big, way)
        assert spent[whole_component("idle_exit")] == busy_us * 1000 * 211_410
    rows, stretches = machine(pixel9, FAST, {0: AWAKE, 7: LEAVING}, 1_000_000)
    stretches[7] = [Stretch(0, 780_000, DEEP), Stretch(780_000, 1_000_000, LEAVING)]
    table, _ = cut(rows, stretches, pixel9, model)
    own = table.filter(pl.col("cpu") == 0).sort("active_ns")
    assert own["active_ns"].to_list() == [400_000, 600_000]


def test_the_unit_draws_while_its_shared_part_is_off(pixel9: Platform) -> None:
    """Only a bill without shared parts, or with none where all sleep, leaves the 49.23 mW out."""
    little, model = pixel9.cluster("little"), CurvePower(pixel9, "wattson")
    asleep = Interval(SHARED_PART, 0, 1000, 1_425_000, 0, 0, (0, 1000))
    spent = {
        shared: sum(with_shared(model, shared).interval_fj(little, asleep).values())
        for shared in ("stated", "off", "zero")
    }
    assert spent == {"stated": 47_890_000, "off": 0, "zero": 0}


def test_a_pair_without_a_row_is_billed_by_the_rails_supply(pixel6: Platform) -> None:
    """Littles of the phone are never so slow beside such a mid; 0.78125 V is the mid's floor."""
    clocks = CLOCKS | {"little": 574_000}
    low = milliwatt(pixel6, clocks, {0: AWAKE, 4: AWAKE})
    assert low == pytest.approx({"0": 64.113, "4": 146.82, "little": 19.0})
    smooth = milliwatt(pixel6, clocks, {0: AWAKE, 4: AWAKE}, "wattson-smooth")
    assert low == smooth
    assert any("pairs of clocks have no row" in x for x in CurvePower(pixel6, "wattson").notes)


def test_by_the_rail_the_higher_supply_decides(pixel6: Platform) -> None:
    """Little's own supply is 0.66875 V, the mid's floor 0.78125, the big's at 851 MHz none."""
    alone = milliwatt(pixel6, CLOCKS, {0: AWAKE}, "wattson-smooth")
    assert alone == pytest.approx({"0": 183 * 930 * 0.66875**2 / 1e3, "little": 9.75}, rel=1e-4)
    clocks = CLOCKS | {"big": 851_000}
    both = milliwatt(pixel6, clocks, {0: AWAKE, 4: AWAKE, 6: AWAKE}, "wattson-smooth")
    assert both["0"] == pytest.approx(183 * 930 * 0.78125**2 / 1e3, rel=1e-4)
    assert both["little"] == 19.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("board", "name"), [("pixel6", "wattson"), ("pixel6", "wattson-smooth"), ("pixel9", "wattson")]
)
def test_energies_are_those_of_instant_by_instant(board: str, name: str, seed: int) -> None:
    """Random states and clocks: `cut` and `energy` against sums over every instant."""
    platform = load_platform(board)
    draw, length, model = random.Random(seed), 1500, CurvePower(platform, name)
    states = {cpu: [draw.choice((AWAKE, 0, DEEP))] for cpu in platform.cpus}
    clocks = {cluster.index: [draw.choice(cluster.opps).khz] for cluster in platform.clusters}
    for _ in range(length - 1):
        for had in states.values():
            had.append(draw.choice((AWAKE, 0, DEEP)) if draw.random() < 0.02 else had[-1])
        for cluster in platform.clusters:
            ran = clocks[cluster.index]
            ran.append(draw.choice(cluster.opps).khz if draw.random() < 0.004 else ran[-1])
    stretches = {cpu: [Stretch(*run) for run in runs(had)] for cpu, had in states.items()}
    rows, total = [], 0
    for cluster in platform.clusters:
        asleep = [all(states[cpu][now] == DEEP for cpu in cluster.cpus) for now in range(length)]
        part = [DEEP if off else AWAKE for off in asleep]
        for begin, end, khz in runs(clocks[cluster.index]):
            for cpu in (*cluster.cpus, SHARED_PART):
                seen = (part if cpu == SHARED_PART else states[cpu])[begin:end]
                own = {"cluster": cluster.index, "cpu": cpu, "t0_ns": begin, "t1_ns": end}
                idle = {f"idle{state}_ns": seen.count(state) for state in (0, DEEP)}
                ways = dict.fromkeys(("entry_ns", "exit_ns"), 0)
                rows.append(own | {"khz": khz, "active_ns": seen.count(AWAKE)} | ways | idle)
    for now in range(length):
        votes = [
            vote
            for cluster in platform.clusters
            if any(states[cpu][now] == AWAKE for cpu in cluster.cpus)
            and (vote := model.vote(cluster, clocks[cluster.index][now])) is not None
        ]
        beside = max(votes, key=lambda vote: vote[0])[1] if votes else None
        for cluster in platform.clusters:
            row = model._row(cluster, clocks[cluster.index][now], beside)
            here = [states[cpu][now] for cpu in cluster.cpus]
            total += sum(row.active if state == AWAKE else row.idle[state] for state in here)
            total += row.static if any(state != DEEP for state in here) else 0
            total += row.interconnect
    table, keys = cut(pl.DataFrame(rows), stretches, platform, model)
    assert energy(table, platform, model, None, keys)["energy_fj"].sum() == total


def runs(values: list[int]) -> list[tuple[int, int, int]]:
    """Begin, end and value of each stretch of equal values."""
    edges = [0, *(at for at in range(1, len(values)) if values[at] != values[at - 1]), len(values)]
    return [(begin, end, values[begin]) for begin, end in pairwise(edges)]


def test_the_engines_times_are_kept_where_the_trace_has_others(pixel6: Platform) -> None:
    """The engine's WFI begins after the event: its sums are billed, shared as the trace says."""
    rows, stretches = machine(pixel6, CLOCKS, {0: AWAKE, 4: AWAKE})
    stretches[4] = [Stretch(0, 500, AWAKE), Stretch(500, 1000, 0)]
    stretches[0] = [Stretch(0, 900, AWAKE), Stretch(900, 1000, 0)]
    table, keys = cut(rows, stretches, pixel6, CurvePower(pixel6, "wattson"))
    own = table.filter(pl.col("cpu") == 0).sort("active_ns")
    assert [keys[number] for number in own["beside"]] == [None, ("mid", 1_328_000)]
    assert own["active_ns"].to_list() == [445, 555]  # 4/9 and 5/9 of 1000
    assert own["idle0_ns"].sum() == 0


def test_a_big_counts_as_busy_before_it_leaves_its_deepest_state(pixel6: Platform) -> None:
    """200 of the 220 us that the kernel is told: at its busy power, and the littles see it."""
    told = Controls(idle_exit="told").of_platform(pixel6)
    big, length = told.cluster("big"), 220_000
    clocks = CLOCKS | {"big": 2_802_000}
    rows, stretches = machine(told, clocks, {0: AWAKE, 6: LEAVING}, length)
    model = CurvePower(told, "wattson")
    table, keys = cut(rows, stretches, told, model)
    spent = energy(table, told, model, None, keys)
    exits = spent.filter((pl.col("cpu") == 6) & (pl.col("component") == "idle_exit"))
    assert exits["energy_fj"].sum() == 200_000 * 1_942_890 == 388_578_000_000
    own = table.filter(pl.col("cpu") == 0).sort("active_ns")
    assert own["active_ns"].to_list() == [20_000, 200_000]
    assert keys[own["beside"][1]] == ("big", 2_802_000)
    assert big.idle_states[-1].takes.exit_us == 220


@pytest.mark.parametrize("percent", [0, 25, 50])
def test_a_shorter_way_out_is_busy_as_long_as_it_takes(pixel6: Platform, percent: int) -> None:
    platform = Controls(idle_exit_percent=percent).of_platform(pixel6)
    big = platform.cluster("big")
    way_ns = big.idle_states[-1].takes.exit_us * 1000
    interval = Interval(6, 0, way_ns + 1000, 2_802_000, active_ns=1000, exit_ns=way_ns)
    spent = CurvePower(platform, "wattson").interval_fj(big, interval)
    assert spent[whole_component("idle_exit")] == min(way_ns, 200_000) * 1_942_890


WRONG = [
    ('name = "tensor"\n', 'name = "tensr"\n'),
    ("big = 200 }", "big = 3501 }"),
    ('[curves]\nname = "tensor"\n', '[unknown]\nname = "x"\n'),
    ('name = "tensor-g4"', 'name = "tensor"'),
    ("lowest_khz = 610_000", "lowest_khz = 611_000"),
    ('of = "big", khz = 2_147', 'of = "bog", khz = 2_147'),
    ('["wattson", "published"]', '["wattson", "wattson-smooth"]'),
]


def test_wrong_curves_are_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    texts = {name: load_platform(name).path.read_text() for name in ("pixel6", "pixel9")}
    lines = {}
    for old, new in WRONG:
        (name,) = (name for name, text in texts.items() if text.count(old) == 1)
        path = tmp_path / f"{name}.toml"
        path.write_text(texts[name].replace(old, new))
        lines[new] = refusal(read_platform, path).replace(str(tmp_path), "")
    assert lines == snapshot


def test_an_opp_without_a_row_is_refused_before_a_run(pixel6: Platform) -> None:
    mid = pixel6.cluster("mid")
    opps = (*mid.opps[:-1], replace(mid.opps[-1], khz=2_250_000))
    other = replace(
        pixel6, clusters=(pixel6.clusters[0], replace(mid, opps=opps), pixel6.clusters[2])
    )
    with pytest.raises(
        RequestError, match=r"tensor-1d.csv has no row for mid at 2250000 kHz; use "
    ):
        power_model(None, other, load_activity(pixel6))


#: As Perfetto has them; the middle row is less than the one before, as of a chip that throttled.
OWN = """\
device,policy,freq_khz,static,active,idle0,idle1
X1,0,450000,1.5,100.25,2,0
X1,0,800000,2,90,2,0
X1,0,950000,2,130,2,0
X1,4,600000,3,300,5,0
X1,4,1000000,3,400,5,0
X1,4,1200000,3,500,5,0
"""
OWN_PLATFORM = """\
base = "juno-r2"
summary = "its own curves"
remove = ["billing", "cluster.little.busy", "cluster.big.busy"]
billing = { offers = ["wattson", "published"], default = "wattson" }
curves.name = "./x/cpu_1d.csv"
curves.source = "own"
curves.early_us = {}
curves.policies = { little = 0, big = 4 }
sources.own = "measured: by its owner"
"""


def own_curves(folder: Path, text: str = OWN, **others: str) -> Platform:
    """juno-r2 with curves of its owner's."""
    (folder / "x").mkdir(parents=True)
    for name, content in {"cpu_1d.csv": text, **others}.items():
        (folder / "x" / name.replace("__", ".")).write_text(content)
    (folder / "mine.toml").write_text(OWN_PLATFORM)
    return load_platform(folder / "mine.toml")


def test_curves_may_be_ones_own(tmp_path: Path) -> None:
    platform = own_curves(tmp_path / "here")
    model = power_model(None, platform, load_activity(load_platform("juno-r2")))
    little = platform.cluster("little")
    for khz, active in ((450_000, 100_250), (800_000, 90_000)):
        spent = model.interval_fj(little, Interval(0, 0, 1000, khz, active_ns=1000))
        assert spent[whole_component("active")] == 1000 * active
    assert platform.curves
    assert [path.name for path in platform.curves.files] == ["cpu_1d.csv"]
    assert own_curves(tmp_path / "there").digest == platform.digest, "wherever it lies"
    changed = own_curves(tmp_path / "other", OWN.replace("90,2", "91,2"))
    assert changed.digest != platform.digest
    # Littles beside bigs, by the file beside it.
    head = "device,policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1,interconnect\n"
    rows = "".join(
        f"X1,0,{khz},4,{other},1,{khz // 10_000 + other // 100_000},1,0,0\n"
        for khz in (450_000, 800_000, 950_000)
        for other in (600_000, 1_000_000, 1_200_000)
    )
    alone = "".join(line for line in OWN.splitlines(True) if "X1,0" not in line)
    both = own_curves(tmp_path / "both", alone, **{"cpu_2d.csv": head + rows})
    model = power_model(None, both, load_activity(load_platform("juno-r2")))
    beside = Interval(0, 0, 1000, 450_000, active_ns=1000, beside=("big", 1_200_000))
    assert model.interval_fj(little, beside)[whole_component("active")] == 1000 * 57_000


DAMAGE = [
    *((",active,", ",activ,"), ("100.25", "-1"), ("100.25", "nan"), ("100.25", "inf")),
    ("100.25,2,0", "100.25"),
]


def test_a_damaged_file_of_curves_is_one_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    own_curves(tmp_path)
    lines = []
    for old, new in DAMAGE:
        (tmp_path / "x/cpu_1d.csv").write_text(OWN.replace(old, new, 1))
        lines.append(refusal(load_platform, tmp_path / "mine.toml"))
    (tmp_path / "x/cpu_1d.csv").unlink()
    # A long value is cut, wherever the folder's name ends.
    gone = refusal(load_platform, tmp_path / "mine.toml")
    lines.append(re.sub(r"name = .*: allowed", "name = PATH: allowed", gone))
    assert [line.replace(str(tmp_path), "") for line in lines] == snapshot
