# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's error of energy, in words for captions: looked up, never guessed.

An error holds for the platform, the speeds and the power model of its measurement. A caption names
all three and gem5's mode, and states other differences from its own run. If nothing was measured,
the caption says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from eascope.analysis.known.agreement import Agreement, AgreementCell
from eascope.analysis.known.conditions import Conditions
from eascope.analysis.known.origin import DATA
from eascope.engines.records import Traits

PATTERN = "engine-agreement*.json"
#: What a caption says where the energies of the comparison would be others today.
EARLIER_BILLING = "measured with earlier energy accounting"


@cache
def agreements(folder: Path = DATA) -> tuple[Agreement, ...]:
    """Every committed comparison of the engines.

    :raises RecordError: a record that is damaged.
    """
    return tuple(Agreement.read(path) for path in sorted(folder.glob(PATTERN)))


def error_of(
    platform: str,
    scenario: str,
    conditions: Conditions,
    *,
    billing: str,
    traits: Traits,
    folder: Path = DATA,
) -> str:
    """The error of such a run's energy against gem5's.

    It is from the cells of ``scenario``, or else from those of other scenarios, which the text
    says. The mode of gem5 with most seeds counts: one seed shows which placement was drawn, not how
    engines differ.

    :param conditions: of the run.
    :param billing: digest of the power model that bills it.
    """
    if traits.reference:
        return f"the reference engine, on {traits.cpu_words} CPUs"
    asked = (platform, conditions.speeds, conditions.power)
    agreement = next(
        (
            record
            for record in agreements(folder)
            if (record.platform, record.speeds, record.power) == asked
        ),
        None,
    )
    if agreement is None or not agreement.cells:
        return f"no error against gem5 was measured in any of its modes {_where(*asked)}"
    here = [cell for cell in agreement.cells if cell.scenario == scenario]
    worst = _worst(agreement, here or agreement.cells, "" if here else ", other scenarios")
    return ", ".join(part for part in (worst, _otherwise(agreement, conditions, billing)) if part)


def _where(platform: str, speeds: str, power: str) -> str:
    words = "the board's speeds" if speeds == "board" else f"{speeds} speeds"
    return f"on {platform} at {words} with {power} power"


def _otherwise(agreement: Agreement, conditions: Conditions, billing: str) -> str:
    """The differences between the comparison's conditions and the run's."""
    if agreement.conditions is None or not billing or agreement.billing != billing:
        return EARLIER_BILLING
    differences = agreement.conditions.against(conditions)
    return f"measured with {differences}" if differences else ""


def _worst(agreement: Agreement, cells: Iterable[AgreementCell], others: str) -> str:
    known = [
        (len(cell.samples[name].seeds), name, cell.against[name].energy_percent)
        for cell in cells
        for name in cell.against
    ]
    seeds = max(count for count, _, _ in known)
    name = next(name for count, name, _ in known if count == seeds)
    differences = [abs(percent) for *which, percent in known if which == [seeds, name]]
    column = next(column for column in agreement.columns if column.name == name)
    where = _where(agreement.platform, agreement.speeds, agreement.power)
    plural = "s" if len(differences) > 1 else ""
    over = f"means over {seeds} seeds" if seeds > 1 else "one seed of gem5"
    return (
        f"energy within {max(differences):.1f} % of gem5's in mode {column.mode} "
        f"({column.cpu_words} CPUs) {where}{others}, {len(differences)} cell{plural}, {over}"
    )
