# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of commands: JSON, columns, paths, and a run in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eascope.host.errors import EascopeError
from eascope.host.table import Table

if TYPE_CHECKING:
    from eascope.analysis.compare import Comparison
    from eascope.analysis.records.cell import CellRecord
    from eascope.engines.records import HostRecord
    from eascope.experiments.runs.store import Run


#: Fields of a `CellRecord` that say which run it is.
_SHOWN = ("platform", "variant", "scenario", "engine", "seed", "duration", "elide")


def print_json(value: object) -> None:
    """``value`` as JSON with sorted keys."""
    print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False))


def print_columns(rows: Iterable[Iterable[Any]], heads: Sequence[str] | None = None) -> None:
    """Aligned columns of texts, the last one not padded; ``heads``: with a first line."""
    cells = [[str(cell) for cell in row] for row in rows]
    if cells:
        table = Table.of(heads or [""] * len(cells[0]), cells, left=len(cells[0]))
        print(table.text(heads=heads is not None))


def shown(path: Path) -> str:
    """``path`` as a person here would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def measured(comparison: Comparison, *, whole: bool) -> str:
    """A comparison, or a run alone, as text; ``whole``: with every measure."""
    from eascope.analysis.glance import everything, glance

    return everything(comparison) if whole else glance(comparison)


def _settings(cell: CellRecord) -> dict[str, str]:
    """Other settings that distinguish runs: mode, controls, kernel, energy model."""
    from eascope.analysis.engine import kernel_words

    words = {
        "mode": cell.mode,
        "controls": ", ".join(cell.set_otherwise),
        "kernel": kernel_words(cell.kernel),
        "energy_model": cell.energy_model.words,
    }
    return {key: text for key, text in words.items() if text}


def _named(cell: CellRecord) -> dict[str, Any]:
    """What a run was asked for as."""
    return {key: getattr(cell, key) for key in _SHOWN} | _settings(cell)


def run_object(run: Run) -> dict[str, Any]:
    """A run in words, as status, show and verify print it.

    ``also``: what else it was asked for as, where a later request had other names.
    """
    state = run.state
    words: dict[str, Any] = {"run": str(run.path), "state": state}
    try:
        first = _named(run.cell)
        words |= first
        also: list[dict[str, Any]] = []
        for named in map(_named, run.later):
            also += [] if named in (first, *also) else [named]
        words |= {"also": also} if also else {}
        if state == "done":
            words |= cost(run.host)
        elif state == "failed":
            words["cause"] = run.failure.cause
        else:
            words["cause"] = run.cause
    except EascopeError as error:
        words["state"] = "broken"
        words["cause"] = str(error)
    return words


def cost(host: HostRecord) -> dict[str, Any]:
    """Costs of a run as commands print them: seconds, speed, and seconds by part if known."""
    words: dict[str, Any] = {"host_s": host.host_s, "mips": host.mips, "sim_s": host.sim_s}
    return words | ({"parts_s": dict(host.parts_s)} if host.parts_s else {})
