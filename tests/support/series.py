# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of patches as ``git format-patch`` writes them."""

from collections.abc import Sequence
from pathlib import Path

#: Of the real kernel: a comment, twice the clock that schedutil asks for, and another margin.
REAL = (
    (
        "sched/fair: Say class",
        "kernel/sched/fair.c",
        "@@ -1,4 +1,4 @@\n // SPDX-License-Identifier: GPL-2.0\n /*\n"
        "- * Completely Fair Scheduling (CFS) Class (SCHED_NORMAL/SCHED_BATCH)\n"
        "+ * Completely Fair Scheduling (CFS) class (SCHED_NORMAL/SCHED_BATCH)\n  *\n",
    ),
    (
        "cpufreq: schedutil: Ask for twice the utilization",
        "kernel/sched/cpufreq_schedutil.c",
        "@@ -234,5 +234,5 @@\n {\n \t/* Add dvfs headroom to actual utilization */\n"
        "-\tactual = map_util_perf(actual);\n+\tactual = 2 * actual;\n"
        " \t/* Actually we don't need to target the max performance */\n \tif (actual < max)\n",
    ),
    (
        "sched/fair: Fit tasks a little more tightly",
        "kernel/sched/fair.c",
        "@@ -100,5 +100,5 @@\n  * (default: ~20%)\n  */\n"
        "-#define fits_capacity(cap, max)\t((cap) * 1280 < (max) * 1024)\n"
        "+#define fits_capacity(cap, max)\t((cap) * 1279 < (max) * 1024)\n \n /*\n",
    ),
)


def written(folder: Path, patches: Sequence[tuple[str, str, str]] = REAL) -> Path:
    """``folder`` with ``patches``: subject, file, hunk."""
    folder.mkdir()
    for number, (subject, file, hunk) in enumerate(patches, 1):
        (folder / f"{number:04}.patch").write_text(
            f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: Me <me@localhost>\n"
            f"Subject: [PATCH {number}/{len(patches)}] {subject}\n\n---\n"
            f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n{hunk}"
        )
    return folder


def numbered(folder: Path, count: int) -> Path:
    """``folder`` with patches called ``Change 1``, ``Change 2``, ..."""
    hunk = "@@ -{0} +{0} @@\n-old {0}\n+new {0}\n"
    return written(folder, [(f"Change {n}", "a.c", hunk.format(n)) for n in range(1, count + 1)])
