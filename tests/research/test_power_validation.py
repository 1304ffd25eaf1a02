# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster's billed power against measured watts: what is compared, and with what."""

from dataclasses import replace

import numpy as np
import pytest

from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError
from eascope.power.derived import DerivedPower
from eascope.power.measurements import Measurements
from eascope.power.model import SHARED_PART, Interval
from research.draw import records_of
from research.plan import STUDIES
from research.power_validation import (
    CLUSTER,
    GROUPS,
    PLATFORM,
    STANDS_FOR,
    ClusterPoint,
    chips,
    cluster_w,
    groups,
    kernels_of,
    points_of,
)


@pytest.fixture(scope="module")
def exynos() -> Platform:
    return load_platform(PLATFORM)


@pytest.fixture(scope="module")
def activity(exynos: Platform) -> Activity:
    return load_activity(exynos)


def test_a_busy_cluster_is_billed_as_runs_are(exynos: Platform, activity: Activity) -> None:
    """A second of four CPUs in the busy loop, by the model that bills runs with the same events."""
    cluster = exynos.cluster(CLUSTER)
    loop = next(e for e in activity.measured if (e.kernel, e.cluster) == ("busy_loop", CLUSTER))
    at_gem5 = replace(
        activity,
        clusters=tuple(
            replace(rates, ipc=loop.ipc[cluster.max_khz]) if rates.name == CLUSTER else rates
            for rates in activity.clusters
        ),
    )
    model = DerivedPower(exynos, at_gem5)
    khz = cluster.max_khz
    ours = cluster_w(exynos, cluster, khz, loop, 4.0)
    cpus = 4 * model.busy_microwatt(cluster, khz) / 1e6
    second = Interval(SHARED_PART, 0, 10**9, khz, active_ns=10**9)
    shared = sum(model.interval_fj(cluster, second).values()) / 1e15
    assert ours == pytest.approx(cpus + shared, rel=1e-3)


def test_power_grows_by_the_same_for_each_busy_cpu(exynos: Platform, activity: Activity) -> None:
    """What an idle cluster has is leakage and the clock of its shared part."""
    cluster, kernels = exynos.cluster(CLUSTER), kernels_of(exynos, activity)
    watts = [
        cluster_w(exynos, cluster, 1_000_000, kernels["integer"], float(busy)) for busy in range(5)
    ]
    steps = np.diff(watts)
    assert steps == pytest.approx([steps[0]] * 4)
    assert 0 < watts[0] < steps[0]


def test_a_platform_that_nobody_characterised_is_refused(
    exynos: Platform, activity: Activity
) -> None:
    with pytest.raises(
        RequestError, match=r"measured is missing; run eascope characterise exynos5422"
    ):
        kernels_of(exynos, replace(activity, measured=()))


def measurements(watts: float) -> Measurements:
    """Every workload at two frequencies: with one busy CPU, and with more cycles than CPUs have."""
    names = [name for workloads in STANDS_FOR.values() for name in workloads]
    count = len(names)
    megahertz = np.array([200.0, 1800.0] * count)
    return Measurements(
        file="a/file.csv",
        sha256="0" * 64,
        workload=np.repeat([*names], 2),
        megahertz=megahertz,
        volts=np.ones(2 * count),
        celsius=np.ones(2 * count),
        copies=np.array([1, 4] * count),
        watts=np.full(2 * count, watts),
        raw={},
        rates={
            "cycles": np.array([1.0, 4.02] * count) * megahertz * 1e6,
            "instructions": np.array([1.5, 1.5 * 4.02] * count) * megahertz * 1e6,
        },
    )


def test_every_row_of_the_workloads_is_compared(exynos: Platform, activity: Activity) -> None:
    data = measurements(0.5)
    other = replace(data, workload=np.array(["idle", *data.workload[1:]]))
    points = points_of(exynos, activity, other)
    names = {name for workloads in STANDS_FOR.values() for name in workloads}
    assert {point.workload for point in points} == names
    assert len(points) == 2 * len(names) - 1
    for point in points:
        assert point.workload in STANDS_FOR[point.kernel]
        assert point.busy == (1.0 if point.khz == 200_000 else 4.0)
        kernel = kernels_of(exynos, activity)[point.kernel]
        expected = cluster_w(exynos, exynos.cluster(CLUSTER), point.khz, kernel, point.busy)
        assert point.modelled_w == expected
        assert point.measured_ipc == pytest.approx(1.5)
        assert point.kernel_ipc == kernel.ipc[point.khz]


def test_groups_are_means_over_points() -> None:
    points = (
        ClusterPoint("integer", "dhrystone", 200_000, 1, 1.0, 1.3, 2.2, 1.0, 1.1),
        ClusterPoint("integer", "dhrystone", 1_800_000, 4, 4.0, 1.3, 2.2, 2.0, 1.4),
    )
    rows = {row[1]: dict(zip(GROUPS, row, strict=True)) for row in groups(points)}
    assert [*rows] == ["all", "dhrystone (integer)", "200", "1800", "1", "4"]
    every = rows["all"]
    assert (every["points"], every["within_goal"]) == (2, 1)
    assert every["mean_absolute_percent"] == pytest.approx(20.0)
    assert every["mean_percent"] == pytest.approx(-10.0)
    assert rows["1800"]["mean_percent"] == pytest.approx(-30.0)


def test_the_record_has_the_committed_models_powers_of_other_chips() -> None:
    recorded = records_of(STUDIES / "power-validation")["record"]["chips"]
    now = [(core, mhz, modelled) for core, _, mhz, _, _, modelled, _ in chips()]
    assert [(row["core"], row["mhz"]) for row in recorded] == [row[:2] for row in now]
    assert [row["modelled_mw"] for row in recorded] == pytest.approx(
        [row[2] for row in now], rel=1e-5
    )
