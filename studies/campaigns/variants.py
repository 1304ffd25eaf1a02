# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of campaigns that compare variants on many scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.results.campaigns import ENERGY, LATENCY, WORK, CampaignResult, SweptCell
from studies.campaigns.cells import (
    difference_words,
    grouped,
    joined,
    mostly_overloaded,
    overloaded,
)

#: Kinds of cases, which are counted apart: with a noise floor, without, and overloaded.
_KINDS = ("", " without a known noise floor", " that are overloaded")


def answer(record: CampaignResult) -> str:
    """Of each platform and variant: clear differences in energy, and what they are paid with."""
    platforms = []
    for (platform,), cells in grouped(record.cells, ("platform",)).items():
        kinds: dict[str, list[list[SweptCell]]] = {kind: [] for kind in _KINDS}
        for case in grouped(cells, _case(record)).values():
            kinds[_kind(record, case)].append(case)
        words = [
            f"of {len(cases)} cases{kind} {_counted(record, [c for case in cases for c in case])}"
            for kind, cases in kinds.items()
            if cases
        ]
        platforms.append(f"{platform}: {'; '.join(words)}")
    than = record.reference["variant"]
    return (
        f"energy per unit of work compared with {than}, a case being a scenario with its controls: "
        f"{' · '.join(platforms)}"
    )


def _case(record: CampaignResult) -> tuple[str, ...]:
    return tuple(name for name in record.axes if name != "variant")


def _kind(record: CampaignResult, case: Sequence[SweptCell]) -> str:
    if mostly_overloaded(record, case):
        return _KINDS[2]
    return _KINDS[0 if any(ENERGY in cell.floors for cell in case) else 1]


def _counted(record: CampaignResult, cells: Sequence[SweptCell]) -> str:
    """``cas clearly less in 1 and more in 2``; variants that differ in none are not named."""
    variants = []
    for (variant,), own in grouped(cells, ("variant",)).items():
        sides = [
            f"clearly {side} in {len(clear)}{_at_what_price(clear)}"
            for sign, side in ((-1, "less"), (1, "more"))
            if (clear := [cell for cell in own if cell.sign(ENERGY) == sign])
        ]
        variants += [f"{variant} {' and '.join(sides)}"] if sides else []
    return ", ".join(variants) or "no variant clearly differs"


def _at_what_price(cells: Sequence[SweptCell]) -> str:
    """How many of ``cells`` also clearly differ in what energy may be paid with."""
    slower = sum(cell.sign(LATENCY) > 0 for cell in cells)
    other = sum(bool(cell.sign(WORK)) for cell in cells)
    words = [f"{slower} with clearly more latency"] if slower else []
    words += [f"{other} at clearly other work"] if other else []
    return f" ({', '.join(words)})" if words else ""


def points(record: CampaignResult) -> Iterator[str]:
    """For each variant and platform, the scenarios with a clear difference in energy."""
    for (platform, variant), cells in grouped(record.cells, ("platform", "variant")).items():
        if variant == record.reference["variant"]:
            continue
        sides = []
        for sign, side in ((-1, "less"), (1, "more")):
            clear = [cell for cell in cells if cell.sign(ENERGY) == sign]
            made = [
                f"{scenario} ({'; '.join(_words(record, cell) for cell in own)})"
                for (scenario,), own in grouped(clear, ("scenario",)).items()
            ]
            sides += [f"clearly {side} in {joined(made)}"] if made else []
        yield f"{variant} on {platform}: {'; '.join(sides) or 'no clear difference'}"


def _words(record: CampaignResult, cell: SweptCell) -> str:
    """``board: energy -2.1 %``: the cell's control, what differs, and what speaks against it."""
    controls = [value for name, value in cell.axes.items() if name.startswith("controls.")]
    words = difference_words(cell)
    words += "" if ENERGY in cell.floors else ", no noise floor known"
    words += ", overloaded" if overloaded(record, cell) else ""
    return ": ".join([*controls, words])
