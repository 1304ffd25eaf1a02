# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose wake-ups are counted, where, and how many of them."""

from __future__ import annotations

PLATFORM = "juno-r2"
COUNT = 1_000
TIMES = 10
SEEDS = 3
VARIANTS = ("mainline", "feec-b", "feec-c", "uclamp-sum", "uclamp-sum-fixed")
#: Where the threads may run, and what that leaves of a wake-up.
FORMS = {
    "one big CPU": ("big:0", "no placement (a task with one CPU is never placed), no idling"),
    "anywhere": (None, "placement over both domains"),
}
#: Lines added and removed, as the sources state them for theirs.
STATED = {"sum": "304, 701 (RFC v2)"}
WARM_UP_MS = 300
NAME = "wakeup-cost"
