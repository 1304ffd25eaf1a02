# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels in which one claim of `sum` about its sums is broken, and what the kernel says then."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.support.mutants import Edit

CORE, FAIR, UCLAMP = (f"kernel/sched/{name}.c" for name in ("core", "fair", "uclamp"))


@dataclass(frozen=True)
class BrokenClaim:
    """``old``, which is in ``file`` once, becomes ``new``; the kernel's first warning is ``says``.

    That is what ``UCLAMP_CHECK`` says, or the condition of another warning; 7.3 does not print
    conditions, so there it is the function that warns. If ``says`` is empty the kernel survives,
    but ``counter``, which counts under stress, stays zero.

    :param on_612: the first warning on 6.12, where it is another one.
    """

    claim: str
    old: str
    new: str
    says: str = ""
    file: str = UCLAMP
    counter: str = ""
    kernels: tuple[str, ...] = ("sum", "sum@7.3")
    on_612: str = ""

    def first_warning_of(self, kernel: str) -> str:
        """What the first warning of ``kernel`` must be."""
        return self.says if "@" in kernel else self.on_612 or self.says

    @property
    def edit(self) -> Edit:
        """What makes it of the whole kernel."""
        return Edit(self.file, self.old, self.new)


def first_warning(console: str) -> str:
    """What the first warning says is broken, its condition, or else the function that warns."""
    before, _, after = console.partition("WARNING: ")
    line = before.splitlines()[-2].partition("] ")[2]
    if "cut here" not in line:
        output = re.match(r"uclamp: ([^:]+): cpu ", line)
        return output[1] if output else line
    where = re.search(r" (\w+)\+0x", after)
    assert where, after[:400]
    return where[1]


#: The cap of a task that waits takes from who runs for as long as it waits. All sums are right
#: then: of the kernel's checks only that of the running task can see it.
CAP_STAYS = BrokenClaim(
    "a-cap-is-forgotten-while-its-task-waits",
    "\tif (!val || (long)periods <= 0)\n\t\treturn val;\n",
    "\tif (val <= 0 || (long)periods <= 0)\n\t\treturn val;\n",
    "sum is less than what runs",
)
CLAIMS = [
    BrokenClaim(
        "a-limit-of-the-system-reaches-all",
        "\tfor_each_process_thread(g, p)\n\t\tuclamp_update_active(p);\n",
        "\tp = g = NULL;\n",
        "effective clamps are stale",
        CORE,
    ),
    BrokenClaim(
        "clamps-of-a-group-reach-its-tasks",
        "\t\tuclamp_update_active_tasks(css);\n",
        "",
        "effective clamps are stale",
        CORE,
    ),
    BrokenClaim(
        "no-clamp-no-bias",
        "\treturn (int)uclamp_clamp(p, util) - (int)util;\n",
        "\treturn (int)uclamp_clamp(p, util) - (int)util + 1;\n",
        "bias without clamp",
    ),
    BrokenClaim(
        "no-task-no-bias",
        "\tWRITE_ONCE(sum->est_bias, sum->est_bias + change);\n",
        "\tif (est_bias)\n\t\tWRITE_ONCE(sum->est_bias, sum->est_bias + change);\n",
        "sums differ",
    ),
    BrokenClaim(
        "an-estimate-has-a-bias",
        "\treturn uclamp_bias(p, READ_ONCE(p->se.avg.util_est) & ~UTIL_AVG_UNCHANGED);\n",
        "\treturn 0;\n",
        "bias of the estimate is stale",
    ),
    BrokenClaim(
        "what-runs-counts-as-clamped",
        "\tp->uclamp_part.bias = uclamp_bias(p, uclamp_part_avg(p));\n",
        "\tif (abs(uclamp_bias(p, uclamp_part_avg(p)) - p->uclamp_part.bias) >= 8)\n"
        "\t\tp->uclamp_part.bias = uclamp_bias(p, uclamp_part_avg(p));\n",
        "bias is stale",
    ),
    BrokenClaim(
        "what-waits-is-forgotten",  # as it was before: a bias that stays
        "\t\tpart->floor = uclamp_util_value(p, UCLAMP_MIN);\n",
        "\t\tpart->floor = part->bias;\n",
        "lower clamp is stale",
    ),
    BrokenClaim(
        "what-waits-decays-as-one",
        "\tsum->waiting = uclamp_decay(sum->waiting, period - sum->period);\n",
        "",
        "sums differ",
    ),
    BrokenClaim(
        "what-capped-tasks-use-decays-as-one",
        "\tsum->over = uclamp_decay(sum->over, period - sum->period);\n",
        "",
        "sums differ",
    ),
    BrokenClaim(
        "what-capped-tasks-may-use-leaves-with-them",
        "\t\tsum->room -= part->room;\n",
        "",
        "sums differ",
    ),
    BrokenClaim(
        "what-is-promised-stays",
        "\t\tpart->floor = uclamp_util_value(p, UCLAMP_MIN);\n",
        "\t\tpart->floor = 0;\n",
        "lower clamp is stale",
    ),
    BrokenClaim(
        "what-slept-decays",
        "\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "\tif (sum->blocked > 0)\n"
        "\t\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "sum of sleeping tasks differs",
    ),
    BrokenClaim(
        "what-slept-boosted-decays",
        "\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "\tif (sum->blocked < 0)\n"
        "\t\tsum->blocked = uclamp_decay(sum->blocked, period - sum->period);\n",
        "sum of sleeping tasks differs",
    ),
    BrokenClaim(
        "who-wakes-is-not-asleep",
        "\t\tsum->blocked -= left;\n",
        "",
        "sum of sleeping tasks differs",
    ),
    BrokenClaim(
        "who-leaves-asleep-is-removed",
        "\t\tuclamp_remove(cfs_rq, uclamp_decay(uclamp_fixed(part->bias), period - part->stamp),\n"
        "\t\t\t      period);\n",
        "",
        "sum of sleeping tasks differs",
    ),
    BrokenClaim(
        "who-changes-groups-asleep-is-there",
        "\tif (entity_is_task(se))\n\t\tuclamp_sum_attach(rq_of(cfs_rq), task_of(se));\n"
        "\tattach_entity_load_avg(cfs_rq, se);\n",
        "\tattach_entity_load_avg(cfs_rq, se);\n",
        "sleeping task is not accounted for",
        FAIR,
    ),
    BrokenClaim(
        "what-leaves-a-cpu-leaves-it",
        "\tif (uclamp_is_runnable(p)) {\n\t\tuclamp_drop_runnable(rq, p);\n",
        "\tif (uclamp_is_runnable(p)) {\n",
        "uclamp_del",
        on_612="part->cpu != cpu_of(rq)",
    ),
    BrokenClaim(
        "who-runs-is-who-runs",
        "\tsum->curr = p;\n",
        "\tif (!p || !sum->curr)\n\t\tsum->curr = p;\n",
        "task is not accounted for",
        kernels=("sum",),  # on 7.3 who has run is put back first: there is nobody then
    ),
    BrokenClaim(
        "who-has-run-waits",
        "\tif (prev && prev != p && prev->uclamp_part.where == UCLAMP_RUNNING) {\n",
        "\tif (false) {\n",
        "task is not accounted for",
    ),
    BrokenClaim(
        "who-may-not-run-sleeps",
        "\t\tuclamp_throttle(rq, cfs_rq, true);\n",
        "",
        "task is not accounted for",
        FAIR,
        kernels=("sum",),  # on 7.3 who is throttled is dequeued
    ),
    BrokenClaim(
        "caps-that-change-bound-io",
        "\tWRITE_ONCE(sum->limit, sum->limit + limit - part->limit);\n",
        "",
        "sums differ",
    ),
    BrokenClaim(
        "who-waits-may-mean-overutilized",
        "\tif (uclamp_wait_is_used() && !util_fits_cpu(cpu_util_wait(cpu, NULL, -1), cpu)) {\n",
        "\tif (false) {\n",
        file=FAIR,
        counter="uclamp_hidden_ou",
    ),
]
