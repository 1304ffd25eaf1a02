# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `base` and `feec` that are broken on purpose; a check must find each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from configs.platform import Platform
from configs.platform_file import load_platform
from kernels.build import KernelArtefact
from tests.support import base_checks as base
from tests.support import feec_checks as feec
from tests.support.mutants import Edit, GuestCheck, GuestMutant

FAIR = "kernel/sched/fair.c"
CORE = "kernel/sched/core.c"
DEADLINE = "kernel/sched/deadline.c"
CPUFREQ = "drivers/cpufreq/gem5-cpufreq.c"
EAS = "kernel/sched/eas_switch.c"


FEEC = ("feec", "feec@7.3")


def _order(first: bool) -> GuestCheck:
    return GuestCheck(
        base.check_order,
        lambda kernel, platform, folder: base.check_order(kernel, platform, folder, first=first),
    )


def _spare(*, spare0: bool) -> GuestCheck:
    return GuestCheck(
        base.check_spare,
        lambda kernel, platform, folder: base.check_spare(kernel, platform, folder, spare0=spare0),
    )


def _balance(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    base.check_sleepers(base.balance(kernel, platform, folder))


def _of(cases: dict[str, feec.Case], check: Callable[..., None], **of: bool) -> GuestCheck:
    """``check`` of ``cases``, and ``of`` what."""
    return GuestCheck(
        check,
        lambda kernel, platform, folder: check(feec.run(kernel, platform, cases, folder), **of),
    )


def _boosted(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    feec.check_boosted(feec.run(kernel, load_platform("pixel6"), feec.BOOSTED, folder))


def _placing(*names: str) -> dict[str, feec.Case]:
    return {name: feec.PLACING[name] for name in names}


def _pushing(*names: str) -> dict[str, feec.Case]:
    return {name: feec.PUSHING[name] for name in names}


def _cases(*names: str) -> dict[str, feec.Case]:
    return {name: feec.BALANCING[name] for name in names}


def _reserved(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    feec.check_reserved(feec.reserved(kernel, platform, folder))


def _grants(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    base.check_grants(kernel, load_platform("smp-24"), folder)


MUTANTS = [
    GuestMutant(
        ("base",),
        "a-delayed-task-leaves-util-est-once",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed)\n\t\treturn;\n\n\t/* Update root cfs_rq's estimated",
            "\t/* Update root cfs_rq's estimated",
        ),
        GuestCheck(base.check_util_est, base.check_util_est),
    ),
    GuestMutant(
        ("base",),
        "sleepers-are-refused",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed && env->migration_type != migrate_load) {\n",
            "\tif (p->se.sched_delayed && env->migration_type > migrate_misfit) {\n",
        ),
        GuestCheck(base.check_sleepers, _balance),
    ),
    GuestMutant(
        ("base",),
        "sleepers-are-pulled-for-their-load",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed && env->migration_type != migrate_load) {\n",
            "\tif (p->se.sched_delayed) {\n",
        ),
        GuestCheck(base.check_sleepers, _balance),
    ),
    GuestMutant(
        ("base",),
        "clamps-may-count-first",
        Edit(CORE, "\tif (clamps_first)\n\t\tuclamp_rq_inc", "\tif (0)\n\t\tuclamp_rq_inc"),
        _order(first=True),
    ),
    GuestMutant(
        ("base",),
        "clamps-count-last-by-default",
        Edit(CORE, "clamps_first = sched_feat(UCLAMP_INC_FIRST)", "clamps_first = true"),
        _order(first=False),
    ),
    GuestMutant(
        ("base", "base@7.3"),
        "a-cpu-without-spare-capacity-may-be-skipped",
        Edit(FAIR, "\t\t\tif (!cpu_cap && !sched_feat(FEEC_SPARE0))\n", "\t\t\tif (false)\n"),
        _spare(spare0=False),
    ),
    GuestMutant(
        ("base", "base@7.3"),
        "a-cpu-without-spare-capacity-may-be-chosen",
        Edit(FAIR, "\t\t\tif (!cpu_cap && !sched_feat(FEEC_SPARE0))\n", "\t\t\tif (!cpu_cap)\n"),
        _spare(spare0=True),
    ),
    GuestMutant(
        ("base", "base@7.3"),
        "utilization-follows-what-is-granted",
        Edit(CPUFREQ, "\tthis_cpu_write(arch_freq_scale, gem5_freq_scale(policy, khz));\n", ""),
        GuestCheck(base.check_grants, _grants),
    ),
    GuestMutant(
        ("base", "base@7.3"),
        "a-policy-follows-what-is-granted",
        Edit(CPUFREQ, "\t\tWRITE_ONCE(policy->cur, khz);\n", "\t\t;\n"),
        GuestCheck(base.check_grants, _grants),
    ),
    GuestMutant(
        ("base",),
        "a-fair-server-stops-once",
        Edit(
            DEADLINE,
            "\tif (!dl_se->dl_runtime || !dl_se->dl_server_active)\n\t\treturn;\n\n\tdequeue",
            "\tif (!dl_se->dl_runtime)\n\t\treturn;\n\n\tdequeue",
        ),
        GuestCheck(base.check_fair_server, base.check_fair_server, says="dl_rq->running_bw > old"),
    ),
    GuestMutant(
        ("feec",),
        "fewest-tasks-decide",
        Edit(FAIR, "\t\treturn a->nr < b->nr;\n", "\t\treturn a->nr > b->nr;\n"),
        _of(feec.PLACING, feec.check_number),
    ),
    GuestMutant(
        ("feec",),
        "the-guard-keeps-headroom",
        Edit(FAIR, "cand->guarded = headroom >= guard;", "cand->guarded = true;"),
        _of(feec.PLACING, feec.check_guard),
    ),
    GuestMutant(
        ("feec",),
        "waiting-tasks-are-pushed",
        Edit(
            FAIR,
            "\t\tlist_add_tail(&p->eas_push_node, &rq->eas_pushable);\n",
            "\t\tINIT_LIST_HEAD(&p->eas_push_node);\n",
        ),
        _of(feec.PUSHING, feec.check_push),
    ),
    GuestMutant(
        ("feec",),
        "the-tick-pushes",
        Edit(FAIR, "\trq->eas_tick_armed = true;\n", "\trq->eas_tick_armed = false;\n"),
        _of(feec.PUSHING, feec.check_tick),
    ),
    GuestMutant(
        ("feec",),
        "the-interval-limits",
        Edit(FAIR, "\teascope_count(push_ratelimited);\n\treturn true;\n", "\treturn false;\n"),
        _of(feec.PUSHING, feec.check_rate),
    ),
    GuestMutant(
        ("feec",),
        "the-interval-is-below-a-tick",
        Edit(EAS, ".push_min_interval_us = 3000,", ".push_min_interval_us = 4000,"),
        _of(feec.PUSHING, feec.check_rate),
    ),
    GuestMutant(
        ("feec",),
        "misfits-are-pushed",
        Edit(
            FAIR,
            "\tif (eas_switch(push_misfit) && eas_task_misfit(p, cpu))\n",
            "\tif (0 && eas_task_misfit(p, cpu))\n",
        ),
        _of(feec.PUSHING, feec.check_misfit),
    ),
    GuestMutant(
        ("feec",),
        "only-stuck-tasks-are-looked-at",
        Edit(FAIR, "\t    min(get_actual_cpu_capacity(cpu), eas_uclamp_max(p)))\n", "\t    0)\n"),
        _of(feec.PUSHING, feec.check_uncapped),
    ),
    GuestMutant(
        ("feec",),
        "groups-of-capped-tasks-are-filtered",
        Edit(FAIR, "!eas_switch(group_filter) || !sgs->group_eas_calm", "!sgs->group_eas_calm"),
        _of(feec.BALANCING, feec.check_filter),
    ),
    GuestMutant(
        ("feec",),
        "the-overutilized-mark-waits",
        Edit(
            FAIR,
            "\treturn since && (s64)(READ_ONCE(rq->clock) - since)",
            "\treturn since || (s64)1",
        ),
        _of(feec.BALANCING, feec.check_delay),
    ),
    GuestMutant(
        FEEC,
        "the-cost-goes-before-the-number",
        Edit(FAIR, "\tif (a->cost != b->cost)\n\t\treturn a->cost < b->cost;\n", ""),
        _of(_placing("own-opp", "domain-opp"), feec.check_opp),
    ),
    GuestMutant(
        FEEC,
        "the-cost-may-be-that-of-the-domain",
        Edit(FAIR, "\t\tif (eas_switch(feec_pd_opp))\n", "\t\tif (0)\n"),
        _of(_placing("own-opp", "domain-opp"), feec.check_opp),
    ),
    GuestMutant(
        FEEC,
        "the-distance-may-be-a-part-of-the-task",
        Edit(FAIR, "READ_ONCE(eas_tunables.feec_guard_pct) / 100;\n", "0;\n"),
        _of(_placing("guard", "no-guard", "some-guard", "guard-of-task"), feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "what-headroom-decides-is-counted",
        Edit(FAIR, "\t\t\tenv->guard_hit = true;\n", ""),
        _of(_placing("guard", "no-guard", "some-guard", "guard-of-task"), feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "misfits-that-load-balance-moves-are-counted",
        Edit(
            FAIR,
            "if (eas_switch(push_misfit) && env.migration_type == migrate_misfit)\n",
            "if (0)\n",
        ),
        _of(
            {
                name: feec.PUSHING[name]
                for name in ("misfit", "misfit-balanced", "misfit-stuck-only")
            },
            feec.check_misfit,
        ),
    ),
    GuestMutant(
        FEEC,
        "most-capacity-is-best-where-no-cpu-has-the-boost",
        Edit(FAIR, "\tif (a->fits < 0 && a->capacity != b->capacity)\n", "\tif (0)\n"),
        GuestCheck(feec.check_boosted, _boosted),
    ),
    GuestMutant(
        ("feec",),
        "a-rest-begins-the-delay-anew",
        Edit(
            FAIR,
            "\tif (!rq->overutilized_since || rq->cfs.h_nr_runnable)\n\t\treturn false;\n",
            "\treturn false;\n",
        ),
        _of(_cases("rests", "rests-at-once", "short-rests"), feec.check_delay_after_rest),
    ),
    GuestMutant(
        ("feec",),
        "the-delay-takes-no-request-for-a-frequency",
        Edit(
            FAIR,
            "\tif (decayed)\n\t\tcfs_rq_util_change(&rq->cfs, 0);\n\n\tif (flags",
            "\tif (flags",
        ),
        GuestCheck(feec.check_asks_after_rest, feec.check_asks_after_rest),
    ),
    GuestMutant(
        ("feec",),
        "a-short-rest-does-not-begin-the-delay-anew",
        Edit(
            FAIR,
            "\tdecayed = update_cfs_rq_load_avg(cfs_rq_clock_pelt(&rq->cfs), &rq->cfs);\n"
            "\tupdate_overutilized_since(rq);\n",
            "\tdecayed = false;\n\tWRITE_ONCE(rq->overutilized_since, 0);\n",
        ),
        _of(_cases("rests", "rests-at-once", "short-rests"), feec.check_delay_after_rest),
    ),
    GuestMutant(
        FEEC,
        "one-that-may-go-nowhere-is-not-looked-at",
        Edit(
            FAIR,
            "\tif (p->nr_cpus_allowed == 1 || is_migration_disabled(p) || p->se.sched_delayed)\n"
            "\t\treturn EAS_PUSH_NONE;\n",
            "\tif (is_migration_disabled(p) || p->se.sched_delayed)\n\t\treturn EAS_PUSH_NONE;\n",
        ),
        _of(_pushing("pinned"), feec.check_pinned),
    ),
    GuestMutant(
        FEEC,
        "nobody-is-stuck-while-overutilized",
        Edit(
            FAIR,
            "\tif (is_rd_overutilized(rq->rd))\n\t\treturn EAS_PUSH_NONE;\n",
            "",
        ),
        _of(_pushing("overutilized"), feec.check_overutilized),
    ),
    GuestMutant(
        ("feec",),  # on 7.3 it is on without any switch, as in mainline
        "the-filter-is-on-with-push",
        Edit(EAS, " || eas_switches[EAS_PUSH].value > 0;\n", ";\n"),
        _of(
            _cases("auto", "auto-cost", "auto-push"),
            feec.check_auto_filter,
            mainline=False,
        ),
    ),
    GuestMutant(
        ("feec",),
        "an-emptied-cpu-keeps-what-deadline-tasks-need",
        Edit(
            FAIR,
            "\t\tmin = cpu_util_irq(cpu_rq(cpu)) + cpu_bw_dl(cpu_rq(cpu));\n",
            "\t\tmin = 0;\n",
        ),
        GuestCheck(feec.check_reserved, _reserved),
    ),
]
