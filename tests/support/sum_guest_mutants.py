# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `sum` that are broken on purpose in what its users see; a check must find each."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.mutants import Edit, GuestCheck, GuestMutant
from tests.support.sum_checks import (
    Guest,
    check_background,
    check_boost,
    check_busy,
    check_cap_kept,
    check_capped_contention,
    check_contention,
    check_events,
    check_fair_again,
    check_headroom,
    check_hidden,
    check_hidden_bound,
    check_idle_waiter,
    check_iowait,
    check_limit_at_once,
    check_reclassed,
    check_reclassed_elsewhere,
    check_rt_asleep,
    check_rt_beside,
    check_rt_boosts,
    check_rt_leaves_fair,
    check_rt_sum,
    check_sum,
    check_system_limit,
    check_uncapped,
    check_wait,
    check_wait_in_eas,
    check_waits_for_others,
)
from tests.support.sum_group_checks import (
    check_fair_again_after_lending,
    check_inherited,
    check_lent,
    check_lifted,
    check_nested_limit,
    check_promised,
    check_throttled,
    check_throttled_boost,
    check_throttled_do_not_wait,
)
from tests.support.sum_mutants import CAP_STAYS

CORE, FAIR, RT, UCLAMP, TRACE, SCHEDUTIL = (
    f"kernel/sched/{name}.c"
    for name in ("core", "fair", "rt", "uclamp", "eascope_trace", "cpufreq_schedutil")
)
SCHED = "kernel/sched/sched.h"
SUM = ("sum", "sum@7.3")


def _clamped(check: Callable[..., None], *of: str | int) -> GuestCheck:
    """``check`` in a guest, ``of`` a feature and maybe a case of it.

    The kernel does not check its own sums: what its users see must be enough.
    """
    return GuestCheck(
        check,
        lambda kernel, platform, folder: check(
            Guest(kernel.image, platform, folder, checked=False), *of
        ),
    )


#: Detaching a task, and doing so after its clamps have left.
DETACH = (
    "\tupdate_load_avg(cfs_rq, se, 0);\n"
    "\t/* That may have asked for a frequency: what clamps add leaves now, not before. */\n",
    "\tif (entity_is_task(se))\n\t\tuclamp_sum_detach(rq_of(cfs_rq), task_of(se));\n"
    "\tupdate_load_avg(cfs_rq, se, 0);\n",
)

MUTANTS = [
    GuestMutant(SUM, CAP_STAYS.claim, CAP_STAYS.edit, _clamped(check_background, "-i", 1)),
    GuestMutant(
        SUM,
        "what-caps-leave-drives-the-frequency",
        Edit(
            FAIR,
            "\tunsigned long util = cpu_util_cfs_boost(cpu), wait;\n",
            "\tunsigned long util = cpu_util(cpu, NULL, -1, 1), wait;\n",
        ),
        _clamped(check_headroom, "NO_UCLAMP_NO_HEADROOM", "cap"),
    ),
    GuestMutant(
        SUM,
        "a-cap-of-zero-is-a-cap",
        Edit(
            SCHED,
            "\tif (uclamp_max < SCHED_CAPACITY_SCALE)\n\t\tutil = min(util, uclamp_max);\n",
            "\tif (uclamp_max && uclamp_max < SCHED_CAPACITY_SCALE)\n"
            "\t\tutil = min(util, uclamp_max);\n",
        ),
        _clamped(check_headroom, "NO_UCLAMP_NO_HEADROOM", "cap-of-zero"),
    ),
    GuestMutant(
        SUM,
        "what-caps-took-is-given-back-in-the-frequency",
        Edit(
            SCHEDUTIL,
            "\t\tutil += cpu_util_cfs_perf(sg_cpu->cpu);\n",
            "\t\tutil += cpu_util_cfs_boost(sg_cpu->cpu);\n",
        ),
        _clamped(check_wait, "frequency"),
    ),
    GuestMutant(
        SUM,
        "what-caps-took-may-be-given-back-to-the-overutilized-state-alone",
        Edit(SCHED, "READ_ONCE(uclamp_wait_mode) == UCLAMP_WAIT_FREQ;\n", "uclamp_wait_mode;\n"),
        _clamped(check_wait, "overutilized-only"),
    ),
    GuestMutant(
        SUM,
        "what-is-waited-within-the-dead-band-gives-nothing-back",
        Edit(UCLAMP, "\twait = wait > deadband ? wait - deadband : 0;\n", "\tdeadband = 0;\n"),
        _clamped(check_wait, "dead-band"),
    ),
    GuestMutant(
        SUM,
        "a-capped-task-may-be-billed-for-its-time",
        Edit(FAIR, "\tif (uclamp_is_used() && sched_feat(FEEC_BUSY_UNCLAMPED))\n", "\tif (0)\n"),
        _clamped(check_busy, "FEEC_BUSY_UNCLAMPED"),
    ),
    GuestMutant(
        SUM,
        "a-capped-task-is-billed-for-its-cap",
        Edit(
            FAIR,
            "\tif (uclamp_is_used() && sched_feat(FEEC_BUSY_UNCLAMPED))\n",
            "\tif (uclamp_is_used())\n",
        ),
        _clamped(check_busy, "NO_FEEC_BUSY_UNCLAMPED"),
    ),
    GuestMutant(
        SUM,
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
    GuestMutant(
        SUM,
        "what-slept-in-another-class-is-aged",
        Edit(
            FAIR,
            "\t\tif (p)\n\t\t\tuclamp_sum_age(p, now);\n",
            "",
        ),
        _clamped(check_reclassed),
    ),
    GuestMutant(
        SUM,
        "what-slept-in-another-class-is-aged-not-lost",
        Edit(
            UCLAMP,
            "\t\tpart->bias = uclamp_decay(part->bias, (now >> 20) - (last >> 20));\n",
            "\t\tpart->bias = 0;\n",
        ),
        _clamped(check_cap_kept, "class"),
    ),
    GuestMutant(
        SUM,
        "what-slept-is-kept-for-another-class",
        Edit(
            UCLAMP,
            "\t} else if (part->where == UCLAMP_BLOCKED) {\n\t\tuclamp_del(rq, p);\n\t}\n",
            "\t} else if (part->where == UCLAMP_BLOCKED) {\n"
            "\t\tuclamp_del(rq, p);\n\t\tpart->bias = 0;\n\t}\n",
        ),
        _clamped(check_cap_kept, "class"),
    ),
    GuestMutant(
        SUM,
        "a-cap-leaves-a-group-with-what-it-caps",
        Edit(FAIR, DETACH[0], DETACH[1]),
        _clamped(check_cap_kept, "group"),
    ),
    GuestMutant(
        SUM,
        "a-cap-leaves-the-class-with-what-it-caps",
        Edit(FAIR, DETACH[0], DETACH[1]),
        _clamped(check_cap_kept, "class-left"),
    ),
    GuestMutant(
        SUM,
        "a-cap-comes-to-who-runs-with-what-it-caps",
        Edit(
            UCLAMP,
            "\t\tif (p->se.avg.last_update_time)\n"
            "\t\t\tpart->excess = READ_ONCE(p->se.avg.util_avg);\n",
            "",
        ),
        _clamped(check_fair_again, "running"),
    ),
    GuestMutant(
        SUM,
        "a-limit-of-the-system-is-asked-for-once",
        Edit(
            UCLAMP,
            "\t/* These first: the update of util_avg may ask for a frequency. */\n",
            "\tuclamp_update_task(p);\n",
        ),
        _clamped(check_limit_at_once),
    ),
    GuestMutant(
        SUM,
        "what-moved-in-another-class-is-aged",
        Edit(
            FAIR,
            "\tif (entity_is_task(se))\n\t\tuclamp_sum_age(task_of(se), p_last_update_time);\n",
            "",
        ),
        _clamped(check_reclassed_elsewhere, "cpu"),
    ),
    GuestMutant(
        SUM,
        "a-cap-bounds-the-boost-for-io",
        Edit(SCHEDUTIL, "\tboost = min(boost, uclamp_sum_limit(cpu_rq(sg_cpu->cpu)));\n", "\t;\n"),
        _clamped(check_iowait, 100),
    ),
    GuestMutant(
        SUM,
        "what-caps-hide-may-mean-overutilized",
        Edit(FAIR, "sched_feat(UCLAMP_OU_UNCLAMPED) && !util", "false && !util"),
        _clamped(check_hidden, "UCLAMP_OU_UNCLAMPED"),
    ),
    GuestMutant(
        SUM,
        "what-caps-hide-does-not-matter-by-default",
        Edit(FAIR, "sched_feat(UCLAMP_OU_UNCLAMPED) && !util", "!util"),
        _clamped(check_hidden, "NO_UCLAMP_OU_UNCLAMPED"),
    ),
    GuestMutant(
        SUM,
        "a-boost-that-cannot-be-had-fits",
        Edit(FAIR, "sched_feat(UCLAMP_FITS_TRISTATE) && ", "false && "),
        _clamped(check_boost, "UCLAMP_FITS_TRISTATE"),
    ),
    GuestMutant(
        SUM,
        "boosts-may-have-no-headroom",
        Edit(
            SCHED,
            "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n",
            "\tif (clamp_id == UCLAMP_MIN || !sched_feat(UCLAMP_NO_HEADROOM))\n",
        ),
        _clamped(check_headroom, "UCLAMP_NO_HEADROOM", "boost"),
    ),
    GuestMutant(
        SUM,
        "caps-may-have-no-headroom",
        Edit(
            SCHED,
            "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n",
            "\tif (clamp_id == UCLAMP_MAX || !sched_feat(UCLAMP_NO_HEADROOM))\n",
        ),
        _clamped(check_headroom, "UCLAMP_NO_HEADROOM", "cap"),
    ),
    GuestMutant(
        SUM,
        "events-name-clamps-without-headroom",
        Edit(TRACE, "uclamp_util_value(p, UCLAMP_MAX)", "uclamp_eff_value(p, UCLAMP_MAX)"),
        _clamped(check_events, "UCLAMP_NO_HEADROOM"),
    ),
    GuestMutant(
        SUM,
        "clamps-have-headroom-by-default",
        Edit(SCHED, "\tif (!sched_feat(UCLAMP_NO_HEADROOM))\n", "\tif (false)\n"),
        _clamped(check_headroom, "NO_UCLAMP_NO_HEADROOM", "boost"),
    ),
    GuestMutant(
        SUM,
        "no-cap-is-none",
        Edit(
            SCHED,
            "\tif (clamp_id == UCLAMP_MAX && value == SCHED_CAPACITY_SCALE)\n",
            "\tif (false)\n",
        ),
        _clamped(check_uncapped, "UCLAMP_NO_HEADROOM"),
    ),
    GuestMutant(
        SUM,
        "a-task-that-inherits-a-priority-keeps-its-cap",
        Edit(
            RT,
            "uclamp_util_value(p, UCLAMP_MAX));\n",
            "rt_policy(p->policy) ?\n"
            "\t\t   uclamp_util_value(p, UCLAMP_MAX) : uclamp_none(UCLAMP_MAX));\n",
        ),
        _clamped(check_lent),
    ),
    GuestMutant(
        SUM,
        "a-cap-comes-back-with-what-it-caps",
        Edit(
            UCLAMP,
            "\t\tif (p->se.avg.last_update_time)\n"
            "\t\t\tpart->excess = READ_ONCE(p->se.avg.util_avg);\n",
            "",
        ),
        _clamped(check_fair_again_after_lending),
    ),
    GuestMutant(
        SUM,
        "a-boost-is-kept-for-who-waits",
        Edit(
            UCLAMP,
            "\t\tpart->floor = uclamp_util_value(p, UCLAMP_MIN);\n",
            "\t\tpart->floor = 0;\n",
        ),
        _clamped(check_promised),
    ),
    GuestMutant(
        SUM,
        "a-limit-of-a-group-reaches-those-below",
        Edit(
            CORE,
            "\t\tuclamp_update_active_tasks(css);\n",
            "\t\tif (css == top_css)\n\t\t\tuclamp_update_active_tasks(css);\n",
        ),
        _clamped(check_nested_limit, "tightened"),
    ),
    *(
        GuestMutant(
            SUM,
            f"a-throttled-group-takes-nothing-{kind}",
            Edit(
                UCLAMP,
                "\tpart->excess += util - uclamp_decay(util, periods);\n",
                "",
            ),
            _clamped(check_throttled, kind),
        )
        for kind in ("alone", "nested")
    ),
    *(
        GuestMutant(
            ("sum",),  # on 7.3 who is throttled is dequeued
            f"who-is-throttled-does-not-wait-{kind}",
            Edit(FAIR, "\t\tuclamp_throttle(rq, cfs_rq, true);\n", ""),
            _clamped(check_throttled_do_not_wait, kind),
        )
        for kind in ("alone", "nested")
    ),
    GuestMutant(
        ("sum",),
        "boosts-of-who-is-throttled-do-not-count",
        Edit(FAIR, "\t\tuclamp_throttle(rq, cfs_rq, true);\n", ""),
        _clamped(check_throttled_boost, ""),
    ),
    GuestMutant(
        ("sum",),
        "boosts-of-who-wakes-while-throttled-do-not-count",
        Edit(
            UCLAMP,
            "\tif (uclamp_is_throttled(cfs_rq_of(&p->se)))\n\t\treturn;\n\n\tif (part->where",
            "\tif (part->where",
        ),
        _clamped(check_throttled_boost, "-r 500 -p 5000"),
    ),
    GuestMutant(
        ("sum",),
        "boosts-of-who-was-throttled-count-again",
        Edit(FAIR, "\t\tuclamp_throttle(rq, cfs_rq, false);\n", ""),
        _clamped(check_throttled_boost, ""),
    ),
    GuestMutant(
        SUM,
        "what-the-clock-of-a-group-did-not-see-is-forgotten",
        Edit(
            UCLAMP,
            "\tpart->excess = uclamp_decay(part->excess, rq->uclamp_sum.period - part->stamp);\n",
            "",
        ),
        _clamped(check_lifted),
    ),
    GuestMutant(
        SUM,
        "many-capped-tasks-count-as-few",
        Edit(UCLAMP, "\t\tif (part->bias < 0) {\n", "\t\tif (false) {\n"),
        _clamped(check_sum, 16, 50),
    ),
    GuestMutant(
        SUM,
        "an-rt-tasks-cap-bounds-its-part",
        Edit(FAIR, "\treturn min(util, uclamp_rt_get(rq, UCLAMP_MAX));\n", "\treturn util;\n"),
        _clamped(check_rt_beside),
    ),
    GuestMutant(
        SUM,
        "an-rt-tasks-cap-holds-while-it-sleeps",
        Edit(
            RT,
            "\tif (!rq->rt.rt_nr_running)\n\t\treturn;\n",
            "\tif (!rq->rt.rt_nr_running) {\n"
            "\t\tWRITE_ONCE(rq->uclamp_rt[UCLAMP_MAX], SCHED_CAPACITY_SCALE);\n"
            "\t\treturn;\n\t}\n",
        ),
        _clamped(check_rt_asleep),
    ),
    GuestMutant(
        SUM,
        "an-rt-tasks-cap-is-not-a-fair-tasks",
        Edit(
            FAIR,
            "\t\tutil += cpu_util_rt_clamped(rq);\n\t\t*max = scale;\n",
            "\t\tutil += cpu_util_rt_clamped(rq);\n"
            "\t\t*max = rt_rq_is_runnable(&rq->rt) ? uclamp_rt_get(rq, UCLAMP_MAX) : scale;\n",
        ),
        _clamped(check_rt_leaves_fair),
    ),
    GuestMutant(
        SUM,
        "what-a-group-leaves-goes-to-its-parent",
        Edit(UCLAMP, "\tif (child->removed.uclamp_blocked) {\n", "\tif (false) {\n"),
        GuestCheck(
            check_inherited,
            lambda kernel, platform, folder: check_inherited(Guest(kernel.image, platform, folder)),
            says="sum is less than what runs",
        ),
    ),
    GuestMutant(
        SUM,
        "each-rt-task-counts-with-its-cap",
        Edit(
            UCLAMP,
            "\t\tpart->util = uclamp_clamp(p, part->avg.util_avg);\n",
            "\t\tpart->util = part->avg.util_avg;\n",
        ),
        _clamped(check_rt_sum, "UCLAMP_RT_SUM", "alone"),
    ),
    GuestMutant(
        SUM,
        "an-rt-task-that-sleeps-counts",
        Edit(UCLAMP, "\t\tblocked += uclamp_fixed(part->util);\n", ""),
        _clamped(check_rt_sum, "UCLAMP_RT_SUM", "alone"),
    ),
    GuestMutant(
        SUM,
        "an-rt-tasks-boost-ends-as-it-sleeps",
        Edit(
            UCLAMP,
            "\t\tpart->util = min(part->avg.util_avg, uclamp_util_value(p, UCLAMP_MAX));\n",
            "\t\tpart->util = uclamp_clamp(p, part->avg.util_avg);\n",
        ),
        _clamped(check_rt_boosts, "UCLAMP_RT_SUM"),
    ),
    GuestMutant(
        SUM,
        "who-waits-for-who-is-not-capped-counts-next-to-caps",
        Edit(FAIR, "\t\tutil += uclamp_contention(rq, add, del);\n", "\t\t;\n"),
        _clamped(check_contention, "tiny"),
    ),
    GuestMutant(
        SUM,
        "who-waits-for-who-is-capped-is-no-contention",
        Edit(UCLAMP, "contention, capped ? 0 : waiting,\n", "contention, waiting,\n"),
        _clamped(check_wait, "off"),
    ),
    GuestMutant(
        SUM,
        "a-capped-task-takes-its-wait-from-the-frequency-whatever-boosts-add",
        Edit(
            UCLAMP,
            "\treturn nr_capped > 0 || total < 0 ||"
            " READ_ONCE(rq->avg_uclamp_contention.util_avg);\n",
            "\treturn total < 0;\n",
        ),
        _clamped(check_capped_contention),
    ),
    GuestMutant(
        SUM,
        "no-more-is-given-back-than-caps-took",
        Edit(FAIR, "\treturn util + min(hidden, wait);\n", "\treturn util + wait;\n"),
        _clamped(check_hidden_bound),
    ),
    GuestMutant(
        SUM,
        "no-more-is-given-back-than-uncapped-tasks-use",
        Edit(
            UCLAMP,
            "\treturn min(wait, READ_ONCE(rq->avg_uclamp_wait.util_avg));\n",
            "\treturn wait;\n",
        ),
        _clamped(check_idle_waiter),
    ),
    GuestMutant(
        SUM,
        "what-is-waited-for-uncapped-tasks-gives-nothing-back",
        Edit(UCLAMP, "wait, capped ? waiting : 0,\n", "wait, waiting,\n"),
        _clamped(check_waits_for_others),
    ),
    GuestMutant(
        SUM,
        "eas-knows-what-is-given-back",
        Edit(
            FAIR,
            "\t\t\tutil = max(util, cpu_util_wait(cpu, p, dst_cpu));\n",
            "\t\t\t;\n",
        ),
        _clamped(check_wait_in_eas),
    ),
]
