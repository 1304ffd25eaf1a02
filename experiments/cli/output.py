# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print: JSON, columns, paths, and a run in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.errors import EascopeError
from host.table import Table

if TYPE_CHECKING:
    from experiments.runs import Run


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


def run_object(run: Run) -> dict[str, Any]:
    """A run in words, as status, show and verify print it."""
    found: dict[str, Any] = {"run": str(run.path), "state": run.state}
    try:
        cell = run.cell
        found |= {
            key: cell[key]
            for key in ("platform", "variant", "scenario", "engine", "seed", "duration", "elide")
        }
        if cell.get("mode"):
            found["mode"] = cell["mode"]
        if run.state == "done":
            found |= {key: run.host[key] for key in ("host_s", "mips", "sim_s")}
            if "parts_s" in run.host:
                found["parts_s"] = run.host["parts_s"]
        elif run.state == "failed":
            found["cause"] = json.loads((run.path / "failed.json").read_bytes())["cause"]
    except (EascopeError, OSError, KeyError, ValueError) as error:
        found["state"] = "broken"
        found["cause"] = str(error)
    return found
