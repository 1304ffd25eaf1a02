# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `push` that are broken on purpose; a check must find each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support import push_checks as push
from tests.support.guest_cases import Found
from tests.support.mutants import Edit, GuestCheck, GuestMutant

FAIR = "kernel/sched/fair.c"
SCHED = "kernel/sched/sched.h"


def _pushed(name: str, check: Callable[[dict[str, Found]], None], *others: str) -> GuestCheck:
    """``check`` of the case ``name``, and of ``others`` that it compares with."""
    cases = {case: push.CASES[case] for case in (name, *others)}
    return GuestCheck(
        check,
        lambda kernel, platform, folder: check(push.run(kernel, platform, cases, folder)),
    )


def _partition(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    push.check_partition(push.partitioned(kernel, platform, folder))


def _eight(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    push.check_eight(push.run(kernel, platform, push.EIGHT, folder))


MUTANTS = [
    GuestMutant(
        ("push@7.3",),
        "waiting-tasks-are-pushed",
        Edit(
            FAIR,
            "\tplist_add(&prev->pushable_tasks, &rq->fair_pushable);\n",
            "",
        ),
        _pushed("waiting", push.check_waiting),
    ),
    GuestMutant(
        ("push@7.3",),
        "the-tick-pushes",
        Edit(FAIR, "\trq->fair_push_armed = true;\n", "\trq->fair_push_armed = false;\n"),
        _pushed("alone", push.check_alone),
    ),
    GuestMutant(
        ("push@7.3",),
        "one-that-may-go-nowhere-is-not-looked-at",
        Edit(
            FAIR,
            "\tif (p->nr_cpus_allowed == 1 || is_migration_disabled(p) || p->se.sched_delayed ||\n",
            "\tif (is_migration_disabled(p) || p->se.sched_delayed ||\n",
        ),
        _pushed("pinned", push.check_pinned),
    ),
    GuestMutant(
        ("push@7.3",),
        "only-stuck-tasks-are-looked-at",
        Edit(
            FAIR,
            "\treturn max(task_util_est(p), READ_ONCE(p->se.avg.runnable_avg)) > limit;\n",
            "\treturn limit;\n",
        ),
        _pushed("uncapped", push.check_uncapped),
    ),
    GuestMutant(
        ("push@7.3",),
        "nobody-is-stuck-while-overutilized",
        Edit(
            FAIR,
            "\t} else if (sched_feat(FAIR_PUSH_STUCK) && fair_push_stuck(p, cpu_of(rq))) {\n",
            "\t}\n\tif (sched_feat(FAIR_PUSH_STUCK) && fair_push_stuck(p, cpu_of(rq))) {\n",
        ),
        _pushed("overutilized", push.check_overutilized),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-for-one-that-waits-looks-at-all-cpus",
        Edit(
            FAIR,
            "\treturn sched_feat(FAIR_PUSH_IDLE) && task_on_rq_queued(p);\n",
            "\treturn false;\n",
        ),
        _pushed("last", push.check_last),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-that-finds-none-clears-the-mark",
        Edit(
            FAIR,
            "\telse if (best_cpu < 0)\n\t\tclear_idle_mark(p, sd, target);\n",
            "",
        ),
        _pushed("full", push.check_full),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-that-finds-none-among-equal-cpus-clears-the-mark",
        Edit(
            FAIR,
            "\telse if ((unsigned int)idle_cpu >= nr_cpumask_bits)\n"
            "\t\tclear_idle_mark(p, sd, target);\n",
            "",
        ),
        GuestCheck(push.check_partition, _partition),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-of-a-whole-domain-is-whole",
        Edit(
            FAIR,
            "\t    cpumask_subset(sched_domain_span(sd), p->cpus_ptr))\n",
            "\t    cpumask_subset(cpu_active_mask, p->cpus_ptr))\n",
        ),
        GuestCheck(push.check_partition, _partition),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-of-a-part-clears-no-mark",
        Edit(
            FAIR,
            "\t    cpumask_subset(sched_domain_span(sd), p->cpus_ptr))\n",
            "\t    true)\n",
        ),
        _pushed("elsewhere", push.check_elsewhere),
    ),
    GuestMutant(
        ("push@7.3",),
        "an-answer-without-a-search-clears-no-mark",
        Edit(
            FAIR,
            "\tif (choose_idle_cpu(target, p) &&\n"
            "\t    asym_fits_cpu(task_util, util_min, util_max, target))\n"
            "\t\treturn target;\n",
            "\tif (choose_idle_cpu(target, p) &&\n"
            "\t    asym_fits_cpu(task_util, util_min, util_max, target)) {\n"
            "\t\tif (search_is_whole(p))\n\t\t\tset_idle_cores(target, false);\n"
            "\t\treturn target;\n\t}\n",
        ),
        _pushed("idle-group", push.check_idle_group),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-search-for-one-that-waits-leaves-no-note-for-its-wakeup",
        Edit(
            FAIR,
            "\tif (likely(!task_on_rq_queued(p)))\n\t\tp->recent_used_cpu = prev;\n",
            "\tp->recent_used_cpu = prev;\n",
        ),
        _pushed("recent", push.check_recent),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-cpu-that-goes-idle-sets-the-mark",
        Edit(
            SCHED,
            "\tif (sched_smt_active() || sched_feat(FAIR_PUSH_IDLE))\n",
            "\tif (sched_smt_active())\n",
        ),
        _pushed("idle", push.check_idle, "overutilized"),
    ),
    GuestMutant(
        ("push@7.3",),
        "nobody-is-looked-at-while-both-features-are-off",
        Edit(
            FAIR,
            "\tif (!sched_feat(FAIR_PUSH_STUCK) && !sched_feat(FAIR_PUSH_IDLE))\n"
            "\t\treturn FAIR_PUSH_NONE;\n",
            "\tif (!sched_feat(FAIR_PUSH_STUCK) && !sched_feat(FAIR_PUSH_IDLE))\n"
            "\t\treturn fair_push_stuck(p, cpu_of(rq)) ? FAIR_PUSH_STUCK : FAIR_PUSH_NONE;\n",
        ),
        _pushed("off", push.check_off),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-stuck-task-is-a-reason-of-its-own-feature-alone",
        Edit(
            FAIR,
            "\t} else if (sched_feat(FAIR_PUSH_STUCK) && fair_push_stuck(p, cpu_of(rq))) {\n",
            "\t} else if (fair_push_stuck(p, cpu_of(rq))) {\n",
        ),
        _pushed("alone-idle-only", push.check_reasons),
    ),
    GuestMutant(
        ("push@7.3",),
        "a-cap-makes-a-task-stuck",
        Edit(
            FAIR,
            "\tunsigned long limit = min(get_actual_cpu_capacity(cpu), fair_push_cap(p));\n",
            "\tunsigned long limit = get_actual_cpu_capacity(cpu);\n",
        ),
        GuestCheck(push.check_eight, _eight),
    ),
    GuestMutant(
        ("push@7.3",),
        "an-idle-cpu-is-no-reason-for-one-that-runs-alone",
        Edit(
            FAIR,
            "sched_feat(FAIR_PUSH_IDLE) && rq->nr_running - cfs_h_nr_delayed(rq) > 1 &&\n",
            "sched_feat(FAIR_PUSH_IDLE) &&\n",
        ),
        _pushed("alone-uncapped", push.check_no_wait),
    ),
    GuestMutant(
        ("push@7.3",),
        "the-tick-looks-at-those-that-run-alone",
        Edit(
            FAIR,
            "\tif (rq->fair_push_busy || rq != this_rq() || "
            "rq->nr_running - cfs_h_nr_delayed(rq) != 1)\n",
            "\tif (rq->fair_push_busy || rq != this_rq())\n",
        ),
        _pushed("idle-group", push.check_idle_group),
    ),
    GuestMutant(
        ("sum-push@7.3",),
        "a-queued-task-counts-once-in-sums",
        Edit(
            FAIR,
            "\treturn p && unlikely(task_on_rq_queued(p)) && "
            "(task_cpu(p) == cpu) == (dst_cpu == cpu);\n",
            "\treturn false;\n",
        ),
        _pushed("alone", push.check_alone),
    ),
]
