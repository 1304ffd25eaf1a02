# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms with overrides: what is computed, and what is refused with one line."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import device_tree_source, opps_of
from eascope.configs.overrides import number_of, overridden
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.qemu.layout import LAYOUT
from eascope.host.errors import RequestError
from tests.support.refusals import refusal


def derived(folder: Path, base: str, settings: dict[str, Any], name: str = "mine") -> Platform:
    """The platform that the loader reads from the text."""
    text = overridden(base, load_platform(base), settings).text
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_platform(path)


def test_what_the_base_has_is_the_base(tmp_path: Path, juno: Platform) -> None:
    same = derived(tmp_path, "juno-r2", {"little.cpus": 4, "dvfs.rate_limit_us": 500})
    assert same.clusters == juno.clusters
    assert device_tree_source(same, LAYOUT) == device_tree_source(juno, LAYOUT)


def test_cpus_and_opps(tmp_path: Path, juno: Platform) -> None:
    platform = derived(tmp_path, "juno-r2", {"little.cpus": 2, "big.opps": "every 2nd"})
    little, big = platform.clusters
    assert (little.cpus, big.cpus) == ((0, 1), (2, 3))
    assert little.opps == juno.clusters[0].opps
    assert [opp.khz for opp in big.opps] == [600_000, 1_200_000]
    assert [opp.power_uw for opp in big.opps] == [181_500, 540_000]
    assert all(opp.source.startswith("assumed: some of the OPPs") for opp in big.opps)


def test_a_machine_of_one_opp(tmp_path: Path) -> None:
    """At 400 MHz, the clock of their source, tc2-like's capacities differ by the cores alone."""
    one = derived(tmp_path, "tc2-like", {"little.opps": [400_000], "big.opps": [400_000]})
    assert set(one.capacities[:4]) == {516}
    assert set(one.capacities[4:]) == {1024}
    assert set(load_platform("tc2-like").capacities[:4]) == {430}


def test_new_opps_lie_between_those_of_the_base(tmp_path: Path) -> None:
    """0.8 GHz is half way from 0.6 to 1.0 GHz, so its voltage is the mean; power is by f V^2."""
    big = derived(tmp_path, "juno-r2", {"big.opps": [600_000, 800_000, 1_200_000]}).cluster("big")
    low, new, high = big.opps
    assert (low.khz, new.khz, high.khz) == (600_000, 800_000, 1_200_000)
    assert new.uv == 860_000
    load = {khz: khz * volts**2 for khz, volts in ((600, 0.82), (800, 0.86), (1000, 0.9))}
    share = (load[800] - load[600]) / (load[1000] - load[600])
    assert new.power_uw == round(181_500 + share * (364_500 - 181_500))
    assert new.power_source.startswith("computed: by [600000,800000,1200000]")


def test_a_capacity_is_that_at_the_fastest_opp_of_the_boot(tmp_path: Path, juno: Platform) -> None:
    turbo = {"big.opps.1200000.turbo": True}
    off = derived(tmp_path, "juno-r2", turbo, "off")
    on = derived(tmp_path, "juno-r2", turbo | {"dvfs.boost": True}, "on")
    assert off.capacities == (460, 460, 460, 460, 1024, 1024)
    assert on.capacities == juno.capacities
    trees = [device_tree_source(platform, LAYOUT) for platform in (juno, off, on)]
    assert [tree.count("turbo-mode;") for tree in trees] == [0, 1, 1]
    assert [tree.count("gem5,boost;") for tree in trees] == [0, 0, 1]
    assert "turbo-mode;" in trees[1].partition("opp-1200000000 {")[2].partition("}")[0]
    for platform, opps in ((off, [600_000, 1_000_000, 1_200_000]), (on, [600_000, 1_200_000])):
        assert [opp.khz for opp in opps_of(platform.cluster("big"), "opp2")] == opps
    for setting in ({"big.uv": "+5%"}, {"big.opps": [600_000, 900_000, 1_100_000, 1_200_000]}):
        big = derived(tmp_path, str(tmp_path / "on.toml"), setting).cluster("big")
        assert [opp.khz for opp in big.opps if opp.turbo] == [
            opp.khz for opp in big.opps if opp.khz > 1_000_000
        ]


def test_voltages_in_percent(tmp_path: Path, juno: Platform) -> None:
    before, big = (
        juno.cluster("big"),
        derived(tmp_path, "juno-r2", {"big.uv": "+10%"}).cluster("big"),
    )
    for old, new in zip(before.opps, big.opps, strict=True):
        assert new.uv == round(old.uv * 1.1)
        assert new.power_uw == round(old.power_uw * 1.1**2)
        assert new.shared_uw == old.shared_uw
    assert big.opps[0].power_source.startswith("computed: voltages of juno-r2 +10%")


def test_clusters_come_and_go(tmp_path: Path) -> None:
    settings = {"prime.like": "big", "prime.cpus": 1, "big.cpus": 3, "prime.opps": [1_200_000]}
    platform = derived(tmp_path, "juno-r2", settings)
    assert [(c.name, len(c.cpus)) for c in platform.clusters] == [
        ("little", 4),
        ("big", 3),
        ("prime", 1),
    ]
    assert len(derived(tmp_path, "pixel6", {"mid.cpus": 0}).clusters) == 2


def test_another_core_brings_its_figures(tmp_path: Path) -> None:
    """Both loops are measured on gem5's cores; the ratio is the only thing that is computed."""
    other = load_platform("pixel6").cluster("little")
    little = derived(tmp_path, "juno-r2", {"little.core": "cortex-a55"}).cluster("little")
    assert little.core.name == "cortex-a55"
    assert [opp.power_uw for opp in little.opps] == [opp.power_uw for opp in other.opps]
    assert little.capacity_source.startswith("computed: 485 of the cortex-a53 times ")
    assert little.opps[0].power_source == "borrowed from pixel6's little: a cortex-a55"
    assert little.cluster_sleep is not None


def test_billed_powers_follow_the_opps(tmp_path: Path) -> None:
    """Without them the loader would refuse tables of OPPs that are gone."""
    before = load_platform("pixel6").cluster("big")
    big = derived(tmp_path, "pixel6", {"big.opps": "2 even"}).cluster("big")
    assert [table.name for table in big.busy] == [table.name for table in before.busy]
    for old, new in zip(before.busy, big.busy, strict=True):
        assert new.power_uw == (old.power_uw[0], old.power_uw[-1])


def test_billed_powers_name_how_they_were_made(tmp_path: Path) -> None:
    settings = {"little.opps": "3 even", "big.uv": "+5%"}
    platform = derived(tmp_path, "pixel6", settings)
    for cluster, begin in (("little", "computed: by 3 even"), ("big", "computed: voltages of pix")):
        for table in platform.cluster(cluster).busy:
            assert table.source.startswith(begin)
    text = overridden("pixel6", load_platform("pixel6"), settings).text
    assert "opps-little" in text


def test_a_core_of_another_board_can_be_changed_further(tmp_path: Path) -> None:
    """What is computed begins with the borrowed figures, and names whose they are."""
    core = {"little.core": "cortex-a55"}
    plain = derived(tmp_path, "juno-r2", core).cluster("little")
    slower = derived(tmp_path, "juno-r2", {**core, "little.capacity_dmips_mhz": "-10%"})
    assert slower.cluster("little").capacity_dmips_mhz == round(plain.capacity_dmips_mhz * 0.9)
    source = slower.cluster("little").capacity_source
    assert source.startswith(
        f"computed: -10% of {plain.capacity_dmips_mhz}, which is computed: 485"
    )
    stated = derived(tmp_path, "juno-r2", {**core, "little.capacity_dmips_mhz": 500})
    assert stated.cluster("little").capacity_source.startswith("assumed: ")
    opps = derived(tmp_path, "juno-r2", {**core, "little.opps": "3 even", "little.uv": "+5%"})
    first = opps.cluster("little").opps[0]
    assert "from the OPPs of pixel6's little" in first.shared_source
    assert first.power_source.startswith("computed: voltages of pixel6's little +5%")
    states = derived(tmp_path, "juno-r2", {**core, "little.idle_states": ["wfi"]}).cluster("little")
    assert [state.name for state in states.idle_states] == ["wfi"]
    assert states.cluster_sleep is None


def test_capacity_in_percent_is_computed(tmp_path: Path, juno: Platform) -> None:
    settings = {"big.capacity_dmips_mhz": "-10%"}
    big = derived(tmp_path, "juno-r2", settings).cluster("big")
    assert big.capacity_dmips_mhz == 922
    assert big.capacity_source == "computed: -10% of 1024"
    (line,) = overridden("juno-r2", juno, settings).computed
    assert line == "big: capacity per MHz: computed: -10% of 1024"


def test_a_new_cluster_may_have_fewer_idle_states_or_no_cpus(
    tmp_path: Path, juno: Platform
) -> None:
    settings = {"prime.like": "big", "prime.cpus": 1, "prime.idle_states": ["wfi", "cpu-sleep-0"]}
    prime = derived(tmp_path, "juno-r2", settings).cluster("prime")
    assert [state.name for state in prime.idle_states] == ["wfi", "cpu-sleep-0"]
    assert prime.cluster_sleep is None
    assert juno.cluster("big").cluster_sleep is not None
    assert len(derived(tmp_path, "juno-r2", {"prime.like": "big", "prime.cpus": 0}).clusters) == 2


def test_any_key_of_a_platform_file(tmp_path: Path) -> None:
    key = "big.idle_states.cpu-sleep-0.exit_us"
    platform = derived(tmp_path, "juno-r2", {key: 600, "llc": "all", "dvfs.rate_limit_us": 2_000})
    assert platform.cluster("big").idle_states[1].exit_us == 600
    assert (platform.llc, platform.rate_limit_us) == ("all", 2_000)


def test_numbers_of_a_platform(juno: Platform) -> None:
    numbers = {"little.cpus": 4, "big.cpus": 2, "dvfs.rate_limit_us": 500, "memory_mib": 1024}
    nothing = ("big.idle_states.cpu-sleep-0.no_such", "big.opps", "prime.cpus", "name")
    for key, number in (numbers | dict.fromkeys(nothing)).items():
        assert number_of(juno, key) == number, key


def test_every_number_of_a_cluster_is_what_an_override_sets(tmp_path: Path) -> None:
    keys = ("capacity_dmips_mhz", "shared_off_uw", "idle_states.cpu-sleep-0.exit_us")
    for key in keys:
        changed = derived(tmp_path, "juno-r2", {f"big.{key}": 321})
        assert number_of(changed, f"big.{key}") == 321


WRONG: list[dict[str, Any]] = [
    {"litle.cpus": 2},
    {"little.cpus": 33},
    {"little.cpus": True},
    {"little.cpus": 31},
    {"little.cpus": 0, "little.opps": "3 even"},
    {"little.foo": 3},
    {"little.idle_states": ["wfi", ["c1"]]},
    {"little.idle_states": ["c1"]},
    {"little.idle_states": ["wfi", "wfi"]},
    {"big.idle_states.cpu-slep-0.exit_us": 3},
    {"big": 3},
    {"big.opps": "every 99th"},
    {"big.opps": "every nth"},
    {"big.opps": "1 even"},
    {"big.opps": [100]},
    {"big.core": "cortex-a99"},
    {"big.core": [["cortex-a53"]]},
    {"big.uv": "5%"},
    {"big.uv": "+5%", "big.opps.600000.uv": 830_000},
    {"big.like": "little"},
    {"x.like": "huge"},
    {"new.like": ["little"]},
    {"dvfs.rate_limit_us": 1},
]


def test_what_is_wrong(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    lines = {str(item): refusal(derived, tmp_path, "juno-r2", item) for item in WRONG}
    assert {item: line.removeprefix(str(tmp_path)) for item, line in lines.items()} == snapshot


def test_a_core_needs_the_powers_that_the_platform_is_billed_by(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"a core whose platform states the profile power"):
        derived(tmp_path, "pixel6", {"big.core": "cortex-a72"})


def test_the_text_says_what_was_computed(juno: Platform) -> None:
    settings = {"big.opps": "4 even", "big.uv": "-5%"}
    computed = overridden("juno-r2", juno, settings).computed
    assert [line.partition(":")[0] for line in computed] == ["big", "big"]
    assert "computed: by 4 even" in computed[0]
    assert "computed: voltages of juno-r2 -5%" in computed[1]
