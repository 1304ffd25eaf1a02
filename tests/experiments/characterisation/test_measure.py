# SPDX-License-Identifier: GPL-2.0-or-later
"""Characterisation without gem5: the program that measures, rows to figures, the activity file."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import ACTIVITY, load_activity
from eascope.configs.platform import Cluster, Platform
from eascope.configs.system_activity import digits
from eascope.engines.base import EngineFailed
from eascope.engines.gem5.inside.columns import FIXED
from eascope.engines.gem5.inside.request import RowsFacts
from eascope.engines.gem5.inside.rows import write_rows
from eascope.experiments.characterisation import guest as program
from eascope.experiments.characterisation.guest import (
    FIRST_MARK,
    KERNELS,
    LEVEL_MARKS,
    guest,
    rt_app_text,
)
from eascope.experiments.characterisation.measure import (
    KernelMeasurement,
    evaluate,
    measure,
    request,
)
from eascope.experiments.characterisation.record import capacities, table, text, write
from eascope.experiments.cli.main import main
from eascope.host.errors import EascopeError
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.elide import FUNCTION_SHA256
from tests.support.refusals import refusal


def _level_marks(level: int, kernel: int) -> tuple[int, int]:
    first = FIRST_MARK + level * LEVEL_MARKS + 2 * kernel
    return first, first + 1


def _rows(cluster: Cluster) -> tuple[list[dict[str, float]], dict[int, int]]:
    """Kernel k at level l: 1000 (k + 1) instructions and as many ALU accesses in 10 us."""
    rows, marks, now = [], {}, 0
    for level, opp in enumerate(reversed(cluster.opps)):
        for number in range(len(KERNELS)):
            first, last = _level_marks(level, number)
            marks[first], marks[last] = now, now + 10_000
            head = dict.fromkeys(FIXED, 0.0) | {"core.ialu_accesses": 0.0, "L2.read_accesses": 0.0}
            edge = {"t0_ns": now + 0.25, "t1_ns": now + 10_000, "khz": float(opp.khz)}
            instructions = 1000.0 * (number + 1)
            cpu = {"cpu": 0.0, "instructions": instructions, "core.ialu_accesses": instructions}
            rows.append(head | edge | cpu)
            rows.append(head | edge | {"cpu": -1.0, "L2.read_accesses": 0.5 * instructions})
            now += 20_000
    return rows, marks


def test_ipc_counts_all_time_between_the_marks(juno: Platform) -> None:
    little = juno.clusters[0]
    measured = evaluate(little, *_rows(little))
    assert [(entry.kernel, entry.khz) for entry in measured[:6]] == [
        *((kernel, 950_000) for kernel in KERNELS),
        ("busy_loop", 800_000),
    ]
    first = measured[0]
    assert first.ipc == pytest.approx(1000 / (9.99975e3 * 0.95))
    assert first.events == {"core.ialu_accesses": 1.0, "L2.read_accesses": 0.5}


def test_a_kernel_without_marks_is_an_error(juno: Platform) -> None:
    rows, marks = _rows(juno.clusters[0])
    del marks[_level_marks(1, 2)[1]]
    with pytest.raises(EascopeError, match="little: branchy at 800000 kHz was not measured"):
        evaluate(juno.clusters[0], rows, marks)


def test_a_kernel_at_another_opp_is_an_error(juno: Platform) -> None:
    rows, marks = _rows(juno.clusters[0])
    rows[0]["khz"] = 450_000.0
    with pytest.raises(EascopeError, match="little: busy_loop did not run at 950000 kHz"):
        evaluate(juno.clusters[0], rows, marks)


def test_a_request_has_one_cpu_of_the_cluster(juno: Platform) -> None:
    request_of_cluster = request(juno, juno.clusters[1])
    (cluster,) = request_of_cluster["machine"]["clusters"]
    assert (cluster["index"], cluster["cpus"], cluster["core"]) == (0, [0], "cortex-a72")
    assert cluster["model"] == "ArmO3CPU"
    assert len(cluster["clocks_hz"]) == 3


def test_the_program_holds_rt_apps_own_loop() -> None:
    loop = rt_app_text()[:260]
    assert hashlib.sha256(loop).hexdigest() == FUNCTION_SHA256
    assert loop in guest(3, 50_000).read_bytes()


def test_the_program_is_the_same_bytes_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = guest(3, 50_000).read_bytes()
    source = rt_app_text()
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(program, "rt_app_text", lambda: source)
    assert guest(3, 50_000).read_bytes() == first
    assert guest(4, 50_000).read_bytes() != first


def test_kernels_are_those_of_the_program() -> None:
    listed = program.SOURCE.read_text().split(".quad\t")[1].split("\n")[0]
    assert listed.split(", ") == [*KERNELS, "0"]
    names = run([arm64_tool("nm"), guest(3, 50_000)]).decode()
    assert all(f" {kernel}\n" in names for kernel in KERNELS)


def _measured(platform: Platform) -> list[KernelMeasurement]:
    return [
        KernelMeasurement(cluster.name, kernel, opp.khz, 1000, ipc, {"core.cycles": 1 / ipc})
        for cluster, ipc in zip(platform.clusters, (0.7, 1.4), strict=True)
        for opp in reversed(cluster.opps)
        for kernel in KERNELS
    ]


def test_measured_speeds_are_added_to_the_file_and_leave_the_rest(
    tmp_path: Path, juno: Platform
) -> None:
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    before = load_activity(juno, tmp_path)
    write(juno, _measured(juno), {"gem5": "24.0", "command": "x"}, tmp_path)
    after = load_activity(juno, tmp_path)
    assert after.clusters == before.clusters
    assert len(after.measured) == len(KERNELS) * 2
    big = next(entry for entry in after.measured if entry.cluster == "big")
    assert big.ipc == {600_000: 1.4, 1_000_000: 1.4, 1_200_000: 1.4}
    assert big.events == {"core.cycles": digits(1 / 1.4)}


def test_a_file_with_the_same_figures_stays(tmp_path: Path, juno: Platform) -> None:
    """Its digest is a part of every derivation; another build of gem5 changes no figure."""
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    first = write(juno, _measured(juno), {"gem5_sha256": "ab"}, tmp_path).read_bytes()
    assert write(juno, _measured(juno), {"gem5_sha256": "cd"}, tmp_path).read_bytes() == first
    others = [replace(entry, ipc=2 * entry.ipc) for entry in _measured(juno)]
    data = json.loads(write(juno, others, {"gem5_sha256": "cd"}, tmp_path).read_text())
    assert data["measured"]["provenance"] == {"gem5_sha256": "cd"}
    assert data["measured"]["kernels"] == table(others)


def test_the_command_names_the_files_before_it_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named: list[str] = []

    def measured(platform: Platform) -> Path:
        named.append(capsys.readouterr().err)
        return ACTIVITY / f"{platform.name}.json"

    monkeypatch.setattr("eascope.engines.gem5.provider.find_gem5", lambda: Path("gem5"))
    monkeypatch.setattr("eascope.experiments.characterisation.parts.measure_kernels", measured)
    assert main(["characterise", "juno-r2", "--only", "kernels"]) == 0
    assert named == [
        "if values differ, configs/activity/juno-r2.json will be written, and results recomputed\n"
    ]
    line = "configs/activity/juno-r2.json: unchanged, not rewritten\n"
    assert capsys.readouterr().err == line


def test_capacities_are_speeds_at_the_top_relative_to_the_largest(
    tmp_path: Path, juno: Platform
) -> None:
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    write(juno, _measured(juno), {"gem5": "24.0"}, tmp_path)
    kernels = load_activity(juno, tmp_path).measured
    little, big = capacities(juno, kernels)
    assert little.board == juno.capacities[0]
    assert little.by_kernel["busy_loop"] == little.mean == round(1024 * 0.7 * 950 / (1.4 * 1200))
    assert big.board == big.mean == 1024
    shown = text(juno, kernels)
    assert "busy_loop" in shown
    assert str(little.mean) in shown


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda data: data["kernels"]["memory"].pop("big"), "memory.big is missing: allowed: a ta"),
        (lambda data: data["kernels"]["memory"]["big"]["ipc"].pop("600000"), "ipc.600000 is miss"),
        (
            lambda data: data["kernels"]["memory"]["big"]["ipc"].update(x=1),
            "ipc.x = 1: no such key",
        ),
        (lambda data: data.update(provenanze={}), "measured.provenanze = {}: no such key (did"),
        (lambda data: data.pop("conditions"), "measured.conditions is missing"),
    ],
)
def test_a_wrong_record_is_one_line(
    tmp_path: Path, juno: Platform, edit: Callable[[Any], Any], message: str
) -> None:
    shutil.copy(ACTIVITY / "juno-r2.json", tmp_path)
    path = write(juno, _measured(juno), {"gem5": "24.0"}, tmp_path)
    data = json.loads(path.read_text())
    edit(data["measured"])
    path.write_text(json.dumps(data))
    assert message in refusal(load_activity, juno, tmp_path)


def test_the_fastest_opps_events_are_kept(juno: Platform) -> None:
    kernels = table(
        [
            KernelMeasurement("big", "memory", 1_200_000, 10, 0.5, {"a": 1.0}),
            KernelMeasurement("big", "memory", 600_000, 10, 0.7, {"a": 2.0}),
        ]
    )
    assert kernels == {
        "memory": {
            "big": {
                "ipc": {"600000": 0.7, "1200000": 0.5},
                "events_per_instruction": {"a": 1.0},
            }
        }
    }


def test_no_gem5_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEM5", "/nowhere/gem5")
    assert main(["characterise", "juno-r2"]) == 1
    assert capsys.readouterr().err.startswith("eascope: error: GEM5 = '/nowhere/gem5': no such")


def test_a_gem5_that_fails_is_told_with_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, juno: Platform
) -> None:
    fake = tmp_path / "gem5"
    fake.write_text("#!/bin/sh\necho more; echo 'fatal: no such thing' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("GEM5", str(fake))
    with pytest.raises(EngineFailed, match=r"^little: gem5 died: fatal: no such thing") as caught:
        measure(juno, juno.clusters[0])
    assert "more" in caught.value.log_tail


def test_a_gem5_that_ends_well_leaves_rows_and_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, juno: Platform
) -> None:
    """Through the engine's own supervisor and reader; times keep their fractions of a ns."""
    fake = tmp_path / "gem5"
    monkeypatch.setenv("GEM5", str(fake))
    rows, marks = _rows(juno.clusters[0])
    columns = list(rows[0])
    facts: RowsFacts = {"marks": list(marks.items()), "transitions": {}, "instructions": 1}
    done = tmp_path / "done"
    done.mkdir()
    write_rows(done, columns, [[row[name] for name in columns] for row in rows], facts)
    fake.write_text(f'#!/bin/sh\ncp {done}/rows.* "$3"\necho "eascope: ended exit at 1 ms"\n')
    fake.chmod(0o755)
    measured = measure(juno, juno.clusters[0])
    assert measured == evaluate(juno.clusters[0], rows, marks)
    assert measured[0].ipc == pytest.approx(1000 / (9.99975e3 * 0.95))
