# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms by difference: what a file of one's own says, has from its base, and may not say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import device_tree_source
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS, load_platform, read_platform
from eascope.engines.qemu.layout import LAYOUT
from eascope.power.em import em_rows, text
from tests.support.refusals import refusal

Write = Callable[..., Path]
HEAD = 'base = "juno-r2"\nsummary = "a test"\n'


@pytest.fixture
def delta(tmp_path: Path) -> Write:
    """A function that writes a file with a base, juno-r2 unless another head is given."""

    def write(text: str, name: str = "mine", head: str = HEAD) -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(head + text)
        return path

    return write


def test_three_lines_are_a_platform(delta: Write, juno: Platform) -> None:
    platform = load_platform(delta("cluster.big.cpus = 4"))
    assert (platform.name, platform.summary, platform.base, platform.own) == (
        "mine",
        "a test",
        "juno-r2",
        True,
    )
    little, big = platform.clusters
    assert (little, big.cpus) == (juno.clusters[0], (4, 5, 6, 7))
    assert big.opps == juno.clusters[1].opps
    assert platform.figures == juno.figures
    assert platform.digest != juno.digest


def test_another_name_is_the_same_machine(delta: Write, juno: Platform) -> None:
    """The device tree lies in the guest's memory: its length alone would be another run."""
    for name in ("mine", "a-much-longer-name-for-the-same-board"):
        tree = device_tree_source(load_platform(delta("", name)), LAYOUT)
        assert tree == device_tree_source(juno, LAYOUT)


def test_complete_files_of_ones_own_do_not_show_their_names(one_cluster: Path) -> None:
    longer = one_cluster.with_name("the-same-by-another-name.toml")
    longer.write_text(one_cluster.read_text().replace('"solo"', f'"{longer.stem}"'))
    trees = [device_tree_source(load_platform(path), LAYOUT) for path in (one_cluster, longer)]
    assert trees[0] == trees[1]
    assert 'model = "eascope own";' in trees[0]


def test_everything_may_differ(delta: Write, juno: Platform) -> None:
    platform = load_platform(
        delta(
            """
            temperature_c = 40
            dvfs.rate_limit_us = 2_000
            dvfs.board.transition_latency_us = 700
            memory_mib = 512
            remove = ["cluster.little.opps.450000", "cluster.little.cluster_sleep"]
            [cluster.little]
            core = "cortex-a55"
            capacity_dmips_mhz = 500
            opps.950_000 = { power_uw = 150_000 }
            opps.1_100_000 = { uv = 1_050_000, power_uw = 200_000, shared_uw = 80_000 }
            idle_states.wfi.power_uw = 5_000
            idle_states.cpu-sleep-0.exit_us = 900
            l2.size_kib = 512
            """
        )
    )
    little = platform.cluster("little")
    assert (platform.temperature_c, platform.rate_limit_us, platform.memory_mib) == (40, 2_000, 512)
    assert platform.transition_latency_us == juno.transition_latency_us
    board = platform.board_dvfs
    assert board is not None
    assert (board.transition_latency_us, board.rate_limit_us) == (700, 4_000)
    assert board.sources["transition_latency_us"].startswith("assumed: mine.toml has another")
    assert (little.core.name, little.capacity_dmips_mhz) == ("cortex-a55", 500)
    assert [(opp.khz, opp.power_uw) for opp in little.opps] == [
        (800_000, 90_700),
        (950_000, 150_000),
        (1_100_000, 200_000),
    ]
    assert [state.power_uw for state in little.idle_states] == [5_000, 0, 0]
    assert [state.exit_us for state in little.idle_states] == [1, 900, 1200]
    assert little.cluster_sleep is None
    (measured,) = little.busy  # 1100 MHz as 950, by f V^2
    assert measured.power_uw == (71_800, 106_000, 135_317)
    assert measured.interpolated == (1_100_000,)
    assert (little.l2.size_kib, little.l2.ways) == (512, 16)
    assert platform.cluster("big") == juno.cluster("big")


def test_a_power_that_falls_with_the_clock_is_marked_and_not_refused(delta: Write) -> None:
    """Linux takes an energy model with such a row, and never wants the OPP below it."""
    platform = load_platform(delta("cluster.big.opps.1000000.power_uw = 170_000"))
    assert [opp.power_uw for opp in platform.cluster("big").opps] == [181_500, 170_000, 540_000]
    assert "opp-microwatt = <170000>;" in device_tree_source(platform, LAYOUT)
    rows = [row for row in em_rows(platform) if row.cluster == "big"]
    assert {row.khz: (row.published_inefficient, row.given_inefficient) for row in rows} == {
        600_000: (True, True),
        1_000_000: (False, False),
        1_200_000: (False, False),
    }
    words = {line.split()[1]: line for line in text(rows).splitlines()[1:]}
    assert {khz for khz, line in words.items() if "inefficient (published" in line} == {"600"}


def test_a_changed_figure_counts_as_assumed_by_the_file(delta: Write, juno: Platform) -> None:
    """A figure must not claim the source of the figure that it replaces."""
    platform = load_platform(
        delta(
            "memory_mib = 512\n[cluster.big]\ncapacity_dmips_mhz = 900\n"
            "opps.600000.power_uw = 170_000\nidle_states.wfi.power_uw = 9_000\n"
        )
    )
    own = "assumed: mine.toml has another figure than juno-r2"
    before = {figure.what: figure.source for figure in juno.figures}
    changed = {f.what: f.source for f in platform.figures if before.get(f.what) != f.source}
    assert changed == dict.fromkeys(
        (
            "memory_mib 512",
            "big: capacity per MHz 900",
            "big: busy power of a CPU 170 mW at 600 MHz, 364.5 mW at 1000 MHz, 540 mW at 1200 MHz",
            "big: wfi power of a CPU 9 mW",
        ),
        own,
    )


def test_a_source_that_is_given_stands(delta: Write) -> None:
    platform = load_platform(
        delta(
            'sources.lab = "measured: with a shunt"\n[cluster.big]\ncapacity_dmips_mhz = 900\n'
            'capacity_source = "lab"'
        )
    )
    assert platform.cluster("big").capacity_source == "measured: with a shunt"
    assert not any("mine.toml" in figure.source for figure in platform.figures)


def test_clusters_come_and_go(delta: Write, juno: Platform) -> None:
    platform = load_platform(
        delta(
            'remove = ["cluster.big"]\n'
            'cluster.mid = { like = "big", cpus = 1, capacity_dmips_mhz = 800 }'
        )
    )
    little, mid = platform.clusters
    assert (little.cpus, mid.cpus, mid.name, mid.index) == ((0, 1, 2, 3), (4,), "mid", 1)
    assert mid.opps == juno.cluster("big").opps


def test_a_list_replaces_the_whole(delta: Write) -> None:
    row = "{ khz = 700_000, uv = 900_000, power_uw = 80_000, shared_uw = 40_000 }"
    busy = "busy.measured.opps = [{ khz = 700_000, power_uw = 60_000 }]"
    lines = f"cluster.little.opps = [{row}]\ncluster.little.{busy}"
    little = load_platform(delta(lines)).cluster("little")
    assert [opp.khz for opp in little.opps] == [700_000]
    assert little.opps[0].source == "assumed: mine.toml has another figure than juno-r2"


def test_a_base_may_have_a_base(delta: Write) -> None:
    delta("cluster.big.cpus = 1\nmemory_mib = 512", "first")
    second = load_platform(
        delta("memory_mib = 256", "second", 'base = "./first.toml"\nsummary = "x"\n')
    )
    assert (second.memory_mib, second.base, len(second.cpus)) == (256, "juno-r2", 5)
    assert second.model == "juno-r2"
    assert second.control_sources["memory_mib"].startswith("assumed: second.toml has another")


@pytest.mark.parametrize(
    ("name", "head", "message"),
    [
        ("empty", "", "/empty.toml: base is missing; expected a platform's"),
        ("four bigs", HEAD, "/four bigs.toml: wrong file name; expected, before .toml, "),
        ("pixel6", HEAD, "configs/platforms has a file of this name; choose another"),
    ],
)
def test_wrong_heads_and_names_are_one_line(
    delta: Write, name: str, head: str, message: str
) -> None:
    assert message in refusal(load_platform, delta("", name, head))


#: What a file by difference says, by case.
WRONG = {
    "too many CPUs": "cluster.big.cpus = 29",
    "a slip in a cluster": "cluster.bgi.cpus = 5",
    "like nothing": 'cluster.mid.like = "bgi"',
    "like and there": 'cluster.big.like = "little"',
    "like inside": 'cluster.big.l2.like = "little"',
    "a name in a cluster": 'cluster.big.name = "b"',
    "no OPP": "cluster.big.opps.fast.uv = 1",
    "half an OPP": "cluster.big.opps.900000.uv = 850_000",
    "an OPP out of order": "cluster.big.opps.600000.uv = 910_000",
    "an inherited OPP out of order": "cluster.big.opps.1000000.uv = 700_000",
    "nothing to remove": 'remove = ["cluster.mid"]',
    "too deep to remove": 'remove = ["memory_mib.x"]',
    "all clusters removed": 'remove = ["cluster"]',
    "all sources removed": 'remove = ["sources"]',
    "a source for nothing": 'sources.x = "assumed: abcde"',
    "another name than the file's": 'name = "yours"',
    "idle states of no kind": "cluster.big.idle_states = [3]",
    "a measured power at no OPP": "cluster.big.busy.measured.opps.120_000.power_uw = 900_000",
    "measured powers at no OPP": "cluster.big.busy.measured.opps = [{ khz = 7, power_uw = 9 }]",
    "dvfs of no kind": "dvfs = 3",
    "above the base's rate limit": "dvfs.transition_latency_us = 600",
    "below the base's transition": "dvfs.rate_limit_us = 1",
}


def test_wrong_differences_are_one_line(delta: Write, snapshot: SnapshotAssertion) -> None:
    lines = {case: refusal(load_platform, delta(text)) for case, text in WRONG.items()}
    folder = str(delta("").parent)
    assert {case: line.removeprefix(folder) for case, line in lines.items()} == snapshot


@pytest.mark.parametrize(
    ("base", "text", "message"),
    [
        ("pixel6", "early_us.bigs = 0", "early_us.bigs = 0: no such key (did you mean big?)"),
        ("pixel6", "policies.bigs = 4", "policies.bigs = 4: no such key (did you mean big?)"),
        ("pixel9", 'dsu.votes = [{ of = "bigs", khz = 7, dsu_khz = 1 }]', ".of = 'bigs': allowed"),
    ],
)
def test_a_figure_of_curves_for_no_cluster_is_one_line(
    delta: Write, base: str, text: str, message: str
) -> None:
    """The base's own may be of clusters that the file removed; they are left out."""
    head = f'base = "{base}"\nsummary = "x"\n'
    assert message in refusal(load_platform, delta(f"curves.{text}", head=head))
    without = load_platform(delta('remove = ["cluster.mid"]', head=head))
    assert without.curves
    assert "mid" not in without.curves.early_us


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("juno-r3", "mine.toml: base = 'juno-r3': unknown platform 'juno-r3' (did you mean juno-r"),
        ("./mine.toml", "mine.toml: base = './mine.toml': allowed: a plat"),
        ("./none.toml", "none.toml: No such file or directory"),
        ("./loop.toml", "loop.toml: Too many levels of symbolic links"),
        ("./other.toml", "other.toml: base = './mine.toml': allowed: a platf"),
    ],
)
def test_a_wrong_base_is_one_line(delta: Write, base: str, message: str) -> None:
    other = delta("", "other", 'base = "./mine.toml"\nsummary = "x"')
    other.with_name("loop.toml").symlink_to("loop.toml")
    assert message in refusal(load_platform, delta("", head=f'base = "{base}"\nsummary = "x"'))


def test_an_error_in_the_base_names_the_base(delta: Write, tmp_path: Path) -> None:
    text = (PLATFORMS / "juno-r2.toml").read_text().replace("cpus = 2", "cpus = 40")
    base = tmp_path / "base.toml"
    base.write_text(text.replace('name = "juno-r2"', 'name = "base"'))
    assert refusal(
        load_platform, delta("cluster.big.cpus = 1", head='base = "./base.toml"\nsummary = "x"\n')
    ).startswith(f"{base}: cluster[1].cpus = 40")


def test_a_named_platform_says_all(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(HEAD)
    line = refusal(read_platform, tmp_path / "mine.toml", tmp_path)
    assert "base = 'juno-r2': allowed: only outside" in line
