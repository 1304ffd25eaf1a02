# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of a scenario: of its file, of its base, and those that a kernel's name stands for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from eascope.configs.delta import changed
from eascope.experiments.scenario.names import path_of
from eascope.host.errors import RequestError, shown
from eascope.host.keys import Place
from eascope.host.strict import read_toml

_FEATURES = "/sys/kernel/debug/sched/features"
#: ``source_conditions.kernel``, and the conditions that it stands for. Linux 6.12 brought delayed
#: dequeue, the fair server, whose bandwidth is a floor of schedutil's request, short slices that
#: preempt, and deadlines kept by tasks that migrate. Newidle balance at random is of November 2025,
#: and 6.12.y has it from there.
KERNELS: dict[str, dict[str, Any]] = {
    "before-6.12": {
        **dict.fromkeys(("delay_dequeue", "fair_server"), False),
        "switches": [
            [_FEATURES, feature]
            for feature in ("NO_PREEMPT_SHORT", "NO_PLACE_REL_DEADLINE", "NO_NI_RANDOM")
        ],
    },
    "6.12.0": {"switches": [[_FEATURES, "NO_NI_RANDOM"]]},
}


def read_scenario(path: Path) -> Place:
    """The keys of a scenario as a complete file states them.

    Further conditions of the source count instead of the kernel's; further switches come after its.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    top = _with_base(path, ())
    stated = top.data.get("source_conditions")
    if isinstance(stated, dict) and "kernel" in stated:
        named = KERNELS[top.inside("source_conditions").one_of("kernel", KERNELS)]
        own = {key: value for key, value in stated.items() if key != "kernel"}
        if isinstance(own.get("switches"), list):
            own["switches"] = named["switches"] + own["switches"]
        top.data["source_conditions"] = named | own
    return top


def _with_base(path: Path, above: tuple[Path, ...]) -> Place:
    """A file's keys with those of its base.

    :param above: files whose base this one is.
    """
    top = read_toml(path)
    if "base" not in top.data:
        return top
    base = top.read("base", str)
    try:
        under = path.parent / base if base.endswith(".toml") else path_of(base)
    except RequestError as error:
        raise RequestError(f"{top.file}: base = {shown(base)}: {error}") from error
    if os.path.realpath(under) in map(os.path.realpath, (*above, path)):
        raise top.error("base", "a scenario that does not have this one as its base")
    below = _with_base(under, (*above, path)).data
    if "recording" in below and "recording" not in top.data and under.parent != path.parent:
        raise top.error("base", "a scenario without recording, or one in the same directory")
    return Place(top.file, changed(top, below))
