# SPDX-License-Identifier: GPL-2.0-or-later
"""Clamps and CPUs of tasks, programs and groups: values that a platform gives a meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eascope.configs.cpunames import CpuNameError
from eascope.host.keys import Context, Form, WrongValue, maybe


def _cpus(value: Any, context: Context) -> tuple[int, ...]:  # noqa: ANN401 - of TOML
    platform = context["platform"]
    try:
        cpus: tuple[int, ...] = platform.resolve(value)
    except CpuNameError as error:
        raise WrongValue("", value, f"{error.allowed} (platform {platform.name})") from error
    return cpus


#: The CPUs that a symbolic name means here.
CPUS = Form("a name of CPUs, such as any, big, big:0 or little:0-1", {"type": "string"}, _cpus)


def _clamp(value: Any, context: Context) -> int:  # noqa: ANN401 - of TOML
    """An absolute clamp, or one relative to a cluster's capacity: ``1.0*little+1``."""
    platform = context["platform"]
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    clamp: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        clamp = value
    elif isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*\*\s*([\w-]+?)\s*(?:([+-])\s*(\d+))?", value)
        if match and match[2] in clusters:
            capacity = platform.capacities[clusters[match[2]].cpus[0]]
            offset = int(match[4] or 0) * (-1 if match[3] == "-" else 1)
            clamp = int(Fraction(match[1]) * capacity) + offset
    if clamp is None or not 0 <= clamp <= 1024:
        example = platform.clusters[0].name
        raise WrongValue(
            *("", value),
            f'0..1024, or relative to the capacity of {" or ".join(clusters)} like "0.5*{example}" '
            f'or "1.0*{example}+1", with a result in 0..1024',
        )
    return clamp


_CLAMP = Form(
    "0..1024, or relative to a cluster's capacity",
    {"type": ["integer", "string"], "minimum": 0, "maximum": 1024},
    _clamp,
)


@dataclass(frozen=True)
class Clamps:
    """``uclamp`` of a task, a program or a group."""

    min: int | None = maybe("boost", form=_CLAMP)
    max: int | None = maybe("cap", form=_CLAMP)

    def check(self) -> None:
        """The boost is no more than the cap."""
        if self.min is not None and self.max is not None and self.min > self.max:
            raise WrongValue("min", self.min, f"up to max, which is {self.max}")


NO_CLAMPS = Clamps()
