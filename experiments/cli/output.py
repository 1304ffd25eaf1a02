# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print: JSON, columns, paths, and a run in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines.records import FAILED, HOST, Failure, HostRecord
from host.errors import EascopeError, bad_input
from host.sealed import DONE
from host.table import Table

if TYPE_CHECKING:
    from analysis.compare import Comparison
    from experiments.runs import Run


#: Keys of ``cell.json`` that say which run it is.
_SHOWN = {
    **dict.fromkeys(("platform", "variant", "scenario", "engine", "duration"), str),
    "seed": int,
    "elide": bool,
}
#: Keys of ``host.json`` that say what a run cost.
_COST = ("host_s", "mips", "sim_s", "parts_s")


def print_json(value: Any) -> None:
    """``value`` as JSON with sorted keys."""
    print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False))


def print_columns(rows: Iterable[Iterable[Any]], heads: Sequence[str] | None = None) -> None:
    """Aligned columns of texts, the last one as long as it is; ``heads``: with a first line."""
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
    from analysis.glance import everything, glance

    return everything(comparison) if whole else glance(comparison)


def run_object(run: Run) -> dict[str, Any]:
    """A run in words, as status, show and verify print it."""
    found: dict[str, Any] = {"run": str(run.path), "state": run.state}
    try:
        cell = run.cell
        for key, kind in _SHOWN.items():
            if not isinstance(cell.get(key), kind):
                file = run.path / "cell.json"
                raise bad_input(file, key, cell.get(key), f"a value of type {kind.__name__}")
            found[key] = cell[key]
        if cell.get("mode"):
            found["mode"] = cell["mode"]
        if run.state == "done":
            host = HostRecord.read(run.path / HOST).encode()
            found |= {key: host[key] for key in _COST if key in host}
        elif run.state == "failed":
            found["cause"] = Failure.read(run.path / FAILED).cause
        else:
            found["cause"] = f"neither {DONE} nor {FAILED} is there"
    except EascopeError as error:
        found["state"] = "broken"
        found["cause"] = str(error)
    return found
