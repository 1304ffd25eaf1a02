# SPDX-License-Identifier: GPL-2.0-or-later
"""A rail that was metered with one program, moved to another program.

The dynamic part is moved by the ratio of the derived dynamic powers of both: McPAT's energies of
the events that gem5's detailed cores count in each. What is static stays as it was metered. Only a
ratio of one core's powers at one OPP is used, so neither the supply nor an error of the core's
level has any effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eascope.configs.program_events import ClusterEvents
from eascope.power.events import EventPower
from eascope.power.mcpat import CYCLE


@dataclass(frozen=True)
class Dynamic:
    """Derived dynamic power in W of a busy CPU and its L2 at 1 V: the CPU's clock, and the rest."""

    clock_w: float
    events_w: float

    @property
    def all_w(self) -> float:
        """Both."""
        return self.clock_w + self.events_w


def dynamic(power: EventPower, khz: int, ns: float, events: Mapping[str, float]) -> Dynamic:
    """The power of a CPU that executes an instruction in ``ns`` at ``khz``.

    :param events: of an instruction, the L2's included; its cycles are those of the clock.
    """
    counts = {event: count for event, count in events.items() if event != CYCLE}
    return Dynamic(
        power.dynamic_w({CYCLE: khz * 1e3}, 1.0, 1.0), power.dynamic_w(counts, ns * 1e-9, 1.0)
    )


def dynamic_of(power: EventPower, program: ClusterEvents, khz: int) -> Dynamic:
    """The power of a CPU that executes ``program`` at ``khz``."""
    return dynamic(power, khz, program.ns(khz), program.events(khz))


def moved(static: float, metered: float, ratio: float) -> float:
    """A power whose part above ``static`` is ``ratio`` times that of ``metered``."""
    return static + (metered - static) * ratio
