# SPDX-License-Identifier: GPL-2.0-or-later
"""What cores make of everything but the busy loop: the file, and speeds with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import ACTIVITY, Activity, at_measured_speeds, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.system_activity import load_system, system_path
from eascope.host.errors import RequestError

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
        ({"schema": 2}, "schema = 2: allowed: an integer in 1..1"),
        ({"conditions": ""}, "conditions = '': allowed: a non-empty string on one line"),
        ({"provenance": {}}, "provenance.gem5 is missing: allowed: a non-empty string"),
        ({"clusters": {"little": LITTLE}}, "clusters.big is missing: allowed: a table"),
        ({"clusters": RECORD["clusters"] | {"mid": LITTLE}}, "clusters.mid = {"),
        (
            {"clusters": RECORD["clusters"] | {"little": LITTLE | {"ipc": 0.41}}},
            "clusters.little.ipc = 0.41: allowed: 0.4, instructions over cycles",
        ),
        (
            {"clusters": RECORD["clusters"] | {"little": LITTLE | {"instructions": 199_999}}},
            "clusters.little.instructions = 199999: allowed: an integer in 200000..",
        ),
        (
            {"clusters": RECORD["clusters"] | {"little": LITTLE | {"cycles": 0}}},
            "clusters.little.cycles = 0: allowed: an integer in 1..",
        ),
        ({"note": "x"}, "note = 'x': no such key"),
    ],
)
def test_a_wrong_file_is_one_line(
    juno: Platform, activity: Activity, change: dict[str, Any], message: str
) -> None:
    path = _write(juno, activity, RECORD | change)
    with pytest.raises(RequestError) as caught:
        load_activity(juno, activity.path.parent)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


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
