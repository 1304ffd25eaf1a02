# SPDX-License-Identifier: GPL-2.0-or-later
"""Rails moved from one program to others: scripts, predictions from hand-made events, errors."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.program_events import ClusterEvents, OppEvents, load_events_of
from eascope.engines.gem5.engine import Gem5Engine
from eascope.experiments.characterisation.program import levels
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE
from research.draw import read
from research.rail_activity import (
    ERRORS,
    INPUT,
    INPUT_BYTES,
    LOADER,
    METERED,
    PAIRS,
    PLATFORM,
    RAILS,
    Programs,
    command,
    errors,
    guest,
    keep,
    points,
)

LOADS = "core.load_instructions"


@pytest.fixture(scope="module")
def exynos() -> Platform:
    return load_platform(PLATFORM)


def test_each_program_of_the_table_runs_once_on_each_cluster(exynos: Platform) -> None:
    rails = read(RAILS)
    for cluster, side in zip(exynos.clusters, range(2), strict=True):
        named = [pair[side] for pair in PAIRS[PLATFORM]]
        assert {*named} == rails[cluster.name].keys() - {"mhz", "volts", "idle"}
        assert len({*named}) == len(named)
        assert len({len(values) for values in rails[cluster.name].values()}) == 1
    for pair in PAIRS[PLATFORM]:
        assert pair.count("cachekiller") < 2


def test_a_guest_has_the_files_of_its_programs_and_their_commands() -> None:
    files = {name: name.encode() for name in ("gzip", LOADER, "libc.so.6", "line-stores")}
    needs = {"gzip-9": ("gzip", LOADER, "libc.so.6"), "cachekiller": ("line-stores",)}
    own = Programs(files, needs, "")
    told = guest(("gzip-9", "cachekiller"), own)
    assert list(told.files) == [*(f"/tmp/{name}" for name in files), INPUT]
    assert len(told.files[INPUT]) == INPUT_BYTES
    assert told.setup[0] == f"spawn chmod /bin/busybox chmod 755 {' '.join(list(told.files)[:-1])}"
    assert INPUT not in guest(("cachekiller", "cachekiller"), own).files
    assert command("cachekiller", 4, INPUT) == "/bin/launch 0 4 /tmp/line-stores"
    assert command("gzip-9", 0, INPUT) == (
        f"/bin/launch 0 0 /tmp/{LOADER} --library-path /tmp /tmp/gzip -kqf -9 /tmp/input -S .out"
    )


def _program(name: str, cluster: str, loads: float) -> ClusterEvents:
    """A cycle an instruction, at any OPP."""
    return ClusterEvents(name, cluster, 1.0, 0.0, (OppEvents(1_000_000, 1, 1.0, {LOADS: loads}),))


def test_a_rail_is_moved_by_the_ratio_of_derived_powers(exynos: Platform) -> None:
    loads = {METERED: 0.2, "other": 0.6}
    events = {
        name: {c.name: _program(name, c.name, share) for c in exynos.clusters}
        for name, share in loads.items()
    }
    rail = {"mhz": [1000], "volts": [1.1], "idle": [50.0], METERED: [250.0], "other": [400.0]}
    found = points(exynos, dict.fromkeys(("little", "big"), rail), events)
    assert [(point.program, point.cluster) for point in found] == [
        ("other", "little"),
        ("other", "big"),
    ]
    events["other"].pop("big")
    assert points(exynos, dict.fromkeys(("little", "big"), rail), events) == found[:1]
    power, point = load_events("cortex-a7"), found[0]
    clock, load = power.pj(CYCLE, 1.0), power.pj(LOADS, 1.0)
    ratio = (clock + 0.6 * load) / (clock + 0.2 * load)
    assert point.derived == pytest.approx(ratio)
    assert point.predicted == pytest.approx(50 + 200 * ratio)
    assert point.ratio == 350 / 200
    # The other reading: the clock is kept in mW, and the rest is three times as much.
    kept = clock * 1e-12 * 1e9 * 1.1**2 * 1e3
    assert point.clock_kept == pytest.approx(50 + kept + 3 * (200 - kept))
    little = dict(zip(ERRORS, errors(found)[0], strict=True))
    assert little["points"] == 1
    assert little["mean"] == little["worst"] == pytest.approx(100 * (point.predicted / 400 - 1))
    assert little["unmoved_mean_absolute"] == pytest.approx(37.5)
    assert little["unmoved_worst"] == pytest.approx(-37.5)


def test_each_run_is_written_into_the_files_of_its_programs(
    exynos: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Programs({}, {}, "coreutils 9.1")
    known = SimpleNamespace(version="24.0.0.1", binary_sha256="0" * 64)
    monkeypatch.setattr(Gem5Engine, "identity", lambda _: known)

    def rows(cycles: float) -> pl.DataFrame:
        table = []
        for cluster in exynos.clusters:
            row = {"cluster": float(cluster.index), LOADS: 0.0}
            at = 0.0
            for khz in (cluster.max_khz, *levels(cluster, 3)):
                ns = 1e9 * cycles / khz
                busy = {"t0_ns": at, "t1_ns": at + ns, "khz": float(khz), "on_ns": ns}
                count = {"cpu": float(cluster.cpus[0]), "instructions": 1000.0, LOADS: 200.0}
                table += [row | busy | count, row | busy | {"cpu": -1.0, "instructions": 0.0}]
                at += ns
        return pl.DataFrame(table)

    keep(exynos, ("hash", "encrypt"), rows(2.0), own, tmp_path)
    assert list(load_events_of(exynos, "hash", tmp_path)) == ["little"]
    keep(exynos, ("encrypt", "hash"), rows(4.0), own, tmp_path)
    found = load_events_of(exynos, "hash", tmp_path)
    assert [each.cycles for each in found.values()] == pytest.approx([2.0, 4.0], rel=1e-4)
    assert [each.memory_ns for each in found.values()] == pytest.approx([0.0, 0.0], abs=1e-4)
    assert found["little"].events(700_000) == {LOADS: 0.2}
    assert list(load_events_of(exynos, "encrypt", tmp_path)) == ["little", "big"]
