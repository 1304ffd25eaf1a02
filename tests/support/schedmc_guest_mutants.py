# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `schedmc` that are broken on purpose; a check must find each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.support import schedmc_checks as schedmc
from tests.support.guest_cases import Found
from tests.support.mutants import Edit, GuestCheck, GuestMutant

KERNELS = ("schedmc",)
FAIR, TOPOLOGY = "kernel/sched/fair.c", "kernel/sched/topology.c"


def _found(check: Callable[[Mapping[str, Found]], None], *names: str) -> GuestCheck:
    """``check`` of the cases ``names``."""
    cases = {name: schedmc.CASES[name] for name in names}
    return GuestCheck(
        check,
        lambda kernel, platform, folder: check(schedmc.run(kernel, platform, cases, folder)),
    )


LEADER = _found(schedmc.check_leader, "unequal-1", "unequal-2", "equal", "bigs-1")
MISFIT = _found(schedmc.check_misfit, "misfit", "no-misfit")
ROOM = _found(schedmc.check_room, "full", "room")


def _mutant(claim: str, file: str, old: str, new: str, check: GuestCheck) -> GuestMutant:
    return GuestMutant(KERNELS, claim, Edit(file, old, new), check)


MUTANTS = [
    _mutant(
        "of-equal-clusters-the-first-leads",
        FAIR,
        "group_first(sg) < group_first(leader)",
        "group_first(sg) > group_first(leader)",
        LEADER,
    ),
    _mutant(
        "idle-cpus-are-kicked-where-each-runs-one-task",
        FAIR,
        "	if (schedmc_changed(POWER_SAVINGS) &&\n	    atomic_read",
        "	if (0 &&\n	    atomic_read",
        MISFIT,
    ),
    _mutant("a-full-cluster-does-not-lead", FAIR, "nr < room && (nr", "nr <= room && (nr", ROOM),
    _mutant(
        "room-is-the-part-of-the-capacity",
        FAIR,
        "room = min(room, sg->group_weight);",
        "room = sg->group_weight;",
        ROOM,
    ),
    _mutant(
        "tasks-of-all-classes-take-room",
        FAIR,
        "nr += rq->nr_running - rq->cfs.h_nr_queued + rq->cfs.h_nr_runnable;",
        "nr += rq->cfs.h_nr_runnable;",
        _found(schedmc.check_urgent, "urgent"),
    ),
    _mutant(
        "only-level-2-lets-newly-idle-cpus-fetch",
        FAIR,
        "env->idle == CPU_NEWLY_IDLE && schedmc_level() < 2)",
        "env->idle == CPU_NEWLY_IDLE)",
        _found(schedmc.check_newly, "newly-1", "newly-2"),
    ),
    _mutant(
        "without-misfit-a-lone-task-may-leave-a-larger-cpu",
        FAIR,
        "		    !schedmc_changed(KEEP_MISFIT) &&\n",
        "",
        MISFIT,
    ),
    _mutant(
        "with-eas-nothing-is-vacated",
        FAIR,
        "if (!env->idle || sched_energy_enabled())",
        "if (!env->idle)",
        _found(schedmc.check_eas, "eas"),
    ),
    _mutant(
        "a-write-builds-the-domains-anew",
        TOPOLOGY,
        "arch_update_cpu_topology() || sched_flags_update;",
        "arch_update_cpu_topology();",
        LEADER,
    ),
]
