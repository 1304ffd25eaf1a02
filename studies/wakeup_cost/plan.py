# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: variants, CPUs and numbers of counted wake-ups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PLATFORM = "juno-r2"
SEEDS = 3
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
#: Lines added and removed, as the sources state them for theirs.
STATED = {"sum": "304, 701 (RFC v2)"}
NAME = "wakeup-cost"
