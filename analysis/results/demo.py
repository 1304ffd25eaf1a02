# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the demo: ``results/demo.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.records.glance import Glance
from analysis.results.origin import ResultRecord


@dataclass(frozen=True)
class Demo(ResultRecord):
    """The answer of ``make demo``.

    :param changes_per_s: changes of the big cluster's OPP per second by variant, mean over seeds.
    :param glance: what the command prints, but for the places of its files.
    """

    changes_per_s: Mapping[str, float]
    glance: Glance
