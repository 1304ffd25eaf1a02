# SPDX-License-Identifier: GPL-2.0-or-later
"""Activity records and the rule that the device tree's capacities match the engine's speeds."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("capacity", [481, 485, 489])
def test_capacity_within_one_percent_passes(
    edited: Callable[..., Path], juno_activity: Activity, capacity: int
) -> None:
    path = edited(("capacity_dmips_mhz = 485", f"capacity_dmips_mhz = {capacity}"))
    check_capacity(load_platform(path), juno_activity)


@pytest.mark.parametrize("capacity", [480, 490, 1024])
def test_capacity_beyond_one_percent_refuses(
    edited: Callable[..., Path], juno_activity: Activity, capacity: int
) -> None:
    path = edited(("capacity_dmips_mhz = 485", f"capacity_dmips_mhz = {capacity}"))
    message = refusal(check_capacity, load_platform(path), juno_activity)
    assert message.startswith(f"{path}: cluster[0].capacity_dmips_mhz = {capacity}: allowed: 485 ")
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"platform": "juno-r1"}, r"platform = 'juno-r1': allowed: 'juno-r2'"),
        (
            {"clusters": {"little": {"ipc": 1, "source": "trust me"}}},
            r"clusters\.little\.source = 'trust me': allowed: text that begins with",
        ),
    ],
)
def test_wrong_record_is_one_line(
    juno: Platform, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    record = json.loads((ACTIVITY / "juno-r2.json").read_text())
    (tmp_path / "juno-r2.json").write_text(json.dumps(record | change))
    with pytest.raises(RequestError, match=message) as caught:
        load_activity(juno, tmp_path)
    assert "\n" not in str(caught.value)


def test_unreadable_records(juno: Platform, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"juno-r2\.json: No such file"):
        load_activity(juno, tmp_path)
    (tmp_path / "juno-r2.json").write_text('{"schema": 1')
    with pytest.raises(RequestError, match=r"juno-r2\.json: not JSON: .*line 1, column 13"):
        load_activity(juno, tmp_path)
    (tmp_path / "juno-r2.json").write_text("[]")
    with pytest.raises(RequestError, match=r"a list: allowed: a JSON object"):
        load_activity(juno, tmp_path)


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"platform": "pixel6"}, "platform = 'pixel6': allowed: 'juno-r2', the file's own name"),
        ({"provenance": {}}, "provenance.gem5 is missing: allowed: a non-empty string"),
        ({"clusters": RECORD["clusters"] | {"mid": LITTLE}}, "clusters.mid = {"),
        (
            {"clusters": RECORD["clusters"] | {"little": LITTLE | {"ipc": 0.41}}},
            "clusters.little.ipc = 0.41: allowed: 0.4, instructions over cycles",
        ),
    ],
)
def test_a_wrong_file_is_one_line(
    juno: Platform, activity: Activity, change: dict[str, Any], message: str
) -> None:
    path = _write(juno, activity, RECORD | change)
    wrong = refusal(load_activity, juno, activity.path.parent)
    assert wrong.startswith(f"{path}: ")
    assert message in wrong


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
