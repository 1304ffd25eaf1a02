# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are broken on purpose, from ``tests/kernels/mutants``; a check must find each."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from tests.kernels import exceptions
from tests.support import (
    base_checks,
    blocked_tick_checks,
    feec_checks,
    feec_delay_checks,
    feec_push_checks,
    latnice_checks,
    push_checks,
    schedmc_checks,
    sum_checks,
    sum_eas_checks,
    sum_group_checks,
)
from tests.support.guest_cases import GuestCase
from tests.support.mutants import GuestCheck, GuestMutant, read_mutants

Ask = Callable[[KernelArtefact, Platform, Path], object]

_FEEC = (
    *(feec_checks.PLACING, feec_checks.BALANCING),
    *(feec_push_checks.PUSHING, feec_delay_checks.DELAYED),
)
FEEC_CASES: dict[str, GuestCase] = {name: case for cases in _FEEC for name, case in cases.items()}
assert len(FEEC_CASES) == sum(map(len, _FEEC)), "a name stands for one case"


def _on(name: str, ask: Ask) -> Ask:
    """``ask`` on the platform ``name`` instead."""
    return lambda kernel, _, folder: ask(kernel, load_platform(name), folder)


def _boosted(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    feec_checks.check_boosted(feec_checks.run(kernel, platform, feec_checks.BOOSTED, folder))


#: Checks that are not asked as the other ones of their series.
SPECIAL: Mapping[str, Ask] = {
    "check_stressed": sum_checks.check_stressed,
    "check_hidden_counter": lambda *of: sum_checks.check_hidden_counter(
        sum_checks.check_stressed(*of)
    ),
    "check_sleepers": lambda *of: base_checks.check_sleepers(base_checks.balance(*of)),
    "check_grants": _on("smp-24", base_checks.check_grants),
    "check_no_grants": _on("smp-24", base_checks.check_no_grants),
    "check_boosted": _on("pixel6", _boosted),
    "check_fifty": lambda *of: sum_eas_checks.check_fifty(sum_eas_checks.run_fifty(*of)),
    "check_reserved": lambda *of: feec_checks.check_reserved(feec_checks.reserved(*of)),
    "check_partition": lambda *of: push_checks.check_partition(push_checks.partitioned(*of)),
    "check_eight": lambda kernel, platform, folder: push_checks.check_eight(
        push_checks.run(kernel, platform, push_checks.EIGHT, folder)
    ),
}


#: By file: where its checks are, and their cases.
_QUEUES: Mapping[str, tuple[tuple[ModuleType, ...], Mapping[str, GuestCase]]] = {
    "base": ((base_checks,), {}),
    "sum": ((sum_checks, sum_group_checks), {}),
    "feec": ((feec_checks, feec_push_checks, feec_delay_checks), FEEC_CASES),
    "push": ((push_checks,), push_checks.CASES),
    "latnice": ((latnice_checks,), latnice_checks.CASES),
    "schedmc": ((schedmc_checks,), schedmc_checks.CASES),
    "blocked-tick": ((blocked_tick_checks,), {}),
}


def guest_check(queue: str, line: str, says: str = "", *, checked: bool = False) -> GuestCheck:
    """The check of ``line``: a function of the checks of ``queue``, and its cases or arguments.

    :param checked: whether a kernel of `sum` checks its own sums, too; so it does where that is
        what must find a fault (``says``).
    """
    modules, cases = _QUEUES[queue]
    name, *words = shlex.split(line)
    check = next(
        getattr(module, name)
        for module in (*modules, sum_eas_checks, exceptions)
        if hasattr(module, name)
    )
    of = {word: cases[word] for word in words if word in cases}
    flags = {word[:-5]: True for word in words if word.endswith("=True")}
    flags |= {word[:-6]: False for word in words if word.endswith("=False")}
    # Of sums the words are arguments; else each is a case or a flag.
    assert sum_checks in modules or len(of) + len(flags) == len(words), line

    def ask(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
        if name in SPECIAL:
            SPECIAL[name](kernel, platform, folder)
        elif of:
            check(modules[0].run(kernel, platform, of, folder), **flags)
        elif sum_checks in modules:
            guest = sum_checks.Guest(kernel.image, platform, folder, checked=checked or bool(says))
            check(guest, *(int(word) if word.isdigit() else word for word in words))
        else:
            check(kernel, platform, folder, **flags)

    return GuestCheck(line, check, ask, says)


MUTANTS = [
    GuestMutant(
        read.kernels,
        read.claim,
        read.edit,
        guest_check(queue, read.more["check"], read.more.get("says", "")),
    )
    for queue in _QUEUES
    for read in read_mutants(queue)
]
