# SPDX-License-Identifier: GPL-2.0-or-later
"""Speeds of platforms that nobody measured: from those with the same cores, and marked."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.activity import (
    ACTIVITY,
    Activity,
    at_measured_speeds,
    check_capacity,
    load_activity,
    measured_ipc,
)
from eascope.configs.inherit import activity_of
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError

Mine = Callable[..., Platform]


def _rates(platform: Platform, activity: Activity) -> list[tuple[float, float]]:
    return [(activity.ipc(cluster), activity.system_ipc(cluster)) for cluster in platform.clusters]


@pytest.mark.parametrize("base", ["juno-r2", "pixel6"])
def test_another_name_has_the_same_speeds(mine: Mine, base: str) -> None:
    platform, known = mine(base=base), load_platform(base)
    activity, known_activity = activity_of(platform), load_activity(known)
    assert _rates(platform, activity) == _rates(known, known_activity)
    assert activity.iteration_instructions == known_activity.iteration_instructions
    assert sorted(activity.measured, key=str) == sorted(known_activity.measured, key=str)
    assert activity.digest != known_activity.digest


def test_named_platforms_have_their_own(juno: Platform, juno_activity: Activity) -> None:
    assert activity_of(juno) == juno_activity
    assert not juno_activity.assumed_system


def test_a_named_platform_without_a_file_has_those_of_its_cores(juno: Platform) -> None:
    alike = replace(juno, name="alike")
    activity = activity_of(alike)
    assert _rates(alike, activity) == _rates(juno, activity_of(juno))
    assert all(speeds.source.startswith("assumed: ") for speeds in activity.clusters)


def test_speeds_follow_the_capacities(mine: Mine) -> None:
    """A capacity per MHz is worth what it is worth on the base."""
    platform = mine(
        'cluster.little.capacity_dmips_mhz = 970\ncluster.mid = { like = "big", cpus = 1, '
        "capacity_dmips_mhz = 728 }",
    )
    activity = activity_of(platform)
    assert [activity.ipc(cluster) for cluster in platform.clusters] == [2.0, 1024 / 485, 728 / 485]
    check_capacity(platform, activity)
    assert [line.split(":")[0] for line in activity.assumed] == ["little", "big", "mid"]


def test_without_the_fast_cluster_the_slow_one_is_as_fast_as_before(mine: Mine) -> None:
    platform = mine('remove = ["cluster.little"]')
    assert activity_of(platform).ipc(platform.clusters[0]) == 1024 / 485


def test_the_kernels_rate_comes_with_the_core(mine: Mine) -> None:
    """Also from a platform that is not the base, and it says whose it is."""
    platform = mine('cluster.big.core = "cortex-x1"')
    activity, pixel6 = activity_of(platform), load_platform("pixel6")
    pixel6_activity = load_activity(pixel6)
    assert activity.system_ipc(platform.cluster("big")) == pixel6_activity.system_ipc(
        pixel6.cluster("big")
    )
    assert activity.assumed_system == (
        "little: the kernel's instructions per cycle: 0.3511, inherited from juno-r2's little "
        "(cortex-a53)",
        "big: the kernel's instructions per cycle: 0.7276, inherited from pixel6's big (cortex-x1)",
    )


def test_a_core_that_nobody_measured_runs_the_kernel_as_the_loop(mine: Mine) -> None:
    platform = mine('cluster.big.core = "cortex-a57"')
    activity = activity_of(platform)
    big = platform.cluster("big")
    assert activity.system_ipc(big) == activity.ipc(big)
    assert "big: the kernel's instructions per cycle: as the busy loop's" in str(
        activity.assumed_system
    )
    with pytest.raises(RequestError, match="speeds measured: "):
        measured_ipc(platform, activity)


def test_measured_kernels_come_with_the_core_at_the_nearest_frequency(
    mine: Mine, juno: Platform, juno_activity: Activity
) -> None:
    platform = mine(
        "cluster.big.opps.1190000 = { uv = 990_000, power_uw = 530_000, shared_uw = 70_000 }",
    )
    activity = activity_of(platform)
    assert measured_ipc(platform, activity) == measured_ipc(juno, juno_activity)
    [big] = [
        entry
        for entry in activity.measured
        if (entry.kernel, entry.cluster) == ("busy_loop", "big")
    ]
    assert big.ipc[1_190_000] == big.ipc[1_200_000]
    at_measured, fast = at_measured_speeds(platform, activity)
    check_capacity(at_measured, fast)


def test_a_complete_file_of_ones_own_needs_no_other(one_cluster: Path, juno: Platform) -> None:
    solo = load_platform(one_cluster)
    activity = activity_of(solo)
    assert _rates(solo, activity) == [_rates(juno, load_activity(juno))[0]]
    assert "capacity per MHz 100, where 100 is 1 (juno-r2's cortex-a53)" in activity.assumed[0]


def test_a_file_of_its_own_counts_first(one_cluster: Path, tmp_path: Path) -> None:
    """What ``eascope characterise`` has not measured of it is inherited."""
    folder = tmp_path / "activity"
    shutil.copytree(ACTIVITY, folder)
    record = json.loads((folder / "juno-r2.json").read_text())
    clusters = {"only": {"ipc": 0.75, "source": "assumed: for a test"}}
    own = {**record, "platform": "solo", "clusters": clusters}
    del own["measured"], own["hardware"]
    (folder / "solo.json").write_text(json.dumps(own))
    solo = load_platform(one_cluster)
    activity = activity_of(solo, folder)
    assert activity.ipc(solo.clusters[0]) == 0.75
    assert activity.clusters[0].system_inherited == "juno-r2's little (cortex-a53)"
    assert activity.digest != load_activity(solo, folder).digest


def test_a_donor_that_is_broken_gives_nothing(
    tmp_path: Path, one_cluster: Path, mine: Mine
) -> None:
    folder = tmp_path / "activity"
    shutil.copytree(ACTIVITY, folder)
    (folder / "juno-r2.json").write_text("{")
    solo = load_platform(one_cluster)
    assert activity_of(solo, folder).clusters[0].system_ipc is None
    with pytest.raises(RequestError, match=r"juno-r2\.json: not JSON"):
        activity_of(mine(), folder)
