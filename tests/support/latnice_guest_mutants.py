# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `latnice` that are broken on purpose; a check must find each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.support import latnice_checks as latnice
from tests.support.guest_cases import Found
from tests.support.mutants import Edit, GuestCheck, GuestMutant

KERNELS = ("latnice", "latnice@7.3")
CORE, FAIR = "kernel/sched/core.c", "kernel/sched/fair.c"
IDLE, USES, CALLS = "kernel/sched/idle.c", "kernel/sched/latnice.h", "kernel/sched/syscalls.c"

#: The program that asks says which answer is wrong.
ANSWERS = GuestCheck(latnice.check_answers, latnice.check_answers, says="latnice_abi failed")


def _found(check: Callable[[dict[str, Found]], None], *words: str) -> GuestCheck:
    """``check`` of the cases whose names have one of ``words``."""
    cases = {
        name: case for name, case in latnice.CASES.items() if any(word in name for word in words)
    }
    return GuestCheck(
        check,
        lambda kernel, platform, folder: check(latnice.run(kernel, platform, cases, folder)),
    )


SEARCH = _found(latnice.check_search, "search")
GATE = _found(latnice.check_gate, "gate", "poll")

MUTANTS = [
    GuestMutant(
        KERNELS,
        "the-reserved-word-is-0",
        Edit(CALLS, "\tif (attr->sched_reserved)\n", "\tif (0)\n"),
        ANSWERS,
    ),
    GuestMutant(
        KERNELS,
        "to-lower-it-takes-privilege",
        Edit(
            CALLS,
            "\t\tif (attr->sched_latency_nice < task_own_latency_nice(p) &&\n",
            "\t\tif (0 &&\n",
        ),
        ANSWERS,
    ),
    GuestMutant(
        KERNELS,
        "a-failed-request-sets-nothing",
        Edit(
            CALLS,
            "\tif (attr->sched_flags & ~(SCHED_FLAG_ALL | SCHED_FLAG_SUGOV))\n",
            "\tif (attr->sched_flags & SCHED_FLAG_LATENCY_NICE)\n"
            "\t\tp->latency_nice = attr->sched_latency_nice;\n"
            "\tif (attr->sched_flags & ~(SCHED_FLAG_ALL | SCHED_FLAG_SUGOV))\n",
        ),
        ANSWERS,
    ),
    GuestMutant(
        KERNELS,
        "reset-on-fork-drops-a-negative-one",
        Edit(CORE, "\t\tif (p->latency_nice < 0)\n", "\t\tif (0)\n"),
        ANSWERS,
    ),
    GuestMutant(
        KERNELS,
        "the-nearest-group-that-is-set-counts",
        Edit(CORE, "\t\t\tnice = css_tg(css->parent)->latency_nice_eff;\n", "\t\t\tnice = 0;\n"),
        ANSWERS,
    ),
    GuestMutant(
        KERNELS,
        "only-negative-values-skip-the-search",
        Edit(
            FAIR,
            "== LATNICE_SEARCH_SKIP && task_latency_nice(p) < 0 &&\n",
            "== LATNICE_SEARCH_SKIP && task_latency_nice(p) <= 0 &&\n",
        ),
        SEARCH,
    ),
    GuestMutant(
        KERNELS,
        "the-search-is-proportional",
        Edit(FAIR, "max(1, width * (nice - MIN_NICE) / -MIN_NICE)", "max(1, width - 1)"),
        SEARCH,
    ),
    GuestMutant(
        KERNELS,
        "only-negative-values-prefer-an-idle-cpu",
        Edit(
            FAIR,
            "!sched_energy_enabled() || task_latency_nice(p) >= 0)\n",
            "!sched_energy_enabled() || task_latency_nice(p) > 0)\n",
        ),
        # `placing` waits until EAS is asked.
        replace(
            _found(latnice.check_prefer_idle, "idle-"),
            says="EAS places no task",
        ),
    ),
    GuestMutant(
        KERNELS,
        "tasks-gather-on-the-fullest-cpu",
        Edit(
            FAIR,
            "(cap == best_cap && (util > best_util ||\n",
            "(cap == best_cap && (util < best_util ||\n",
        ),
        _found(latnice.check_pack, "pack"),
    ),
    GuestMutant(
        KERNELS,
        "the-hold-ends",
        Edit(
            USES,
            "READ_ONCE(rq->latnice_stamp)) < hold_ns;\n",
            "READ_ONCE(rq->latnice_stamp)) < S64_MAX;\n",
        ),
        GATE,
    ),
    GuestMutant(
        KERNELS,
        "a-held-cpu-keeps-its-tick",
        Edit(IDLE, "\t\t\tstop_tick = false;\n", "\t\t\tstop_tick = true;\n"),
        GATE,
    ),
    GuestMutant(
        KERNELS,
        "a-polling-cpu-enters-no-state",
        Edit(IDLE, "\t\t} else if (latnice_polls(cpu_rq(cpu))) {\n", "\t\t} else if (0) {\n"),
        _found(latnice.check_poll, "gate", "poll"),
    ),
]
