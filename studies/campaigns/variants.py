# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers of campaigns that compare variants on many scenarios."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.results.campaigns import ENERGY, LATENCY, CampaignResult, SweptCell
from studies.campaigns.cells import counted, grouped, joined, percents


def eas(record: CampaignResult) -> str:
    """Of each variant: clear differences in energy and latency."""
    words = [
        f"{variant}: energy {counted(record, cells, ENERGY)}, "
        f"latency {counted(record, cells, LATENCY)}"
        for (variant,), cells in grouped(record.cells, ("variant",)).items()
        if variant != record.reference["variant"]
    ]
    return f"compared with {record.reference['variant']} per unit of work, {'; '.join(words)}"


def uclamp(record: CampaignResult) -> str:
    """Of each platform and variant: clear differences in energy."""
    words = [
        f"{variant} on {platform}: {counted(record, cells, ENERGY)}"
        for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items()
        if variant != record.reference["variant"]
    ]
    return (
        f"energy per unit of work compared with {record.reference['variant']}, {'; '.join(words)}"
    )


def points(record: CampaignResult) -> Iterator[str]:
    """For each variant and platform, the scenarios with a clear difference in energy."""
    for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items():
        if variant == record.reference["variant"]:
            continue
        sides = []
        for sign, side in ((-1, "less"), (1, "more")):
            clear = [cell for cell in cells if record.sign(cell, ENERGY) == sign]
            made = [
                f"{scenario} ({', '.join(_energy_words(cell) for cell in own)})"
                for (scenario,), own in grouped(clear, ("scenario",)).items()
            ]
            sides += [f"clearly {side} in {joined(made)}"] if made else []
        yield f"{variant} on {platform}: {'; '.join(sides) or 'no clear difference'}"


def _energy_words(cell: SweptCell) -> str:
    """``board -2.1 %``: the cell's control and its difference in energy."""
    controls = [value for name, value in cell.axes.items() if name.startswith("controls.")]
    percent = next(percent for measure, percent in percents(cell) if measure == ENERGY)
    return " ".join([*controls, f"{percent:+.1f} %"])
