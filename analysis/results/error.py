# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's error of energy, in words for captions: looked up, never guessed.

A figure counts for the platform, the speeds and the power model that it was measured with, and
names the CPU models that gem5 had. Where nothing was measured, that is what a caption says.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from analysis.results.agreement import Agreement, AgreementCell
from analysis.results.origin import RESULTS
from configs.billing import PUBLISHED
from engines.records import Traits

PATTERN = "engine-agreement*.json"


@cache
def agreements(folder: Path = RESULTS) -> tuple[Agreement, ...]:
    """Every committed comparison of the engines.

    :raises RecordError: a record that is damaged.
    """
    return tuple(Agreement.read(path) for path in sorted(folder.glob(PATTERN)))


def error_of(
    platform: str,
    scenario: str,
    *,
    traits: Traits,
    speeds: str = "board",
    power: str = PUBLISHED,
    folder: Path = RESULTS,
) -> str:
    """How far the energy of such a run is from gem5's.

    From the cells of ``scenario``; else from those of other scenarios, which it says. Of gem5's
    modes the one counts that has most seeds: one seed says which placement was drawn, not how
    engines differ.

    :param traits: of the engine that ran.
    :param speeds: of core types, ``board`` or ``measured``.
    :param power: name of the power model.
    """
    if traits.reference:
        return f"the reference engine, on {traits.cpu_words} CPUs"
    agreement = next(
        (
            record
            for record in agreements(folder)
            if (record.platform, record.speeds, record.power) == (platform, speeds, power)
        ),
        None,
    )
    if agreement is None or not agreement.cells:
        return (
            f"no error against gem5 was measured on {platform} at {speeds_words(speeds)} "
            f"with {power} power"
        )
    here = [cell for cell in agreement.cells if cell.scenario == scenario]
    return _worst(agreement, here or agreement.cells, "" if here else " on other scenarios")


def _worst(agreement: Agreement, cells: Iterable[AgreementCell], where: str) -> str:
    known = [
        (len(cell.samples[name].seeds), name, cell.against[name].energy_percent)
        for cell in cells
        for name in cell.against
    ]
    seeds = max(count for count, _, _ in known)
    name = next(name for count, name, _ in known if count == seeds)
    differences = [abs(percent) for *which, percent in known if which == [seeds, name]]
    words = next(column.cpu_words for column in agreement.columns if column.name == name)
    plural = "s" if len(differences) > 1 else ""
    over = f"means over {seeds} seeds" if seeds > 1 else "one seed of gem5"
    return (
        f"energy within {max(differences):.1f} % of gem5's {words} CPUs{where}, "
        f"{len(differences)} cell{plural}, {over}"
    )


def speeds_words(speeds: str) -> str:
    """``the board's speeds`` or ``measured speeds``, for captions and pages."""
    return "the board's speeds" if speeds == "board" else f"{speeds} speeds"
