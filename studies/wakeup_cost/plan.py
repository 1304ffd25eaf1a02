# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: variants, CPUs and numbers of counted wake-ups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PLATFORM = "juno-r2"
SEEDS = 10
#: Of the short and the full form of each scenario.
ROUND_TRIPS = (1_000, 10_000)
VARIANTS = ("mainline", "feec-b", "feec-c", "uclamp-sum", "uclamp-sum-fixed")


@dataclass(frozen=True)
class Form:
    """The CPUs on which the threads may run.

    :param scenario: the file with the program, which has a short and a full form.
    :param meaning: the parts of a wake-up that remain.
    """

    scenario: Path
    meaning: str


def _form(name: str, meaning: str) -> Form:
    return Form(Path(__file__).with_name(f"{name}.toml"), meaning)


FORMS = {
    "one big CPU": _form(
        "one-big-cpu", "no placement (a task with one CPU is never placed), no idling"
    ),
    "anywhere": _form("anywhere", "placement over both domains"),
}
NAME = "wakeup-cost"


@dataclass(frozen=True)
class Comparable:
    """The patches of a queue that do what its source's do; documentation does not count.

    :param patches: their numbers in the queue of the default release.
    :param stated: lines added and removed, as the source states them.
    """

    patches: tuple[int, ...]
    stated: str


#: The cover letter of the RFC counts its changes of the kernel; our checks, events and features
#: are no part of it.
COMPARABLE = {"sum": Comparable((1, 2, 4, 5, 6, 8, 11, 12), "304, 701 (RFC v2)")}
