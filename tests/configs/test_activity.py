# SPDX-License-Identifier: GPL-2.0-or-later
"""Activity records and the rule that the device tree's capacities match the engine's speeds."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.configs.activity import (
    ACTIVITY,
    Activity,
    at_measured_speeds,
    check_capacity,
    load_activity,
)
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.system_activity import load_system, system_path
from eascope.host.errors import RequestError
from eascope.rootfs.elide import ITERATION_INSTRUCTIONS
from tests.support.refusals import refusal


def test_juno_runs_at_one_to_the_ratio_of_its_capacities(
    juno: Platform, juno_activity: Activity
) -> None:
    little, big = juno.clusters
    assert juno_activity.ipc(little) == 1.0
    assert juno_activity.ipc(big) == 1024 / 485
    assert juno_activity.instructions_per_us(little, 950_000) == 950
    assert juno_activity.iteration_instructions == ITERATION_INSTRUCTIONS == 223
    assert [line.split(":")[0] for line in juno_activity.assumed] == ["little", "big"]
    check_capacity(juno, juno_activity)


def test_a_capacity_is_within_one_percent(
    edited: Callable[..., Path], juno_activity: Activity
) -> None:
    for capacity in (481, 485, 489, 480, 490, 1024):
        path = edited(("capacity_dmips_mhz = 485", f"capacity_dmips_mhz = {capacity}"))
        if 481 <= capacity <= 489:
            check_capacity(load_platform(path), juno_activity)
            continue
        message = refusal(check_capacity, load_platform(path), juno_activity)
        key = f"{path}: cluster[0].capacity_dmips_mhz = {capacity}: allowed: 485 "
        assert message.startswith(key)
        assert "within 1%" in message


def test_changed_speed_refuses(juno: Platform, juno_activity: Activity) -> None:
    little, big = juno_activity.clusters
    slower = dataclasses.replace(
        juno_activity, clusters=(little, dataclasses.replace(big, ipc=big.ipc * 0.98))
    )
    with pytest.raises(RequestError, match="allowed: 495 within 1%"):
        check_capacity(juno, slower)


@pytest.mark.parametrize("name", ["juno-r2", "pixel6"])
def test_measured_speeds_come_with_capacities_that_fit(name: str) -> None:
    platform = load_platform(name)
    activity = load_activity(platform)
    board, measured = at_measured_speeds(platform, activity)
    check_capacity(board, measured)
    loops = {
        activities.cluster: activities
        for activities in activity.measured
        if activities.kernel == "busy_loop"
    }
    assert [measured.ipc(cluster) for cluster in board.clusters] == [
        loops[cluster.name].ipc[cluster.max_khz] for cluster in board.clusters
    ]
    assert board.largest.capacity_dmips_mhz == platform.largest.capacity_dmips_mhz
    for cluster, boards in zip(board.clusters, platform.clusters, strict=True):
        assert cluster.capacity_dmips_mhz == round(
            board.largest.capacity_dmips_mhz * measured.ipc(cluster) / measured.ipc(board.largest)
        )
        assert (cluster.opps, cluster.idle_states) == (boards.opps, boards.idle_states)
    assert not measured.assumed
    assert (board.digest, measured.digest) != (platform.digest, activity.digest)


def test_speeds_that_were_not_measured_are_refused(juno: Platform, juno_activity: Activity) -> None:
    with pytest.raises(RequestError, match=r"juno-r2\.json has none: allowed: board, or after "):
        at_measured_speeds(juno, dataclasses.replace(juno_activity, measured=()))


def test_wrong_records_are_one_line(
    juno: Platform, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    record = json.loads((ACTIVITY / "juno-r2.json").read_text())
    clusters = {"little": {"ipc": 1, "source": "trust me"}}
    lines = [refusal(load_activity, juno, tmp_path)]
    for text in (
        json.dumps(record | {"platform": "juno-r1"}),
        json.dumps(record | {"clusters": clusters}),
        '{"schema": 1',
        "[]",
    ):
        (tmp_path / "juno-r2.json").write_text(text)
        lines.append(refusal(load_activity, juno, tmp_path))
    assert [line.removeprefix(str(tmp_path)) for line in lines] == snapshot


LITTLE = {"instructions": 2_000_000, "cycles": 5_000_000, "ipc": 0.4}
RECORD: dict[str, Any] = {
    "schema": 1,
    "platform": "juno-r2",
    "provenance": {
        "gem5": "24.0.0.1",
        "gem5_sha256": "ab",
        "simkey": "cd",
        "scenario": "smoke",
        "variant": "mainline",
        "mode": "elided-detailed",
        "seed": 0,
        "command": "eascope characterise juno-r2",
    },
    "conditions": "a test",
    "clusters": {"little": LITTLE, "big": {"instructions": 400_000, "cycles": 700_000,
                                           "ipc": 0.571429}},
}  # fmt: skip


@pytest.fixture
def activity(tmp_path: Path, juno: Platform) -> Activity:
    """juno-r2's activity, in a folder without a file about the system."""
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    return load_activity(juno, tmp_path)


def _write(juno: Platform, activity: Activity, record: object) -> Path:
    path = system_path(juno, activity.path.parent)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def test_system_code_runs_at_the_speed_that_was_measured(
    juno: Platform, activity: Activity
) -> None:
    """At the board's speeds as at measured ones, which are the busy loop's."""
    _write(juno, activity, RECORD)
    with_it = load_activity(juno, activity.path.parent)
    assert [with_it.system_ipc(cluster) for cluster in juno.clusters] == [0.4, 0.571429]
    assert [with_it.ipc(cluster) for cluster in juno.clusters] == [
        activity.ipc(cluster) for cluster in juno.clusters
    ]
    assert not with_it.assumed_system
    platform, measured = at_measured_speeds(juno, with_it)
    assert [measured.system_ipc(cluster) for cluster in juno.clusters] == [0.4, 0.571429]
    assert [measured.ipc(cluster) for cluster in platform.clusters] != [
        with_it.ipc(cluster) for cluster in juno.clusters
    ]
    # A figure that is measured anew is another activity.
    clusters = RECORD["clusters"] | {"little": LITTLE | {"cycles": 8_000_000, "ipc": 0.25}}
    _write(juno, activity, RECORD | {"clusters": clusters})
    again = load_activity(juno, activity.path.parent)
    assert again.system_ipc(juno.clusters[0]) == 0.25
    assert len({record.digest for record in (activity, with_it, measured, again)}) == 4


def test_where_nothing_was_measured_the_system_is_as_fast_as_the_loop(
    juno: Platform, activity: Activity
) -> None:
    for speeds in (activity, at_measured_speeds(juno, activity)[1]):
        for cluster in juno.clusters:
            assert speeds.system_ipc(cluster) == speeds.ipc(cluster)
        assert speeds.assumed_system == tuple(
            f"{name}: the kernel's instructions per cycle: as the busy loop's; "
            "eascope characterise juno-r2 measures them"
            for name in ("little", "big")
        )


WRONG: dict[str, dict[str, Any]] = {
    "another platform": {"platform": "pixel6"},
    "no provenance": {"provenance": {}},
    "another cluster": {"clusters": RECORD["clusters"] | {"mid": LITTLE}},
    "another quotient": {"clusters": RECORD["clusters"] | {"little": LITTLE | {"ipc": 0.41}}},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_one_line(
    juno: Platform, activity: Activity, case: str, snapshot: SnapshotAssertion
) -> None:
    path = _write(juno, activity, RECORD | WRONG[case])
    line = refusal(load_activity, juno, activity.path.parent)
    assert line.startswith(f"{path}: ")
    assert line.removeprefix(f"{path}: ") == snapshot


@pytest.mark.parametrize("name", ["juno-r2", "pixel6"])
def test_committed_figures_are_slower_than_the_loop(name: str) -> None:
    platform = load_platform(name)
    system = load_system(platform, ACTIVITY)
    assert system is not None
    assert system.provenance["command"] == f"eascope characterise {name}"
    _, loop = at_measured_speeds(platform, load_activity(platform))
    for cluster, rates in zip(platform.clusters, system.clusters, strict=True):
        assert rates.name == cluster.name
        assert 0.1 < rates.ipc < loop.ipc(cluster)
