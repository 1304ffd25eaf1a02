# SPDX-License-Identifier: GPL-2.0-or-later
"""The measure of system code, without gem5: rows to figures, the cell, the file."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from eascope.analysis.records.cell import IdentityRecord
from eascope.configs.activity import ACTIVITY, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.configs.system_activity import load_system
from eascope.engines.base import Machine
from eascope.experiments.characterisation.parts import system_names, system_provenance
from eascope.experiments.characterisation.system import evaluate, system_text, write_system
from eascope.experiments.cli.main import main
from eascope.host.errors import EascopeError
from tests.support.records import cell_record

T0, T1 = 1_000, 5_000


def _row(cluster: int, cpu: int, t0: int, t1: int, instructions: int, cycles: int) -> Any:
    return dict(cluster=cluster, cpu=cpu, t0_ns=t0, t1_ns=t1, instructions=float(instructions),
                cycles=float(cycles))  # fmt: skip


def _rows(**changed: int) -> pl.DataFrame:
    big = changed.get("big", 300_000)
    return pl.DataFrame(
        [
            _row(0, 0, 1_000, 2_000, 100_000, 400_000),
            _row(0, 0, 2_000, 5_000, 200_000, 400_000),
            _row(0, 1, 1_000, 5_000, 100_000, 200_000),
            _row(1, 4, 1_000, 5_000, big, 700_000),
            # Not counted: shared parts, what is before the window and what is after it.
            _row(0, -1, 1_000, 5_000, 7, 9_999_999),
            _row(0, 0, 0, 1_000, 1_000_000, 1_000_000),
            _row(1, 4, 5_000, 6_000, 1_000_000, 1_000_000),
        ]
    )


def test_instructions_over_cycles_of_the_cpus_in_the_window(juno: Platform) -> None:
    little, big = evaluate(juno, _rows(), T0, T1)
    assert (little.name, little.instructions, little.cycles, little.ipc) == (
        *("little", 400_000, 1_000_000),
        0.4,
    )
    assert (big.instructions, big.cycles, big.ipc) == (300_000, 700_000, 0.428571)


@pytest.mark.parametrize("count", [0, 199_999])
def test_a_cluster_that_did_too_little_is_refused(juno: Platform, count: int) -> None:
    with pytest.raises(EascopeError) as caught:
        evaluate(juno, _rows(big=count), T0, T1)
    assert str(caught.value).startswith(f"juno-r2: big: {count} instructions ")
    assert "at least 200000" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(evaluate(juno, _rows(big=200_000), T0, T1)) == 2


def _provenance(seed: int = 0) -> Mapping[str, str | int]:
    request = SimpleNamespace(platform="juno-r2", scenario="smoke", variant="mainline", seed=seed)
    names = SimpleNamespace(request=request, engine=SimpleNamespace(mode="elided-detailed"))
    identity = IdentityRecord("gem5", "24.0", {"binary_sha256": "ab", "more": 1})
    record = cell_record(engine_identity=identity)
    cell: Any = SimpleNamespace(resolved=names, simkey="cd", record=record)
    return system_provenance(cell)


def test_what_is_written_is_read(tmp_path: Path, juno: Platform) -> None:
    measured = evaluate(juno, _rows(), T0, T1)
    path = write_system(juno, measured, _provenance(3), tmp_path)
    read_back = load_system(juno, tmp_path)
    assert read_back
    assert (read_back.path, list(read_back.clusters)) == (path, measured)
    assert read_back.provenance == {
        "gem5": "24.0",
        "gem5_sha256": "ab",
        "simkey": "cd",
        "scenario": "smoke",
        "variant": "mainline",
        "mode": "elided-detailed",
        "seed": 3,
        "command": "eascope characterise juno-r2",
    }
    before = path.read_bytes()
    write_system(juno, measured, _provenance(4), tmp_path)
    assert path.read_bytes() == before, "the figures are the same"
    others = [replace(cluster, cycles=cluster.cycles + 1) for cluster in measured]
    write_system(juno, others, _provenance(4), tmp_path)
    written = load_system(juno, tmp_path)
    assert written
    assert written.provenance["seed"] == 4
    lines = system_text(measured).splitlines()
    assert lines[1:] == [
        "cluster    IPC  instructions (millions)",
        "little   0.400                     0.40",
        "big      0.429                     0.30",
    ]


@pytest.mark.parametrize("name", ["juno-r2", "pixel6"])
def test_the_cell_of_system_code_needs_no_system_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linux_like: Machine, name: str
) -> None:
    """The loop at gem5's speeds, capacities that fit; what gem5 is given has no system's speed."""
    platform = load_platform(name)
    with_it = system_names(platform)
    shutil.copy(ACTIVITY / f"{name}.json", tmp_path)
    alone = load_activity(platform, tmp_path)
    monkeypatch.setattr("eascope.experiments.controls.activity_of", lambda _: alone)
    names = system_names(platform)
    loops = {entry.cluster: entry for entry in alone.measured if entry.kernel == "busy_loop"}
    for cluster in names.platform.clusters:
        assert names.activity.ipc(cluster) == loops[cluster.name].ipc[cluster.max_khz]
        assert names.activity.system_ipc(cluster) == names.activity.ipc(cluster)
        assert with_it.activity.system_ipc(cluster) < names.activity.system_ipc(cluster)
    settings = [
        cell_names.engine.settings(
            replace(linux_like, platform=cell_names.platform, activity=cell_names.activity)
        )
        for cell_names in (names, with_it)
    ]
    assert settings[0] == settings[1]
    assert names.given == names.platform == with_it.platform != platform
    assert (names.engine.name, names.engine.mode) == ("gem5", "elided-detailed")
    assert names.request.elide
    assert names.request.controls.speeds == "measured"


@pytest.fixture
def characterise(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command: exit code, standard output, standard error."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main(["characterise", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_show_prints_the_parts_that_are_asked_for(
    characterise: Callable[..., tuple[int, str, str]],
) -> None:
    system = load_system(load_platform("juno-r2"), ACTIVITY)
    assert system
    code, out, _ = characterise("juno-r2", "--show")
    assert code == 0
    assert "busy_loop" in out
    assert system_text(system.clusters) in out
    assert characterise("juno-r2", "--show", "--only", "system")[1] == (
        system_text(system.clusters) + "\n"
    )
    assert "system code" not in characterise("juno-r2", "--show", "--only", "kernels")[1]
    shown = json.loads(characterise("juno-r2", "--show", "--json")[1])
    assert sorted(shown) == ["capacities", "kernels", "misses", "system", "times"]
    assert [entry["ipc"] for entry in shown["system"]] == [entry.ipc for entry in system.clusters]
