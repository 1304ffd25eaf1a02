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
    check_events,
    check_fair_again,
    check_headroom,
    check_hidden,
    check_iowait,
    check_limit_at_once,
    check_reclassed,
    check_reclassed_elsewhere,
    check_system_limit,
    check_uncapped,
    check_wait,
)
from tests.support.sum_group_checks import (
    check_fair_again_after_lending,
    check_lent,
    check_moved_while_throttled,
    check_nested_limit,
    check_promised,
    check_throttled,
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
        Edit(UCLAMP, "\treturn wait > deadband ? wait - deadband : 0;\n", "\treturn wait;\n"),
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
            "\t\t\t   p ? uclamp_eff_value(p, clamp_id) : uclamp_none(clamp_id));\n",
            "\t\t\t   p && rt_policy(p->policy) ? uclamp_eff_value(p, clamp_id) :\n"
            "\t\t\t\t\t\t\t uclamp_none(clamp_id));\n",
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
            "\tfor_each_process_thread(g, p)\n\t\tuclamp_update_active(p);\n",
            "\tfor_each_process_thread(g, p)\n"
            "\t\tif (!task_group(p)->parent || task_group(p)->parent == &root_task_group)\n"
            "\t\t\tuclamp_update_active(p);\n",
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
    GuestMutant(
        ("sum",),  # on 7.3 who is throttled sleeps
        "who-is-throttled-does-not-wait",
        Edit(
            UCLAMP,
            "\trq->uclamp_sum.nr_uncapped += throttle ? -cfs_rq->uclamp_nr_uncapped :\n"
            "\t\t\t\t\t\t cfs_rq->uclamp_nr_uncapped;\n",
            "",
        ),
        _clamped(check_throttled_do_not_wait, "UTIL_EST", "alone"),
    ),
    GuestMutant(
        ("sum",),
        "who-is-below-a-throttled-group-does-not-wait",
        Edit(UCLAMP, "\treturn cfs_rq->throttle_count;\n", "\treturn cfs_rq->throttled;\n"),
        _clamped(check_throttled_do_not_wait, "UTIL_EST", "nested"),
    ),
    GuestMutant(
        ("sum",),  # on 7.3 the CPU has its utilization at once: excess hides it, an open fault
        "a-cap-comes-to-a-throttled-group-with-what-it-caps",
        Edit(
            UCLAMP,
            "\tp->uclamp_part.excess = throttled ? READ_ONCE(p->se.avg.util_avg) : 0;\n",
            "\tp->uclamp_part.excess = throttled ? 0 : 0;\n",
        ),
        _clamped(check_moved_while_throttled),
    ),
]
