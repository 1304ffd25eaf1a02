"""The derived model as a power model of the analysis, and beside the published energy model."""

from __future__ import annotations

import pytest

from analysis.energy import SHARED, PublishedPower
from analysis.power.em import em_rows, inefficient, records, text
from analysis.power.model import DerivedPower
from configs.platform import Platform, load_platform
from configs.power.level import load_level


@pytest.fixture(scope="module")
def board() -> Platform:
    return load_platform("juno-r2")


def test_busy_cpu_uses_what_the_kernel_is_told(board: Platform) -> None:
    """(a) = (c): opp-microwatt is the energy of a CPU at 100 % of the reference activity."""
    model = DerivedPower(board)
    second = 10**9
    for cluster in board.clusters:
        level = load_level(cluster.core.name)
        for opp in cluster.opps:
            row = {"cpu": cluster.cpus[0], "khz": opp.khz, "t0_ns": 0, "t1_ns": second}
            row |= {"active_ns": second, "exit_ns": 0, "idle0_ns": 0, "idle1_ns": 0}
            parts = model.interval_fj(cluster, row)
            told = level.opp_microwatt(opp.khz, opp.uv, board.temperature_c)
            assert sum(parts.values()) == told * second


def test_idle_states_and_the_shared_part(board: Platform) -> None:
    model, cluster = DerivedPower(board), board.clusters[1]
    opp = cluster.opps[-1]
    row = {"cpu": cluster.cpus[0], "khz": opp.khz, "t0_ns": 0, "t1_ns": 1000}
    row |= {"active_ns": 0, "exit_ns": 100, "idle0_ns": 400, "idle1_ns": 500}
    parts = model.interval_fj(cluster, row)
    level = load_level(cluster.core.name)
    leak = level.leakage_w("Core", opp.uv / 1e6, board.temperature_c)
    assert parts["idle_wfi"] == pytest.approx(400 * leak * 1e6, rel=1e-3)
    assert parts["idle_cpu_sleep_0"] == 0
    assert parts["idle_exit"] == 100 * level.opp_microwatt(opp.khz, opp.uv, board.temperature_c)
    shared = {"cpu": SHARED, "khz": opp.khz, "t0_ns": 0, "t1_ns": 1000, "exit_ns": 0}
    on = model.interval_fj(cluster, shared | {"active_ns": 1000})["shared"]
    off = model.interval_fj(cluster, shared | {"active_ns": 0})["shared"]
    assert 0 < off < on / 10


def test_models_have_keys_of_their_own(board: Platform) -> None:
    assert DerivedPower(board).digest == DerivedPower(board).digest
    assert DerivedPower(board).digest != PublishedPower(board).digest


def test_inefficient_opps_are_the_kernels() -> None:
    assert inefficient([100, 200, 300], [10, 30, 60]) == [False, False, False]
    assert inefficient([100, 200, 300], [20, 30, 60]) == [True, False, False]
    # Equal cost: the higher OPP does the same work sooner.
    assert inefficient([100, 200, 300], [10, 20, 60]) == [True, False, False]


def test_em_table(board: Platform) -> None:
    rows = em_rows(board)
    assert [row.khz for row in rows] == [opp.khz for c in board.clusters for opp in c.opps]
    assert len(text(rows).splitlines()) == 1 + len(rows)
    assert records(rows)[0]["published_uw"] == board.clusters[0].opps[0].power_uw
