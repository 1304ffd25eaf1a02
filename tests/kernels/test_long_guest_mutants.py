# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels whose queues ``base`` and ``feec`` are broken on purpose: a guest test must say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.platform import Platform
from engines.base import EngineFailed
from kernels.build import KernelArtefact
from kernels.source import Source
from tests.support import base_checks as base
from tests.support import feec_checks as feec
from tests.support.mutants import Edit, mutant_image

pytestmark = [pytest.mark.long, pytest.mark.guest]

FAIR = "kernel/sched/fair.c"
CORE = "kernel/sched/core.c"
EAS = "kernel/sched/eas_switch.c"
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


MUTANTS = [
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
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.kernel}-{mutant.claim}")
def test_a_broken_kernel_is_found(
    mutant: Mutant, source: Source, juno: Platform, tmp_path: Path
) -> None:
    image = mutant_image(mutant.kernel, mutant.edit, source, tmp_path / "build")
    broken = KernelArtefact(mutant.kernel, image, image, image, "", {})
    with pytest.raises((AssertionError, EngineFailed)):
        mutant.check(broken, juno, tmp_path)
