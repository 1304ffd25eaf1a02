# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan for both releases: scenarios with their variants, and variants of counted wake-ups."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.records.verdict import ENOUGH_FOR_VERDICT
from kernels.releases import DEFAULT
from studies.pages.plan import FIVE, PageGroup

NAME = "releases"
PLATFORM = "juno-r2"
SEEDS = ENOUGH_FOR_VERDICT
#: What stands on the page: the check of engines, the demo of EAS, the RFC's five.
CELLS: Mapping[str, tuple[str, ...]] = {
    "smoke": ("mainline",),
    "eas/video-playback": ("mainline", "cas", "feec-b"),
    **dict.fromkeys(FIVE, ("mainline", "uclamp-sum")),
}
WAKE_UPS = ("mainline", "feec-b", "uclamp-sum")


def on(release: str, variant: str) -> str:
    """The variant's name on a release."""
    return variant if release == DEFAULT else f"{variant}@{release}"


def groups(releases: tuple[str, str]) -> tuple[PageGroup, ...]:
    """Every scenario with its variants on both releases."""
    return tuple(
        PageGroup(scenario, tuple(on(release, name) for release in releases for name in variants))
        for scenario, variants in CELLS.items()
    )
