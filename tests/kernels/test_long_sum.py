"""The queue of sum aggregation: its patches, odd configurations, no clamp means no change."""

from __future__ import annotations

import platform as host
from pathlib import Path

import pytest

from analysis.derive import derive
from configs.host.proc import run
from experiments.cell import Request, find, prepare
from experiments.runs import execute
from kernels.build import configure, lost_options, make
from kernels.source import Source, apply_series, series_patches
from kernels.variants import SERIES
from tests.kernels.test_long_feec import SEEDS, counters, measures
from tests.kernels.test_long_kernels import PARTS, STRICT, WITHOUT, fragment

pytestmark = pytest.mark.long

#: Without a clamp: light and steady, heavy and overutilized, and the source's own comparison.
SCENARIOS = ("eas/video-playback", "eas/speedometer", "uclamp/no-clamp-multi")
#: The option that the queue removes on its way; its default serves until then.
BUCKETS = {"UCLAMP_BUCKETS_COUNT": ""}


@pytest.fixture(scope="module")
def tree(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked tree with base's queue and this one."""
    folder = tmp_path_factory.mktemp("sum") / "src"
    source.unpack(folder)
    for queue in ("base", "sum"):
        apply_series(folder, SERIES / queue, source)
    return folder


@pytest.mark.parametrize("option", WITHOUT)
def test_compiles_without(tree: Path, option: str) -> None:
    out, log = tree.parent / f"out-{option}", tree.parent / f"{option}.log"
    configure(tree, out, fragment(**{option: "n"}, **{**WITHOUT[option], **BUCKETS}), log)
    make(tree, out, ["prepare", *PARTS], log, **STRICT)
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
    for patch in series_patches(SERIES / "sum"):
        run(["patch", "-p1", "--fuzz=0", "--batch", "-d", tree, "-i", patch.resolve()])
        configure(tree, out, fragment(**BUCKETS), log)
        make(tree, out, ["prepare", *PARTS], log, **STRICT)


@pytest.mark.guest
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_without_a_clamp_it_is_max_nospare0(scenario: str) -> None:
    """No sum is even kept, and every measure's mean lies within what base does over offsets."""
    found: dict[str, list[dict[str, float]]] = {"max-nospare0": [], "uclamp-sum": []}
    for variant, values in found.items():
        for seed in range(SEEDS):
            cell = prepare(find(Request("juno-r2", variant, scenario, seed=seed)))
            done = execute(cell)
            names = cell.names
            derived = derive(done.path, names.platform, names.activity)
            values.append(measures(derived.result, names.platform))
            if variant == "uclamp-sum":
                counted = counters(done.path)
                assert counted["feec_called"], "the table of counters was not found"
                assert not any(any(counted[name]) for name in counted if "uclamp" in name)
    for name in found["max-nospare0"][0]:
        base = [values[name] for values in found["max-nospare0"]]
        mean = sum(values[name] for values in found["uclamp-sum"]) / SEEDS
        assert min(base) <= mean <= max(base) or mean == pytest.approx(base[0], rel=1e-3), name
