# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the demo."""

from __future__ import annotations

from analysis.compare import Comparison
from analysis.glance import glance_of
from analysis.results.demo import Demo
from studies.demo.plan import CLUSTER
from studies.versions import origin_over_seeds


def record_of(compared: Comparison, command: str) -> Demo:
    """The record of the comparison."""
    cells = [run.cell for runs in compared.variants.values() for run in runs]
    return Demo(
        origin=origin_over_seeds(command, cells),
        changes_per_s={
            name: compared.means[name].opp_transitions_per_s[CLUSTER] for name in compared.names
        },
        glance=glance_of(compared),
    )
