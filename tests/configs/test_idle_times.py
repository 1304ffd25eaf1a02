# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel is told about an idle state, and what the machine takes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

from eascope.configs.devicetree import device_tree_source
from eascope.configs.knobs import AXES
from eascope.configs.overrides import number_of, overridden
from eascope.configs.platform import AS_TOLD, Platform
from eascope.configs.platform_file import list_platforms, load_platform
from eascope.engines.qemu.layout import LAYOUT
from eascope.experiments.controls import Controls
from eascope.power.model import Interval
from eascope.power.stated import StatedPower
from tests.support.refusals import refusal

Mine = Callable[..., Platform]
SECOND_NS = 1_000_000_000
#: Entry, exit, entry of the last CPU, exit of the first.
Times = tuple[int, int, int, int]
A57 = {"cpu-sleep-0": (18, 15, 18, 15), "cluster-sleep-0": (21, 17, 195, 22)}


def times(platform: Platform, cluster: str = "big") -> dict[str, Times]:
    return {
        state.name: (takes.entry_us, takes.exit_us, takes.last_entry_us, takes.first_exit_us)
        for state in platform.cluster(cluster).idle_states[1:]
        for takes in [state.takes]
    }


def of_overrides(folder: Path, settings: Mapping[str, Any]) -> Platform:
    path = folder / "mine.toml"
    path.write_text(overridden("juno-r2", load_platform("juno-r2"), settings).text)
    return load_platform(path)


def test_shipped_platforms_state_what_they_take_and_leave_nothing_to_note(juno: Platform) -> None:
    for name, _ in list_platforms():
        platform = load_platform(name)
        assert all(s.takes.stated for c in platform.clusters for s in c.idle_states)
        assert platform.idle_notes == ()
    assert times(juno) == A57
    assert juno.cluster("little").idle_states[0].takes.exit_us == 0


def test_a_file_without_takes_takes_what_the_kernel_is_told(mine: Mine) -> None:
    platform = mine(
        "[cluster.big]",
        "idle_states = [",
        '{ name = "wfi", entry_us = 1, exit_us = 1, residency_us = 1, power_state = "clk_gated", '
        "power_uw = 0 },",
        '{ name = "off", entry_us = 30, exit_us = 70, residency_us = 99, power_state = "off", '
        "power_uw = 0 }]",
        'cluster_sleep = "off"',
    )
    assert times(platform) == {"off": (30, 70, 30, 70)}
    residency, told = platform.idle_notes
    assert residency.startswith("big: off: residency_us 99 is less than entry_us + exit_us (100)")
    assert told.startswith("big: off: no takes: a CPU takes what the kernel is told, 30 us to ente")
    assert f"big: off takes 30 us to enter, 70 to leave: {AS_TOLD}" in platform.assumed_times


def test_a_machine_that_takes_longer_than_the_kernel_is_told_is_noted(mine: Mine) -> None:
    told = "cluster.big.idle_states.cpu-sleep-0.exit_us = 9"
    platform = mine(told)
    assert times(platform) == A57
    assert platform.idle_notes == (
        "big: cpu-sleep-0: a CPU takes 15 us to leave it, and the kernel is told 9: it is told "
        "less than it is",
    )


def test_figures_that_linux_takes_are_noted(mine: Mine) -> None:
    """No cpuidle driver sorts or checks its states, and a measured power need not fall."""
    states = "[cluster.big.idle_states]\n"
    shorter = mine(f"{states}cluster-sleep-0 = {{ exit_us = 100, residency_us = 2_000 }}")
    assert shorter.idle_notes == (
        "big: cluster-sleep-0: exit_us 100 is less than that of cpu-sleep-0, a shallower state "
        "(1200), which Linux takes as it is",
        "big: cluster-sleep-0: residency_us 2000 is not more than that of cpu-sleep-0, a shallower "
        "state (2000), which Linux takes as it is",
    )
    told = device_tree_source(shorter, LAYOUT)
    assert told.count("exit-latency-us = <100>;") == 1
    assert told.count("min-residency-us = <2000>;") == 3  # two of cpu-sleep-0
    dearer = mine(f"{states}cpu-sleep-0.power_uw = 27_000")
    assert dearer.idle_notes == (
        "big: cpu-sleep-0: power_uw 27000 is more than that of wfi, a shallower state (20600), "
        "which is billed as it is where [idle] says stated",
    )
    stay = Interval(4, 0, SECOND_NS, 600_000, 0, idle_ns=(0, SECOND_NS, 0))
    billed = StatedPower(dearer).interval_fj(dearer.cluster("big"), stay)
    assert sum(billed.values()) == 27_000 * SECOND_NS
    assert "not above the lowest OPP's" in refusal(mine, f"{states}wfi.power_uw = 999_000")


def test_a_time_taken_by_difference_has_a_source_of_its_own(mine: Mine) -> None:
    platform = mine("cluster.big.idle_states.cluster-sleep-0.takes.last_entry_us = 500")
    assert times(platform)["cluster-sleep-0"] == (21, 17, 500, 22)
    source = platform.cluster("big").idle_states[2].takes.source
    assert source == "assumed: mine.toml has another figure than juno-r2"


def test_without_a_sleep_of_the_cluster_no_cpu_is_the_last(tmp_path: Path, mine: Mine) -> None:
    platform = mine('remove = ["cluster.big.cluster_sleep"]')
    assert times(platform)["cluster-sleep-0"] == (21, 17, 21, 17)
    platform = of_overrides(tmp_path, {"big.idle_states": ["wfi", "cpu-sleep-0"]})
    assert times(platform) == {"cpu-sleep-0": A57["cpu-sleep-0"]}
    assert times(of_overrides(tmp_path, {"big.idle_states": ["wfi"]})) == {}


def test_overrides_set_and_borrow_what_is_taken(tmp_path: Path, juno: Platform) -> None:
    key = "big.idle_states.cluster-sleep-0.takes.first_exit_us"
    assert number_of(juno, key) == 22
    assert number_of(juno, "big.idle_states.cpu-sleep-0.takes.first_exit_us") is None
    assert times(of_overrides(tmp_path, {key: 40}))["cluster-sleep-0"] == (21, 17, 195, 40)
    other = of_overrides(tmp_path, {"big.core": "cortex-x1"})
    assert times(other) == times(load_platform("pixel6"))


#: Edits of juno-r2's file.
WRONG = [
    ("takes = { entry_us", "takes = { last_entry_us = 3, entry_us"),
    ("exit_us = 14, source", "exit_us = 14, cold_exit_us = 3, source"),
    ('source = "firmware-a53"', 'source = "firmware"'),
    ("exit_us = 14, source", "exit_us = -1, source"),
    ("takes = { entry_us = 22, ", "takes = { "),
    (
        "residency_us = 1, ",
        'residency_us = 1, takes = { entry_us = 0, exit_us = 0, source = "rail" }, ',
    ),
]


def test_what_is_wrong_is_one_line(
    edited: Callable[..., Path], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lines = {edit[1]: refusal(load_platform, edited(edit)) for edit in WRONG}
    assert {edit: line.removeprefix(str(tmp_path)) for edit, line in lines.items()} == snapshot


def test_the_ends_of_the_axis_are_what_is_taken_and_what_is_told(juno: Platform) -> None:
    """Nothing but the times taken changes; the word for a share of the told ones still works."""
    ends = {value.name: value for value in AXES["idle_exit"].common}
    assert [*ends] == ["taken", "told"]
    taken, told = (Controls(**ends[name].sets) for name in ends)  # type: ignore[arg-type]
    assert taken.of_platform(juno) is juno
    assert taken.words == []
    worst = told.of_platform(juno)
    assert times(worst)["cluster-sleep-0"] == (400, 1200, 400, 1200)
    assert worst.digest not in (juno.digest, Controls(idle_exit_percent=50).of_platform(juno))
    assert Controls(idle_exit_percent=100).of_platform(juno).clusters == worst.clusters
    assert worst.idle_notes == ()
    assert told.words == ["idle-exit-told"]


def test_a_platforms_axis_states_either_end_or_a_share(mine: Mine) -> None:
    platform = mine(
        "[axes.idle_exit.half]",
        "idle_exit_percent = 50",
        'source = "assumed: so"',
        "[axes.idle_exit.worst]",
        'idle_exit = "told"',
        'source = "assumed: so"',
    )
    half, worst = platform.axes["idle_exit"]
    assert half.sets == {"idle_exit": "taken", "idle_exit_percent": 50}
    assert worst.sets == {"idle_exit": "told", "idle_exit_percent": None}
    assert "axes.idle_exit.x.idle_exit" in refusal(
        mine, "[axes.idle_exit.x]", 'source = "assumed: so"'
    )
