# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of `make demo`."""

from __future__ import annotations

from studies.pages.plan import Page, PageGroup

NAME = "demo"
GROUP = PageGroup("uclamp/frequency-spike", ("mainline", "uclamp-sum"))
PAGE = Page(NAME, "juno-r2", (GROUP,))
#: The cluster that the README's sentence is about.
CLUSTER = "big"
