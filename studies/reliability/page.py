# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on reliability: the parts for its notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from analysis.results.measured import FigureRecord
from host.table import Table
from studies.drawing import Drawing
from studies.origins import origins

NAME = "reliability"
#: Roles of processes, and their names in a sentence.
_ROLES = (
    ("sweep", "the sweep"),
    ("runner", "a runner"),
    ("Snakemake", "Snakemake"),
    ("engine", "an engine"),
)

Figures: TypeAlias = Mapping[str, float]


def parts(record: FigureRecord) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    return {
        "table": _table(record).markdown(),
        "several": _several(record.measured["kills"].figures),
        "origins": origins("check", record).markdown(),
    }


def _table(record: FigureRecord) -> Table:
    """What each check has measured; a check that fails has no figures."""
    rows = [(f"`{name}`", _WORDS[name](each.figures)) for name, each in record.measured.items()]
    return Table.of(("check", "measured"), rows, left=2)


def _kills(figures: Figures) -> str:
    by_role = ", ".join(f"{figures[f'kills of {role}']:.0f} of {name}" for role, name in _ROLES)
    words = (
        f"{figures['kills']:.0f} `kill -9` ({by_role}) in {figures['campaigns']:.0f} campaigns: "
        "all bytes equal"
    )
    if "quarter 1" not in figures:
        return words
    quarters = ", ".join(f"{figures[f'quarter {n}']:.0f}" for n in range(1, 5))
    return f"{words}; by the quarters of a role's time: {quarters}"


def _several(figures: Figures) -> str:
    """How often a campaign was killed."""
    counts = {name: f"{value:.0f}" for name, value in figures.items()}
    if "with two or more" not in counts:
        words = f"{counts['kills']} kills in {counts['campaigns']} campaigns, most of which were "
        return f"{words}killed once"
    return (
        f"of {counts['campaigns']} campaigns, {counts['with two or more']} were killed twice or "
        f"more, at most {counts['most kills']} times, and {counts['without a kill']} ended before "
        "a kill"
    )


def _disks(figures: Figures) -> str:
    before = ", ".join(f"{figures[f'with {runs} runs']:.0f}" for runs in range(5))
    return (
        f"{figures['disks']:.0f} disks of {figures['least_kib']:.0f} to {figures['most_kib']:.0f} "
        f"KiB, all too small for the {figures['need_kib']:.0f} KiB of the runs: nothing "
        "half-written; all bytes equal once there was room. Disks with 0 to 4 finished runs "
        f"before: {before}"
    )


def _jumps(figures: Figures) -> str:
    return (
        f"{figures['jumps']:.0f} jumps of {figures['least_days']:+.0f} to "
        f"{figures['most_days']:+.0f} days: all bytes equal"
    )


def _corrupt(figures: Figures) -> str:
    return (
        f"{figures['bits of a run']:.0f} flipped bits in {figures['files']:.0f} files of a run and "
        f"its tables, {figures['bits of artefacts']:.0f} in {figures['kinds']:.0f} kinds of "
        f"artefacts, {figures['bits of a ledger']:.0f} in a ledger (each of its bits): all found, "
        "none used"
    )


_WORDS: Mapping[str, Callable[[Figures], str]] = {
    "kills": _kills,
    "disks": _disks,
    "cache": lambda figures: "all bytes equal",
    "workers": lambda figures: "the other sweep finished; all bytes equal",
    "copied": lambda figures: f"{figures['runs']:.0f} runs verify, none is run again",
    "jumps": _jumps,
    "corrupt": _corrupt,
}

DRAWINGS = {NAME: Drawing(FigureRecord, parts)}
