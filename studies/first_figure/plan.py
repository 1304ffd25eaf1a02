# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of the first figure: its cells and its measures."""

from __future__ import annotations

from studies.pages.plan import Page, PageGroup

NAME = "first-figure"
GROUP = PageGroup("eas/video-playback", ("mainline", "cas"))
PAGE = Page(NAME, "juno-r2", (GROUP,))
#: What the page shows: a measure's name, where it is in ``result.json``, whether per cent of it
#: say something.
MEASURES = (
    ("energy: total (mJ)", ("energy_j", "total"), True),
    ("energy: little (mJ)", ("energy_j", "cluster", "little"), True),
    ("energy: big (mJ)", ("energy_j", "cluster", "big"), True),
    ("energy by component: active (mJ)", ("energy_j", "component", "active"), True),
    ("energy by component: idle exit (mJ)", ("energy_j", "component", "idle_exit"), True),
    ("energy by component: shared (mJ)", ("energy_j", "component", "shared"), True),
    ("placement: work on little (%)", ("work_share", "little"), False),
    ("migrations", ("migrations",), False),
    ("lateness after the timer: render p95 (us)", ("lateness_us", "render", "p95"), True),
    ("missed deadlines: all tasks", ("missed_deadlines",), False),
)
