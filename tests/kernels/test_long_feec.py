"""The queue of the EAS rework: each patch, odd configurations, and that its switches can be off."""

from __future__ import annotations

import platform as host
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.derive import derive
from configs.host.proc import run
from configs.platform import Platform
from experiments.cell import Request, find, prepare
from experiments.runs import execute
from kernels.build import configure, lost_options, make
from kernels.source import Source, apply_series, series_patches
from kernels.variants import SERIES, STATS, load_variants
from tests.kernels.test_long_kernels import PARTS, STRICT, WITHOUT, fragment

pytestmark = pytest.mark.long

#: What this queue touches and can be compiled by itself.
OF_QUEUE = [*PARTS, "kernel/power/"]

#: Counters that this queue adds: each belongs to something that a switch turns on.
COUNTERS = (
    *("lb_group_filtered", "feec_tie_nr", "feec_opp_up", "feec_guard_hit"),
    *("push_check", "push_moved", "push_same", "push_failed", "push_ratelimited"),
    *("tick_check", "tick_moved", "misfit_push", "misfit_lb"),
)
#: Light and steady, capped and stuck, heavy and overutilized.
SCENARIOS = ("eas/video-playback", "uclamp/eight-capped-tasks", "eas/speedometer")
SEEDS = 5


@pytest.fixture(scope="module")
def tree(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked tree with base's queue and this one."""
    folder = tmp_path_factory.mktemp("feec") / "src"
    source.unpack(folder)
    for queue in ("base", "feec"):
        apply_series(folder, SERIES / queue, source)
    return folder


@pytest.mark.parametrize("option", WITHOUT)
def test_compiles_without(tree: Path, option: str) -> None:
    out, log = tree.parent / f"out-{option}", tree.parent / f"{option}.log"
    configure(tree, out, fragment(**{option: "n"}, **WITHOUT[option]), log)
    make(tree, out, ["prepare", *OF_QUEUE], log, **STRICT)
    assert (out / "kernel/sched/fair.o").is_file()


@pytest.mark.skipif(host.machine() != "x86_64", reason="arm64 is always SMP; x86 is not")
def test_scheduler_compiles_for_one_cpu(tree: Path) -> None:
    out, log = tree.parent / "out-up", tree.parent / "up.log"
    out.mkdir()
    wanted = "".join(
        f"CONFIG_{key}=y\n"
        for key in ("EXPERT", "DEBUG_KERNEL", "DEBUG_FS", "SCHED_DEBUG", "SCHED_LAB")
    )
    (out / "up.config").write_text(wanted + "# CONFIG_SMP is not set\n")
    native = {"ARCH": "x86", "CROSS_COMPILE": "", "CC": "gcc"}
    make(tree, out, ["allnoconfig"], log, KCONFIG_ALLCONFIG=str(out / "up.config"), **native)
    assert lost_options(wanted, (out / ".config").read_text()) == []
    # Without W=1: mainline has an unused constant there.
    make(tree, out, ["prepare", "kernel/sched/"], log, **native, KCFLAGS="-Werror")
    assert (out / "kernel/sched/lab.o").is_file()


def test_every_patch_compiles_by_itself(source: Source, tmp_path: Path) -> None:
    tree, out, log = tmp_path / "src", tmp_path / "out", tmp_path / "log"
    source.unpack(tree)
    apply_series(tree, SERIES / "base", source)
    for patch in series_patches(SERIES / "feec"):
        run(["patch", "-p1", "--fuzz=0", "--batch", "-d", tree, "-i", patch.resolve()])
        configure(tree, out, fragment(), log)
        make(tree, out, ["prepare", *OF_QUEUE], log, **STRICT)


def counters(folder: Path) -> dict[str, list[int]]:
    """The kernel's counters as the guest read them after the window."""
    text = (folder / "state.txt").read_text()
    last = text.rpartition(f"{STATS}: ")[2]
    rows = re.findall(r"^(\w+)((?: \d+)+)$", last, re.MULTILINE)
    return {name: [int(number) for number in numbers.split()] for name, numbers in rows}


def measures(result: dict[str, Any], platform: Platform) -> dict[str, float]:
    """What must not change: energy, placement, transitions."""
    found = {"energy": result["energy_j"]["total"], "migrations": float(result["migrations"])}
    for cluster in platform.clusters:
        found[f"work on {cluster.name}"] = result["work_share"][cluster.name]
        found[f"transitions of {cluster.name}"] = result["opp_transitions_per_s"][cluster.name]
    return found


@pytest.mark.guest
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_with_all_switches_off_it_is_base(scenario: str) -> None:
    """No counter moves, and every measure's mean lies within what base does over start offsets."""
    found: dict[str, list[dict[str, float]]] = {"mainline": [], "feec-a": []}
    for variant, values in found.items():
        for seed in range(SEEDS):
            cell = prepare(find(Request("juno-r2", variant, scenario, seed=seed)))
            done = execute(cell)
            names = cell.names
            derived = derive(done.path, names.platform, names.activity)
            values.append(measures(derived.result, names.platform))
            if variant == "feec-a":
                counted = counters(done.path)
                assert counted["feec_called"], "the table of counters was not found"
                moved = {name: counted[name] for name in COUNTERS if any(counted[name])}
                assert not moved
    for name in found["mainline"][0]:
        base = [values[name] for values in found["mainline"]]
        mean = sum(values[name] for values in found["feec-a"]) / SEEDS
        assert min(base) <= mean <= max(base) or mean == pytest.approx(base[0], rel=1e-3), name


def test_the_counters_are_all_of_the_queue() -> None:
    """Those that the patches add, no more and no fewer."""
    added = {
        name
        for patch in series_patches(SERIES / "feec")
        for name in re.findall(r"^\+SCHED_LAB_COUNTER\((\w+)\)", patch.read_text(), re.MULTILINE)
    }
    assert added == set(COUNTERS)
    assert dict(load_variants()["feec-a"].switches).keys() >= {
        f"{STATS.rpartition('/')[0]}/{name}" for name in ("feec_mode", "eas_push")
    }
