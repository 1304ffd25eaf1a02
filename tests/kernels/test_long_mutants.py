# SPDX-License-Identifier: GPL-2.0-or-later
"""What `sum` claims of its sums the kernel checks: break each claim, and it must say so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.platform import Platform
from engines.base import EngineFailed
from kernels.source import Source
from tests.support.mutants import Edit, mutant_image
from tests.support.stress import counters, survive

pytestmark = [pytest.mark.long, pytest.mark.guest]

CORE, FAIR, UCLAMP = (f"kernel/sched/{name}.c" for name in ("core", "fair", "uclamp"))
FILES = "/sys/kernel/debug/sched/eascope"
#: The kernel's checks, and what makes it look at who waits.
SWITCHES = [
    ("/sys/kernel/debug/sched/features", "UCLAMP_CHECK"),
    (f"{FILES}/uclamp_wait", "2"),
]


@dataclass(frozen=True)
class Mutant:
    """``old``, which is in ``file`` once, becomes ``new``; the kernel then says one of ``says``.

    If ``says`` is empty it survives, but ``counter``, which counts under stress, stays zero.
    """

    claim: str
    old: str
    new: str
    says: tuple[str, ...] = ()
    file: str = UCLAMP
    counter: str = ""

    @property
    def edit(self) -> Edit:
        """What makes it of the whole kernel."""
        return Edit(self.file, self.old, self.new)


MUTANTS = [
    Mutant(
        "a-limit-of-the-system-reaches-all",
        "#endif\n\n\tuclamp_update_tasks();\n",
        "#endif\n",
        ("effective clamps are stale",),
        CORE,
    ),
    Mutant(
        "clamps-of-a-group-reach-its-tasks",
        "\tif (cpu_util_update_eff(of_css(of)))\n\t\tuclamp_update_tasks();\n",
        "\tcpu_util_update_eff(of_css(of));\n",
        ("effective clamps are stale",),
        CORE,
    ),
    Mutant(
        "no-clamp-no-bias",
        "\treturn (int)uclamp_clamp(p, util) - (int)util;\n",
        "\treturn (int)uclamp_clamp(p, util) - (int)util + 1;\n",
        ("bias without clamp", "bias is stale", "bias of the estimate is stale"),
    ),
    Mutant(
        "no-task-no-bias",
        "\tWRITE_ONCE(sum->est_bias, sum->est_bias - part->est_bias);\n\tpart->est_bias = 0;\n",
        "\tpart->est_bias = 0;\n",
        ("sum->bias || sum->est_bias || sum->nr_capped", "sums differ"),
    ),
    Mutant(
        "an-estimate-has-a-bias",
        "\treturn uclamp_bias(p, READ_ONCE(p->se.avg.util_est) & ~UTIL_AVG_UNCHANGED);\n",
        "\treturn 0;\n",
        ("bias of the estimate is stale",),
    ),
    Mutant(
        "what-runs-counts-as-clamped",
        "\tp->uclamp_part.bias = uclamp_bias(p, uclamp_part_avg(p));\n",
        "\tif (abs(uclamp_bias(p, uclamp_part_avg(p)) - p->uclamp_part.bias) >= 8)\n"
        "\t\tp->uclamp_part.bias = uclamp_bias(p, uclamp_part_avg(p));\n",
        ("bias is stale", "bias without clamp"),
    ),
    Mutant(
        "what-waits-is-forgotten",  # as it was before: a bias that stays
        "\t\tpart->floor = uclamp_util_value(p, UCLAMP_MIN);\n",
        "\t\tpart->floor = part->bias;\n",
        ("lower clamp is stale", "sum is less than what runs"),
    ),
    Mutant(
        "what-waits-decays-as-one",
        "\tsum->waiting = uclamp_decay(sum->waiting, period - sum->period);\n",
        "",
        ("sums differ", "uclamp_whole(sum->waiting)"),
    ),
    Mutant(
        "what-is-promised-stays",
        "\t\tpart->floor = uclamp_util_value(p, UCLAMP_MIN);\n",
        "\t\tpart->floor = 0;\n",
        ("lower clamp is stale",),
    ),
    Mutant(
        "what-slept-decays",
        "\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "\tif (sum->blocked > 0)\n"
        "\t\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        ("negative bias without utilization", "bias is left", "sum of sleeping tasks differs"),
    ),
    Mutant(
        "what-slept-boosted-decays",
        "\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "\tif (sum->blocked < 0)\n"
        "\t\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        ("bias is left", "sum of sleeping tasks differs"),
    ),
    Mutant(
        "who-wakes-is-not-asleep",
        "\t\tsum->blocked -= left;\n",
        "",
        ("sum of sleeping tasks differs", "negative bias without utilization", "bias is left"),
    ),
    Mutant(
        "who-leaves-asleep-is-removed",
        "\t\tuclamp_remove(cfs_rq, uclamp_decay(uclamp_fixed(part->bias), period - part->stamp),\n"
        "\t\t\t      period);\n",
        "",
        ("sum of sleeping tasks differs", "negative bias without utilization", "bias is left"),
    ),
    Mutant(
        "who-changes-groups-asleep-is-there",
        "\tuclamp_sum_attach(task_rq(p), p);\n",
        "",
        ("task is not accounted for",),  # asleep, maybe with a delayed dequeue
        FAIR,
    ),
    Mutant(
        "what-leaves-a-cpu-leaves-it",
        "\tif (uclamp_is_runnable(p)) {\n\t\tuclamp_drop_runnable(rq, p);\n",
        "\tif (uclamp_is_runnable(p)) {\n",
        ("task is not accounted for", "part->cpu != cpu_of(rq)", "uclamp_is_runnable(p)"),
    ),
    Mutant(
        "who-runs-is-who-runs",
        "\tsum->curr = p;\n",
        "\tif (!p || !sum->curr)\n\t\tsum->curr = p;\n",
        ("another task runs", "task is not accounted for", "other tasks wait"),
    ),
    Mutant(
        "who-runs-does-not-wait",
        "\t\tnr--;\n\n\treturn nr;\n",
        "\t\treturn nr;\n\n\treturn nr;\n",
        ("other tasks wait",),
    ),
    Mutant(
        "who-may-not-run-does-not-wait",
        "\trq->uclamp_sum.nr_uncapped += throttle ? -cfs_rq->uclamp_nr_uncapped :\n"
        "\t\t\t\t\t\t cfs_rq->uclamp_nr_uncapped;\n",
        "",
        ("other tasks wait", "sum->nr_uncapped"),
    ),
    Mutant(
        "caps-that-change-bound-io",
        "\tWRITE_ONCE(sum->limit, sum->limit + limit - part->limit);\n",
        "",
        ("sums differ",),
    ),
    Mutant(
        "who-waits-may-mean-overutilized",
        "\tif (uclamp_wait_is_used() && !util_fits_cpu(cpu_util_wait(cpu, NULL, -1), cpu)) {\n",
        "\tif (false) {\n",
        file=FAIR,
        counter="uclamp_hidden_ou",
    ),
]


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.says], ids=lambda mutant: mutant.claim
)
def test_a_broken_claim_is_said(
    mutant: Mutant, source: Source, juno: Platform, tmp_path: Path
) -> None:
    image = mutant_image("sum", mutant.edit, source, tmp_path / "build")
    with pytest.raises(EngineFailed) as error:
        survive(image, juno, tmp_path / "run", switches=SWITCHES, ms=400)
    console = (tmp_path / "run/console.log").read_text(errors="replace")
    warning = console.partition("WARNING: ")
    assert warning[1], error.value
    warning_text = warning[0][-400:] + warning[2][:400]
    assert any(words in warning_text for words in mutant.says), warning_text


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.counter], ids=lambda mutant: mutant.claim
)
def test_a_broken_kernel_does_not_move_its_counter(
    mutant: Mutant, source: Source, juno: Platform, tmp_path: Path
) -> None:
    """`test_sums_hold_under_stress` wants the counter to move."""
    image = mutant_image("sum", mutant.edit, source, tmp_path / "build")
    done = survive(image, juno, tmp_path / "run", switches=SWITCHES, ms=400)
    assert not counters(done.text("stats.txt"))[mutant.counter]
