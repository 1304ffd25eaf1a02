# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what a bench or a check has measured: in the record of its page, which is drawn anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from analysis.results.measured import FigureRecord, FigureSet
from analysis.results.origin import RESULTS, RUNS
from host.proc import say
from host.version import eascope_version
from studies.draw import save


def keep(
    record: str, name: str, figures: Mapping[str, float], command: str, folder: Path | None = None
) -> None:
    """Put the figures of the measurement ``name`` in the place of those that ``record`` has.

    All figures that the measurement had before are replaced.

    :param folder: write there instead.
    """
    before = FigureRecord.read(RESULTS / f"{record}.json")
    made = FigureSet(command, RUNS, dict(figures), eascope_version())
    after = replace(before, measured={**before.measured, name: made})
    say(f"  {save(record, after, folder)}")
