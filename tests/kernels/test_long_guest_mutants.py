# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of each queue that are broken on purpose: a guest test must say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.platform import Platform
from engines.base import EngineFailed
from kernels.build import KernelArtefact
from tests.support import base_checks as base
from tests.support import feec_checks as feec
from tests.support import push_checks as push
from tests.support.mutants import Edit, mutant_image
from tests.support.releases import source_for
from tests.support.sum_checks import (
    Guest,
    check_boost,
    check_events,
    check_headroom,
    check_hidden,
    check_iowait,
    check_reclassed,
    check_reclassed_elsewhere,
    check_system_limit,
    check_uncapped,
)

pytestmark = [pytest.mark.long, pytest.mark.guest]

FAIR = "kernel/sched/fair.c"
CORE = "kernel/sched/core.c"
EAS = "kernel/sched/eas_switch.c"
UCLAMP = "kernel/sched/uclamp.c"
SCHED = "kernel/sched/sched.h"
TRACE = "kernel/sched/eascope_trace.c"
SCHEDUTIL = "kernel/sched/cpufreq_schedutil.c"
#: A test of a kernel that fails when the kernel does not do what it claims.
Check = Callable[[KernelArtefact, Platform, Path], None]


@dataclass(frozen=True)
class Mutant:
    """``kernel`` without what ``claim`` says; ``check`` passes on the whole one."""

    kernel: str
    claim: str
    edit: Edit
    check: Check


def _order(first: bool) -> Check:
    return lambda kernel, platform, folder: base.check_order(kernel, platform, folder, first=first)


def _balance(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    base.check_sleepers(base.balance(kernel, platform, folder))


def _of(cases: dict[str, feec.Case], *checks: Callable[[dict[str, feec.Found]], None]) -> Check:
    def check(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
        results = feec.run(kernel, platform, cases, folder)
        for check_result in checks:
            check_result(results)

    return check


def _reserved(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    feec.check_reserved(feec.reserved(kernel, platform, folder))


def _pushed(name: str, check: Callable[[dict[str, push.Found]], None], *others: str) -> Check:
    """``check`` of the case ``name``, and of ``others`` that it compares with."""
    cases = {case: push.CASES[case] for case in (name, *others)}
    return lambda kernel, platform, folder: check(push.run(kernel, platform, cases, folder))


def _clamped(check: Callable[..., None], *of: str | int) -> Check:
    """``check`` in a guest, ``of`` a feature and maybe a case of it."""
    return lambda kernel, platform, folder: check(Guest(kernel.image, platform, folder), *of)


MUTANTS = [
    Mutant(
        "sum",
        "a-limit-of-the-system-reaches-all",
        Edit(
            CORE,
            "\tfor_each_process_thread(g, p)\n\t\tuclamp_update_active(p);\n",
            "\tfor_each_process_thread(g, p)\n"
            "\t\tif (task_group(p) == &root_task_group)\n"
            "\t\t\tuclamp_update_active(p);\n",
        ),
        _clamped(check_system_limit),
    ),
    Mutant(
        "sum",
        "what-slept-in-another-class-is-aged",
        Edit(
            UCLAMP,
            "\tif (sched_feat(ATTACH_AGE_LOAD))\n"
            "\t\t__uclamp_sum_age(p, cfs_rq_clock_pelt(cfs_rq_of(&p->se)));\n",
            "",
        ),
        _clamped(check_reclassed),
    ),
    Mutant(
        "sum",
        "what-moved-in-another-class-is-aged",
        Edit(
            FAIR,
            "\tif (entity_is_task(se))\n\t\tuclamp_sum_age(task_of(se), p_last_update_time);\n",
            "",
        ),
        _clamped(check_reclassed_elsewhere, "cpu"),
    ),
    Mutant(
        "sum",
        "a-cap-bounds-the-boost-for-io",
        Edit(SCHEDUTIL, "\tboost = min(boost, uclamp_sum_limit(cpu_rq(sg_cpu->cpu)));\n", "\t;\n"),
        _clamped(check_iowait, 100),
    ),
    Mutant(
        "sum",
        "what-caps-hide-may-mean-overutilized",
        Edit(FAIR, "sched_feat(UCLAMP_OU_UNCLAMPED) && !util", "false && !util"),
        _clamped(check_hidden, "UCLAMP_OU_UNCLAMPED"),
    ),
    Mutant(
        "sum",
        "what-caps-hide-does-not-matter-by-default",
        Edit(FAIR, "sched_feat(UCLAMP_OU_UNCLAMPED) && !util", "!util"),
        _clamped(check_hidden, "NO_UCLAMP_OU_UNCLAMPED"),
    ),
    Mutant(
        "sum",
        "a-boost-that-cannot-be-had-fits",
        Edit(FAIR, "sched_feat(UCLAMP_FITS_TRISTATE) && ", "false && "),
        _clamped(check_boost, "UCLAMP_FITS_TRISTATE"),
    ),
    Mutant(
        "sum",
        "boosts-may-have-no-headroom",
        Edit(
            SCHED,
            "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n",
            "\tif (clamp_id == UCLAMP_MIN || !sched_feat(UCLAMP_NO_HEADROOM))\n",
        ),
        _clamped(check_headroom, "UCLAMP_NO_HEADROOM", "boost"),
    ),
    Mutant(
        "sum",
        "caps-may-have-no-headroom",
        Edit(
            SCHED,
            "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n",
            "\tif (clamp_id == UCLAMP_MAX || !sched_feat(UCLAMP_NO_HEADROOM))\n",
        ),
        _clamped(check_headroom, "UCLAMP_NO_HEADROOM", "cap"),
    ),
    Mutant(
        "sum",
        "events-name-clamps-without-headroom",
        Edit(TRACE, "uclamp_util_value(p, UCLAMP_MAX)", "uclamp_eff_value(p, UCLAMP_MAX)"),
        _clamped(check_events, "UCLAMP_NO_HEADROOM"),
    ),
    Mutant(
        "sum",
        "clamps-have-headroom-by-default",
        Edit(SCHED, "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n", "\tif (false)\n"),
        _clamped(check_headroom, "NO_UCLAMP_NO_HEADROOM", "boost"),
    ),
    Mutant(
        "sum",
        "no-cap-is-none",
        Edit(
            SCHED,
            "\tif (clamp_id == UCLAMP_MAX && value == SCHED_CAPACITY_SCALE)\n",
            "\tif (false)\n",
        ),
        _clamped(check_uncapped, "UCLAMP_NO_HEADROOM"),
    ),
    Mutant(
        "base",
        "a-delayed-task-leaves-util-est-once",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed)\n\t\treturn;\n\n\t/* Update root cfs_rq's estimated",
            "\t/* Update root cfs_rq's estimated",
        ),
        base.check_util_est,
    ),
    Mutant(
        "base",
        "sleepers-are-refused",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed && env->migration_type != migrate_load) {\n",
            "\tif (p->se.sched_delayed && env->migration_type > migrate_misfit) {\n",
        ),
        _balance,
    ),
    Mutant(
        "base",
        "sleepers-are-pulled-for-their-load",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed && env->migration_type != migrate_load) {\n",
            "\tif (p->se.sched_delayed) {\n",
        ),
        _balance,
    ),
    Mutant(
        "base",
        "clamps-may-count-first",
        Edit(CORE, "\tif (clamps_first)\n\t\tuclamp_rq_inc", "\tif (0)\n\t\tuclamp_rq_inc"),
        _order(first=True),
    ),
    Mutant(
        "base",
        "clamps-count-last-by-default",
        Edit(CORE, "clamps_first = sched_feat(UCLAMP_INC_FIRST)", "clamps_first = true"),
        _order(first=False),
    ),
    Mutant(
        "feec",
        "fewest-tasks-decide",
        Edit(FAIR, "\t\treturn a->nr < b->nr;\n", "\t\treturn a->nr > b->nr;\n"),
        _of(feec.PLACING, feec.check_number),
    ),
    Mutant(
        "feec",
        "the-guard-keeps-headroom",
        Edit(FAIR, "cand->guarded = headroom >= guard;", "cand->guarded = true;"),
        _of(feec.PLACING, feec.check_guard),
    ),
    Mutant(
        "feec",
        "waiting-tasks-are-pushed",
        Edit(
            FAIR,
            "\t\tlist_add_tail(&p->eas_push_node, &rq->eas_pushable);\n",
            "\t\tINIT_LIST_HEAD(&p->eas_push_node);\n",
        ),
        _of(feec.PUSHING, feec.check_push),
    ),
    Mutant(
        "feec",
        "the-tick-pushes",
        Edit(FAIR, "\trq->eas_tick_armed = true;\n", "\trq->eas_tick_armed = false;\n"),
        _of(feec.PUSHING, feec.check_tick),
    ),
    Mutant(
        "feec",
        "the-interval-limits",
        Edit(FAIR, "\teascope_count(push_ratelimited);\n\treturn true;\n", "\treturn false;\n"),
        _of(feec.PUSHING, feec.check_rate),
    ),
    Mutant(
        "feec",
        "the-interval-is-below-a-tick",
        Edit(EAS, ".push_min_interval_us = 3000,", ".push_min_interval_us = 4000,"),
        _of(feec.PUSHING, feec.check_rate),
    ),
    Mutant(
        "feec",
        "misfits-are-pushed",
        Edit(
            FAIR,
            "\tif (eas_switch(push_misfit) && eas_task_misfit(p, cpu))\n",
            "\tif (0 && eas_task_misfit(p, cpu))\n",
        ),
        _of(feec.PUSHING, feec.check_misfit),
    ),
    Mutant(
        "feec",
        "only-stuck-tasks-are-looked-at",
        Edit(FAIR, "\t    min(get_actual_cpu_capacity(cpu), eas_uclamp_max(p)))\n", "\t    0)\n"),
        _of(feec.PUSHING, feec.check_uncapped),
    ),
    Mutant(
        "feec",
        "groups-of-capped-tasks-are-filtered",
        Edit(FAIR, "!eas_switch(group_filter) || !sgs->group_eas_calm", "!sgs->group_eas_calm"),
        _of(feec.BALANCING, feec.check_filter),
    ),
    Mutant(
        "feec",
        "the-overutilized-mark-waits",
        Edit(
            FAIR,
            "\treturn since && (s64)(READ_ONCE(rq->clock) - since)",
            "\treturn since || (s64)1",
        ),
        _of(feec.BALANCING, feec.check_delay),
    ),
    Mutant(
        "feec",
        "an-emptied-cpu-keeps-what-deadline-tasks-need",
        Edit(
            FAIR,
            "\t\tmin = cpu_util_irq(cpu_rq(cpu)) + cpu_bw_dl(cpu_rq(cpu));\n",
            "\t\tmin = 0;\n",
        ),
        _reserved,
    ),
    Mutant(
        "push@7.3",
        "waiting-tasks-are-pushed",
        Edit(
            FAIR,
            "\tplist_add(&prev->pushable_tasks, &rq->fair_pushable);\n",
            "",
        ),
        _pushed("waiting", push.check_waiting),
    ),
    Mutant(
        "push@7.3",
        "the-tick-pushes",
        Edit(FAIR, "\trq->fair_push_armed = true;\n", "\trq->fair_push_armed = false;\n"),
        _pushed("alone", push.check_alone),
    ),
    Mutant(
        "push@7.3",
        "one-that-may-go-nowhere-is-not-looked-at",
        Edit(
            FAIR,
            "\tif (p->nr_cpus_allowed == 1 || is_migration_disabled(p) || p->se.sched_delayed ||\n",
            "\tif (is_migration_disabled(p) || p->se.sched_delayed ||\n",
        ),
        _pushed("pinned", push.check_pinned),
    ),
    Mutant(
        "push@7.3",
        "only-stuck-tasks-are-looked-at",
        Edit(
            FAIR,
            "\treturn max(task_util_est(p), READ_ONCE(p->se.avg.runnable_avg)) > limit;\n",
            "\treturn limit;\n",
        ),
        _pushed("uncapped", push.check_uncapped),
    ),
    Mutant(
        "push@7.3",
        "nobody-is-stuck-while-overutilized",
        Edit(
            FAIR,
            "\t} else if (sched_feat(FAIR_PUSH_STUCK) && fair_push_stuck(p, cpu_of(rq))) {\n",
            "\t}\n\tif (sched_feat(FAIR_PUSH_STUCK) && fair_push_stuck(p, cpu_of(rq))) {\n",
        ),
        _pushed("overutilized", push.check_overutilized),
    ),
    Mutant(
        "push@7.3",
        "a-search-that-finds-none-clears-the-note",
        Edit(
            FAIR,
            "\t\t    new_cpu == prev_cpu && cpumask_subset(cpu_active_mask, p->cpus_ptr))\n",
            "\t\t    0)\n",
        ),
        _pushed("full", push.check_full),
    ),
    Mutant(
        "push@7.3",
        "an-idle-cpu-is-no-reason-for-one-that-runs-alone",
        Edit(
            FAIR,
            "sched_feat(FAIR_PUSH_IDLE) && rq->nr_running - cfs_h_nr_delayed(rq) > 1 &&\n",
            "sched_feat(FAIR_PUSH_IDLE) &&\n",
        ),
        _pushed("alone-uncapped", push.check_no_wait),
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.kernel}-{mutant.claim}")
def test_a_broken_kernel_is_found(mutant: Mutant, juno: Platform, tmp_path: Path) -> None:
    image = mutant_image(mutant.kernel, mutant.edit, source_for(mutant.kernel), tmp_path / "build")
    broken = KernelArtefact(mutant.kernel, image, image, image, "", {})
    with pytest.raises((AssertionError, EngineFailed)):
        mutant.check(broken, juno, tmp_path)
