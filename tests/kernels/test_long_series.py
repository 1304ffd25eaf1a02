"""Each queue's kernel with everything that the kernel can check in itself, under stress."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from configs.platform import Platform
from kernels.build import configure, fragment_text, make, names
from kernels.source import Source, apply_series
from kernels.variants import SERIES, load_kernels, load_variants
from tests.kernels.stress import counters, survive

pytestmark = [pytest.mark.long, pytest.mark.guest]

DEBUG = (
    *("PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_LIST", "DEBUG_PREEMPT"),
    *("SCHED_DEBUG", "SCHED_STACK_END_CHECK", "BUG_ON_DATA_CORRUPTION", "KALLSYMS_ALL"),
)
#: The variant of each kernel that has most switched on.
BUSIEST = {"base": "mainline", "feec": "feec-c", "sum": "uclamp-sum"}
FEATURES = "/sys/kernel/debug/sched/features"
#: What else is switched on.
BESIDES = {"sum": [(FEATURES, "UCLAMP_CHECK")]}
#: Simulated; a debug kernel takes about 100 host seconds for each second of six busy CPUs.
STRESS_MS = 2_000


def test_no_kernel_is_left_out() -> None:
    assert set(BUSIEST) == set(load_kernels())
    for kernel, variant in BUSIEST.items():
        assert load_variants()[variant].kernel == kernel


@pytest.mark.parametrize("kernel", BUSIEST)
def test_debug_kernel_survives(kernel: str, source: Source, juno: Platform, tmp_path: Path) -> None:
    spec = load_kernels()[kernel]
    tree, out, log = tmp_path / "src", tmp_path / "out", tmp_path / "log"
    source.unpack(tree)
    for series in spec.series:
        apply_series(tree, SERIES / series, source)
    fragment = fragment_text(spec) + "".join(f"CONFIG_{option}=y\n" for option in DEBUG)
    configure(tree, out, fragment, log)
    make(tree, out, ["Image"], log, **names(spec))
    switches = [*load_variants()[BUSIEST[kernel]].switches, *BESIDES.get(kernel, [])]
    done = survive(
        out / "arch/arm64/boot/Image",
        juno,
        tmp_path / "run",
        switches=switches,
        ms=STRESS_MS,
        limit_s=900,
    )
    assert re.search(r"Lock dependency validator", done.console)
    assert not counters(done.text("stats.txt")).get("uclamp_broken")
