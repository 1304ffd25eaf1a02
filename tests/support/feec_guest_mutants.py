# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `feec` that are broken on purpose; a check must find each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from tests.support import feec_checks as feec
from tests.support import feec_delay_checks as delay
from tests.support import feec_push_checks as push
from tests.support.mutants import Edit, GuestCheck, GuestMutant
from tests.support.sum_eas_checks import check_fifty, run_fifty

FAIR = "kernel/sched/fair.c"
EAS = "kernel/sched/eas_switch.c"

#: Where both releases have the text.
FEEC = ("feec", "feec@7.3")


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
    return {name: push.PUSHING[name] for name in names}


def _balancing(*names: str) -> dict[str, feec.Case]:
    return {name: feec.BALANCING[name] for name in names}


def _delayed(*names: str) -> dict[str, feec.Case]:
    return {name: delay.DELAYED[name] for name in names}


def _fifty(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    check_fifty(run_fifty(kernel, platform, folder))


def _reserved(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    feec.check_reserved(feec.reserved(kernel, platform, folder))


GUARDS = _placing("guard", "no-guard", "some-guard", "guard-of-task")
FILTERS = _balancing("no-filter", "filter")
AUTO = _balancing("auto", "auto-cost", "auto-push")
RESTS = _delayed("rests", "rests-at-once", "short-rests")
MISFITS = _pushing("misfit", "misfit-balanced", "misfit-stuck-only")

MUTANTS = [
    GuestMutant(
        FEEC,
        "fewest-tasks-decide",
        Edit(FAIR, "\t\treturn a->nr < b->nr;\n", "\t\treturn a->nr > b->nr;\n"),
        _of(_placing("mainline", "number"), feec.check_number),
    ),
    GuestMutant(
        FEEC,
        "the-guard-keeps-headroom",
        Edit(FAIR, "cand->guarded = headroom >= guard;", "cand->guarded = true;"),
        _of(GUARDS, feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "waiting-tasks-are-pushed",
        Edit(
            FAIR,
            "\t\tlist_add_tail(&p->eas_push_node, &rq->eas_pushable);\n",
            "\t\tINIT_LIST_HEAD(&p->eas_push_node);\n",
        ),
        _of(_pushing("stay", "push"), push.check_push),
    ),
    GuestMutant(
        FEEC,
        "the-tick-pushes",
        Edit(FAIR, "\trq->eas_tick_armed = true;\n", "\trq->eas_tick_armed = false;\n"),
        _of(_pushing("tick"), push.check_tick),
    ),
    GuestMutant(
        FEEC,
        "the-interval-limits",
        Edit(FAIR, "\teascope_count(push_ratelimited);\n\treturn true;\n", "\treturn false;\n"),
        _of(_pushing("rate", "seldom"), push.check_rate),
    ),
    GuestMutant(
        FEEC,
        "the-interval-is-below-a-tick",
        Edit(EAS, ".push_min_interval_us = 3000,", ".push_min_interval_us = 4000,"),
        # A case sets the interval, so only the first look at a booted kernel sees the default.
        replace(
            _of(_pushing("rate", "seldom"), push.check_rate),
            says="eas_push_min_interval_us: found '4000', wanted '3000'",
        ),
    ),
    GuestMutant(
        FEEC,
        "misfits-are-pushed",
        Edit(
            FAIR,
            "\tif (eas_switch(push_misfit) && eas_task_misfit(p, cpu))\n",
            "\tif (0 && eas_task_misfit(p, cpu))\n",
        ),
        _of(MISFITS, push.check_misfit),
    ),
    GuestMutant(
        FEEC,
        "only-stuck-tasks-are-looked-at",
        Edit(FAIR, "\t    min(get_actual_cpu_capacity(cpu), eas_uclamp_max(p)))\n", "\t    0)\n"),
        _of(_pushing("uncapped"), push.check_uncapped),
    ),
    GuestMutant(
        ("feec",),
        "groups-of-capped-tasks-are-filtered",
        Edit(FAIR, "!eas_switch(group_filter) || !sgs->group_eas_calm", "!sgs->group_eas_calm"),
        _of(FILTERS, feec.check_filter),
    ),
    GuestMutant(
        ("feec@7.3",),
        "groups-of-capped-tasks-are-filtered",
        Edit(FAIR, " || eas_switch(no_group_filter))\n", ")\n"),
        _of(FILTERS, feec.check_filter),
    ),
    GuestMutant(
        FEEC,
        "the-overutilized-mark-waits",
        Edit(
            FAIR,
            "\treturn since && (s64)(READ_ONCE(rq->clock) - since)",
            "\treturn since || (s64)1",
        ),
        _of(_delayed("late", "in-time", "at-once"), delay.check_delay),
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
        _of(GUARDS, feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "what-headroom-decides-is-counted",
        Edit(FAIR, "\t\t\tenv->guard_hit = true;\n", ""),
        _of(GUARDS, feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "misfits-that-load-balance-moves-are-counted",
        Edit(
            FAIR,
            "if (eas_switch(push_misfit) && env.migration_type == migrate_misfit)\n",
            "if (0)\n",
        ),
        _of(MISFITS, push.check_misfit),
    ),
    GuestMutant(
        FEEC,
        "most-capacity-is-best-where-no-cpu-has-the-boost",
        Edit(FAIR, "\tif (a->fits < 0 && a->capacity != b->capacity)\n", "\tif (0)\n"),
        GuestCheck(feec.check_boosted, _boosted),
    ),
    GuestMutant(
        FEEC,
        "a-rest-begins-the-delay-anew",
        Edit(
            FAIR,
            "\tif (!rq->overutilized_since || rq->cfs.h_nr_runnable)\n\t\treturn false;\n",
            "\treturn false;\n",
        ),
        _of(RESTS, delay.check_delay_after_rest),
    ),
    GuestMutant(
        ("feec",),
        "the-delay-takes-no-request-for-a-frequency",
        Edit(
            FAIR,
            "\tif (decayed)\n\t\tcfs_rq_util_change(&rq->cfs, 0);\n\n\t/*\n\t * If in_iowait",
            "\t/*\n\t * If in_iowait",
        ),
        GuestCheck(delay.check_asks_after_rest, delay.check_asks_after_rest),
    ),
    GuestMutant(
        ("feec@7.3",),
        "the-delay-takes-no-request-for-a-frequency",
        Edit(
            FAIR,
            "\tif (decayed)\n\t\tcfs_rq_util_change(cfs_rq, 0);\n\n\tupdate_curr_eevdf(cfs_rq);\n",
            "\tupdate_curr_eevdf(cfs_rq);\n",
        ),
        GuestCheck(delay.check_asks_after_rest, delay.check_asks_after_rest),
    ),
    GuestMutant(
        FEEC,
        "a-short-rest-does-not-begin-the-delay-anew",
        Edit(
            FAIR,
            "\tdecayed = update_cfs_rq_load_avg(cfs_rq_clock_pelt(&rq->cfs), &rq->cfs);\n"
            "\tupdate_overutilized_since(rq);\n",
            "\tdecayed = false;\n\tWRITE_ONCE(rq->overutilized_since, 0);\n",
        ),
        _of(RESTS, delay.check_delay_after_rest),
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
        _of(_pushing("pinned"), push.check_pinned),
    ),
    GuestMutant(
        FEEC,
        "nobody-is-stuck-while-overutilized",
        Edit(FAIR, "\tif (is_rd_overutilized(rq->rd))\n\t\treturn EAS_PUSH_NONE;\n", ""),
        _of(_pushing("overutilized"), push.check_overutilized),
    ),
    GuestMutant(
        ("feec",),
        "the-filter-is-on-with-push",
        Edit(EAS, " || eas_switches[EAS_PUSH].value > 0;\n", ";\n"),
        _of(AUTO, feec.check_auto_filter, mainline=False),
    ),
    GuestMutant(  # on 7.3 it is on without any switch, as in mainline
        ("feec@7.3",),
        "the-filter-is-on-with-push",
        Edit(
            EAS,
            "value == EAS_AUTO ? 1 : value;\n",
            "value == EAS_AUTO ? !eas_switches[EAS_PUSH].value : value;\n",
        ),
        _of(AUTO, feec.check_auto_filter, mainline=True),
    ),
    GuestMutant(
        FEEC,
        "an-emptied-cpu-keeps-what-deadline-tasks-need",
        Edit(
            FAIR,
            "\t\tmin = cpu_util_irq(cpu_rq(cpu)) + cpu_bw_dl(cpu_rq(cpu));\n",
            "\t\tmin = 0;\n",
        ),
        GuestCheck(feec.check_reserved, _reserved),
    ),
    GuestMutant(
        ("feec",),  # on 7.3 each task of a throttled group is enqueued
        "an-unthrottled-group-begins-the-delay-anew",
        Edit(
            FAIR,
            "\tdecayed = recheck_overutilized_since(rq);\n\n\traw_spin_lock(&cfs_b->lock);\n",
            "\tdecayed = false;\n\n\traw_spin_lock(&cfs_b->lock);\n",
        ),
        _of(_delayed("throttled", "throttled-at-once"), delay.check_delay_after_throttling),
    ),
    GuestMutant(
        FEEC,
        "a-cpu-without-a-task-does-not-overutilize-the-system",
        Edit(FAIR, "\tif (!READ_ONCE(rq->cfs.h_nr_runnable))\n\t\treturn false;\n", ""),
        _of(_delayed("leaves", "leaves-at-once"), delay.check_delay_without_task),
    ),
    GuestMutant(
        FEEC,
        "the-previous-cpu-is-best-of-equals",
        Edit(
            FAIR,
            "\tif (a->cpu == env->prev_cpu || b->cpu == env->prev_cpu)\n"
            "\t\treturn a->cpu == env->prev_cpu;\n",
            "",
        ),
        _of(GUARDS, feec.check_guard),
    ),
    GuestMutant(
        FEEC,
        "a-batch-of-zero-is-all",
        Edit(FAIR, "READ_ONCE(eas_tunables.push_batch) ?: UINT_MAX;", "eas_tunables.push_batch;"),
        _of(_pushing("all"), push.check_batch),
    ),
    GuestMutant(
        FEEC,
        "an-interval-of-zero-is-no-limit",
        Edit(
            FAIR,
            "READ_ONCE(eas_tunables.push_min_interval_us) * NSEC_PER_USEC;\n",
            "(eas_tunables.push_min_interval_us ?: 5000) * NSEC_PER_USEC;\n",
        ),
        _of(_pushing("all"), push.check_batch),
    ),
    GuestMutant(
        FEEC,
        "an-event-says-by-which-path",
        Edit(
            FAIR,
            "cpu_of(rq), dst, EAS_PUSH_RUNNING, moved);\n",
            "cpu_of(rq), dst, EAS_PUSH_WAITING, moved);\n",
        ),
        GuestCheck(push.check_events, push.check_events),
    ),
    GuestMutant(
        FEEC,
        "nobody-is-looked-at-without-eas",
        Edit(FAIR, "\tif (!sched_energy_enabled())\n\t\treturn EAS_PUSH_NONE;\n", ""),
        _of(_pushing("without-eas"), push.check_without_eas),
    ),
    GuestMutant(
        FEEC,
        "one-with-a-delayed-dequeue-is-not-looked-at",
        Edit(
            FAIR,
            "\tif (p->nr_cpus_allowed == 1 || is_migration_disabled(p) || p->se.sched_delayed)\n"
            "\t\treturn EAS_PUSH_NONE;\n",
            "\tif (p->nr_cpus_allowed == 1)\n\t\treturn EAS_PUSH_NONE;\n",
        ),
        _of(_pushing("naps"), push.check_naps),
    ),
    GuestMutant(
        FEEC,
        "one-that-sleeps-is-not-looked-at",
        Edit(FAIR, "\tif (!task_on_rq_queued(p) || !p->se.on_rq)\n\t\treturn;\n", ""),
        _of(_pushing("naps"), push.check_naps),
    ),
    GuestMutant(
        FEEC,
        "one-that-runs-again-does-not-wait",
        Edit(FAIR, "\teas_push_remove(p);\n\n\tif (!first)\n", "\tif (!first)\n"),
        _of(_pushing("preempted"), push.check_preempted),
    ),
    GuestMutant(
        FEEC,
        "the-tick-looks-at-those-that-run-alone",
        Edit(
            FAIR,
            "\tif (rq != this_rq() || rq->nr_running - cfs_h_nr_delayed(rq) != 1)\n",
            "\tif (rq != this_rq())\n",
        ),
        _of(_pushing("crowd"), push.check_crowd),
    ),
    GuestMutant(
        FEEC,
        "one-about-to-leave-does-not-overutilize",
        Edit(FAIR, "\tif (!eas_tick_check(rq, curr)) {\n", "\teas_tick_check(rq, curr);\n\t{\n"),
        _of(_pushing("grows"), push.check_grows),
    ),
    GuestMutant(
        FEEC,
        "a-queued-task-does-not-count-itself",
        Edit(
            FAIR,
            "task_cpu(env->p) == cpu && cand.nr)\n\t\t\tcand.nr--;\n",
            "false)\n\t\t\tcand.nr--;\n",
        ),
        _of(_pushing("rate"), push.check_stays),
    ),
    GuestMutant(
        ("feec",),
        "the-filter-needs-eas",
        Edit(FAIR, "sgs->group_eas_calm = sched_energy_enabled();", "sgs->group_eas_calm = 1;"),
        _of(_balancing("no-filter", "filter", "filter-without-eas"), feec.check_filter),
    ),
    GuestMutant(
        ("feec@7.3",),
        "the-filter-needs-eas",
        Edit(
            FAIR,
            "\tif (!sched_energy_enabled() || sgs->group_overutilized ||",
            "\tif (sgs->group_overutilized ||",
        ),
        _of(_balancing("no-filter", "filter", "filter-without-eas"), feec.check_filter),
    ),
    GuestMutant(
        FEEC,
        "a-misfit-has-a-larger-cpu-to-go-to",
        Edit(
            FAIR,
            "\t       arch_scale_cpu_capacity(cpu) != p->max_allowed_capacity &&\n"
            "\t       !task_fits_cpu(p, cpu);\n",
            "\t       !task_fits_cpu(p, cpu);\n",
        ),
        _of(_pushing("largest"), push.check_largest),
    ),
    GuestMutant(
        FEEC,
        "an-opp-that-is-raised-for-others-counts",
        Edit(
            FAIR,
            "\t\t\tcand.delta += (cand.cost - without.cost) * eenv->pd_busy_time;\n",
            "\t\t\t;\n",
        ),
        _of(_placing("raises-alone", "raises-others"), feec.check_raise),
    ),
    GuestMutant(
        FEEC,
        "one-of-a-throttled-group-is-not-looked-at",
        Edit(
            FAIR, "\tif (throttled_hierarchy(cfs_rq_of(&p->se)))\n\t\treturn EAS_PUSH_NONE;\n", ""
        ),
        _of(_pushing("throttled"), push.check_throttled),
    ),
    GuestMutant(
        FEEC,
        "with-headroom-idle-tasks-do-not-count",
        Edit(
            FAIR,
            "\tif (eas_switch(feec_headroom) && !task_has_idle_policy(env->p))\n",
            "\tif (0)\n",
        ),
        _of(_placing("idle-others", "idle-others-plus", "number-plus"), feec.check_idle_others),
    ),
    GuestMutant(
        FEEC,
        "the-fifth-posting-counts-no-real-time-tasks",
        Edit(FAIR, "\treturn eas_switch(feec_v5) ? nr : nr +", "\treturn nr +"),
        _of(_placing("urgent-others", "urgent-others-v5"), feec.check_v5),
    ),
    GuestMutant(
        FEEC,
        "the-fifth-posting-places-every-task",
        Edit(
            FAIR, "\tif (!eas_switch(feec_v5) && !task_util_est(p) &&", "\tif (!task_util_est(p) &&"
        ),
        _of(_placing("tiny", "tiny-v5"), feec.check_v5_tiny),
    ),
    GuestMutant(
        FEEC,
        "of-equal-domains-the-fifth-posting-takes-the-first",
        Edit(FAIR, "\tif (eas_switch(feec_v5))\n\t\treturn false;\n", ""),
        _of(_placing("tiny", "tiny-v5"), feec.check_v5_tiny),
    ),
    GuestMutant(
        FEEC,
        "clamps-of-one-that-runs-alone-leave-with-it",
        Edit(
            FAIR,
            "\tif (unlikely(task_on_rq_queued(p)) && !tsk && task_cpu(p) == cpu &&\n",
            "\tif (0 && task_on_rq_queued(p) && !tsk && task_cpu(p) == cpu &&\n",
        ),
        GuestCheck(push.check_clamps_leave, push.check_clamps_leave),
    ),
    GuestMutant(
        ("sum-feec",),
        "a-queued-task-counts-once-in-sums",
        Edit(
            FAIR,
            "\treturn p && unlikely(task_on_rq_queued(p)) && "
            "(task_cpu(p) == cpu) == (dst_cpu == cpu);\n",
            "\treturn false;\n",
        ),
        _of(_pushing("rate"), push.check_stays),
    ),
    GuestMutant(
        ("sum-feec",),
        "what-fits-by-cost-is-the-sum",
        Edit(
            FAIR,
            "\treturn cpu_util_fits(cpu, p, cpu, eas_cpu_util(cpu, p, cpu, 0));\n",
            "\treturn util_fits_cpu(cpu_util(cpu, p, cpu, 0), cpu);\n",
        ),
        GuestCheck(check_fifty, _fifty),
    ),
]
