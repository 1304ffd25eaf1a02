# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `base` that are broken on purpose; a check must find each."""

from __future__ import annotations

from pathlib import Path

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from tests.support import base_checks as base
from tests.support.mutants import Edit, GuestCheck, GuestMutant

FAIR = "kernel/sched/fair.c"
CORE = "kernel/sched/core.c"
DEADLINE = "kernel/sched/deadline.c"
CPUFREQ = "drivers/cpufreq/gem5-cpufreq.c"


def _order(first: bool) -> GuestCheck:
    return GuestCheck(
        base.check_order,
        lambda kernel, platform, folder: base.check_order(kernel, platform, folder, first=first),
    )


def _filter(*, filtered: bool) -> GuestCheck:
    return GuestCheck(
        base.check_filter,
        lambda kernel, platform, folder: base.check_filter(
            kernel, platform, folder, filtered=filtered
        ),
    )


def _spare(*, spare0: bool) -> GuestCheck:
    return GuestCheck(
        base.check_spare,
        lambda kernel, platform, folder: base.check_spare(kernel, platform, folder, spare0=spare0),
    )


def _balance(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    base.check_sleepers(base.balance(kernel, platform, folder))


def _grants(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    base.check_grants(kernel, load_platform("smp-24"), folder)


def _no_grants(kernel: KernelArtefact, _: Platform, folder: Path) -> None:
    base.check_no_grants(kernel, load_platform("smp-24"), folder)


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
            "\tif ((p->se.sched_delayed) && (env->migration_type != migrate_load)) {\n",
            "\tif (p->se.sched_delayed && env->migration_type > migrate_misfit) {\n",
        ),
        GuestCheck(base.check_sleepers, _balance),
    ),
    GuestMutant(
        ("base",),
        "sleepers-are-pulled-for-their-load",
        Edit(
            FAIR,
            "\tif ((p->se.sched_delayed) && (env->migration_type != migrate_load)) {\n",
            "\tif (p->se.sched_delayed) {\n",
        ),
        GuestCheck(base.check_sleepers, _balance),
    ),
    GuestMutant(
        ("base",),
        "who-is-pulled-awake-is-not-counted-as-asleep",
        Edit(
            FAIR,
            "\tif (p->se.sched_delayed)\n\t\teascope_count(lb_pulled_asleep);\n",
            "\teascope_count(lb_pulled_asleep);\n",
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
        ("base",),
        "short-tasks-lift-caps-by-default",
        Edit(CORE, "\tif (!sched_feat(UCLAMP_MAX_FILTER) || ", "\tif ("),
        _filter(filtered=False),
    ),
    GuestMutant(
        ("base",),
        "who-runs-for-long-after-all-lifts-caps",
        Edit(CORE, "\tuclamp_max_tick(rq, curr);\n", ""),
        _filter(filtered=True),
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
        Edit(CPUFREQ, "\t\tcmpxchg(&policy->cur, cur, khz);\n", "\t\t;\n"),
        GuestCheck(base.check_grants, _grants),
    ),
    GuestMutant(
        ("base", "base@7.3"),
        "no-grant-is-read-without-a-budget",
        Edit(
            CPUFREQ,
            'of_property_read_bool(dev->of_node, "gem5,may-grant-less");\n',
            "true;\n",
        ),
        GuestCheck(
            base.check_no_grants, _no_grants, says="the guest reads EnergyCtrl at offset 0x2c"
        ),
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
]
