# SPDX-License-Identifier: GPL-2.0-or-later
"""What `sum` claims of its sums the kernel checks: break each claim, and it must say so."""

from __future__ import annotations

import difflib
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.platform import Platform
from engines.base import EngineFailed
from kernels.build import OUT, configure, fragment_text, make, names
from kernels.source import Source
from kernels.variants import SERIES, load_kernels
from kernels.worktree import worktree
from tests.support.stress import survive

pytestmark = [pytest.mark.long, pytest.mark.guest]

FILE = "kernel/sched/uclamp.c"
FEATURES = "/sys/kernel/debug/sched/features"


@dataclass(frozen=True)
class Mutant:
    """``old``, which is in `FILE` once, becomes ``new``; the kernel then says one of ``says``."""

    claim: str
    old: str
    new: str
    says: tuple[str, ...]


MUTANTS = [
    Mutant(
        "no-clamp-no-bias",
        "\treturn (int)uclamp_clamp(p, util) - (int)util;\n",
        "\treturn (int)uclamp_clamp(p, util) - (int)util + 1;\n",
        ("bias without clamp", "bias is stale"),
    ),
    Mutant(
        "no-task-no-bias",
        "\tWRITE_ONCE(sum->est_bias, sum->est_bias - part->est_bias);\n\tpart->est_bias = 0;\n",
        "\tpart->est_bias = 0;\n",
        ("sum->bias || sum->est_bias || sum->nr_uncapped", "sums differ"),
    ),
    Mutant(
        "what-runs-counts-as-clamped",
        "\tif (bias == part->bias)\n",
        "\tif (abs(bias - part->bias) < 8)\n",
        ("bias is stale",),
    ),
    Mutant(
        "what-slept-decays",
        "\tif (sum->blocked)\n",
        "\tif (sum->blocked > 0)\n",
        ("negative bias without utilization", "bias is left"),
    ),
    Mutant(
        "what-slept-boosted-decays",
        "\tif (sum->blocked)\n",
        "\tif (sum->blocked < 0)\n",
        ("bias is left",),
    ),
    Mutant(
        "what-leaves-a-cpu-leaves-it",
        "\tif (part->where == UCLAMP_RUNNABLE) {\n\t\tuclamp_drop_runnable(rq, p);\n",
        "\tif (part->where == UCLAMP_RUNNABLE) {\n",
        ("task is not accounted for", "part->cpu != cpu_of(rq)", "part->where == UCLAMP_RUNNABLE"),
    ),
    Mutant(
        "who-runs-does-not-wait",
        "\trq->uclamp_sum.curr = p;\n",
        "\tif (!p || !rq->uclamp_sum.curr)\n\t\trq->uclamp_sum.curr = p;\n",
        ("another task runs",),
    ),
]


def mutated(mutant: Mutant, source: Source, folder: Path) -> Path:
    """The image of the kernel ``sum`` with ``mutant``, built where kernels are built."""
    spec = load_kernels()["sum"]
    queues = [SERIES / series for series in spec.series]
    with worktree(source, queues) as tree:
        old = (tree / FILE).read_text()
    assert old.count(mutant.old) == 1
    before = old.splitlines(keepends=True)
    after = old.replace(mutant.old, mutant.new).splitlines(keepends=True)
    patch = "".join(difflib.unified_diff(before, after, f"a/{FILE}", f"b/{FILE}"))
    queue = folder / "mutant"
    queue.mkdir()
    (queue / "series").write_text("mutant.patch\n")
    (queue / "mutant.patch").write_text(f"diff --git a/{FILE} b/{FILE}\n{patch}")
    queues.append(queue)
    image, log = folder / "Image", folder / "log"
    with worktree(source, queues) as tree:
        configure(tree, tree / OUT, fragment_text(spec), log)
        make(tree, tree / OUT, ["Image"], log, **names(spec))
        shutil.copyfile(tree / OUT / "arch/arm64/boot/Image", image)
    return image


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.claim)
def test_a_broken_claim_is_said(
    mutant: Mutant, source: Source, juno: Platform, tmp_path: Path
) -> None:
    image = mutated(mutant, source, tmp_path)
    with pytest.raises(EngineFailed) as error:
        survive(image, juno, tmp_path / "run", switches=[(FEATURES, "UCLAMP_CHECK")], ms=400)
    console = (tmp_path / "run/console.log").read_text(errors="replace")
    warning = console.partition("WARNING: ")
    assert warning[1], error.value
    found = warning[0][-400:] + warning[2][:400]
    assert any(says in found for says in mutant.says), found
